// The relay of an encrypted connection, between a socket of the system and a network of the test.

#include "native/relay.hpp"
#include "support/fake_network.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace paddock;
using namespace paddock::test;
using native::relay;
namespace errors = boost::asio::error;

namespace {

/// A relay and both of its sides. Encryption leaves the bytes as they are.
struct relay_stage {
    relay_stage() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
        near = ends[0];
        far = ends[1];
        const int small = 4096; // so that a side that does not read is soon full
        for (const int end : ends)
            ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        between.emplace(env, far, "10.0.0.1", std::uint16_t(2281),
                        [this](std::unique_ptr<stream> connected, stream::done call) {
                            secured = std::move(call);
                            return connected;
                        });
    }
    ~relay_stage() {
        between.reset();
        close_near();
    }

    void connect() {
        network.accept();
        env.run();
        REQUIRE(secured);
    }
    void end_handshake(boost::system::error_code error = {}) {
        env.post([call = std::exchange(secured, {}), error]() mutable { call(error); });
        env.run();
    }
    void carry() {
        connect();
        end_handshake();
        REQUIRE(read_near() == std::string(1, relay::carries));
    }

    /// How many of these bytes the C client's socket has taken.
    std::size_t write_near(const std::string& bytes) {
        const auto size = ::send(near, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return size < 0 ? 0 : static_cast<std::size_t>(size);
    }
    std::string read_near(std::size_t most = 65536) {
        std::string bytes(most, '\0');
        const auto size = ::recv(near, bytes.data(), bytes.size(), 0);
        near_ended = size == 0;
        bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
        return bytes;
    }
    std::string read_all_near() {
        std::string all;
        for (auto piece = read_near(); !piece.empty(); piece = read_near())
            all += piece;
        return all;
    }
    void close_near() {
        if (near >= 0) ::close(std::exchange(near, -1));
    }
    /// As an event loop would.
    void look_at_far() {
        pollfd at{far, POLLOUT, 0};
        const bool ready =
            between->at() != relay::stage::ended && ::poll(&at, 1, 0) > 0 && at.revents != 0;
        env.set_ready(static_cast<std::uint64_t>(far), ready ? 2 : 0);
        env.set_ready(static_cast<std::uint64_t>(far), 0); // it may be full again after one write
        env.run();
    }

    int near = -1, far = -1;
    bool near_ended = false;
    stream::done secured;
    fake_environment env;
    fake_network network{env};
    std::optional<relay> between;
};

std::string relay_bytes(std::size_t size, char first) {
    std::string bytes(size, first);
    for (std::size_t n = 0; n < size; ++n)
        bytes[n] = static_cast<char>('a' + (static_cast<std::size_t>(first) + n / 7) % 26);
    return bytes;
}

} // namespace

TEST_CASE_FIXTURE(relay_stage, "a relay connects, shakes hands, and says so before it carries") {
    CHECK(network.last().address == "10.0.0.1");
    CHECK(network.last().port == 2281);
    CHECK(between->at() == relay::stage::connecting);
    connect();
    CHECK(between->at() == relay::stage::securing);
    CHECK(read_near().empty());
    end_handshake();
    CHECK(between->at() == relay::stage::carrying);
    CHECK(read_near() == std::string(1, relay::carries));
    network.say("hello");
    env.run();
    CHECK(read_near() == "hello");
    write_near("ping");
    CHECK(network.taken().empty());
    between->flush();
    CHECK(network.taken() == "ping");
}

TEST_CASE_FIXTURE(relay_stage,
                  "a relay that cannot connect ends, and says in which stage, and why") {
    auto where = relay::stage::connecting;
    const auto why = errors::make_error_code(errors::connection_refused);
    SUBCASE("nobody listens") {
        network.accept(why);
        env.run();
    }
    SUBCASE("the handshake fails") {
        where = relay::stage::securing;
        connect();
        end_handshake(why);
    }
    SUBCASE("the connection breaks") {
        where = relay::stage::carrying;
        carry();
        network.break_off(why);
        env.run();
    }
    CHECK(between->at() == relay::stage::ended);
    CHECK(between->ended_in() == where);
    CHECK(between->failure() == why);
    CHECK_FALSE(network.last().open);
    CHECK(read_near().empty());
    CHECK(near_ended);
}

