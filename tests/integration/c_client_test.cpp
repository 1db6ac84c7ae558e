// The table of C calls over a real server, without a pump.

#include "native/calls.hpp"
#include "support/foreigner.hpp"
#include "support/tcp_segments.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <poll.h>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace event = native::event;

namespace {

struct connected_calls : native::observer {
    explicit connected_calls(const std::string& servers = shared_server().address()) {
        REQUIRE(table->open(servers, 10s, *this));
        while (table->state() != native::state::connected)
            turn();
    }

    void on_session_event(int) noexcept override {}
    void on_watch(native::watch_type, std::string_view) noexcept override {}

    void turn() {
        const auto wanted = table->interest();
        REQUIRE(wanted.rc == native::code::ok);
        pollfd socket{wanted.connection.number, 0, 0};
        if ((wanted.events & event::readable) != 0) socket.events |= POLLIN;
        if ((wanted.events & event::writable) != 0) socket.events |= POLLOUT;
        REQUIRE(::poll(&socket, 1, static_cast<int>(wanted.timeout.count())) >= 0);
        table->process(((socket.revents & POLLIN) != 0 ? event::readable : 0U) |
                       ((socket.revents & POLLOUT) != 0 ? event::writable : 0U));
    }

    /// Segments with data, on the present connection.
    unsigned packets_sent() {
        const auto wanted = table->interest();
        REQUIRE(wanted.connection.valid());
        return data_segments_out(wanted.connection.number);
    }

    void ask(const std::string& path) {
        REQUIRE(table->exists(path, false, native::on_reply([this](const native::reply&) {
                                  ++answered;
                              })) == native::code::ok);
    }

    std::unique_ptr<native::calls> table = native::make_c_client();
    int answered = 0;
};

} // namespace

TEST_CASE("requests between two flushes leave as one packet") {
    connected_calls c;
    for (const int count : {1, 2, 10}) {
        c.answered = 0;
        const auto before = c.packets_sent();
        for (int i = 0; i < count; ++i)
            c.ask("/");
        CHECK(c.packets_sent() == before);
        c.table->flush();
        CHECK(c.packets_sent() == before + 1);
        while (c.answered < count)
            c.turn();
    }
}

namespace {

/// Takes the steps of the session's end, and waits in between. Returns how many waited to write.
int end_session(native::calls& table) {
    int writes = 0;
    for (;;) {
        const auto wanted = table.end_session();
        if (!wanted.connection.valid()) return writes;
        const bool to_write = wanted.events == event::writable;
        writes += to_write ? 1 : 0;
        pollfd socket{wanted.connection.number, to_write ? short{POLLOUT} : short{POLLIN}, 0};
        REQUIRE(::poll(&socket, 1, 60'000) == 1);
    }
}

} // namespace

TEST_CASE("a session ends behind all its requests, however long they take to write") {
    zk_server server;
    foreigner other(server.address());
    const std::string root = fresh_root();
    other.create(root, "");
    connected_calls c(server.address());
    server.pause();
    const std::string half_a_megabyte(500'000, 'x');
    constexpr int many = 60; // more than the sockets' buffers take
    for (int i = 0; i < many; ++i)
        REQUIRE(c.table->create(root + '/' + std::to_string(i), half_a_megabyte, {},
                                native::on_reply([&](const native::reply& r) {
                                    ++c.answered;
                                    CHECK(r.rc == native::code::closing);
                                })) == native::code::ok);
    CHECK(c.table->end_session().events == event::writable);
    CHECK(c.answered == 0);
    server.resume();
    CHECK(end_session(*c.table) > 0);
    CHECK(c.answered == many);
    CHECK(other.children(root).size() == many);
    CHECK_FALSE(c.table->end_session().connection.valid());
}
