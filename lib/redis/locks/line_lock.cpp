#include "redis/locks/line_lock.hpp"

#include "client/count_lock.hpp"
#include "client/hold_limit.hpp"
#include "rules/paths.hpp"
#include "support/argument.hpp"
#include "support/process_name.hpp"

#include <utility>

namespace paddock::redis::detail {

void line_lock::start(handler<void(error_code, guard)> h, line_call::kind how,
                      std::optional<std::chrono::nanoseconds> time, std::optional<owner> by) const {
    std::make_shared<line_call>(client, line_terms{name, limit, counted, by, about}, std::move(h),
                                how)
        ->start(time);
}

namespace {
std::shared_ptr<const metadata> describe(const std::string& label) {
    constexpr std::string_view option = "mutex_options::label";
    if (label.empty()) return {};
    if (label.size() > longest_label) throw bad_argument(option, "is longer than 256 bytes");
    if (const auto fault = paddock::rules::utf8_fault(label); !fault.empty())
        throw bad_argument(option, label, fault);
    return std::make_shared<const metadata>(this_process(), label);
}
} // namespace

line_lock make_line_lock(std::string_view lock, const redis::client& servers, std::string_view name,
                         std::size_t longest, const mutex_options& options, lock_kind kind) {
    const auto argument = std::string(lock) + " name";
    if (name.empty()) throw bad_argument(argument, "is empty");
    if (name.size() > longest)
        throw bad_argument(argument, "is longer than " + std::to_string(longest) + " bytes");
    if (name.starts_with(reserved_prefix))
        throw bad_argument(argument, name, "begins with \"paddock:\", which is reserved");
    check_hold_limit("mutex_options", options.hold_limit);
    const auto& core = access::core_of(servers);
    if (!core) throw bad_argument("client", "was moved from");
    return {core, std::string(name), options.hold_limit,
            count_lock(*core, "mutex_options", options.group, name, kind, options.label),
            describe(options.label)};
}

} // namespace paddock::redis::detail
