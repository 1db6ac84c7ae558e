#include "doctor.hpp"
#include "text.hpp"

#include <paddock/first_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace cli {

namespace {

using std::chrono::system_clock;
using endpoint = asio::ip::tcp::endpoint;

/// What is known about one server, for comparisons.
struct server_facts {
    std::string name{};
    bool reached = false;
    std::string version{}, mode{};
    milliseconds shortest{}, longest{}; ///< session timeouts that it grants
};

std::string text_of_endpoint(const endpoint& at) {
    std::ostringstream text;
    text << at;
    return text.str();
}

/// A four-letter word; empty if the server does not answer.
asio::awaitable<std::string> ask_word(endpoint at, std::string word) {
    std::string answer;
    try {
        plain_tcp connection(co_await asio::this_coro::executor, doctor_patience);
        co_await connection.connect(at);
        co_await connection.write(word);
        constexpr std::size_t most = 64 * 1024;
        while (answer.size() < most && co_await connection.read_more(answer)) {
        }
    } catch (const paddock::system_error&) {
        answer.clear();
    }
    co_return answer;
}

std::string value_of(const std::string& answer, const std::string& name) {
    const auto at = answer.find(name);
    if (at == std::string::npos || (at > 0 && answer[at - 1] != '\n')) return {};
    const auto start = at + name.size();
    return answer.substr(start, answer.find_first_of(",\r\n", start) - start);
}

std::string duration_text(system_clock::duration time) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return std::to_string(us / 1000) + '.' + std::to_string(us % 1000 / 100) + " ms";
}

class examination {
public:
    examination(const server_options& how, endpoint at, const std::string& host, std::string name,
                std::string root, diagnosis& out)
        : how_(how), at_(at), root_(std::move(root)), out_(out) {
        facts_.name = std::move(name);
        how_.quiet = true;
        how_.first_trouble = std::make_shared<std::string>();
        if (wants_tls(how) && how_.tls_name.empty()) how_.tls_name = host;
    }

    asio::awaitable<server_facts> run() {
        std::string srvr;
        if (!wants_tls(how_)) srvr = co_await ask_word(at_, "srvr");
        facts_.version = value_of(srvr, "Zookeeper version: ");
        facts_.version = facts_.version.substr(0, facts_.version.find('-'));
        facts_.mode = value_of(srvr, "Mode: ");
        const auto executor = co_await asio::this_coro::executor;
        servers at(executor, with_timeout(how_.session_timeout));
        const auto failed = co_await connect(at);
        const auto token = asio::as_tuple(asio::use_awaitable);
        facts_.reached = !failed || failed == paddock::errc::no_root;
        say_reached(failed, srvr);
        if (failed) {
            co_await at.close();
            co_return facts_;
        }
        auto& zk = at.zk("doctor");
        say_timeout(zk.session_timeout());
        const auto begin = system_clock::now();
        const auto [unread, stat] = co_await zk.exists("/", token);
        say_trip("read", system_clock::now() - begin, unread);
        co_await write_something(zk);
        co_await send_much(zk);
        co_await at.close();
        co_await find_limits();
        co_await say_tick();
        co_return facts_;
    }

private:
    void say(health how, const std::string& check, const std::string& text) {
        out_.add(how, facts_.name, check, text);
    }

    server_options with_timeout(milliseconds timeout) const {
        auto one = how_;
        one.servers = "zk://" + text_of_endpoint(at_) + root_;
        one.session_timeout = timeout;
        return one;
    }

    asio::awaitable<paddock::error_code> connect(servers& at) const {
        const auto token = asio::as_tuple(asio::use_awaitable);
        const auto limit = std::min(how_.connect_timeout, doctor_patience);
        const auto [failed] = co_await at.zk("doctor").connect_for(limit, token);
        co_return failed;
    }

    void say_reached(const paddock::error_code& failed, const std::string& srvr) {
        if (failed == paddock::errc::no_root)
            return say(health::bad, "root",
                       "the root " + root_ + " does not exist: check it, or give --create-root");
        const bool told = failed != paddock::errc::not_connected;
        const auto& why = told ? failed.message() : *how_.first_trouble;
        const auto reason = why.empty() ? std::string() : " (" + why + ')';
        if (failed && srvr.empty())
            return say(health::bad, "reached",
                       "grants no session" + reason +
                           ": check whether it runs, and can be reached");
        const bool alone = facts_.mode == "read-only" ||
                           srvr.find("not currently serving requests") != std::string::npos;
        if (failed && alone)
            return say(health::bad, "reached",
                       "runs, and belongs to no quorum: start more servers of its ensemble, and "
                       "check whether they reach each other");
        if (failed)
            return say(health::bad, "reached",
                       "runs, and grants no session" + reason +
                           ": check the credentials, and its log");
        std::string text = "grants a session";
        if (!facts_.mode.empty()) text += "; " + facts_.mode + ", version " + facts_.version;
        say(health::ok, "reached", text);
        if (!root_.empty()) say(health::ok, "root", "the root " + root_ + " exists");
        if (facts_.mode.empty())
            say(wants_tls(how_) ? health::warn : health::ok, "srvr",
                wants_tls(how_)
                    ? "its role and version are not checked: srvr is not asked over TLS"
                    : "its role and version are unknown: srvr is not in 4lw.commands.whitelist");
    }

