// Any bytes as the name of a node in a lock's directory.

#include "fuzz/target.hpp"
#include "rules/claims.hpp"
#include "rules/names.hpp"

#include <array>

using namespace paddock::rules;
using paddock::test::expect;

namespace {

constexpr std::int64_t our_session = 0x1000'0000'0000'0001;

/// Whether the name ends in what the server prints for this number.
bool ends_in(const std::string& name, std::int32_t number) {
    std::array<char, 16> printed{};
    std::snprintf(printed.data(), printed.size(), "%010d", number);
    return name.ends_with(printed.data());
}

void judge(const naming& names, const std::string& name) {
    const auto said = names.read(name);
    expect(names.sequence(name).has_value() == said.has_value(), "two opinions", name);
    if (!said) return;
    expect(ends_in(name, said->sequence), "not the number that the server printed", name);
    expect(said->as == role::exclusive || names.has_shared(), "a reader of an exclusive lock",
           name);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::array all{naming("lock"), naming("block"), naming::of_shared_mutex(),
                                naming::of_election(), naming::of_leases()};
    claims ids;
    ids.begin(our_session);
    const auto claimed = ids.claim();
    const std::string name(reinterpret_cast<const char*>(data), size);
    for (const auto& names : all)
        judge(names, name);
    // The name `block-` is not one of `lock-`, nor the other way round.
    expect(!all[0].read(name) || !all[1].read(name), "a contender of two locks", name);
    const auto own = own_id(name, ids);
    const bool orphan = !orphans({name}, ids).empty();
    expect(orphan == (own && *own != claimed), "an orphan is an own node without a claim", name);
    const bool says_session = name.find("10000000-0000-0001") != std::string::npos ||
                              name.find("1000000000000001") != std::string::npos;
    expect(!own || says_session, "a foreign node was taken for an own one", name);
    if (const auto lock = marked_lock(name)) {
        expect(!lock->empty() && name.find(*lock) != std::string::npos, "no such lock", name);
        for (const auto& names : all)
            expect(!names.read(name), "a marker is no contender", name);
    }
    return 0;
}
