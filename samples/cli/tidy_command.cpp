// Finds, and deletes, what locks have left behind and no session ever will: empty directories, and
// persistent nodes that stand in a queue. A node with data stays, whatever its name.
#include "ask_servers.hpp"
#include "commands.hpp"
#include "node_names.hpp"
#include "text.hpp"
#include "waiting_line.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace cli {

namespace {

using std::chrono::system_clock;

struct tidy_options {
    server_options servers{};
    std::string path{};
    bool remove = false;
    milliseconds older{std::chrono::hours(1)};
    int depth = 8;
    int most = 100'000;
};

struct visited_node {
    std::string path{};
    paddock::node_stat stat{};
};

/// When transactions were executed at the latest, by the times of nodes that were seen: a Stat has
/// no time for the last change of a directory, only its transaction (pzxid).
class transaction_times {
public:
    void saw(const paddock::node_stat& stat) {
        at_.emplace(stat.czxid, stat.ctime);
        at_.emplace(stat.mzxid, stat.mtime);
    }
    std::optional<std::int64_t> latest(std::int64_t zxid) const {
        const auto next = at_.lower_bound(zxid);
        return next == at_.end() ? std::nullopt : std::optional(next->second);
    }

private:
    std::map<std::int64_t, std::int64_t> at_;
};

struct walk {
    std::vector<visited_node> nodes{};
    transaction_times times{};
    bool complete = true;
};

/// ZooKeeper's own nodes, also where the client's root is there.
bool of_zookeeper(const tidy_options& how, const std::string& path) {
    const auto mark = how.servers.servers.find("://");
    const auto slash = how.servers.servers.find('/', mark == std::string::npos ? 0 : mark + 3);
    std::string full = slash == std::string::npos ? "" : how.servers.servers.substr(slash);
    while (full.ends_with('/'))
        full.pop_back();
    full += path;
    return full == "/zookeeper" || full.starts_with("/zookeeper/");
}

asio::awaitable<walk> walk_below(paddock::client& zk, const tidy_options& how) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    walk all;
    std::deque<std::pair<std::string, int>> next{{how.path, 0}};
    for (; !next.empty(); next.pop_front()) {
        const auto [path, depth] = next.front();
        if (of_zookeeper(how, path)) continue;
        if (all.nodes.size() == static_cast<std::size_t>(how.most)) {
            all.complete = false;
            break;
        }
        const auto [failed, list] = co_await zk.children(path, answer);
        if (failed && depth == 0) throw paddock::system_error(failed, path);
        if (failed && failed != paddock::zk_errc::no_node && !how.servers.quiet)
            std::cout << "left " << printable(path) << ": " << failed.message() << '\n';
        if (failed) continue;
        all.times.saw(list.stat);
        all.nodes.push_back({path, list.stat});
        if (depth == how.depth && !list.names.empty()) all.complete = false;
        if (depth == how.depth) continue;
        for (const auto& name : list.names)
            next.emplace_back(path == "/" ? '/' + name : path + '/' + name, depth + 1);
    }
    co_return all;
}

enum class verdict { no_rest, remove, leave };

struct judgement {
    verdict what = verdict::no_rest;
    std::string why{};
};

std::int64_t now_ms() {
    const auto now = system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string age_of(std::int64_t time) {
    return describe(std::chrono::milliseconds(std::max<std::int64_t>(now_ms() - time, 0)));
}

judgement judge_contender(const visited_node& node, const contender_name& name,
                          const tidy_options& how) {
    const std::string what = "a persistent node in the queue of a lock, made " +
                             age_of(node.stat.ctime) + " ago, which no session's end deletes";
    if (!name.has_id) return {verdict::leave, what + "; but other programs may use such a name"};
    if (node.stat.data_length > 0)
        return {verdict::leave, what + "; but it has data: paddock kick deletes it"};
    if (now_ms() - node.stat.mtime < how.older.count())
        return {verdict::leave, what + "; but it is younger than --older"};
    return {verdict::remove, what};
}

judgement judge_directory(const visited_node& node, const tidy_options& how,
                          const transaction_times& times) {
    const auto used = times.latest(node.stat.pzxid);
    std::string what = "an empty directory";
    if (used) what += ", not used for at least " + age_of(*used);
    if (how.older.count() == 0) return {verdict::remove, what};
    if (now_ms() - node.stat.ctime < how.older.count())
        return {verdict::leave, "an empty directory; but it is younger than --older"};
    if (!used)
        return {verdict::leave, what + "; but no node here tells when it was used last: --older 0"};
    if (now_ms() - *used < how.older.count())
        return {verdict::leave, "an empty directory; but it may have been used within --older"};
    return {verdict::remove, what};
}

judgement judge(const visited_node& node, const tidy_options& how, const walk& all) {
    const auto& stat = node.stat;
    // Containers look like other nodes. An empty one is deleted by the servers soon, anyway.
    const bool rest = stat.ephemeral_owner == 0 && stat.num_children == 0;
    if (!rest || node.path == how.path) return {};
    const auto name = read_contender_name(node.path.substr(node.path.rfind('/') + 1));
    if (name) return judge_contender(node, *name, how);
    const bool had_children = stat.cversion > 0;
    if (!had_children || stat.data_length > 0 || stat.version != 0) return {};
    return judge_directory(node, how, all.times);
}

asio::awaitable<bool> remove(paddock::client& zk, const visited_node& node,
                             const std::string& why) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    const auto [failed] = co_await zk.remove(node.path, node.stat.version, answer);
    const auto path = printable(node.path);
    if (!failed)
        std::cout << "deleted " << path << ": " << why << '\n';
    else if (failed == paddock::zk_errc::not_empty || failed == paddock::zk_errc::bad_version)
        std::cout << "left " << path << ": it is in use again\n";
    else if (failed != paddock::zk_errc::no_node)
        std::cout << "left " << path << ": " << failed.message() << '\n';
    co_return !failed;
}

