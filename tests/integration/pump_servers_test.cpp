// Several servers, most of them dead, and names that change their meaning.

#include "support/counts.hpp"
#include "support/ports.hpp"
#include "support/proxy.hpp"
#include "support/pump_harness.hpp"
#include "support/zk_server.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <thread>

using namespace paddock;
using namespace paddock::test;
using asio::ip::tcp;
using native::code::ok;

namespace {

/// The real environment, but for the resolver.
class own_names final : public environment {
public:
    explicit own_names(std::unique_ptr<environment> real) : real_(std::move(real)) {}

    boot_clock::time_point now() const override { return real_->now(); }
    std::chrono::system_clock::time_point wall_clock() const override {
        return real_->wall_clock();
    }
    std::uint64_t random() override { return real_->random(); }
    void post(unique_function<void()>&& task) override { real_->post(std::move(task)); }
    std::unique_ptr<timer> make_timer() override { return real_->make_timer(); }
    std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) override {
        return real_->make_wakeup(std::move(woken));
    }
    std::unique_ptr<readiness> make_readiness(descriptor connection) override {
        return real_->make_readiness(connection);
    }
    std::unique_ptr<tcp_stream> make_stream() override { return real_->make_stream(); }
    void resolve(const std::string& host, resolved done) override {
        ++asked[host];
        const auto found = names.find(host);
        const auto error =
            found == names.end() ? asio::error::host_not_found : boost::system::error_code();
        const auto addresses = found == names.end() ? std::vector<std::string>() : found->second;
        post([done = std::move(done), error, addresses]() mutable { done(error, addresses); });
    }
    void stop_resolving() noexcept override {} // a server list ignores later answers

    std::map<std::string, std::vector<std::string>> names;
    std::map<std::string, int> asked;

private:
    std::unique_ptr<environment> real_;
};

/// Also over TLS.
struct named_harness {
    explicit named_harness(std::vector<native::server_address> servers,
                           std::map<std::string, std::vector<std::string>> names,
                           std::chrono::milliseconds session_timeout = 2s)
        : env(make_asio_environment(asio::make_strand(asio::any_io_executor(io.get_executor())))) {
        env.names = std::move(names);
        native::pump_options how{std::move(servers), session_timeout, {}};
        fronts = put_fronts(how, "localhost");
        pump = std::make_shared<native::pump>(env, native::make_c_client(), how, user);
        pump->start();
    }
    ~named_harness() { pump->close(); }

    bool connect() {
        return run_until(io, [&] { return user.up; });
    }

    std::vector<std::unique_ptr<tls_front>> fronts;
    asio::io_context io{1};
    own_names env;
    recording_user user;
    std::shared_ptr<native::pump> pump;
};

bool mentions(const recording_user& user, std::string_view what) {
    return std::any_of(user.troubles.begin(), user.troubles.end(),
                       [&](const auto& each) { return each.find(what) != std::string::npos; });
}

} // namespace

TEST_CASE("the one living server of several is found again each time that it is lost") {
    fault_proxy alive(shared_server().port());
    for (const std::size_t servers : {2U, 3U, 4U}) {
        INFO(servers << " servers");
        std::vector<reserved_port> dead(servers - 1);
        native::pump_options how{{literal_server(alive.port())}, 2s, {}};
        for (const auto& port : dead)
            how.servers.push_back(literal_server(port.number()));
        pump_harness h(how);
        REQUIRE(h.connect());
        for (int loss = 0; loss < 6; ++loss) {
            alive.cut_all(cut::fin);
            const auto want = h.user.connected + 1;
            REQUIRE(h.until([&] { return h.user.connected >= want; }));
        }
        CHECK_FALSE(h.user.over);
    }
}

