// kick and ask: what an operator does to one contender.
#include "ask_servers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "lock_at.hpp"
#include "text.hpp"
#include "waiting_line.hpp"

#include <iostream>
#include <memory>
#include <utility>

namespace cli {

namespace {

enum class deed { kick, ask };

struct kick_options {
    lock_place where{};
    std::string id{};
    bool yes = false;
};

std::string question_of(deed what, const listed_contender& one, const std::string& lock) {
    const auto who = (one.of.holder ? "the holder " : "the waiter ") + describe(one.of);
    if (what == deed::ask)
        return who + " of " + printable(lock) +
               " is asked to release it: a command of `paddock lock` gets SIGTERM. Ask?";
    if (!one.of.holder) return who + " of " + printable(lock) + " queues again at the end. Kick?";
    return who + " of " + printable(lock) +
           " works on until it notices; only fencing tokens stop it. Kick?";
}

/// By its ID, or by the name of its node.
const listed_contender& find(const lock_view& view, const std::string& id) {
    std::vector<const listed_contender*> found;
    for (const auto& one : view.contenders)
        if (one.id == id || one.of.path.ends_with('/' + id)) found.push_back(&one);
    const auto here = printable(view.path);
    if (found.empty())
        throw refusal(here + " has no contender " + printable(id) +
                      ": look with paddock ls, it may have left");
    if (found.size() > 1)
        throw refusal(here + " has several contenders " + printable(id) +
                      ": give the name of its node, which paddock ls --json has");
    return *found.front();
}

asio::awaitable<int> do_it(servers& at, deed what, const kick_options& how) {
    if (what == deed::ask) at.zk("ask");
    const auto view = co_await look(at, how.where);
    const auto& one = find(view, how.id);
    if (what == deed::ask && !one.of.holder)
        throw refusal(printable(how.id) + " only waits: paddock kick sends it to the end");
    const auto question = question_of(what, one, view.path);
    co_await confirm(how.yes, question);
    const auto& act = what == deed::ask ? view.can.revoke : view.can.kick;
    try {
        co_await act(one.of);
    } catch (const paddock::system_error& error) {
        if (error.code() != paddock::zk_errc::no_node) throw;
        throw refusal(printable(how.id) + " of " + printable(view.path) + " has left meanwhile");
    }
    if (!how.where.servers.quiet)
        std::cout << (what == deed::ask ? "asked " : "kicked ") << describe(one.of) << std::endl;
    co_return 0;
}

subcommand add(CLI::App& app, deed what, const std::string& name, const std::string& text,
               const std::string& about) {
    auto* const command = app.add_subcommand(name, text);
    const auto how = std::make_shared<kick_options>();
    add_place(*command, how->where);
    command->footer(about);
    add_yes(*command, how->yes);
    command->add_option("PATH", how->where.path, "the lock");
    command->add_option("ID", how->id, "of the contender, as paddock ls shows it");
    const auto run = [how, what](const std::vector<std::string>&) {
        if (!how->where.key.empty() && how->id.empty()) how->id.swap(how->where.path);
        if (how->id.empty()) throw usage_error("an ID is missing: paddock ls shows it");
        check_confirmable(how->yes);
        return ask_servers(how->where.servers,
                           [how, what](servers& at) { return do_it(at, what, *how); });
    };
    return {command, run};
}

} // namespace

subcommand add_kick(CLI::App& app) {
    return add(
        app, deed::kick, "kick", "take a lock from its holder, or a waiter its place",
        "Deletes the contender's node. The command of a paddock lock that held the lock gets "
        "SIGTERM and SIGKILL, and paddock exits with 123; another program works on until it "
        "notices, and only fencing tokens stop it. A waiter queues again, at the end: to be "
        "rid of it, end its process. On Redis the holder notices when it renews the lock.");
}

subcommand add_ask(CLI::App& app) {
    return add(app, deed::ask, "ask", "ask a holder to release a lock",
               "Marks the holder's node. Every process of the command of a paddock lock gets "
               "SIGTERM, and the lock is held until they have ended; paddock elect takes part "
               "again. Programs with Curator's Revocable are told; others ignore it. On ZooKeeper "
               "only.");
}

} // namespace cli
