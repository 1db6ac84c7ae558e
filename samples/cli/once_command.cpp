#include "commands.hpp"
#include "exit_status.hpp"
#include "once_record.hpp"
#include "run_locked.hpp"
#include "text.hpp"

#include <paddock/client.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <ctime>
#include <iostream>
#include <memory>
#include <utility>

namespace cli {

namespace {

constexpr auto about_once =
    R"text(Every machine may start it: the command runs on the first that gets the lock at PATH, and on the next one if it fails there. Once a run has finished with status 0 the others do nothing, and exit with 0. A run that was killed, or has lost its lock, does not count. On ZooKeeper only.

The record stands below PATH-done, written in one transaction with a check of the lock. Whether it is another day decides the time zone of the machine (TZ) and the clock of the ensemble, when the run began.

A TIME as the period is that since the start of the last finished run. The others exit with 0 and have no result: let the command put it where all can fetch it.

Examples:
    paddock once /jobs/nightly --per day -- ./backup.sh
    paddock once /build/artifact --key "$(sha256sum <input)" -- make artifact)text";

constexpr std::size_t most_deletes = 100; // in one transaction

struct once_options : command_options {
    occasion when{};
    std::size_t keep = 1000;
    bool force = false;
};

/// The finished runs at one path, in the ensemble; used only under the job's lock.
class records {
public:
    records(paddock::client& zk, const std::string& path, const once_options& how)
        : zk_(zk), folder_(path + "-done"), how_(how) {}

    /// The ensemble's time. Makes the directory.
    asio::awaitable<std::int64_t> now() {
        const auto answer = asio::as_tuple(asio::use_awaitable);
        const auto [failed, made] = co_await zk_.create(folder_, answer);
        if (failed && failed != paddock::zk_errc::node_exists) throw paddock::system_error(failed);
        co_return (co_await zk_.set(folder_, "", asio::use_awaitable)).mtime;
    }

    asio::awaitable<std::optional<finished_run>> find(std::int64_t now) {
        const auto found = co_await zk_.children(folder_, asio::use_awaitable);
        const auto mine = records_of(record_name(how_.when), found.names);
        if (mine.empty()) co_return std::nullopt;
        const auto last = co_await zk_.get(folder_ + '/' + mine.back(), asio::use_awaitable);
        const auto run = parse_finished_run(last.data);
        if (!run || !same_occasion(how_.when, run->started, now)) co_return std::nullopt;
        co_return run;
    }

    /// In the transaction that checks the lock; so only one run can ever be recorded.
    asio::awaitable<void> add(const paddock::guard& lock, const finished_run& run) {
        const auto name = record_name(how_.when);
        const auto found = co_await zk_.children(folder_, asio::use_awaitable);
        std::vector<paddock::operation> steps;
        steps.push_back(paddock::op::create{folder_ + '/' + name, to_text(run),
                                            paddock::create_mode::persistent_sequential});
        for (const auto& old : superseded(found.names))
            steps.push_back(paddock::op::remove{folder_ + '/' + old});
        co_await lock.transaction(steps, asio::use_awaitable);
    }

private:
    /// The earlier runs of other periods; the oldest keys.
    std::vector<std::string> superseded(const std::vector<std::string>& names) const {
        auto old = records_of(record_name(how_.when), names);
        if (!how_.when.key.empty()) {
            old.clear();
            for (const auto& name : names)
                if (name.compare(0, 4, "key-") == 0) old.push_back(name);
            sort_by_age(old);
            old.resize(old.size() < how_.keep ? 0 : old.size() - how_.keep + 1);
        }
        if (old.size() > most_deletes) old.resize(most_deletes);
        return old;
    }

    paddock::client& zk_;
    const std::string folder_;
    const once_options& how_;
};

std::string describe_time(std::int64_t ms) {
    const std::time_t seconds = ms / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    std::string text(64, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%F %T %z", &local));
    return text;
}

/// Records the run. A lost connection leaves it unknown whether that was done: then it is there, or
/// can be done again.
asio::awaitable<void> record(records& done, const paddock::guard& lock, const finished_run& run) {
    for (;;) {
        try {
            co_return co_await done.add(lock, run);
        } catch (const paddock::system_error& error) {
            if (error.code() != paddock::errc::outcome_unknown) throw;
        }
        const auto last = co_await done.find(run.started);
        if (last && last->by == run.by && last->started == run.started) co_return;
    }
}

asio::awaitable<ending> run_if_not_done(servers& at, job& command, deadline until,
                                        const once_options& how) {
    auto& zk = at.zk("paddock once");
    waiting_line told(how.lock.name(), how.servers.quiet);
    const auto held = co_await take(at, how.lock, until, told);
    if (!held) co_return not_granted(how);
    records done(zk, how.lock.paths.at(0), how);
    const auto now = co_await done.now();
    const finished_run mine{now, this_process()};
    const auto other = co_await done.find(mine.started);
    if (other && !how.force) {
        if (!how.servers.quiet)
            std::cerr << "paddock: done already by " << printable(other->by) << ", started "
                      << describe_time(other->started) << '\n';
        co_return ending{};
    }
    const auto begin = paddock::boot_clock::now();
    const auto result = co_await run_under(*held, at, command, how);
    if (!result.good()) {
        co_await rest(result, how, begin);
        co_return ending_of(result, how);
    }
    try {
        command.recording(true); // no signal keeps a finished run from being recorded
        co_await record(done, held->first(), mine);
        command.recording(false);
    } catch (const paddock::system_error& error) {
        std::cerr << "paddock: the command has finished, but that is not recorded: "
                  << error.code().message() << '\n';
        co_return ending{error.code() == paddock::errc::lock_lost ? exit_status::lost
                                                                  : exit_status::failed};
    }
    co_await rest(result, how, begin);
    co_return ending{};
}

} // namespace

subcommand add_once(CLI::App& app) {
    auto* const once = app.add_subcommand("once", "run a command once, on one of many machines");
    const auto how = std::make_shared<once_options>();
    once->add_option("PATH", how->lock.paths, "the job, such as /jobs/nightly")->expected(1);
    once->add_option("--per", how->when.per, "once in each hour, day, week, or TIME")
        ->type_name("PERIOD");
    once->add_option("--key", how->when.key, "once for each key, such as the hash of what is built")
        ->type_name("KEY");
    once->add_option("--keep", how->keep, "so many keys are remembered (1000)")
        ->check(CLI::Range(1, 100'000));
    once->add_flag("--force", how->force, "also if it is done already");
    add_command(*once, *how);
    once->footer(about_once);
    const auto run = [how](std::vector<std::string> command) {
        how->command = std::move(command);
        check(how->when);
        return run_with_keeper(*how, [&](servers& at, job& started, deadline until) {
            return run_if_not_done(at, started, until, *how);
        });
    };
    return {once, run, true};
}

} // namespace cli
