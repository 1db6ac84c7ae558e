#include "ask_servers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "lock_tables.hpp"
#include "text.hpp"

#include <paddock/first_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <memory>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

struct ls_options {
    lock_place where{};
    bool as_json = false, watch = false;
};

asio::awaitable<void> any_event(std::vector<paddock::watch>& all, std::size_t from = 0) {
    const auto answer = asio::as_tuple(asio::use_awaitable); // an expired session is a change, too
    const auto event = [&]() -> asio::awaitable<void> { co_await all[from].event(answer); };
    if (from + 1 == all.size())
        co_await event();
    else
        co_await paddock::first_of(event(), any_event(all, from + 1));
}

asio::awaitable<void> pass(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

/// The next change, or a second later: ages grow, and not all changes are those of a directory.
asio::awaitable<void> next_change(std::vector<paddock::watch>& watches) {
    co_await pass(std::chrono::milliseconds(100)); // a busy lock changes faster than people read
    const auto rest = std::chrono::milliseconds(900);
    if (watches.empty())
        co_await pass(rest);
    else
        co_await paddock::first_of(any_event(watches), pass(rest));
}

asio::awaitable<int> watch_it(servers& at, const ls_options& how) {
    const bool redrawn = isatty(STDOUT_FILENO) == 1 && !how.as_json;
    std::string told;
    for (;;) {
        std::vector<paddock::watch> watches;
        const auto view = co_await look(at, how.where, &watches);
        const auto essence = to_json(view); // without ages
        const auto table = to_table(view, std::chrono::system_clock::now());
        if (redrawn)
            std::cout << "\x1b[H\x1b[2J" << table << std::flush;
        else if (essence != told)
            std::cout << (how.as_json ? essence : (told.empty() ? "" : "\n") + table) << std::flush;
        if (!std::cout) co_return exit_status::failed;
        told = essence;
        co_await next_change(watches);
    }
}

asio::awaitable<int> list_once(servers& at, const ls_options& how) {
    const auto view = co_await look(at, how.where);
    const auto now = std::chrono::system_clock::now();
    if (!view.exists && how.where.key.empty()) // a key's directory comes and goes
        throw refusal(printable(view.path) + " does not exist: the lock was never taken, or its "
                                             "directory is gone while it is free; check the path");
    std::cout << (how.as_json ? to_json(view) : to_table(view, now)) << std::flush;
    co_return 0;
}

} // namespace

subcommand add_ls(CLI::App& app) {
    auto* const ls = app.add_subcommand("ls", "show who holds a lock, and who waits");
    const auto how = std::make_shared<ls_options>();
    add_place(*ls, how->where);
    ls->add_flag("--json", how->as_json, "as JSON, on one line for each look");
    ls->add_flag("--watch", how->watch, "go on showing changes");
    ls->add_option("PATH", how->where.path, "the lock, a family of locks, or a key on Redis");
    ls->footer(
        "The ID, which kick and ask take, is the sequence number of the contender's node; "
        "permit-N for a permit of a semaphore;\nfor the node of a simple_mutex its czxid, "
        "on Redis a sum of the key's value. A permit is `taken` that the first waiter may have "
        "already, which gets all of its permits before it holds any.\nExit status: 1 if PATH does "
        "not exist.\n\n"
        "JSON: {path, kind, note, contenders: [{place, id, holder, shared, label, host, pid, "
        "since, session,\nrevoke_requested, token, path, data}], keys: [{key, complete, "
        "path, contenders}]}; what is not known is null.\n`keys` is of kind family and "
        "directory only; on Redis a contender has left_ms.");
    const auto run = [how](const std::vector<std::string>&) {
        return ask_servers(how->where.servers, [how](servers& at) {
            return how->watch ? watch_it(at, *how) : list_once(at, *how);
        });
    };
    return {ls, run};
}

} // namespace cli
