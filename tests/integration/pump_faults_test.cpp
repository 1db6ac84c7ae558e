// Connections that break, hang, or are closed behind the pump's back.

#include "support/counts.hpp"
#include "support/foreigner.hpp"
#include "support/proxy.hpp"
#include "support/pump_harness.hpp"
#include "support/zk_server.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <future>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using native::code::connection_loss;
using native::code::ok;
using native::code::operation_timeout;

namespace {

struct through_proxy {
    fault_proxy proxy{shared_server().port()};
    foreigner direct{shared_server().address()};
    std::string root = fresh_root();
};

/// invalid_state: the cut came before the request, which was not sent then.
bool is_possible_with_a_cut(int rc) {
    return rc == ok || rc == connection_loss || rc == operation_timeout ||
           rc == native::code::invalid_state || rc == static_cast<int>(zk_errc::no_node);
}

} // namespace

TEST_CASE_FIXTURE(
    through_proxy,
    "a connection cut before, in and behind any packet fails only the open requests") {
    pump_harness h(proxy.port(), 2s);
    REQUIRE(h.connect());
    const auto session = h.pump->session_id();
    for (const auto way : {direction::up, direction::down}) {
        for (std::size_t n = 0; n < 5; ++n) {
            for (const std::ptrdiff_t bytes : {0, 1, 4, 5, 17, -1}) {
                const auto how =
                    (n + static_cast<std::size_t>(bytes + 1)) % 2 == 0 ? cut::fin : cut::rst;
                INFO("frame " << n << ", after " << bytes << " bytes");
                proxy.cut_at(way, n, bytes, how);
                const auto lost = h.user.disconnected;
                const auto path = root + "-" + std::to_string(lost);
                std::vector<submitted> all{h.create(path, create_mode::ephemeral_sequential),
                                           h.get(path), h.exists("/", true),
                                           h.create(path, create_mode::ephemeral)};
                all.push_back(h.get(path, true));
                for (const auto& each : all) {
                    h.wait(each);
                    CHECK_MESSAGE(is_possible_with_a_cut(each->rc), each->rc);
                }
                REQUIRE(h.until([&] { return h.user.disconnected == lost + 1 && h.user.up; }));
                CHECK(proxy.cuts() == lost + 1);
                CHECK(h.wait(h.exists("/")).rc == ok);
                for (const auto& each : all)
                    CHECK(each->times == 1);
            }
        }
    }
    CHECK(proxy.cuts() == 60);
    CHECK(h.user.connected == h.user.disconnected + 1);
    CHECK(h.pump->session_id() == session);
    CHECK_FALSE(h.user.over);
}

TEST_CASE_FIXTURE(through_proxy, "a silent connection is given up, and the next one is found") {
    pump_harness h(proxy.port(), 2s);
    REQUIRE(h.connect());
    proxy.black_hole(true);
    const auto open = h.get("/");
    CHECK(h.until([&] { return !h.user.up; }, 2s));
    CHECK(h.wait(open).rc == operation_timeout);
    proxy.black_hole(false);
    CHECK(h.until([&] { return h.user.up || h.user.over; }));
}

TEST_CASE_FIXTURE(through_proxy, "a request that meets a reset fails, and is not executed later") {
    pump_harness h(proxy.port(), 2s);
    REQUIRE(h.connect());
    CHECK(h.wait(h.create(root)).rc == ok);
    for (int round = 0; round < 20; ++round) {
        const auto before = h.user.connected;
        proxy.cut_all(cut::rst);
        // The event loop has not seen the reset yet; the C client does while it sends.
        const auto ghost = root + "/ghost-" + std::to_string(round);
        std::vector<submitted> open{h.create(ghost)};
        CHECK(h.user.disconnected + 1 == before); // never from within submit()
        if (!over_tls()) {                        // there it sends into a local socket
            CHECK_FALSE(h.pump->ready());
            CHECK(h.exists("/")->rc == native::code::invalid_state);
        }
        CHECK(h.wait(open[0]).rc == connection_loss);
        REQUIRE(h.connect());
        CHECK(h.user.connected == before + 1);
        CHECK(h.user.disconnected == before);
        CHECK(h.wait(h.exists(ghost)).rc == static_cast<int>(zk_errc::no_node));
    }
    CHECK(direct.children(root).empty());
    CHECK_FALSE(h.user.over);
}

TEST_CASE_FIXTURE(through_proxy, "a request from within a completion may meet the reset, too") {
    pump_harness h(proxy.port(), 2s);
    REQUIRE(h.connect());
    submitted inner;
    const int rc = h.pump->submit([&](native::calls& table) {
        return table.exists("/", false, native::on_reply([&](const native::reply&) {
                                proxy.cut_all(cut::rst);
                                inner = h.create(root);
                            }));
    });
    CHECK(rc == ok);
    CHECK(h.until([&] { return inner && inner->answered(); }));
    CHECK(inner->rc == connection_loss);
    REQUIRE(h.connect());
    CHECK(h.wait(h.exists(root)).rc == static_cast<int>(zk_errc::no_node));
    CHECK(h.user.disconnected == 1);
}

TEST_CASE_FIXTURE(through_proxy, "a stalled event loop does not cost a healthy connection") {
    pump_harness h(proxy.port(), 3s);
    REQUIRE(h.connect());
    submitted answered_meanwhile;
    SUBCASE("that was idle") { CHECK(h.wait(h.exists("/")).rc == ok); }
    SUBCASE("whose answer came meanwhile") { answered_meanwhile = h.exists("/"); }
    std::this_thread::sleep_for(2200ms); // more than two thirds
    const auto after = h.exists("/");
    if (answered_meanwhile) CHECK(h.wait(answered_meanwhile).rc == ok);
    CHECK(h.wait(after).rc == ok);
    run_for(*h.io, 200ms);
    CHECK(h.user.disconnected == 0);
    CHECK(h.wait(h.exists("/")).rc == ok);
}

