#include "lock_at.hpp"

#include "text.hpp"

#include <paddock/election.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/simple_mutex.hpp>
#if PADDOCK_HAS_REDIS
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>
#endif

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace cli {

namespace {

using contenders = std::vector<paddock::contender>;

template <typename Lock>
lock_operations operations_on(const Lock& lock) {
    const auto token = asio::use_awaitable;
    lock_operations can;
    can.revoke = [=](paddock::contender one) { return lock.revoke(std::move(one), token); };
    can.kick = [=](paddock::contender one) { return lock.kick(std::move(one), token); };
    if constexpr (requires { lock.contenders(token); })
        can.contenders = [=] { return lock.contenders(token); };
    else if constexpr (requires { lock.participants(token); })
        can.contenders = [=] { return lock.participants(token); };
    else
        can.contenders = [=]() -> asio::awaitable<contenders> {
            const auto holder = co_await lock.holder(token);
            contenders all;
            if (holder) all.push_back(*holder);
            co_return all;
        };
    return can;
}

lock_operations operations_on(paddock::client& zk, const lock_view& view, const std::string& name) {
    switch (view.kind) {
    case lock_kind::shared_mutex:
        return operations_on(paddock::shared_mutex(zk, view.path));
    case lock_kind::semaphore: // the number of permits is of no importance here
        return operations_on(paddock::semaphore(zk, view.path, 1));
    case lock_kind::election:
        return operations_on(paddock::election(zk, view.path));
    case lock_kind::simple_mutex:
        return operations_on(paddock::simple_mutex(zk, view.path));
    default:
        paddock::mutex_options options;
        options.name = name;
        return operations_on(paddock::mutex(zk, view.path, options));
    }
}

/// What the children of a directory say about its lock.
struct found_kind {
    lock_kind kind = lock_kind::none;
    std::string name = "lock"; ///< of a mutex
    bool several = false;      ///< there are nodes of other locks, too
};

found_kind kind_of(const std::vector<std::string>& children) {
    const auto has = [&](const char* name) {
        return std::find(children.begin(), children.end(), name) != children.end();
    };
    found_kind found;
    if (has("leases") && has("locks")) {
        found.kind = lock_kind::semaphore;
        return found;
    }
    std::map<std::pair<lock_kind, std::string>, std::size_t> nodes;
    for (const auto& child : children)
        if (const auto read = read_contender_name(child)) ++nodes[{read->kind, read->lock}];
    std::size_t most = 0;
    for (const auto& [lock, count] : nodes)
        if (std::exchange(most, std::max(most, count)) < count)
            std::tie(found.kind, found.name) = lock;
    found.several = nodes.size() > 1;
    return found;
}

std::string joined(const std::string& directory, const std::string& name) {
    return directory == "/" ? '/' + name : directory + '/' + name;
}

/// A read which may arm a watch.
template <typename Read>
auto watched(paddock::client& zk, std::vector<paddock::watch>* watches, Read read) {
    if (watches == nullptr) return read();
    return read(watches->emplace_back(zk));
}

std::string id_of(const paddock::contender& one, lock_kind kind) {
    // The node of a simple_mutex has no number, but is the same node in one hold only.
    if (kind == lock_kind::simple_mutex) return hex(one.token.zxid).substr(2);
    const bool permit = kind == lock_kind::semaphore && one.holder;
    return (permit ? "permit-" : "") + std::to_string(one.sequence);
}

/// Whether the permit may be one of several that the first waiter wants. Nothing says so: the same
/// session may hold it for another call.
bool perhaps_waits(const paddock::contender& permit, const std::vector<paddock::contender>& all) {
    const auto waits = [](const paddock::contender& one) { return !one.holder; };
    const auto first = std::find_if(all.begin(), all.end(), waits);
    return permit.holder && first != all.end() && first->session == permit.session &&
           first->since <= permit.since;
}

asio::awaitable<void> read_contenders(paddock::client& zk, const found_kind& found,
                                      lock_view& view) {
    view.can = operations_on(zk, view, found.name);
    const auto all = co_await view.can.contenders();
    for (const auto& one : all)
        view.contenders.push_back({id_of(one, view.kind), one, perhaps_waits(one, all), {}});
    if (found.several)
        view.note = "other nodes here belong to another kind of lock, which does not exclude this "
                    "one: see --kind";
    for (const auto& one : all)
        if (one.session == 0)
            view.note = "a node without a session blocks the others for ever: kick it";
    for (const auto& one : view.contenders)
        if (one.perhaps_waits)
            view.note = "a permit that is taken may be one that the first waiter has already";
    if (view.kind == lock_kind::simple_mutex)
        view.note = "who waits for a simple_mutex has no node";
}

/// A family, if a key in use has contenders; else it is a directory of something else.
asio::awaitable<void> read_keys(paddock::client& zk, bool certain, lock_view& view) {
    view.kind = certain ? lock_kind::family : lock_kind::directory;
    if (view.path == "/") co_return; // which no family can have
    const paddock::lock_family family(zk, view.path);
    view.keys = co_await family.keys(asio::use_awaitable);
    if (certain || view.keys.empty()) co_return;
    const auto answer = asio::as_tuple(asio::use_awaitable);
    const auto [failed, below] = co_await zk.children(view.keys.front().path, answer);
    const auto first = kind_of(below.names).kind;
    if (first != lock_kind::none) view.kind = lock_kind::family;
}

asio::awaitable<void> watch_below(paddock::client& zk, const std::string& path,
                                  std::vector<paddock::watch>* watches) {
    if (watches == nullptr) co_return;
    const auto answer = asio::as_tuple(asio::use_awaitable);
    for (const auto* const name : {"leases", "locks"}) {
        auto& changed = watches->emplace_back(zk);
        const auto below = joined(path, name);
        const auto [failed, list] = co_await zk.children(below, changed, answer);
        if (failed) watches->pop_back();
    }
}

asio::awaitable<paddock::children_result> list(paddock::client& zk, const std::string& path,
                                               std::vector<paddock::watch>* watches,
                                               lock_view& view) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    const auto children = [&](auto&... changed) { return zk.children(path, changed..., answer); };
    auto reading = watched(zk, watches, children);
    const auto [failed, list] = co_await std::move(reading);
    view.exists = !failed;
    if (failed == paddock::errc::bad_argument) throw usage_error(path + ": " + failed.message());
    if (failed && failed != paddock::zk_errc::no_node) throw paddock::system_error(failed, path);
    if (failed && watches != nullptr) {
        watches->clear();
        auto& created = watches->emplace_back(zk);
        co_await zk.exists(path, created, answer);
    }
    co_return list;
}

asio::awaitable<lock_view> look_on_zookeeper(paddock::client& zk, const lock_place& where,
                                             std::vector<paddock::watch>* watches) {
    lock_view view;
    view.path = where.path;
    if (!where.key.empty())
        view.path = paddock::lock_family(zk, where.key.at(0)).path_of(where.key.at(1));
    const auto listed = co_await list(zk, view.path, watches, view);
    if (!view.exists) co_return view;
    auto found = kind_of(listed.names);
    const bool alone = found.kind == lock_kind::none && listed.stat.ephemeral_owner > 0;
    if (alone) found.kind = lock_kind::simple_mutex;
    const bool family = found.kind == lock_kind::none && !listed.names.empty();
    if (where.kind != lock_kind::none) found.kind = where.kind;
    view.kind = found.kind;
    if (where.kind == lock_kind::family || (family && where.kind == lock_kind::none))
        co_await read_keys(zk, where.kind == lock_kind::family, view);
    else if (view.kind != lock_kind::none)
        co_await read_contenders(zk, found, view);
    if (view.kind == lock_kind::semaphore) co_await watch_below(zk, view.path, watches);
    co_return view;
}

#if PADDOCK_HAS_REDIS
/// The value is long; this is as good as unique among those of one lock (FNV-1a).
std::string fingerprint(const std::string& value) {
    std::uint32_t sum = 2166136261U;
    for (const char c : value)
        sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
    return hex(sum).substr(2);
}

listed_contender listed(const paddock::redis::held_key& key) {
    listed_contender one;
    one.id = fingerprint(key.value);
    one.left = key.left;
    one.of.holder = true;
    one.of.data = key.value;
    one.of.host = key.host;
    one.of.pid = key.pid;
    one.of.label = key.label;
    one.of.since = key.since;
    return one;
}

asio::awaitable<lock_view> look_on_redis(servers& at, const lock_place& where) {
    if (where.kind != lock_kind::none) at.zk("--kind");
    const auto token = asio::use_awaitable;
    lock_view view;
    view.kind = lock_kind::redis;
    view.path = where.path;
    if (!where.key.empty())
        view.path =
            paddock::redis::lock_family(at.redis(), where.key.at(0)).name_of(where.key.at(1));
    const paddock::redis::mutex lock(at.redis(), view.path);
    const auto holder = co_await lock.holder(token);
    view.note = "who waits for a lock on Redis is not known there";
    if (!holder) co_return view;
    view.contenders.push_back(listed(*holder));
    if (holder->kicked) view.note = "this hold was kicked, and ends when its time to live is over";
    view.can.kick = [lock, key = *holder](paddock::contender) -> asio::awaitable<void> {
        const bool ended = co_await lock.kick(key, asio::use_awaitable);
        const auto gone = make_error_code(paddock::zk_errc::no_node);
        if (!ended) throw paddock::system_error(gone);
    };
    co_return view;
}
#endif

} // namespace

