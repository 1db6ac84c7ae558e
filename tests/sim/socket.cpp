#include "sim/socket.hpp"

#include "sim/ensemble.hpp"

#include <utility>

namespace paddock::test::sim {

socket::socket(ensemble& all, std::uint64_t number, int to)
    : identity(number), server(to), all_(all), up_(all.time()), down_(all.time()) {}

duration socket::latency() { return all_.client_latency(); }

void socket::dial() {
    all_.time().after(2 * latency(), [self = shared_from_this()] {
        if (self->closed_ || self->broken_) return;
        if (self->all_.accepts(self->server))
            self->established_ = true;
        else
            return self->end_here(true);
        if (self->changed) self->changed();
    });
}

void socket::shake_hands(std::int64_t session, std::chrono::milliseconds timeout,
                         std::int64_t seen) {
    up_.send(latency(), [self = shared_from_this(), session, timeout, seen] {
        if (!self->server_gone_)
            self->all_.at(self->server).shake_hands(self, session, timeout, seen);
    });
}

bool socket::send(request r) {
    if (broken_ && sends_fail_) return false;
    if (broken_) return sends_fail_ = true; // the peer's answer to it makes the next one fail
    if (all_.breaks_now()) lose();
    up_.send(latency(), [self = shared_from_this(), r = std::move(r)]() mutable {
        if (!self->server_gone_) self->all_.at(self->server).receive(self->identity, std::move(r));
    });
    return true;
}

void socket::close() {
    if (std::exchange(closed_, true)) return;
    changed = {};
    inbound.clear();
    down_.lose();
    up_.send(latency(), [self = shared_from_this()] {
        if (!std::exchange(self->server_gone_, true))
            self->all_.at(self->server).hung_up(self->identity);
    });
}

void socket::shut_down() {
    if (broken_) return;
    up_.send(latency(), [self = shared_from_this()] {
        if (!std::exchange(self->server_gone_, true))
            self->all_.at(self->server).hung_up(self->identity);
    });
    end_here(true);
}

void socket::push(packet p) {
    if (server_gone_ || closed_) return;
    if (all_.breaks_now()) lose();
    down_.send(latency(), [self = shared_from_this(), p = std::move(p)]() mutable {
        if (self->closed_ || self->broken_) return;
        self->inbound.push_back(std::move(p));
        if (self->changed) self->changed();
    });
}

void socket::hang_up() {
    if (std::exchange(server_gone_, true) || closed_) return;
    down_.send(latency(), [self = shared_from_this()] { self->end_here(true); });
}

void socket::end_here(bool keep_inbound) {
    if (closed_ || std::exchange(broken_, true)) return;
    sends_fail_ = all_.chance().one_in(2);
    if (!keep_inbound) inbound.clear();
    down_.lose();
    if (changed) changed();
}

void socket::lose() {
    auto& chance = all_.chance();
    all_.time().after(chance.between(duration(0), 3 * latency()), [self = shared_from_this()] {
        self->up_.lose();
        if (!std::exchange(self->server_gone_, true))
            self->all_.at(self->server).hung_up(self->identity);
    });
    all_.time().after(chance.between(duration(0), 3 * latency()), [self = shared_from_this()] {
        self->end_here(self->all_.chance().one_in(2));
    });
}

void socket::forget() noexcept {
    up_.lose();
    down_.lose();
}

void socket::hold_until(time_point when) {
    up_.hold_until(when);
    down_.hold_until(when);
}

} // namespace paddock::test::sim
