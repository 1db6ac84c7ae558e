#include "ask_servers.hpp"
#include "commands.hpp"
#include "doctor.hpp"
#include "exit_status.hpp"
#include "text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace cli {

namespace {

namespace json = boost::json;

struct doctor_options {
    server_options servers{};
    bool as_json = false, brief = false;
};

std::string name_of(health how) {
    return how == health::ok ? "ok" : how == health::warn ? "warn" : "bad";
}

std::string lines_of(const diagnosis& found, bool brief) {
    std::string text;
    for (const auto& one : found.all()) {
        if (brief && one.how == health::ok) continue;
        auto level = name_of(one.how);
        level.resize(5, ' ');
        const auto server = one.server.empty() ? "" : printable(one.server) + ": ";
        text += level + server + printable(one.text) + '\n';
    }
    return text;
}

std::string json_of(const diagnosis& found) {
    json::array all;
    for (const auto& one : found.all()) {
        json::object out;
        out["level"] = name_of(one.how);
        out["server"] = one.server.empty() ? json::value() : json::string(valid_utf8(one.server));
        out["check"] = one.check;
        out["text"] = json::string(valid_utf8(one.text));
        all.push_back(std::move(out));
    }
    json::object whole;
    whole["checks"] = std::move(all);
    return json::serialize(whole) + '\n';
}

asio::awaitable<int> examine(const doctor_options& how) {
    // Throws what is wrong with the options, before anything is asked.
    const servers checked(co_await asio::this_coro::executor, how.servers);
    diagnosis found;
#if PADDOCK_HAS_REDIS
    if (checked.on_redis()) co_await examine_redis(how.servers, found);
#endif
    if (!checked.on_redis()) co_await examine_zookeeper(how.servers, found);
    std::cout << (how.as_json ? json_of(found) : lines_of(found, how.brief)) << std::flush;
    const bool bad = std::any_of(found.all().begin(), found.all().end(),
                                 [](const finding& one) { return one.how == health::bad; });
    co_return bad ? exit_status::refused : 0;
}

} // namespace

std::string text_of(milliseconds time) {
    const auto ms = time.count();
    if (ms % 1000 == 0 && ms != 0) return std::to_string(ms / 1000) + " s";
    return std::to_string(ms) + " ms";
}

void compare_clocks(std::chrono::system_clock::time_point before, milliseconds server_clock,
                    std::chrono::system_clock::time_point after, const std::string& server,
                    diagnosis& out) {
    const auto ms = [](auto time) { return std::chrono::duration_cast<milliseconds>(time); };
    const auto middle = before.time_since_epoch() + (after - before) / 2;
    const auto apart = server_clock - ms(middle);
    const auto uncertain = ms((after - before) / 2) + milliseconds(1);
    const auto how = std::abs(apart.count()) > 1000 + uncertain.count() ? health::warn : health::ok;
    std::string text = "the clock is " + text_of(milliseconds(std::abs(apart.count())));
    text += (apart.count() < 0 ? " behind" : " ahead of") + std::string(" this machine's, ±");
    text += text_of(uncertain);
    if (how == health::warn) text += ": ages in paddock ls and tidy are wrong by so much; run NTP";
    out.add(how, server, "clock", text);
}

subcommand add_doctor(CLI::App& app) {
    auto* const doctor =
        app.add_subcommand("doctor", "check whether the servers are fit for locks");
    const auto how = std::make_shared<doctor_options>();
    add_servers(*doctor, how->servers);
    doctor->add_flag("--json", how->as_json,
                     "as {checks: [{level: ok|warn|bad, server, check, text}]}");
    doctor->footer("It writes no more than a node of its own below the root, or nothing on Redis, "
                   "and removes it.\nExit status: 1 if something is bad, else 0.");
    const auto run = [how](const std::vector<std::string>&) {
        how->brief = how->servers.quiet;
        how->servers.quiet = true; // it says itself what is wrong
        return run_alone([how] { return examine(*how); });
    };
    return {doctor, run};
}

} // namespace cli
