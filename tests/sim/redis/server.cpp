#include "sim/redis/server.hpp"

#include "sim/violation.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace paddock::test::sim {

using kind = redis::rules::answer::kind;

namespace {

std::string bulk(const std::string& text) {
    return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string list(std::initializer_list<std::string> items) {
    std::string out = '*' + std::to_string(items.size()) + "\r\n";
    for (const auto& one : items)
        out += bulk(one);
    return out;
}

std::string digits(std::int64_t n) { return std::to_string(n); }

/// The reply of a script.
std::string said_as_reply(const redis_model::answer& said) {
    const auto clock = digits(said.clock.count());
    const auto left = digits(said.left.count());
    switch (said.what) {
    case kind::granted:
        return list({"granted", clock, digits(said.token)});
    case kind::renewed:
        return list({"renewed", clock, left});
    case kind::set:
        return list({"set", clock, left});
    case kind::taken:
        return list({"taken", clock, left, said.holder});
    case kind::young:
        return list({"young", clock, left});
    case kind::mismatch:
        return list({"mismatch", clock, "", ""});
    case kind::replica:
        return list({"replica", clock});
    case kind::released:
        return list({"released"});
    default:
        return list({"gone"});
    }
}

std::string hash_of(std::size_t script) { return "hash-of-script-" + std::to_string(script); }

} // namespace

redis_server::redis_server(redis_network& in, std::size_t number)
    : net_(in), number_(number), name_("redis" + std::to_string(number + 1)) {}

bool redis_server::accept(redis_link& by) {
    if (down_until_ > now()) return false;
    auto& one = peers_[by.number()];
    one.link = &by;
    one.authenticated = password.empty();
    return true;
}

void redis_server::lose(redis_link& of) { peers_.erase(of.number()); }

void redis_server::receive(redis_link& from, std::string bytes) {
    inbox_.emplace_back(from.number(), std::move(bytes));
    work();
}

void redis_server::work() {
    if (stopped()) return;
    while (!inbox_.empty()) {
        auto [from, bytes] = std::move(inbox_.front());
        inbox_.pop_front();
        const auto at = peers_.find(from);
        if (at == peers_.end()) continue;
        auto& by = at->second;
        by.reader.feed(bytes);
        std::string out;
        while (const auto command = by.reader.next())
            out += execute(by, command->items);
        must(by.reader.fault().empty(), "a client has sent " + by.reader.fault());
        if (!out.empty()) by.link->reply(std::move(out));
    }
}

std::string redis_server::execute(peer& by, const words& command) {
    must(!command.empty(), "a client has sent no command");
    const auto& verb = command[0].text;
    if (verb == "AUTH") {
        by.authenticated = command.back().text == password;
        return by.authenticated ? "+OK\r\n" : "-WRONGPASS invalid username-password pair\r\n";
    }
    if (!by.authenticated) return "-NOAUTH Authentication required.\r\n";
    if (verb == "INFO") return bulk(info(command.at(1).text));
    if (verb == "SELECT") return "+OK\r\n";
    if (verb == "SUBSCRIBE" || verb == "UNSUBSCRIBE")
        return subscribe(by, verb, command.at(1).text);
    if (verb == "PING") return by.channels.empty() ? "+PONG\r\n" : list({"pong", ""});
    if (loads_until_ > now()) return "-LOADING Redis is loading the dataset in memory\r\n";
    if (verb == "SCRIPT") return script(command);
    if (verb == "HMGET") return marker();
    if (verb == "CLIENT") return "+OK\r\n";
    must(verb == "EVALSHA" || verb == "EVAL", "a client has sent " + verb);
    ++commands;
    return run(by, command, verb == "EVAL");
}

std::string redis_server::info(const std::string& section) const {
    if (section == "server")
        return "# Server\r\nredis_version:7.0.15\r\nrun_id:" + digits(static_cast<int>(number_)) +
               'f' + model_.run_id() +
               "\r\nserver_time_usec:" + digits(model_.clock(now()).count()) + "\r\n";
    if (section == "memory") return "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
    if (section == "persistence")
        return std::string("loading:") + (loads_until_ > now() ? "1" : "0") + "\r\n";
    if (section == "replication")
        return std::string("role:") + (follows_until_ > now() ? "slave" : "master") + "\r\n";
    return "cluster_enabled:0\r\n";
}

std::string redis_server::marker() const {
    const auto& one = model_.all().marker;
    if (!one) return "*3\r\n$-1\r\n$-1\r\n$-1\r\n";
    return list({one->id, digits(one->max_ttl.count()), digits(one->servers)});
}

std::string redis_server::script(const words& command) {
    for (std::size_t n = 0; n < known_scripts_.size(); ++n)
        if (command.at(2).text == text_of(static_cast<redis::rules::script>(n))) {
            known_scripts_[n] = true;
            return bulk(hash_of(n));
        }
    return "-ERR this is none of our scripts\r\n";
}

std::string redis_server::run(peer& by, const words& command, bool by_text) {
    std::size_t which = 0;
    const auto named = [&](std::size_t n) {
        return by_text ? text_of(static_cast<redis::rules::script>(n)) : hash_of(n);
    };
    while (which < known_scripts_.size() && command.at(1).text != named(which))
        ++which;
    must(which < known_scripts_.size(), "a client has called another script");
    if (by_text) known_scripts_[which] = true;
    const auto refuses = [&](const char* how) {
        net_.time().note([&] {
            static constexpr const char* names[] = {"acquire", "renew", "release"};
            const auto& value = command.at(which == 2 ? 5 : 6).text;
            return name_ + ": " + names[which] + ' ' + command.at(3).text + ' ' +
                   value.substr(0, 14) + ": " + how;
        });
    };
    if (!known_scripts_[which]) refuses("unknown script");
    if (!known_scripts_[which]) return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    const auto what = static_cast<redis::rules::script>(which);
    if (refuses_until_ <= now() || !refusal_.of.contains(what)) return call(by, which, command);
    if (refusal_.is_done) call(by, which, command);
    refuses(refusal_.text);
    return std::string("-") + refusal_.text + "\r\n";
}

/// The words of a call: see redis/rules/scripts.
std::string redis_server::call(peer& by, std::size_t which, const words& command) {
    const auto word = [&](std::size_t n) -> const std::string& { return command.at(3 + n).text; };
    const auto number = [&](std::size_t n) { return std::atoll(word(n).c_str()); };
    const auto what = static_cast<redis::rules::script>(which);
    redis_model::answer said;
    if (what == redis::rules::script::release) {
        if (follows_until_ > now())
            return "-READONLY You can't write against a read only replica.\r\n";
        said = model_.release(now(), word(2), word(0));
        note(word(0), "release", word(2), said);
        by.released.insert(word(2));
        const bool is_free = said.what == kind::released || !model_.is_held(now(), word(0));
        if (!is_free || word(3).empty()) return said_as_reply(said);
        return list({said.what == kind::released ? "released" : "gone", "",
                     std::to_string(publish(word(3), word(2)))});
    }
    must(!by.released.contains(word(3)), "the key of " + word(0) + " is set again with " + word(3) +
                                             ", behind its release on the same connection");
    if (follows_until_ > now()) {
        said.what = kind::replica;
        return said_as_reply(said);
    }
    redis_model::terms terms{
        word(3), redis_model::milliseconds(number(4)), redis_model::milliseconds(number(5)),
        word(0), static_cast<int>(number(6)),          word(7) == "1"};
    const bool acquires = what == redis::rules::script::acquire;
    said = acquires ? model_.acquire(now(), terms) : model_.renew(now(), terms, number(9));
    note(word(0), acquires ? "acquire" : "renew", word(3), said);
    return said_as_reply(said);
}

void redis_server::note(const std::string& lock, const char* what, const std::string& value,
                        const redis_model::answer& said) {
    net_.time().note([&] {
        const auto reply = said_as_reply(said);
        const auto first = reply.find('\n', 4) + 1;
        return name_ + ": " + what + ' ' + lock + ' ' + value.substr(0, 14) + ": " +
               reply.substr(first, reply.find('\r', first) - first) +
               (said.what == kind::taken ? " by " + said.holder.substr(0, 14) : "") +
               (said.left.count() != 0 ? ", left " + digits(said.left.count()) : "") +
               (said.token != 0 ? ", token " + digits(said.token) : "");
    });
}

std::string redis_server::subscribe(peer& by, const std::string& verb, const std::string& name) {
    const bool begins = verb == "SUBSCRIBE";
    if (begins)
        by.channels.insert(name);
    else
        by.channels.erase(name);
    return "*3\r\n" + bulk(begins ? "subscribe" : "unsubscribe") + bulk(name) + ':' +
           std::to_string(by.channels.size()) + "\r\n";
}

std::size_t redis_server::publish(const std::string& channel, const std::string& value) {
    std::size_t listeners = 0;
    for (auto& [number, one] : peers_)
        if (one.channels.contains(channel)) {
            one.link->reply(list({"message", channel, value}));
            ++listeners;
        }
    return listeners;
}

void redis_server::refuse_scripts(const refusal& how, duration time) {
    refusal_ = how;
    refuses_until_ = now() + time;
}

void redis_server::pause(duration time) {
    paused_until_ = std::max(paused_until_, now() + time);
    net_.time().at(paused_until_, [this] { work(); });
}

void redis_server::restart(const redis_model::data& with, duration down, duration loading) {
    down_until_ = std::max(down_until_, now() + down);
    loads_until_ = std::max(loads_until_, down_until_ + loading);
    paused_until_ = {};
    inbox_.clear();
    known_scripts_ = {};
    model_.restart(with);
    for (auto& [number, one] : std::exchange(peers_, {}))
        one.link->hang_up();
}

void redis_server::follow(const redis_model::data& of, duration time) {
    follows_until_ = std::max(follows_until_, now() + time);
    model_.follow(of);
}

void redis_server::recover() {
    const bool was_stopped = stopped();
    paused_until_ = down_until_ = loads_until_ = follows_until_ = refuses_until_ =
        unreachable_until_ = {};
    if (was_stopped) work();
}

} // namespace paddock::test::sim