asio::awaitable<int> tidy(servers& at, const tidy_options& how) {
    auto& zk = at.zk("tidy");
    walk all;
    try {
        all = co_await walk_below(zk, how);
    } catch (const paddock::system_error& error) {
        if (error.code() == paddock::errc::bad_argument)
            throw usage_error(how.path + ": " + error.code().message());
        if (error.code() != paddock::zk_errc::no_node) throw;
        throw refusal(printable(how.path) + " does not exist");
    }
    std::size_t count = 0;
    std::map<std::string, std::int32_t> rests;         // below each node
    for (std::size_t n = all.nodes.size(); n-- > 0;) { // children come before their parents
        auto& node = all.nodes[n];
        node.stat.num_children -= rests[node.path];
        const auto judged = judge(node, how, all);
        if (judged.what == verdict::leave && !how.servers.quiet)
            std::cout << "left " << printable(node.path) << ": " << judged.why << '\n';
        if (judged.what != verdict::remove) continue;
        bool removed = true;
        if (how.remove) removed = co_await remove(zk, node, judged.why);
        if (!removed) continue;
        if (!how.remove)
            std::cout << "would delete " << printable(node.path) << ": " << judged.why << '\n';
        ++rests[node.path.substr(0, node.path.rfind('/'))];
        ++count;
    }
    std::cout << std::flush;
    if (!all.complete) std::cerr << "paddock: there is more below: see --depth and --limit\n";
    if (how.servers.quiet) co_return 0;
    std::cerr << "paddock: " << all.nodes.size() << " nodes looked at, " << count
              << (how.remove ? " deleted\n" : " would be deleted; --delete does it\n");
    co_return 0;
}

} // namespace

subcommand add_tidy(CLI::App& app) {
    auto* const command = app.add_subcommand("tidy", "delete what locks have left behind");
    const auto how = std::make_shared<tidy_options>();
    add_servers(*command, how->servers);
    command->add_flag("--delete", how->remove, "delete it; without this it is only listed");
    add_time(*command, "--older", how->older, "only what was not used for so long (1h)");
    command->add_option("--depth", how->depth, "so many levels below PATH (8)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    command->add_option("--limit", how->most, "look at so many nodes at most (100000)")
        ->type_name("N")
        ->check(CLI::Range(1, 100'000'000));
    command->add_option("PATH", how->path, "below this node, which itself stays")->required();
    command->footer(
        "It deletes an empty persistent node that had children and has no data, which is the "
        "directory of a lock of kazoo, or with persistent_parents; and a persistent node with the "
        "name of a contender and without data, which no session will ever delete.\n\n"
        "Other recipes leave such directories, too, and the root of a zk://…/root can be one: give "
        "a PATH of locks only. A program of kazoo does not make again a directory that it has used "
        "since it started: its locks fail with NoNodeError. Let --older be longer than such a "
        "program goes without a lock. It never deletes PATH, a node with data, with children, of a "
        "session, or below /zookeeper, nor what has changed since it looked.\n\n"
        "A directory's last use is told by the times of other nodes below PATH. Ages assume that "
        "the clocks of this machine and the servers agree: paddock doctor compares them.");
    const auto run = [how](const std::vector<std::string>&) {
        if (of_zookeeper(*how, how->path)) throw usage_error("/zookeeper is ZooKeeper's own");
        return ask_servers(how->servers, [how](servers& at) { return tidy(at, *how); });
    };
    return {command, run};
}

} // namespace cli
