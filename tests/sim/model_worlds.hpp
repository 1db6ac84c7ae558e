#pragma once

#include "native/calls.hpp"
#include "sim/c_client.hpp"
#include "sim/ensemble.hpp"
#include "sim/host.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <poll.h>
#include <string>

namespace paddock::test::sim {

/// A place where a script can be carried out: some handles of a C client, and one server.
class place {
public:
    virtual ~place() = default;
    virtual std::unique_ptr<native::calls> make() = 0;
    virtual std::string address() const = 0;
    /// Gives a handle time to process its packets.
    virtual void turn(native::calls& c) = 0;
};

/// The C client as it is, and a server as it is.
class real_place final : public place {
public:
    explicit real_place(std::string address) : address_(std::move(address)) {}

    std::unique_ptr<native::calls> make() override { return native::make_c_client(); }
    std::string address() const override { return address_; }

    void turn(native::calls& c) override {
        c.flush();
        const auto wanted = c.interest();
        if (wanted.rc != native::code::ok) return;
        const bool write = (wanted.events & native::event::writable) != 0;
        pollfd one{wanted.connection.number, static_cast<short>(POLLIN | (write ? POLLOUT : 0)), 0};
        const auto limit = std::min<long long>(wanted.timeout.count(), 1);
        ::poll(&one, wanted.connection.valid() ? 1 : 0, static_cast<int>(limit));
        const bool readable = (one.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
        const bool writable = (one.revents & (POLLOUT | POLLHUP | POLLERR)) != 0;
        if (!readable && !(write && writable)) return;
        c.process((readable ? native::event::readable : 0U) |
                  (write && writable ? native::event::writable : 0U));
    }

private:
    std::string address_;
};

/// The simulated ones.
class simulated_place final : public place {
public:
    explicit simulated_place(std::uint64_t seed)
        : chance_(seed), servers_(time_, chance_, {.servers = 1}) {}

    std::unique_ptr<native::calls> make() override {
        auto here = std::make_shared<host>(servers_, "client");
        here->hasty = true;
        return std::make_unique<c_client>(std::move(here));
    }
    std::string address() const override { return "10.0.0.1:2181"; }

    void turn(native::calls& c) override {
        if (c.interest().rc != native::code::ok) return;
        const int rc = c.process(native::event::readable | native::event::writable);
        if (rc == native::code::nothing || c.state() != native::state::connected) time_.step();
    }

private:
    timeline time_;
    dice chance_;
    ensemble servers_;
};

} // namespace paddock::test::sim
