#include "redis_server.hpp"

#include "ports.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"
#include "time_scale.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

namespace paddock::test {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Debian's redis-tools has the server, under the name of another tool; the package redis-server
/// would start one at once.
constexpr const char* binary = "/usr/bin/redis-check-rdb";

/// Whether the server there serves commands, if only to say that it does not know us; not while it
/// still loads its data.
bool serves(std::uint16_t port) {
    asio::io_context io;
    tcp::socket socket(io);
    std::string reply;
    socket.async_connect({asio::ip::address_v4::loopback(), port}, [&](auto connect_error) {
        if (connect_error) return;
        asio::async_write(socket, asio::buffer("PING\r\n", 6), [&](auto write_error, std::size_t) {
            if (write_error) return;
            asio::async_read_until(socket, asio::dynamic_buffer(reply), "\r\n", [](auto, auto) {});
        });
    });
    io.run_for(scaled(200ms));
    return reply.ends_with("\r\n") && !reply.starts_with("-LOADING");
}

} // namespace

struct redis_server::state {
    state(std::vector<std::string> wanted, std::string_view shifted_clock,
          const tls_of_server* tls = nullptr)
        : arguments(std::move(wanted)) {
        if (tls) speak(*tls);
        std::filesystem::create_symlink(binary, program());
        if (!shifted_clock.empty())
            with = {"/usr/bin/env", std::string("LD_PRELOAD=").append(shifted_clock)};
        std::ofstream{clock()};
        set_clock(0s);
    }

    void speak(const tls_of_server& tls) {
        tls_port.emplace();
        const char* clients = tls.clients == client_certificates::none       ? "no"
                              : tls.clients == client_certificates::optional ? "optional"
                                                                             : "yes";
        arguments.insert(arguments.end(),
                         {"--tls-port", std::to_string(tls_port->number()), "--tls-cert-file",
                          tls.identity.certificate, "--tls-key-file", tls.identity.key,
                          "--tls-auth-clients", clients});
        if (!tls.ca.empty()) arguments.insert(arguments.end(), {"--tls-ca-cert-file", tls.ca});
        if (!tls.protocols.empty())
            arguments.insert(arguments.end(), {"--tls-protocols", list_of_protocols(tls, ' ')});
        if (outdated(tls))
            arguments.insert(arguments.end(), {"--tls-ciphers", "DEFAULT:@SECLEVEL=0"});
    }

    std::string program() const { return (folder.path() / "redis-server").string(); }
    std::string log() const { return (folder.path() / "log").string(); }
    std::string clock() const { return (folder.path() / "clock").string(); }

    void start() {
        auto command = with;
        const std::vector<std::string> own{program(),
                                           "--port",
                                           std::to_string(port.number()),
                                           "--cluster-port", // else the port + 10000
                                           std::to_string(cluster_port.number()),
                                           "--bind",
                                           "127.0.0.1",
                                           "--save",
                                           "",
                                           "--dir",
                                           folder.path().string(),
                                           "--daemonize",
                                           "no"};
        command.insert(command.end(), own.begin(), own.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        process.emplace(command, folder.path().string(), log());
        const auto deadline = steady_clock::now() + scaled(30s);
        while (!serves(port.number()))
            if (process->wait_for(10ms) || steady_clock::now() > deadline) give_up();
    }

    [[noreturn]] void give_up() const {
        std::ifstream file(log());
        throw std::runtime_error(
            "redis-server does not run (is redis-tools installed?); its log:\n" +
            std::string(std::istreambuf_iterator<char>(file), {}));
    }

    /// The server has the file in its memory, which must not become shorter meanwhile.
    void set_clock(std::chrono::seconds ahead) const {
        const std::int64_t seconds = ahead.count();
        std::fstream file(clock(), std::ios::in | std::ios::out | std::ios::binary);
        file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
    }

    std::vector<std::string> with, arguments;
    temporary_folder folder;
    reserved_port port, cluster_port;
    std::optional<reserved_port> tls_port;
    std::optional<child_process> process;
};

redis_server::redis_server(std::vector<std::string> arguments, std::string_view shifted_clock)
    : state_(std::make_unique<state>(std::move(arguments), shifted_clock)) {
    state_->start();
}

redis_server::redis_server(std::vector<std::string> arguments, const tls_of_server& tls)
    : state_(std::make_unique<state>(std::move(arguments), std::string_view(), &tls)) {
    state_->start();
}

redis_server::redis_server(redis_server&&) noexcept = default;

redis_server::~redis_server() = default;

std::uint16_t redis_server::port() const {
    return state_->tls_port ? state_->tls_port->number() : plain_port();
}

std::uint16_t redis_server::plain_port() const { return state_->port.number(); }

void redis_server::kill() { state_->process.reset(); }

void redis_server::wipe() {
    for (const auto* data : {"appendonlydir", "appendonly.aof", "dump.rdb"})
        std::filesystem::remove_all(state_->folder.path() / data);
}

void redis_server::start() { state_->start(); }

void redis_server::pause() { state_->process->pause(); }

void redis_server::resume() { state_->process->signal(SIGCONT); }

void redis_server::set_clock(std::chrono::seconds ahead) { state_->set_clock(ahead); }

} // namespace paddock::test
