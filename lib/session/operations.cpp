// The node operations of paddock::client.
#include "session/operations.hpp"

#include "rules/acl.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/watch_latch.hpp"
#include "support/argument.hpp"

#include <paddock/node_operations.hpp>

#include <algorithm>

namespace paddock {

using detail::call;
namespace requests = detail::requests;
using native::reply;

namespace detail {

error_code fault(std::string_view path, std::string_view name) {
    const auto why = rules::path_fault(path);
    return why.empty() ? error_code() : refused_argument(name, rules::without_place(why));
}

bool has_credentials(const core& client) { return !client.options().auth.empty(); }

error_code fault(const core& client, const acl& entries, std::string_view name) {
    const auto why = rules::acl_fault(entries, has_credentials(client));
    return why.empty() ? error_code() : refused_argument(name, why);
}

error_code fault(const core& client, const create_options& how) {
    // ZooKeeper keeps the TTL in 40 bits of the node's owner (EphemeralType).
    constexpr std::chrono::milliseconds longest{0xff'ffff'ffff};
    if (!is_enumerator(how.mode, create_mode::persistent_sequential_with_ttl))
        return refused_argument("create_options::mode", "is none of its enumerators");
    const bool ttl = how.mode == create_mode::persistent_with_ttl ||
                     how.mode == create_mode::persistent_sequential_with_ttl;
    if (ttl && (how.ttl.count() <= 0 || how.ttl > longest))
        return refused_argument("create_options::ttl", "is not between 1 ms and 2^40 ms");
    if (!ttl && how.ttl.count() != 0)
        return refused_argument("create_options::ttl", "is for the modes with a TTL only");
    return fault(client, how.acl, "create_options::acl");
}

namespace {

std::string_view name_of(const op::create&) { return "op::create"; }
std::string_view name_of(const op::set&) { return "op::set"; }
std::string_view name_of(const op::remove&) { return "op::remove"; }
std::string_view name_of(const op::check&) { return "op::check"; }

} // namespace

error_code fault(const core& client, const std::vector<operation>& steps) {
    const auto one = [&client](const auto& step) -> error_code {
        if constexpr (std::is_same_v<std::decay_t<decltype(step)>, op::create>) {
            // The C client aborts the process for a container in a multi, and refuses TTL nodes.
            if (!is_enumerator(step.mode, create_mode::ephemeral_sequential))
                return refused_argument("op::create::mode", "is none that a multi can have");
            if (const auto problem = fault(client, step.acl, "op::create::acl")) return problem;
        }
        return fault(step.path, std::string(name_of(step)) + "::path");
    };
    for (const auto& step : steps)
        if (const auto problem = std::visit(one, step)) return problem;
    return {};
}

error_code fault(const core& client, const request& what) {
    const bool too_large = bytes_of(what) > client.options().max_request_bytes;
    return too_large
               ? refused_argument("the request", "is larger than client_options::max_request_bytes")
               : error_code();
}

/// A sequential node at "/" has only a number for a name: the name goes below the root, not at its
/// end.
std::string creation_path(std::string_view root, std::string_view path, create_mode mode) {
    const bool sequential = mode == create_mode::persistent_sequential ||
                            mode == create_mode::ephemeral_sequential ||
                            mode == create_mode::persistent_sequential_with_ttl;
    return sequential && path == "/" ? std::string(root) + '/' : rules::below(root, path);
}

std::vector<operation> below(std::string_view root, std::vector<operation> steps) {
    const auto one = [root](auto& step) {
        if constexpr (std::is_same_v<std::decay_t<decltype(step)>, op::create>)
            step.path = creation_path(root, step.path, step.mode);
        else
            step.path = rules::below(root, step.path);
    };
    for (auto& step : steps)
        std::visit(one, step);
    return steps;
}

std::vector<operation_result> without(std::string_view root,
                                      std::span<const operation_result> results) {
    std::vector<operation_result> out(results.begin(), results.end());
    for (auto& result : out)
        if (!result.path.empty()) result.path = rules::without(root, result.path);
    return out;
}

} // namespace detail

namespace {

/// Sends a request whose path was checked, unless it is too large.
template <typename... Result, typename Read>
void start(const std::shared_ptr<call<Result...>>& c, detail::request what, Read read) {
    if (const auto problem = detail::fault(*c->client(), what)) return c->refuse(problem);
    c->start(std::move(what), std::move(read));
}

node_stat stat_of(const reply& r) { return r.stat ? *r.stat : node_stat{}; }

using watched_by = std::optional<std::shared_ptr<detail::watch_latch>>;

/// A read, perhaps with a watch; it is sent again if its answer is lost.
template <typename Request, typename Result, typename Read>
void start_read(detail::handler<void(error_code, Result)>&& h,
                const std::shared_ptr<detail::core>& core, const std::string& path,
                const watched_by& watch, detail::watch_kind kind, Read read) {
    auto c = std::make_shared<call<Result>>(core, std::move(h));
    const auto latch = watch.value_or(nullptr);
    const bool usable = !watch || (latch && latch->client() == core);
    auto problem = usable ? detail::fault(path)
                          : refused_argument("watch", "is of another client, or was moved from");
    const auto full = problem ? std::string() : rules::below(core->root(), path);
    Request what{full};
    if constexpr (requires { what.watch; }) what.watch = latch != nullptr;
    if (!problem) problem = detail::fault(*core, what);
    if (problem) {
        if (latch) latch->client()->post([latch, problem] { latch->read_refused(problem); });
        return c->refuse(problem);
    }
    c->repeatable();
    if (latch) {
        const auto sets_watch = [kind](error_code result) {
            const bool missing_is_watched = kind == detail::watch_kind::existence;
            return !result || (missing_is_watched && result == zk_errc::no_node);
        };
        c->on_answer = [latch, sets_watch](const reply& r) {
            const auto result = detail::zookeeper_error(r.rc);
            if (sets_watch(result)) latch->armed();
            return result;
        };
        c->on_failure = [latch, sets_watch](error_code result) {
            if (!sets_watch(result)) latch->read_failed(result);
        };
    }
    c->start(
        std::move(what), [read](const reply& r) { return std::tuple<Result>(read(r)); },
        [latch, full, kind] { return latch ? latch->use(full, kind) : error_code(); });
}

std::tuple<> nothing(const reply&) { return {}; }

} // namespace

node_operations::node_operations(core_ptr core) noexcept : core_(std::move(core)) {}
node_operations::node_operations(node_operations&&) noexcept = default;
node_operations& node_operations::operator=(node_operations&&) noexcept = default;
node_operations::~node_operations() = default;

node_operations::executor_type node_operations::get_executor() const noexcept {
    return core_ ? core_->get_executor() : executor_type();
}

void node_operations::start_get(detail::handler<void(error_code, get_result)> h, core_ptr core,
                                std::string path, watched watch) {
    start_read<requests::get>(std::move(h), core, path, watch, detail::watch_kind::data,
                              [](const reply& r) {
                                  return get_result{std::string(r.value), stat_of(r)};
                              });
}

void node_operations::start_exists(detail::handler<void(error_code, node_stat)> h, core_ptr core,
                                   std::string path, watched watch) {
    start_read<requests::exists>(std::move(h), core, path, watch, detail::watch_kind::existence,
                                 stat_of);
}

void node_operations::start_children(detail::handler<void(error_code, children_result)> h,
                                     core_ptr core, std::string path, watched watch) {
    start_read<requests::list>(
        std::move(h), core, path, watch, detail::watch_kind::children, [](const reply& r) {
            return children_result{{r.names.begin(), r.names.end()}, stat_of(r)};
        });
}

void node_operations::start_get_acl(detail::handler<void(error_code, acl_result)> h, core_ptr core,
                                    std::string path) {
    start_read<requests::get_acl>(
        std::move(h), core, path, {}, detail::watch_kind::data, [](const reply& r) {
            return acl_result{{r.entries.begin(), r.entries.end()}, stat_of(r)};
        });
}

void node_operations::start_sync(detail::handler<void(error_code)> h, core_ptr core,
                                 std::string path) {
    auto c = std::make_shared<call<>>(core, std::move(h));
    if (const auto problem = detail::fault(path)) return c->refuse(problem);
    c->repeatable();
    start(c, requests::sync{rules::below(core->root(), path)}, nothing);
}

void node_operations::start_create(detail::handler<void(error_code, create_result)> h,
                                   core_ptr core, std::string path, std::string data,
                                   create_options how) {
    auto c = std::make_shared<call<create_result>>(core, std::move(h));
    for (const auto problem : {detail::fault(path), detail::fault(*core, how)})
        if (problem) return c->refuse(problem);
    auto full = detail::creation_path(core->root(), path, how.mode);
    start(c, requests::create{std::move(full), std::move(data), requests::share(std::move(how))},
          [core](const reply& r) {
              return std::tuple(create_result{rules::without(core->root(), r.value), stat_of(r)});
          });
}

void node_operations::start_set(detail::handler<void(error_code, node_stat)> h, core_ptr core,
                                std::string path, std::string data, std::int32_t version) {
    auto c = std::make_shared<call<node_stat>>(core, std::move(h));
    if (const auto problem = detail::fault(path)) return c->refuse(problem);
    start(c, requests::set{rules::below(core->root(), path), std::move(data), version},
          [](const reply& r) { return std::tuple(stat_of(r)); });
}

void node_operations::start_remove(detail::handler<void(error_code)> h, core_ptr core,
                                   std::string path, std::int32_t version) {
    auto c = std::make_shared<call<>>(core, std::move(h));
    if (const auto problem = detail::fault(path)) return c->refuse(problem);
    start(c, requests::remove{rules::below(core->root(), path), version}, nothing);
}

void node_operations::start_set_acl(detail::handler<void(error_code)> h, core_ptr core,
                                    std::string path, acl entries, std::int32_t version) {
    auto c = std::make_shared<call<>>(core, std::move(h));
    for (const auto problem : {detail::fault(path), detail::fault(*core, entries)})
        if (problem) return c->refuse(problem);
    start(c, requests::set_acl{rules::below(core->root(), path), std::move(entries), version},
          nothing);
}

void node_operations::start_multi(
    detail::handler<void(error_code, std::vector<operation_result>)> h, core_ptr core,
    std::vector<operation> steps) {
    auto c = std::make_shared<call<std::vector<operation_result>>>(core, std::move(h));
    if (const auto problem = detail::fault(*core, steps)) return c->refuse(problem);
    start(c, requests::multi{detail::below(core->root(), std::move(steps))},
          [core](const reply& r) { return std::tuple(detail::without(core->root(), r.results)); });
}

} // namespace paddock
