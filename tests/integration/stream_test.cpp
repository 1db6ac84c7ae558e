// The real stream: a TCP connection on the client's strand, with a peer that the test plays.

#include "support/asio_environment.hpp"
#include "support/counts.hpp"
#include "support/ports.hpp"
#include "support/pump_harness.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace paddock;
using namespace paddock::test;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// A stream, and the server that it connects to.
struct two_ends {
    two_ends() {
        listener.emplace(far_io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        port = listener->local_endpoint().port();
    }

    template <class Predicate>
    bool until(Predicate predicate) {
        return run_until(*io, predicate);
    }
    std::optional<error_code> connect_to(const std::string& address, std::uint16_t number) {
        std::optional<error_code> result;
        bool inside = true;
        near->connect(address, number, [&](error_code error) {
            CHECK_FALSE(inside);
            result = error;
        });
        inside = false;
        until([&] { return result.has_value(); });
        return result;
    }
    void connect() {
        REQUIRE(connect_to("127.0.0.1", port) == error_code());
        listener->accept(far);
        far.non_blocking(true);
    }
    /// Reads until the end of the connection.
    void read_on() {
        near->read_some([&](error_code error, std::string_view bytes) {
            CHECK(bytes.empty() == !!error);
            received += bytes;
            ended = error;
            if (!error) read_on();
        });
    }
    /// What the peer can read now.
    std::string arrived() {
        std::array<char, 65536> bytes{};
        error_code error;
        const auto size = far.read_some(asio::buffer(bytes), error);
        return {bytes.data(), size};
    }

    asio::io_context far_io;
    std::optional<tcp::acceptor> listener;
    tcp::socket far{far_io};
    std::uint16_t port = 0;

    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>(1);
    std::unique_ptr<environment> env =
        make_asio_environment(asio::make_strand(asio::any_io_executor(io->get_executor())));
    std::unique_ptr<tcp_stream> near = env->make_stream();

    std::string received;
    error_code ended;
};

} // namespace

TEST_CASE_FIXTURE(two_ends, "bytes go both ways at the same time, until the peer closes") {
    connect();
    asio::write(far, asio::buffer("hello", 5));
    read_on();
    CHECK(received.empty());
    CHECK(until([&] { return received == "hello"; }));
    CHECK(near->write("ping", [](error_code) { FAIL_CHECK("it was written within the call"); }));
    std::string there;
    CHECK(until([&] { return (there += arrived()) == "ping"; }));
    asio::write(far, asio::buffer("bye", 3));
    far.close();
    CHECK(until([&] { return !!ended; }));
    CHECK(received == "hellobye");
    CHECK(ended == asio::error::eof);
}

TEST_CASE_FIXTURE(two_ends, "a peer that resets the connection is an error to read and to write") {
    connect();
    far.set_option(asio::socket_base::linger(true, 0));
    far.close();
    read_on();
    CHECK(until([&] { return !!ended; }));
    CHECK(ended == asio::error::connection_reset);
    std::optional<error_code> written;
    near->write("x", [&](error_code error) { written = error; });
    CHECK(until([&] { return written.has_value(); }));
    CHECK(*written == asio::error::broken_pipe);
}

TEST_CASE_FIXTURE(two_ends, "what an aborted stream has written does not arrive any more") {
    connect();
    far.non_blocking(false);
    far.set_option(asio::socket_base::receive_buffer_size(65536));
    const std::string many(std::size_t(16) * 1024 * 1024, 'x'); // more than the system takes
    near->write(many, [](error_code) {});
    bool aborted = false;
    SUBCASE("an abort") {
        near->abort();
        aborted = true;
    }
    SUBCASE("a close") { near->close(); }
    std::string bytes(65536, ' ');
    error_code error;
    while (!error)
        far.read_some(asio::buffer(bytes), error);
    const error_code reset = asio::error::connection_reset, end = asio::error::eof;
    CHECK(error == (aborted ? reset : end));
}

