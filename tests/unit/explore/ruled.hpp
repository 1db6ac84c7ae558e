#pragma once

#include "unit/explore/scene.hpp"
#include "unit/taken.hpp"

#include <cstddef>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::test::explore {

/// A scene with objects of the rules, whose actions it carries out.
template <class Rules, class Kind>
class ruled : public scene {
public:
    using scene::scene;

protected:
    struct object {
        object(std::size_t client, Rules rules) : client(client), rules(std::move(rules)) {}
        std::size_t client;
        Rules rules;
        bool paused = false, awaits_lease = false;
    };
    std::vector<object> objects;

    template <class Call, class... Args>
    void tell(std::size_t n, Call call, const Args&... args) {
        std::invoke(call, objects[n].rules, args...);
        for (auto actions = taken(objects[n].rules); !actions.empty();
             actions = taken(objects[n].rules))
            for (const auto& action : actions)
                std::visit([&](const auto& a) { static_cast<Kind*>(this)->carry_out(n, a); },
                           action);
    }
    template <class Call>
    void tell_all(std::size_t client, Call call) {
        for (std::size_t n = 0; n < objects.size(); ++n)
            if (objects[n].client == client && takes_part(n)) tell(n, call);
    }
    link& link_of(std::size_t n) const { return client(objects[n].client); }
    // Requests of one object of the rules.
    void ask(std::size_t n, request what) {
        what.waiter = n;
        link_of(n).submit(std::move(what));
    }
    void look(std::size_t n, request what) {
        what.waiter = n;
        link_of(n).look(std::move(what));
    }
    virtual bool takes_part(std::size_t) const { return true; }

    void on_connected(std::size_t client) override { tell_all(client, &Rules::connected); }
    void on_disconnected(std::size_t client) override { tell_all(client, &Rules::disconnected); }
    void on_expired(std::size_t client) override {
        for (auto& one : objects)
            if (one.client == client) one.paused = one.awaits_lease = false;
        tell_all(client, &Rules::expired);
    }
    void waiting_moves(std::vector<move>& out) const override {
        for (std::size_t n = 0; n < objects.size(); ++n) {
            if (objects[n].paused) out.push_back({move::resume, n});
            if (objects[n].awaits_lease) out.push_back({move::renew, n});
        }
    }
    void end_wait(const move& m) override {
        auto& one = objects[m.index];
        if (m.what == move::resume) {
            one.paused = false;
            return tell(m.index, &Rules::resume);
        }
        one.awaits_lease = false;
        one.rules.lease(true);
        tell(m.index, &Rules::lease_renewed);
    }
    void lapse(std::size_t client) override {
        for (auto& one : objects)
            if (one.client == client) one.rules.lease(false);
    }
    void see_objects(shape& out) const {
        for (std::size_t n = 0; n < objects.size(); ++n) {
            out.add(objects[n].paused, objects[n].awaits_lease);
            rules::state_of_rules::see(objects[n].rules, n, out);
        }
    }
};

} // namespace paddock::test::explore
