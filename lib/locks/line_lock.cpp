#include "locks/line_lock.hpp"

#include "locks/arguments.hpp"
#include "rules/paths.hpp"
#include "support/argument.hpp"

#include <paddock/client.hpp>

#include <utility>

namespace paddock::detail {

namespace {

void check_name(std::string_view name) {
    if (const auto fault = rules::name_fault(name); !fault.empty())
        throw bad_argument("mutex_options::name", name, fault);
    if (rules::reserved(name))
        throw bad_argument("mutex_options::name", name, "contains a name that recipes reserve");
    if (name.size() > longest_path)
        throw bad_argument("mutex path or name", "is longer than 512 bytes");
}

rules::style style_of(const mutex_options& options) {
    if (options.naming == naming::curator) return rules::style::curator;
    if (options.name != "lock")
        throw bad_argument("mutex_options::naming", "is for the name 'lock' only");
    return rules::style::kazoo;
}

} // namespace

std::shared_ptr<const line_lock> make_line_lock(const client& zk, std::string_view path,
                                                mutex_options options) {
    check_path("mutex path", path);
    check_name(options.name);
    check_node("mutex_options", options.acl, options.label);
    return std::make_shared<line_lock>(line_lock{.client = zk.core(),
                                                 .directory = rules::below(zk.core()->root(), path),
                                                 .names = rules::naming(options.name),
                                                 .style = style_of(options),
                                                 .data = metadata(options.label),
                                                 .acl = std::move(options.acl),
                                                 .persistent_parents = options.persistent_parents,
                                                 .sync_first = options.sync_first,
                                                 .revocable = options.revocable,
                                                 .on_expiry = options.on_expiry,
                                                 .on_over_budget = options.on_over_budget});
}

} // namespace paddock::detail