TEST_CASE("silent servers cost a second each, not two thirds of the session timeout") {
    fault_proxy alive(shared_server().port());
    fault_proxy first(shared_server().port());
    fault_proxy second(shared_server().port());
    first.black_hole(true);
    second.black_hole(true);
    pump_harness h(native::pump_options{
        {literal_server(first.port()), literal_server(second.port()), literal_server(alive.port())},
        10s,
        {}});
    REQUIRE(h.connect(6s)); // one silent server alone would cost more
    alive.cut_all(cut::rst);
    REQUIRE(h.until([&] { return h.user.connected >= 2; }, 6s));
}

TEST_CASE("a server that is slow to answer the handshake gets more time with each attempt") {
    fault_proxy slow(shared_server().port());
    slow.delay(direction::down, 1500ms);
    pump_harness h(slow.port(), 10s);
    REQUIRE(h.connect(6s));
    CHECK(slow.accepted() == 2);
}

TEST_CASE("drop_connection goes on to another server with the same session") {
    fault_proxy one(shared_server().port());
    fault_proxy two(shared_server().port());
    pump_harness h(
        native::pump_options{{literal_server(one.port()), literal_server(two.port())}, 10s, {}});
    REQUIRE(h.connect());
    const auto session = h.pump->session_id();
    const auto open = h.exists("/");
    h.pump->drop_connection();
    CHECK_FALSE(h.pump->ready());
    CHECK(h.user.disconnected == 0);
    CHECK(h.until([&] { return h.user.connected >= 2; }));
    CHECK(h.user.disconnected == 1);
    CHECK(open->times == 1);
    CHECK(h.pump->session_id() == session);
    CHECK(h.wait(h.exists("/")).rc == ok);
    for (int i = 0; i < 10; ++i) {
        h.pump->drop_connection();
        const auto want = h.user.connected + 1;
        REQUIRE(h.until([&] { return h.user.connected >= want; }));
    }
    CHECK(one.accepted() > 1);
    CHECK(two.accepted() > 1);
}

TEST_CASE("an unknown name is reported and looked up again, without spinning") {
    native::pump_options how{{{"no-such-host.invalid", 2181, false}}, 10s, {}};
    pump_harness h(how);
    REQUIRE(h.until([&] { return !h.user.troubles.empty(); }, 30s));
    CHECK(mentions(h.user, "no-such-host.invalid"));
    const auto before = thread_cpu_time();
    const auto troubles = h.user.troubles.size();
    run_for(*h.io, 1500ms);
    CHECK(thread_cpu_time() - before < scaled(50ms));
    CHECK(h.user.troubles.size() <= troubles + 5);
    CHECK(h.user.connected == 0);
}

TEST_CASE("servers that refuse are tried without spinning, and reported") {
    reserved_port dead;
    pump_harness h(dead.number(), 2s);
    const auto before = thread_cpu_time();
    run_for(*h.io, 2s);
    CHECK(thread_cpu_time() - before < scaled(150ms));
    CHECK(mentions(h.user, "no server of 127.0.0.1:"));
    CHECK(h.user.troubles.size() <= 8);
    CHECK(h.until([&] { return h.user.troubles.size() >= 2; }));
}

TEST_CASE("Asio resolves a name, on the one thread that it needs for it") {
    const auto before = threads();
    pump_harness h(native::pump_options{{{"localhost", shared_server().port(), false}}, 10s, {}});
    REQUIRE(h.connect());
    CHECK(threads() == before + 1);
    CHECK(h.wait(h.exists("/")).rc == ok);
}

TEST_CASE("the client connects with the names that resolve") {
    named_harness h({{"gone", 1, false}, {"here", shared_server().port(), false}},
                    {{"here", {"127.0.0.1"}}});
    REQUIRE(h.connect());
    CHECK(mentions(h.user, "cannot resolve gone"));
    const auto asked = h.env.asked;
    run_for(h.io, 1s);
    CHECK(h.env.asked == asked); // names are looked up again only without a connection
    CHECK(asked.at("gone") <= (over_tls() ? 12 : 1)); // a handshake takes its time
}