asio::awaitable<lock_view> look(servers& at, const lock_place& where,
                                std::vector<paddock::watch>* watches) {
    if (where.path.empty() == where.key.empty())
        throw usage_error("give either a PATH, such as /locks/nightly, or --key FAMILY KEY");
#if PADDOCK_HAS_REDIS
    if (at.on_redis()) co_return co_await look_on_redis(at, where);
#endif
    co_return co_await look_on_zookeeper(at.zk("the lock"), where, watches);
}

void add_place(CLI::App& app, lock_place& into) {
    add_servers(app, into.servers);
    app.add_option("--key", into.key, "the lock of a key of a family, instead of PATH")
        ->type_name("FAMILY KEY")
        ->expected(2);
    std::map<std::string, lock_kind> kinds;
    for (const auto kind : {lock_kind::mutex, lock_kind::shared_mutex, lock_kind::semaphore,
                            lock_kind::election, lock_kind::simple_mutex, lock_kind::family})
        kinds[name_of(kind)] = kind;
    const auto read = [&into, kinds](const std::string& word) {
        const auto found = kinds.find(word);
        if (found == kinds.end())
            throw CLI::ValidationError("--kind " + word +
                                       " is not known; there are mutex, "
                                       "shared_mutex, semaphore, election, simple_mutex, family");
        into.kind = found->second;
    };
    app.add_option_function<std::string>(
           "--kind", read,
           "the kind of the lock, if its nodes do not tell; a wrong one names them all")
        ->type_name("KIND");
}

} // namespace cli