    void say_timeout(milliseconds granted) {
        const auto wanted = how_.session_timeout;
        const bool same = granted == wanted;
        auto text = "grants a session timeout of " + text_of(granted);
        if (!same)
            text += " instead of " + text_of(wanted) + ": change --session-timeout, or " +
                    (granted > wanted ? "minSessionTimeout" : "maxSessionTimeout");
        say(same ? health::ok : health::warn, "session_timeout", text);
    }

    void say_trip(const std::string& what, system_clock::duration time,
                  const paddock::error_code& failed) {
        if (failed) return say(health::bad, what, "a " + what + " fails: " + failed.message());
        const bool slow = time > how_.session_timeout / 20;
        const auto text = "a " + what + " takes " + duration_text(time);
        const auto rest = slow ? ", which is long for a lease that is renewed every sixth of the "
                                 "session timeout: look after load and network"
                               : "";
        say(slow ? health::warn : health::ok, what, text + rest);
    }

    /// An ephemeral node, which goes with the session whatever happens; then a container and one
    /// with a time to live, which are removed at once.
    asio::awaitable<void> write_something(paddock::client& zk) {
        const auto token = asio::as_tuple(asio::use_awaitable);
        const auto path = "/paddock-doctor-" + hex(zk.session_id()).substr(2);
        paddock::create_options mode;
        mode.mode = paddock::create_mode::ephemeral;
        const auto before = system_clock::now();
        const auto [failed, made] = co_await zk.create(path, "", mode, token);
        const auto after = system_clock::now();
        if (failed == paddock::zk_errc::no_auth) {
            say(health::warn, "write", "no right to create nodes below the root: give --auth-file");
            co_return;
        }
        say_trip("write", after - before, failed);
        if (failed) co_return;
        compare_clocks(before, milliseconds(made.stat.mtime), after, facts_.name, out_);
        co_await zk.remove(path, token);
        mode.mode = paddock::create_mode::container;
        co_await try_mode(
            zk, path, mode, "containers",
            "directories of locks stay when they are empty; ZooKeeper 3.5.3 has them");
        mode.mode = paddock::create_mode::persistent_with_ttl;
        mode.ttl = std::chrono::minutes(1);
        co_await try_mode(zk, path, mode, "nodes with a time to live",
                          "zookeeper.extendedTypesEnabled; no lock needs them");
    }

    asio::awaitable<void> try_mode(paddock::client& zk, std::string path,
                                   paddock::create_options mode, std::string what,
                                   std::string without) {
        const auto token = asio::as_tuple(asio::use_awaitable);
        const auto [failed, made] = co_await zk.create(path, "", mode, token);
        if (!failed) co_await zk.remove(path, token);
        const bool needed = mode.mode == paddock::create_mode::container;
        const auto text = what + (failed ? " are not available: " + without : " are available");
        say(failed && needed ? health::warn : health::ok, needed ? "container" : "ttl", text);
    }

    /// The question for a node with a very long name is answered by this server alone.
    asio::awaitable<void> send_much(paddock::client& zk) {
        const auto token = asio::as_tuple(asio::use_awaitable);
        constexpr std::size_t bytes = 1024 * 1024 - 3 * 1024;
        std::string path = "/" + std::string(bytes, 'x');
        bool refused = true;
        const auto asked = [&]() -> asio::awaitable<void> {
            const auto [failed, stat] = co_await zk.exists(path, token);
            refused = failed != paddock::zk_errc::no_node;
        };
        const auto cut = [&]() -> asio::awaitable<void> {
            co_await zk.next_state(paddock::client_state::connected, token);
        };
        co_await paddock::first_of(asked(), cut());
        if (refused)
            say(health::bad, "jute_maxbuffer",
                "cuts the connection at a request of 1 MiB: set jute.maxbuffer to its default on "
                "all servers");
        else
            say(health::ok, "jute_maxbuffer", "accepts requests of 1 MiB");
    }

    asio::awaitable<milliseconds> granted_for(milliseconds wanted) {
        const auto executor = co_await asio::this_coro::executor;
        servers at(executor, with_timeout(wanted));
        const auto failed = co_await connect(at);
        const auto granted = failed ? milliseconds(0) : at.zk("doctor").session_timeout();
        co_await at.close();
        co_return granted;
    }

