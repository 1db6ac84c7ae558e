#include "ask_servers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "finished_runs.hpp"
#include "run_locked.hpp"
#include "text.hpp"

#include <paddock/client.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <ctime>
#include <iostream>
#include <memory>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

constexpr auto about_once =
    R"text(Every machine may start it: the command runs on the first that gets the lock at PATH, and on the next one if it fails there. Once a run has finished with status 0 the others do nothing, and exit with 0. A run that was killed, or has lost its lock, does not count. On ZooKeeper only.

The record stands below PATH-done, written in one transaction with a check of the lock. Whether it is another day decides the time zone of the machine (TZ) and the clock of the ensemble, when the run began.

A TIME as the period is that since the start of the last finished run. The others exit with 0 and have no result: let the command put it where all can fetch it.

--show and --forget run nothing, and take no lock. With --per they are about the run of this period, with --key about that of the key, without both about all that are recorded. Exit status: 1 if there is none. What is running now is recorded when it has finished, also after a --forget.

JSON: {path, runs: [{key, started, finished, by}]}; the key of a run for a period is null.

Examples:
    paddock once /jobs/nightly --per day -- ./backup.sh
    paddock once /build/artifact --key "$(sha256sum <input)" -- make artifact
    paddock once /jobs/nightly --per day --show || echo "not done yet")text";

struct once_options : command_options {
    occasion when{};
    std::size_t keep = 1000;
    bool force = false;
    bool show = false, as_json = false, forget = false, yes = false;
    bool any_occasion = false; ///< to show, or forget
};

