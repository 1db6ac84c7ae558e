// The table of C calls over a real server, without a pump.

#include "native/calls.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <linux/tcp.h>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;
namespace event = native::event;

namespace {

struct connected_calls : native::observer {
    connected_calls() {
        REQUIRE(table->open(shared_server().address(), 10s, *this));
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
        tcp_info about{};
        socklen_t size = sizeof about;
        REQUIRE(::getsockopt(wanted.connection.number, IPPROTO_TCP, TCP_INFO, &about, &size) == 0);
        return about.tcpi_data_segs_out;
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