TEST_CASE_FIXTURE(relay_stage, "a relay whose user has closed the socket closes the connection") {
    std::string leaves;
    SUBCASE("while it connects") {}
    SUBCASE("while it shakes hands") { connect(); }
    SUBCASE("while it carries: the last words still leave") {
        carry();
        leaves = "the last words";
        write_near(leaves);
    }
    SUBCASE("while the network takes nothing") {
        carry();
        network.last().takes_bytes = false;
        leaves = "first";
        write_near(leaves);
        between->flush();
        write_near("second");
        between->flush();
    }
    SUBCASE("while it is full itself") {
        carry();
        network.say(std::string(65536, 'x'));
        env.run();
    }
    close_near();
    between->flush();
    env.run();
    between->flush();
    CHECK(between->at() == relay::stage::ended);
    CHECK_FALSE(between->failure());
    CHECK_FALSE(network.last().open);
    CHECK(network.last().written == leaves);
}

TEST_CASE_FIXTURE(relay_stage, "a relay without a descriptor to wait for ends") {
    carry();
    env.no_descriptors = true;
    network.say(std::string(65536, 'x'));
    env.run();
    CHECK(between->failure() == errors::no_descriptors);
    CHECK_FALSE(network.last().open);
}

TEST_CASE_FIXTURE(relay_stage, "a relay reads no more than it can pass on") {
    carry();
    network.last().takes_bytes = false;
    std::size_t taken = 0;
    for (int n = 0; n < 100; ++n) {
        taken += write_near(std::string(1024, 'x'));
        between->flush();
    }
    CHECK(network.last().writes.size() == 1);
    CHECK(taken < 32 * 1024);
    for (int n = 0; n < 100; ++n) {
        network.say(std::string(1024, 'y'));
        env.run();
    }
    CHECK(network.last().inbound.size() > 60 * 1024);
    network.last().takes_bytes = true;
    network.let_write_end();
    std::string arrived;
    for (int n = 0; n < 200; ++n) {
        arrived += read_all_near();
        look_at_far();
    }
    CHECK(arrived == std::string(100 * 1024, 'y'));
    CHECK(network.taken() == std::string(taken, 'x'));
}

// What arrives is the beginning of what was sent, whatever happens; all of it, if nothing does.
TEST_CASE("a relay keeps the bytes of both directions in their order") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        relay_stage s;
        for (std::uint64_t n = 0; n < seed; ++n)
            s.env.random();
        const auto dice = [&](std::uint64_t sides) { return s.env.random() % sides; };
        s.carry();
        auto& link = s.network.last();
        std::string up, down, arrived;
        bool broken = false;
        for (int step = 0; step < 200 && s.between->at() == relay::stage::carrying; ++step) {
            switch (dice(9)) {
            case 0:
            case 1: {
                const auto bytes = relay_bytes(1 + dice(6000), static_cast<char>(step));
                up += bytes.substr(0, s.write_near(bytes));
                break;
            }
            case 2:
            case 3: {
                if (down.size() - arrived.size() > 100'000) break;
                const auto bytes = relay_bytes(1 + dice(20'000), static_cast<char>(step + 13));
                down += bytes;
                s.network.say(bytes);
                break;
            }
            case 4:
                arrived += s.read_near(1 + dice(5000));
                break;
            case 5:
                s.between->flush();
                break;
            case 6:
                link.takes_bytes = !link.takes_bytes;
                if (link.takes_bytes && link.write_ended) s.network.let_write_end();
                break;
            case 7:
                s.look_at_far();
                break;
            default:
                if (dice(40) != 0) break;
                broken = true;
                if (dice(2) == 0)
                    s.network.break_off();
                else
                    s.close_near();
            }
            if (dice(3) == 0) s.env.run();
            for (const auto size : link.writes)
                CHECK(size <= 16 * 1024);
            CHECK(up.starts_with(link.written));
        }
        if (!link.takes_bytes && link.write_ended) s.network.let_write_end();
        link.takes_bytes = true;
        for (int n = 0; n < 300; ++n) {
            s.between->flush();
            s.look_at_far();
            if (s.near >= 0) arrived += s.read_all_near();
        }
        CHECK(up.starts_with(link.written));
        CHECK(down.starts_with(arrived));
        CHECK(broken == (s.between->at() == relay::stage::ended));
        CHECK(link.open != broken);
        if (broken) continue;
        CHECK(link.written == up);
        CHECK(arrived == down);
    }
}