TEST_CASE_FIXTURE(two_ends, "programs that this one starts do not inherit a connection") {
    connect();
    CHECK((::fcntl(near->descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE_FIXTURE(two_ends, "a connection that is refused, and addresses that are none") {
    reserved_port silent;
    CHECK(connect_to("127.0.0.1", silent.number()) == asio::error::connection_refused);
    near = env->make_stream();
    CHECK(connect_to("localhost", port) == asio::error::invalid_argument);
    near = env->make_stream();
    CHECK(connect_to("", port) == asio::error::invalid_argument);
}

TEST_CASE_FIXTURE(two_ends, "without a connection reading and writing are errors") {
    std::optional<error_code> read, written;
    near->read_some([&](error_code error, std::string_view) { read = error; });
    near->write("x", [&](error_code error) { written = error; });
    CHECK_FALSE(read.has_value());
    CHECK_FALSE(written.has_value());
    CHECK(until([&] { return read && written; }));
    CHECK(*read);
    CHECK(*written);
}

TEST_CASE_FIXTURE(two_ends, "a large write arrives whole, while its peer reads slowly") {
    connect();
    std::string all(9'000'000, '\0');
    for (std::size_t n = 0; n < all.size(); ++n)
        all[n] = static_cast<char>(n * 31 >> 8);
    int written = 0;
    near->write(all, [&](error_code error) {
        CHECK_FALSE(error);
        ++written;
    });
    run_for(*io, 20ms);
    CHECK(written == 0); // more than the system buffers
    std::string there;
    CHECK(until([&] {
        there += arrived();
        return there.size() == all.size();
    }));
    CHECK(there == all);
    CHECK(until([&] { return written == 1; }));
}

TEST_CASE_FIXTURE(two_ends, "many small writes, each begun after the one before") {
    connect();
    bool ready = true;
    int left = 2'000;
    std::string there;
    CHECK(until([&] {
        for (; ready && left > 0; --left)
            ready = near->write("0123456789", [&](error_code error) {
                CHECK_FALSE(error);
                ready = true;
            });
        return (there += arrived()).size() == 20'000;
    }));
    CHECK(left == 0);
}

TEST_CASE_FIXTURE(two_ends,
                  "a stream that is closed or destroyed calls nothing, and lets the loop end") {
    env->make_timer(); // the reactor's own descriptors exist now
    const auto fds = open_fds();
    const auto fails = [](error_code, auto&&...) { FAIL_CHECK("called"); };
    bool closes = false;
    const auto quit = [&] {
        if (closes) near->close();
        near.reset();
        CHECK(open_fds() == fds);
        io->restart();
        io->run(); // it returns
    };
    SUBCASE("closed") { closes = true; }
    SUBCASE("destroyed") {}
    SUBCASE("while it connects") {
        near->connect("127.0.0.1", port, fails);
        quit();
        near = env->make_stream();
        near->connect("no address", port, fails);
        quit();
    }
    SUBCASE("while the peer does not accept") {
        tcp::acceptor full(far_io);
        full.open(tcp::v4());
        full.bind({asio::ip::address_v4::loopback(), 0});
        full.listen(0);
        std::deque<tcp::socket> crowd;
        for (int n = 0; n < 4; ++n)
            crowd.emplace_back(far_io).async_connect(full.local_endpoint(), [](error_code) {});
        near->connect("127.0.0.1", full.local_endpoint().port(), fails);
        run_for(*io, 20ms);
        crowd.clear();
        full.close();
        near.reset();
        io->restart();
        io->run();
    }
    SUBCASE("while it reads, with bytes that wait") {
        connect();
        asio::write(far, asio::buffer("hello", 5));
        near->read_some(fails);
        far.close();
        quit();
    }
    SUBCASE("while it reads") {
        connect();
        near->read_some(fails);
        far.close();
        quit();
    }
    SUBCASE("while it writes") {
        connect();
        near->write("a few bytes", fails);
        far.close();
        quit();
    }
    SUBCASE("while it writes more than the system buffers") {
        connect();
        near->write(std::string(9'000'000, 'x'), fails);
        run_for(*io, 20ms);
        far.close();
        quit();
    }
    SUBCASE("its environment is destroyed first") {
        connect();
        near->read_some(fails);
        near->write("a few bytes", fails);
        env.reset();
        far.close();
        io->restart();
        io->run();
    }
}

TEST_CASE_FIXTURE(two_ends, "a callback may destroy its stream") {
    bool called = false;
    const auto destroys = [&](error_code, auto&&...) {
        near.reset();
        called = true;
    };
    SUBCASE("when it has connected") { near->connect("127.0.0.1", port, destroys); }
    SUBCASE("when it could not") { near->connect("no address", port, destroys); }
    SUBCASE("when it has read") {
        connect();
        asio::write(far, asio::buffer("hello", 5));
        near->write("x", [](error_code) {});
        near->read_some(destroys);
    }
    SUBCASE("when it has written") {
        connect();
        near->read_some([](error_code, std::string_view) { FAIL_CHECK("called"); });
        CHECK_FALSE(near->write(std::string(9'000'000, 'x'), destroys));
    }
    CHECK(until([&] {
        arrived();
        return called;
    }));
    io->restart();
    io->run();
}

TEST_CASE_FIXTURE(two_ends, "the event loop may be destroyed while the stream works") {
    connect();
    near->read_some([](error_code, std::string_view) { FAIL_CHECK("called"); });
    near->write(std::string(9'000'000, 'x'), [](error_code) { FAIL_CHECK("called"); });
    near.reset();
    env.reset();
    io.reset();
}

TEST_CASE_FIXTURE(two_ends, "a forked child drops its copy, and takes no bytes of its parent's") {
    connect();
    read_on();
    bool handles_fork = false;
    SUBCASE("before notify_fork") {}
    SUBCASE("after notify_fork") { handles_fork = true; }
    io->notify_fork(asio::io_context::fork_prepare);
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (handles_fork) {
            io->notify_fork(asio::io_context::fork_child);
            run_for(*io, 100ms); // the parent writes meanwhile
            env->after_fork();
        }
        near.reset();
        ::_exit(received.empty() ? 0 : 1);
    }
    io->notify_fork(asio::io_context::fork_parent);
    asio::write(far, asio::buffer("hello", 5));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(until([&] { return received == "hello"; }));
    asio::write(far, asio::buffer(" again", 6));
    CHECK(until([&] { return received == "hello again"; }));
    far.close();
    CHECK(until([&] { return ended == asio::error::eof; }));
}
