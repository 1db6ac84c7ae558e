// Any names in a lock's directory, and an own contender in between: it is granted when, and only
// when, no predecessor is left.

#include "fuzz/target.hpp"
#include "rules/queue.hpp"
#include "unit/taken.hpp"

#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

using namespace paddock::rules;
using paddock::test::expect;
using paddock::test::source;

namespace {

/// The documented rule for names, a second time: the number of a contender for the mutex `lock`.
std::optional<std::int64_t> number_of(const std::string& name) {
    for (const std::size_t width : {10U, 11U}) {
        if (name.size() < width) continue;
        const auto head = name.substr(0, name.size() - width);
        const auto digits = name.substr(head.size());
        const bool minus = digits[0] == '-';
        const auto value = digits.substr(minus ? 1 : 0);
        if (value.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto number = std::stoll(value) * (minus ? -1 : 1);
        if (number < INT32_MIN || number > INT32_MAX) continue;
        char printed[16];
        std::snprintf(printed, sizeof printed, "%010lld", number);
        if (digits != printed) continue;
        const auto hex = [&](std::size_t count) {
            return head.size() >= count &&
                   head.substr(0, count).find_first_not_of("0123456789abcdef") == std::string::npos;
        };
        const auto is = [&](std::size_t start, const char* rest) {
            return head.size() >= start && head.substr(start) == rest;
        };
        const bool is_protected = head.starts_with("_c_");
        if (head == "lock-" || (is_protected && (is(39, "-lock-") || is(35, "-lock-"))) ||
            (hex(32) && (is(32, "-lock-") || is(32, "__lock__"))))
            return number;
    }
    return std::nullopt;
}

/// The directory, one own contender in it, and true answers.
class story {
public:
    story() { ids_.begin(0x1000'0000'0000'0001); }

    void add(const std::string& name) {
        if (!own_id(name, ids_)) living_.insert(name); // no other client has our session
    }
    void add_many(const std::string& head, std::size_t count) {
        for (std::size_t n = 0; n < count; ++n)
            add(head + std::to_string(n));
    }
    void join(std::int32_t sequence) {
        sequence_ = sequence;
        queue_.connected();
        queue_.join(1, {});
        obey();
    }
    /// A foreign node goes.
    void remove(std::size_t which) {
        if (living_.empty()) return;
        auto it = living_.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(which % living_.size()));
        if (*it == own_) return;
        remove(std::string(*it));
    }
    /// A revoke, say.
    void change(std::size_t which) {
        if (watched_.empty()) return;
        auto it = watched_.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(which % watched_.size()));
        const auto name = *it;
        watched_.erase(it);
        queue_.node_event(name, false);
        obey();
    }
    /// All predecessors go, and our contender is granted.
    void end() {
        for (const auto& name : before_us()) {
            expect(!granted_, "granted beside", name);
            remove(name);
        }
        expect(granted_, "not granted, though it has no predecessor", own_);
    }

private:
    std::vector<std::string> before_us() const {
        std::vector<std::string> names;
        for (const auto& name : living_) {
            const auto number = number_of(name);
            if (number && std::tuple(*number, name) < std::tuple(std::int64_t{sequence_}, own_))
                names.push_back(name);
        }
        return names;
    }
    void remove(const std::string& name) {
        living_.erase(name);
        if (watched_.erase(name) == 0) return;
        queue_.node_event(name, true);
        obey();
    }

    void obey() {
        for (auto actions = paddock::test::taken(queue_); !actions.empty();
             actions = paddock::test::taken(queue_))
            for (const auto& queue_action : actions)
                std::visit([this](const auto& a) { obey(a); }, queue_action);
    }
    void obey(const queue_act::create& a) {
        char printed[16];
        std::snprintf(printed, sizeof printed, "%010d", sequence_);
        own_ = naming("lock").prefix(ids_, a.id) + printed;
        living_.insert(own_);
        queue_.created(a.key, a.id, {.result = outcome::done, .code = 0, .name = own_, .czxid = 5});
    }
    void obey(const queue_act::list&) {
        queue_.listed(outcome::done, 0, std::vector<std::string>(living_.begin(), living_.end()));
    }
    void obey(const queue_act::watch_blocker& a) {
        const bool there = living_.contains(a.name);
        if (there) watched_.insert(a.name);
        queue_.blocker_watched(a.name, there ? outcome::done : outcome::missing);
    }
    void obey(const queue_act::watch_own& a) {
        queue_.own_watched(a.key, a.id, {outcome::done, 5});
    }
    void obey(const queue_act::forget& a) { watched_.erase(a.name); }
    void obey(const queue_act::grant&) {
        const auto before = before_us();
        expect(before.empty(), "granted beside", before.empty() ? "" : before.front());
        granted_ = true;
    }
    void obey(const queue_act::warn&) {}
    template <typename Other>
    void obey(const Other&) {
        expect(false, "an action that nothing calls for");
    }

    claims ids_;
    queue queue_{naming("lock"), ids_};
    std::set<std::string> living_, watched_;
    std::int32_t sequence_ = 0;
    std::string own_;
    bool granted_ = false;
};

} // namespace

/// Lines: names that are there from the beginning, until an empty one; a line that begins with `*`
/// stands for a thousand of them. Then four bytes, our number, and one byte for each event.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    source in(data, size);
    story s;
    for (auto name = in.line(); !name.empty(); name = in.line()) {
        if (name[0] == '*')
            s.add_many(name.substr(1), 1000);
        else
            s.add(name);
    }
    s.join(static_cast<std::int32_t>(in.number() % sequence_limit));
    while (!in.empty()) {
        const auto what = in.byte();
        if (what % 4 == 0)
            s.change(what / 4U);
        else
            s.remove(what / 4U);
    }
    s.end();
    return 0;
}
