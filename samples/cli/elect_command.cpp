#include "commands.hpp"
#include "exit_status.hpp"
#include "run_locked.hpp"
#include "text.hpp"

#include <paddock/election.hpp>
#include <paddock/first_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <unistd.h>
#include <utility>
#include <variant>

namespace cli {

namespace {

constexpr auto about_elect =
    R"text(Runs the command while this process leads, and ends it when the leadership is lost, as paddock lock does; then it takes part again, behind the others. It exits when the command has ended by itself, or was ended by --at-most. When a leader is killed, the next one leads at the latest after its --session-timeout. On ZooKeeper it takes part in the election that Curator's LeaderLatch has at PATH; on Redis it takes the lock.

Example:
    paddock elect /leaders/scheduler -- ./scheduler)text";

/// Who this participant is, for the others: an election's node has no other data than its id. This
/// is what the library writes into the nodes of other locks.
std::string own_id(const std::string& label) {
    auto time = iso_time(std::chrono::system_clock::now());
    time.insert(time.size() - 1, ".000");
    const boost::json::value id{{"host", host_name()},
                                {"pid", static_cast<std::int64_t>(getpid())},
                                {"label", valid_utf8(label)},
                                {"time", time}};
    return boost::json::serialize(id);
}

/// Says who leads meanwhile, on a terminal or to a log, until it is cancelled.
asio::awaitable<void> tell_leaders(const paddock::election& election, waiting_line& told) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (paddock::fencing_token seen{};;) {
        pause.expires_after(std::chrono::milliseconds(300));
        co_await pause.async_wait(asio::use_awaitable);
        auto [failed, leader] = co_await election.next_leader(seen, answer);
        if (failed) co_return;
        seen = leader ? leader->token : paddock::fencing_token{};
        if (leader && leader->host.empty()) leader->label = leader->data; // of another program
        if (leader) told.show_leader(*leader);
    }
}

asio::awaitable<std::unique_ptr<holding>> campaign(servers& at, const command_options& how,
                                                   deadline until) {
    waiting_line told(how.lock.name(), how.servers.quiet);
    if (at.on_redis()) co_return co_await take(at, how.lock, until, told);
    paddock::election_options options;
    options.id = own_id(how.lock.label);
    const paddock::election election(at.zk("elect"), how.lock.paths.at(0), options);
    const auto elected = [&]() -> asio::awaitable<paddock::guard> {
        if (until) return election.try_campaign_until(*until, asio::use_awaitable);
        return election.campaign(asio::use_awaitable);
    };
    const auto tell = [&]() -> asio::awaitable<void> {
        co_await tell_leaders(election, told);
        co_await wait_for_ever();
    };
    if (how.servers.quiet) co_return hold(co_await elected());
    auto first = co_await paddock::first_of(elected(), tell());
    co_return hold(std::get<0>(std::move(first)));
}

asio::awaitable<ending> lead(servers& at, job& command, deadline until,
                             const command_options& how) {
    for (;;) {
        const auto leadership = co_await campaign(at, how, until);
        if (!leadership) co_return not_granted(how);
        if (!how.servers.quiet) std::cerr << "paddock: leads " << how.lock.name() << '\n';
        const auto begin = paddock::boot_clock::now();
        const auto result = co_await run_under(*leadership, at, command, how);
        co_await rest(result, how, begin);
        co_await leadership->unlock();
        const bool again = (result.lost || result.asked) && !result.keeper_gone;
        if (!again) co_return ending_of(result, how);
        std::cerr << "paddock: leads no more: "
                  << (result.lost ? result.why : "somebody has asked for that") << '\n';
        until.reset();
    }
}

} // namespace

subcommand add_elect(CLI::App& app) {
    auto* const elect = app.add_subcommand("elect", "run a command while leading, and again");
    const auto how = std::make_shared<command_options>();
    elect->add_option("PATH", how->lock.paths, "the election, such as /leaders/scheduler")
        ->expected(1);
    add_command(*elect, *how);
    elect->footer(about_elect);
    how->runs_again = true;
    const auto run = [how](std::vector<std::string> command) {
        how->command = std::move(command);
        return run_with_keeper(*how, [&](servers& at, job& started, deadline until) {
            return lead(at, started, until, *how);
        });
    };
    return {elect, run, true};
}

} // namespace cli
