#pragma once

#include "unit/model_ensemble.hpp"

#include <cstdint>
#include <iterator>
#include <random>

// What random histories of every kind of lock have in common.

namespace paddock::test::model {

/// All that is random in a history, from its seed.
class chances {
public:
    explicit chances(std::uint64_t seed) : random_(seed) {}

protected:
    std::uint64_t bits() { return random_(); }
    int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    bool chance(int one_in) { return number(one_in) == 0; }
    template <class Container>
    auto& any_of(Container& from) {
        return *std::next(from.begin(), number(static_cast<int>(from.size())));
    }

    /// Time passes for a client, without which nothing else happens: it finds a server, a request
    /// is executed or refused, an answer is heard, a server learns something.
    template <class Client>
    void progress(ensemble& zk, Client& c, bool some_are_refused, bool servers_lag) {
        if (!c.connected) {
            if (chance(3)) c.connect(number(ensemble::servers), chance(2));
            return;
        }
        if (!c.own.to_server.empty() && chance(2)) {
            if (some_are_refused && chance(30))
                zk.throttle(c.own);
            else
                c.execute();
        }
        if (!c.own.to_client.empty() && chance(2)) c.hear();
        if (!servers_lag || chance(3)) zk.apply_one(number(ensemble::servers));
    }

private:
    std::mt19937_64 random_;
};

/// All servers know everything, and all that was asked is answered. Whether there was
/// anything to do.
template <class Clients>
bool catch_up(ensemble& zk, Clients& clients) {
    bool any = false;
    for (int server = 0; server < ensemble::servers; ++server)
        while (zk.behind(server)) {
            zk.apply_one(server);
            any = true;
        }
    for (auto& c : clients)
        while (!c->quiet()) {
            if (!c->own.to_server.empty()) c->execute();
            while (!c->own.to_client.empty())
                c->hear();
            any = true;
        }
    return any;
}

} // namespace paddock::test::model
