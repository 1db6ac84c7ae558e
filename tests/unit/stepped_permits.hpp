#pragma once

#include "rules/claims.hpp"
#include "rules/names.hpp"
#include "rules/permits.hpp"
#include "unit/stepped_queue.hpp"
#include "unit/taken.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::test {

namespace permit_act = rules::permit_act;

/// One acquire() that takes facts, step by step, and returns the wanted actions in words. Its own
/// leases are numbered in the order of their creates: `create 1`, `create 2`. In listings they are
/// 1, 2, …; zero is a foreign lease.
class stepped_permits {
public:
    explicit stepped_permits(rules::permit_terms how) : leases(ids, how) {
        ids.begin(stepped_queue::first_session);
    }

    /// Tells the rules one fact: `say([](auto& r) { r.placed(); })`.
    template <typename Say>
    std::string say(Say what) {
        what(leases);
        return actions();
    }
    std::string created(int own) {
        exist_[own] = name(own);
        return say([&](auto& r) {
            r.created(ids_.at(own), {.result = outcome::done, .code = 0, .name = exist_[own]});
        });
    }
    std::string create_fails(int own, outcome result, int code = 0) {
        return say([&](auto& r) { r.created(ids_.at(own), {.result = result, .code = code}); });
    }
    std::string listed(std::initializer_list<int> nodes, bool watched = true) {
        return listed_late(listing_, nodes, watched);
    }
    std::string listed_late(std::uint64_t number, std::initializer_list<int> nodes,
                            bool watched = true) {
        std::vector<std::string> names;
        for (const int own : nodes)
            names.push_back(own == 0 ? curator_name(0, static_cast<int>(names.size())) : name(own));
        return say([&](auto& r) { r.listed(number, {outcome::done, 0, watched}, names); });
    }
    std::string list_fails(outcome result, int code = 0) {
        return say([&](auto& r) { r.listed(listing_, {result, code}, {}); });
    }
    std::string permits(std::int32_t count, bool watched = true) {
        return say([&](auto& r) { r.permits_read(reading_, {outcome::done, 0, watched}, count); });
    }
    std::string permits_fail(outcome result, int code = 0) {
        return say([&](auto& r) { r.permits_read(reading_, {result, code}, 0); });
    }
    std::string own_watched(int own, outcome result = outcome::done, bool watched = true) {
        return say([&](auto& r) { r.own_watched(ids_.at(own), {result, 0, watched}); });
    }
    /// A read of the permit node is answered, and its watch armed.
    std::string own_read(int own, std::optional<rules::revoke_request> shows = {}) {
        return say([&](auto& r) { r.own_watched(ids_.at(own), {outcome::done, 0, true, shows}); });
    }
    std::string own_changed(int own, bool deleted) {
        return say([&](auto& r) { r.own_changed(ids_.at(own), deleted); });
    }
    std::string connected() {
        return say([](auto& r) { r.connected(); });
    }
    std::string disconnected() {
        return say([](auto& r) { r.disconnected(); });
    }
    std::string expired() {
        const auto said = say([](auto& r) { r.expired(); });
        ids.begin(ids.session() + 1);
        return said;
    }
    std::string quit() {
        return say([](auto& r) { r.quit(); });
    }
    std::string release() {
        return say([](auto& r) { r.release(); });
    }
    std::string admitted() {
        return say([](auto& r) { r.admitted(); });
    }
    std::string resume() {
        return say([](auto& r) { r.resume(); });
    }
    std::string directory_changed() {
        return say([](auto& r) { r.directory_changed(); });
    }
    std::string counter_changed() {
        return say([](auto& r) { r.counter_changed(); });
    }

    /// All wanted actions, in their order and in words.
    std::string actions() {
        std::string text;
        for (const auto& action : taken(leases)) {
            if (!text.empty()) text += ", ";
            text += std::visit([this](const auto& a) { return words(a); }, action);
        }
        return text;
    }

    rules::claims ids;
    rules::permits leases;

private:
    std::string name(int own) const {
        return rules::naming::of_leases().prefix(ids, ids_.at(own)) + ten_digits(own);
    }
    std::string number_of(rules::node_id id) const {
        for (const auto& [own, its] : ids_)
            if (its == id) return std::to_string(own);
        return "nonsense";
    }

    std::string words(const permit_act::join_queue&) { return "join queue"; }
    std::string words(const permit_act::leave&) { return "leave"; }
    std::string words(const permit_act::create& a) {
        ids_[++last_] = a.id;
        return "create " + std::to_string(last_);
    }
    std::string words(const permit_act::list& a) {
        listing_ = a.number;
        return a.settle ? "settle" : "list";
    }
    std::string words(const permit_act::read_permits& a) {
        reading_ = a.number;
        return "read permits";
    }
    std::string words(const permit_act::make_parents&) { return "make parents"; }
    std::string words(const permit_act::forget&) { return "forget"; }
    std::string words(const permit_act::watch_own& a) { return "watch " + number_of(a.id); }
    std::string words(const permit_act::look& a) { return "look " + a.name.substr(37, 2); }
    std::string words(const permit_act::request_revoke&) { return "revoke"; }
    std::string words(const permit_act::restore_data& a) {
        return "restore " + number_of(a.id) + " at " + std::to_string(a.version) + " since " +
               std::to_string(a.requested);
    }
    std::string words(const permit_act::sweep& a) { return "sweep " + number_of(a.id); }
    std::string words(const permit_act::taint&) { return "taint"; }
    std::string words(const permit_act::pause&) { return "pause"; }
    std::string words(const permit_act::await_lease&) { return "await lease"; }
    std::string words(const permit_act::grant& a) {
        return "grant " + std::to_string(a.names.size());
    }
    std::string words(const permit_act::give_up&) { return "give up"; }
    std::string words(const permit_act::fail& a) {
        constexpr const char* reasons[] = {"refused", "", "session expired", "not connected"};
        return std::string("fail ") + reasons[static_cast<int>(a.reason)] +
               (a.code != 0 ? ' ' + std::to_string(a.code) : "");
    }
    std::string words(const permit_act::lose& a) {
        return a.session_ended ? "lose with its session" : "lose";
    }
    std::string words(const permit_act::out&) { return "out"; }

    int last_ = 0;
    std::uint64_t listing_ = 0, reading_ = 0;
    std::map<int, rules::node_id> ids_;
    std::map<int, std::string> exist_;
};

/// One that is connected and in the queue, as most tests need it.
struct acquiring : stepped_permits {
    explicit acquiring(rules::permit_terms how) : stepped_permits(how) {
        connected();
        say([](auto& r) { r.join(); });
    }
};

} // namespace paddock::test