TEST_CASE("names are resolved again when no server answers") {
    const auto port = shared_server().port();
    reserved_port dead;
    std::map<std::string, std::vector<std::string>> later;
    std::unique_ptr<named_harness> h;
    SUBCASE("a server has moved") {
        h = std::make_unique<named_harness>(
            std::vector<native::server_address>{{"zk", port, false}},
            std::map<std::string, std::vector<std::string>>{{"zk", {"127.0.0.2"}}});
        later = {{"zk", {"127.0.0.1"}}};
    }
    SUBCASE("a server has come in the place of an entry that was there twice") {
        h = std::make_unique<named_harness>(
            std::vector<native::server_address>{{"zk", port, false}},
            std::map<std::string, std::vector<std::string>>{{"zk", {"127.0.0.2", "127.0.0.3"}}});
        later = {{"zk", {"127.0.0.2", "127.0.0.3", "127.0.0.1"}}};
    }
    SUBCASE("two servers have swapped their addresses, and only ports differ") {
        h = std::make_unique<named_harness>(
            std::vector<native::server_address>{{"a", dead.number(), false}, {"b", port, false}},
            std::map<std::string, std::vector<std::string>>{{"a", {"127.0.0.1"}},
                                                            {"b", {"127.0.0.2"}}});
        later = {{"a", {"127.0.0.2"}}, {"b", {"127.0.0.1"}}};
    }
    SUBCASE("no name could be resolved at first") {
        h = std::make_unique<named_harness>(
            std::vector<native::server_address>{{"zk", port, false}},
            std::map<std::string, std::vector<std::string>>{});
        later = {{"zk", {"127.0.0.1"}}};
    }
    run_for(h->io, 1s);
    CHECK(h->user.connected == 0);
    CHECK_FALSE(h->user.troubles.empty());
    h->env.names = later;
    REQUIRE(h->connect());
    const auto session = h->pump->session_id();
    CHECK(session != 0);
    for (const auto& [name, times] : h->env.asked)
        CHECK(times <= 12);
}

namespace {

/// One TCP connection on [::1], passed on to the server, which only listens on 127.0.0.1.
struct v6_relay {
    explicit v6_relay(asio::io_context& context, std::uint16_t upstream)
        : io(context), acceptor(context), near(context), far(context), port(upstream) {}

    bool listen() {
        boost::system::error_code error;
        acceptor.open(tcp::v6(), error);
        if (!error) acceptor.bind({asio::ip::address_v6::loopback(), 0}, error);
        if (!error) acceptor.listen(1, error);
        if (error) return false;
        acceptor.async_accept(near, [this](const auto& failed) {
            if (failed) return;
            far.connect({asio::ip::address_v4::loopback(), port});
            pass(near, far, up);
            pass(far, near, down);
        });
        return true;
    }

    using buffer = std::array<char, 4096>;
    void pass(tcp::socket& from, tcp::socket& to, buffer& data) {
        from.async_read_some(asio::buffer(data), [&, this](const auto& failed, std::size_t size) {
            if (failed) return;
            asio::write(to, asio::buffer(data, size));
            pass(from, to, data);
        });
    }

    asio::io_context& io;
    tcp::acceptor acceptor;
    tcp::socket near, far;
    std::uint16_t port;
    buffer up, down;
};

} // namespace

TEST_CASE("an IPv6 address is a server like any other, and is left when the list has it no more") {
    asio::io_context io(1);
    v6_relay relay(io, shared_server().port());
    if (!relay.listen()) {
        MESSAGE("no IPv6 loopback here: not tested");
        return;
    }
    std::thread runs([&] { io.run_for(20s); });
    {
        const auto port = relay.acceptor.local_endpoint().port();
        pump_harness h(native::pump_options{{literal_server(port, "::1")}, 10s, {}});
        CHECK(h.connect());
        CHECK(h.wait(h.exists("/")).rc == ok);
        CHECK(h.pump->server() == "[::1]:" + std::to_string(port));
        h.pump->set_servers({literal_server(shared_server().port())});
        CHECK(h.until([&] { return h.user.connected == 2; }));
        CHECK(h.pump->server() == shared_server().address());
    }
    io.stop();
    runs.join();
}
