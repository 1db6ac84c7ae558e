#include "client/count_lock.hpp"

#include "rules/paths.hpp"
#include "support/argument.hpp"

#include <cstddef>
#include <utility>

namespace paddock::detail {

namespace {
/// As a path: it stands for one.
constexpr std::size_t longest_group = 512;
} // namespace

std::shared_ptr<const counted_lock> count_lock(client_base& client, std::string_view options,
                                               std::string_view group, std::string_view path,
                                               lock_kind kind, std::string label) {
    const auto argument = std::string(options) + "::group";
    if (const auto fault = rules::utf8_fault(group); !fault.empty())
        throw bad_argument(argument, fault);
    if (group.size() > longest_group) throw bad_argument(argument, "is longer than 512 bytes");
    return client.series().add(group.empty() ? path : group, kind, std::move(label));
}

} // namespace paddock::detail