    asio::awaitable<void> find_limits() {
        facts_.shortest = co_await granted_for(milliseconds(100));
        facts_.longest = co_await granted_for(std::chrono::hours(24));
        if (facts_.shortest.count() > 0 && facts_.longest.count() > 0)
            say(health::ok, "limits",
                "grants session timeouts from " + text_of(facts_.shortest) + " to " +
                    text_of(facts_.longest));
        else
            say(health::warn, "limits",
                "its limits of session timeouts are unknown: it did not "
                "answer in time");
    }

    asio::awaitable<void> say_tick() {
        if (wants_tls(how_)) co_return;
        const auto conf = co_await ask_word(at_, "conf");
        const auto tick = value_of(conf, "tickTime=");
        if (!tick.empty())
            say(health::ok, "tick", "tickTime is " + tick + " ms");
        else if (facts_.shortest.count() > 0)
            say(health::ok, "tick",
                "tickTime is " + text_of(facts_.shortest / 2) +
                    ", if minSessionTimeout is not set");
    }

    server_options how_;
    const endpoint at_;
    const std::string root_;
    diagnosis& out_;
    server_facts facts_{};
};

template <typename Member>
std::string differing(const std::vector<server_facts>& all, Member member) {
    std::map<std::string, std::string> values;
    for (const auto& one : all)
        if (const auto value = member(one); !value.empty()) values[value] += ' ' + one.name;
    std::string text;
    if (values.size() < 2) return text;
    for (const auto& [value, names] : values)
        text += (text.empty() ? "" : ", ") + value + " (" + names.substr(1) + ')';
    return text;
}

void compare_limits(const std::vector<server_facts>& all, diagnosis& out) {
    const auto limits = differing(all, [](const server_facts& one) {
        if (one.shortest.count() == 0 || one.longest.count() == 0) return std::string();
        return text_of(one.shortest) + " to " + text_of(one.longest);
    });
    if (limits.empty()) return out.add(health::ok, "", "equal_limits", "session limits are equal");
    out.add(health::bad, "", "equal_limits",
            "session limits differ: " + limits +
                ": after a reconnect a lease can outlive the session, and two clients hold a lock; "
                "set the same minSessionTimeout, maxSessionTimeout and tickTime everywhere");
}

void compare_roles(const std::vector<server_facts>& all, std::size_t addresses, diagnosis& out) {
    const auto count = [&](const std::string& mode) {
        return std::count_if(all.begin(), all.end(),
                             [&](const server_facts& one) { return one.mode == mode; });
    };
    const auto known = static_cast<long>(all.size()) - count("");
    if (addresses > 1 && count("standalone") > 0)
        out.add(health::bad, "", "one_ensemble",
                "a standalone server is listed beside others: these are several ensembles, whose "
                "locks do not exclude each other");
    else if (count("leader") > 1)
        out.add(health::bad, "", "one_ensemble",
                "there are several leaders: these are several ensembles");
    else if (addresses == 1)
        out.add(health::warn, "", "one_ensemble",
                count("standalone") == 1
                    ? "a single server: no lock is granted while it is down; use three"
                    : "a single server is listed: list all of its ensemble");
    else if (known == 0 || (count("leader") == 0 && known < static_cast<long>(addresses)))
        out.add(health::ok, "", "one_ensemble", "which server leads is unknown");
    else if (count("leader") == 0)
        out.add(health::warn, "", "one_ensemble", "no listed server leads: list all servers");
    else
        out.add(health::ok, "", "one_ensemble", "one leader");
}

} // namespace

asio::awaitable<void> examine_zookeeper(const server_options& how, diagnosis& out) {
    auto list = how.servers;
    if (const auto scheme = list.find("://"); scheme != std::string::npos)
        list = list.substr(scheme + 3);
    const auto slash = list.find('/');
    std::string root = slash == std::string::npos ? "" : list.substr(slash);
    while (root.ends_with('/'))
        root.pop_back();
    std::vector<server_facts> all;
    std::size_t addresses = 0;
    for (const auto& server : read_servers(list.substr(0, slash), "2181")) {
        std::vector<endpoint> found;
        try {
            found = co_await resolve(server, doctor_patience);
        } catch (const paddock::system_error& failed) {
            out.add(health::bad, server.name(), "resolved",
                    "the name has no address (" + failed.code().message() + "): check the list");
        }
        for (const auto& at : found) {
            const bool one = found.size() == 1;
            ++addresses;
            const auto name = one ? server.name() : server.host + '=' + text_of_endpoint(at);
            examination examined(how, at, server.host, name, root, out);
            auto facts = co_await examined.run();
            if (facts.reached) all.push_back(std::move(facts));
        }
    }
    if (all.empty()) co_return;
    compare_roles(all, addresses, out);
    const auto versions = differing(all, [](const server_facts& one) { return one.version; });
    if (!versions.empty())
        out.add(health::warn, "", "equal_versions", "versions differ: " + versions);
    if (all.size() > 1) compare_limits(all, out);
}

} // namespace cli