TEST_CASE_FIXTURE(through_proxy, "a stalled event loop does not save a dead connection") {
    pump_harness h(proxy.port(), 3s);
    REQUIRE(h.connect());
    CHECK(h.wait(h.exists("/")).rc == ok);
    proxy.black_hole(true);
    std::this_thread::sleep_for(2200ms);
    CHECK(h.until([&] { return !h.user.up; }, 1s));
}

TEST_CASE_FIXTURE(through_proxy, "an answer of a megabyte in small pieces is one answer") {
    pump_harness h(proxy.port());
    REQUIRE(h.connect());
    const std::string data(1'000'000, 'x');
    CHECK(h.wait(h.create(root, create_mode::persistent, data)).rc == ok);
    CHECK(h.wait(h.get(root)).value == data);
    CHECK(h.user.disconnected == 0);
}

TEST_CASE_FIXTURE(through_proxy, "ten thousand answers do not keep other tasks from their turn") {
    pump_harness h(shared_server().port());
    REQUIRE(h.connect());
    proxy.black_hole(false);
    std::vector<submitted> all;
    std::size_t done = 0;
    std::size_t most = 0;
    for (int i = 0; i < 10'000; ++i) {
        h.pump->submit([&](native::calls& table) {
            return table.exists("/", false,
                                native::on_reply([&](const native::reply&) { ++done; }));
        });
    }
    CHECK(h.until([&] {
        static std::size_t before = 0;
        most = std::max(most, done - before);
        before = done;
        return done == 10'000;
    }));
    CHECK(most <= 64);
    CHECK(most > 1);
}

TEST_CASE_FIXTURE(through_proxy, "a connection cut in its handshake is tried again") {
    for (const auto way : {direction::up, direction::down}) {
        for (const auto how : {cut::fin, cut::rst}) {
            proxy.hold(way);
            const auto before = proxy.accepted();
            pump_harness h(proxy.port(), 2s);
            REQUIRE(h.until([&] { return proxy.accepted() == before + 1; }));
            REQUIRE(h.until([&] { return proxy.waiting(way) != 0; }));
            proxy.cut_all(how);
            REQUIRE(h.until([&] { return proxy.accepted() >= before + 2; }));
            CHECK_FALSE(h.user.up);
            proxy.release(way);
            CHECK(h.connect());
            CHECK(h.wait(h.exists("/")).rc == ok);
            CHECK(h.user.disconnected + 1 == h.user.connected);
        }
    }
}

TEST_CASE_FIXTURE(through_proxy, "several threads may run the event loop") {
    pump_harness h(proxy.port(), 2s);
    const auto keep = asio::make_work_guard(*h.io);
    std::array<std::thread, 2> runs;
    for (auto& each : runs)
        each = std::thread([&] { h.io->run(); });
    const auto on_strand = [&](auto task) {
        std::promise<void> done;
        h.env->post([&] {
            task();
            done.set_value();
        });
        done.get_future().wait();
    };
    std::vector<submitted> all;
    for (int round = 0; round < 20; ++round) {
        bool up = false;
        for (int i = 0; i < 2000 && !up; ++i) {
            on_strand([&] { up = h.user.up; });
            if (!up) std::this_thread::sleep_for(1ms);
        }
        REQUIRE(up);
        for (int i = 0; i < 20; ++i)
            on_strand([&] { all.push_back(h.exists("/", true)); });
        proxy.cut_all(cut::rst);
        on_strand([&] { all.push_back(h.exists("/", true)); });
    }
    on_strand([&] { h.pump->close(); });
    for (const auto& each : all)
        CHECK(each->times == 1);
    on_strand([&] { CHECK_FALSE(h.user.over); });
    h.io->stop();
    for (auto& each : runs)
        each.join();
}

#if !defined(PADDOCK_TEST_SANITIZED) // they end the process where malloc would return null

namespace {

/// Opens a session for each connection, and then sends an invalid length, and more.
void speak_nonsense(asio::ip::tcp::acceptor& acceptor) {
    asio::ip::tcp::socket socket(acceptor.get_executor());
    acceptor.accept(socket);
    std::array<unsigned char, 49> request{};
    asio::read(socket, asio::buffer(request));
    // Length, protocol version, timeout of 6 s, session, password, not read-only.
    std::array<unsigned char, 41 + 4 + 8> answer{0, 0, 0,    37,   0, 0, 0, 0,
                                                 0, 0, 0x17, 0x70, 0, 0, 0, 1};
    answer[23] = 16;
    answer[41] = 0x80;
    asio::write(socket, asio::buffer(answer));
    boost::system::error_code ended;
    asio::read(socket, asio::buffer(request), ended);
}

} // namespace

TEST_CASE("a server that sends nonsense does not use up the processor") {
    asio::io_context io(1);
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    std::thread server([&] { speak_nonsense(acceptor); });
    pump_harness h(acceptor.local_endpoint().port(), 6s);
    REQUIRE(h.connect());
    const auto open = h.exists("/");
    const auto before = thread_cpu_time();
    CHECK(h.until([&] { return h.user.disconnected == 1; }, 3800ms)); // the C client: in 4 s
    CHECK(thread_cpu_time() - before < 300ms);
    CHECK(open->rc == connection_loss);
    h.pump->close();
    server.join();
}

#endif