std::string describe_time(std::int64_t ms) {
    const std::time_t seconds = ms / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    std::string text(64, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%F %T %z", &local));
    return text;
}

std::string summary_of(const recorded_run& run) {
    return printable(run.of.by) + ", started " + describe_time(run.of.started);
}

asio::awaitable<ending> run_if_not_done(servers& at, job& command, deadline until,
                                        const once_options& how) {
    auto& zk = at.zk("paddock once");
    waiting_line told(how.lock.name(), how.servers.quiet);
    const auto held = co_await take(at, how.lock, until, told);
    if (!held) co_return not_granted(how);
    finished_runs done(zk, how.lock.paths.at(0));
    const auto now = co_await done.now();
    const finished_run mine{now, host_name() + ", process " + std::to_string(getpid())};
    const auto other = co_await done.last(how.when);
    if (other && same_occasion(how.when, other->of.started, now) && !how.force) {
        if (!how.servers.quiet)
            std::cerr << "paddock: done already by " << summary_of(*other) << '\n';
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
        co_await done.add(held->first(), how.when, mine, how.keep);
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

std::string runs_table(const std::vector<recorded_run>& runs) {
    std::vector<std::vector<std::string>> rows{{"KEY", "STARTED", "FINISHED", "BY"}};
    for (const auto& run : runs) {
        const auto key = printable(key_of(run.name));
        rows.push_back({key.empty() ? "-" : key, describe_time(run.of.started),
                        describe_time(run.finished), printable(run.of.by)});
    }
    return aligned(rows);
}

std::string runs_json(const std::string& path, const std::vector<recorded_run>& runs) {
    const auto time = [](std::int64_t ms) {
        return iso_time(std::chrono::system_clock::time_point(milliseconds(ms)));
    };
    boost::json::array all;
    for (const auto& run : runs) {
        const auto key = valid_utf8(key_of(run.name));
        boost::json::object one;
        one["key"] = key.empty() ? boost::json::value() : boost::json::value(key);
        one["started"] = time(run.of.started);
        one["finished"] = time(run.finished);
        one["by"] = valid_utf8(run.of.by);
        all.push_back(std::move(one));
    }
    boost::json::object out;
    out["path"] = valid_utf8(path);
    out["runs"] = std::move(all);
    return boost::json::serialize(out) + '\n';
}

/// Those that the command line names.
asio::awaitable<std::vector<recorded_run>> asked_for(finished_runs& done, const once_options& how) {
    if (how.any_occasion) co_return co_await done.all();
    std::vector<recorded_run> found;
    const auto last = co_await done.last(how.when);
    if (!last) co_return found;
    std::int64_t now = 0; // that a key is found writes nothing
    if (how.when.key.empty()) now = co_await done.now();
    if (same_occasion(how.when, last->of.started, now)) found.push_back(*last);
    co_return found;
}

std::string which(const once_options& how) {
    if (how.any_occasion) return "";
    return how.when.key.empty() ? " in this period" : " for this key";
}

asio::awaitable<int> show_or_forget(servers& at, const once_options& how) {
    const auto& path = how.lock.paths.at(0);
    finished_runs done(at.zk("paddock once"), path);
    const auto found = co_await asked_for(done, how);
    if (how.as_json) std::cout << runs_json(path, found) << std::flush;
    if (how.as_json && found.empty()) co_return exit_status::refused;
    if (found.empty())
        throw refusal("no finished run is recorded at " + printable(path) + which(how));
    if (how.show) {
        if (!how.as_json) std::cout << runs_table(found) << std::flush;
        co_return 0;
    }
    const auto count = found.size();
    std::string what = "the run by " + summary_of(found.front());
    if (count > 1) what = std::to_string(count) + " finished runs";
    const auto question = what + ": " + printable(path) + " counts as not done. Forget?";
    co_await confirm(how.yes, question);
    co_await done.forget(found);
    if (!how.servers.quiet) std::cout << "forgot " << what << std::endl;
    co_return 0;
}

int look_at_records(const once_options& how) {
    if (!how.any_occasion) check(how.when);
    if (how.lock.paths.empty())
        throw usage_error("a PATH is missing: the job, such as /jobs/nightly");
    if (how.forget) check_confirmable(how.yes);
    return ask_servers(how.servers, [&](servers& at) { return show_or_forget(at, how); });
}

void add_records(CLI::App& app, once_options& how) {
    auto* const show = app.add_flag("--show", how.show, "show what is recorded");
    auto* const json = app.add_flag("--json", how.as_json, "show it as JSON");
    auto* const forget = app.add_flag("--forget", how.forget, "delete it, so that it is not done");
    for (auto* const one : {show, json, forget, add_yes(app, how.yes)})
        one->group("Instead of a run");
}

void check_records(const once_options& how, const CLI::App& once) {
    if (how.as_json && !how.show) throw usage_error("--json is for --show");
    if (how.yes && !how.forget) throw usage_error("--yes is for --forget");
    if (!how.show && !how.forget) return;
    if (how.show && how.forget) throw usage_error("--show does not go with --forget");
    if (!how.command.empty()) throw usage_error("--show and --forget run no command");
    for (const CLI::Option* one : once.get_options()) {
        const auto name = one->get_name();
        const bool of_both = name == "PATH" || name == "--per" || name == "--key";
        if (one->count() > 0 && one->get_group() == "Options" && !of_both)
            throw usage_error(name + " is for a run; not with --show and --forget");
    }
}

} // namespace

subcommand add_once(CLI::App& app) {
    auto* const once = app.add_subcommand("once", "run a command once, on one of many machines");
    const auto how = std::make_shared<once_options>();
    once->add_option("PATH", how->lock.paths, "the job, such as /jobs/nightly")->expected(1);
    auto* const per =
        once->add_option("--per", how->when.per, "once in each hour, day, week, or TIME")
            ->type_name("PERIOD");
    auto* const key = once->add_option("--key", how->when.key,
                                       "once for each key, such as the hash of what is built")
                          ->check(not_empty())
                          ->type_name("KEY");
    once->add_option("--keep", how->keep, "so many keys are remembered (1000)")
        ->check(CLI::Range(1, 100'000));
    once->add_flag("--force", how->force, "also if it is done already");
    add_command(*once, *how);
    add_records(*once, *how);
    once->footer(about_once);
    const auto run = [=](std::vector<std::string> command) {
        how->command = std::move(command);
        how->any_occasion = per->count() + key->count() == 0;
        check_records(*how, *once);
        if (how->show || how->forget) return look_at_records(*how);
        check(how->when);
        return run_with_keeper(*how, [&](servers& at, job& started, deadline until) {
            return run_if_not_done(at, started, until, *how);
        });
    };
    return {once, run, true};
}

} // namespace cli
