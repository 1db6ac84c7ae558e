#include "zk_server.hpp"

#include "ports.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"
#include "time_scale.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

namespace paddock::test {

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

std::string class_path() {
    if (const char* given = std::getenv("PADDOCK_ZOOKEEPER_CLASSPATH")) {
        return given;
    }
    // Where Debian's packages put them. zookeeper.jar names the jars that it depends on by itself,
    // but not the servlet API, without which there is no HTTP interface, and not all of Netty,
    // without which it does not speak TLS.
    const std::string jars = "/usr/share/java/";
    return jars + "zookeeper.jar:" + jars + "servlet-api.jar:" + jars + "slf4j-simple.jar:" + jars +
           "netty-codec.jar";
}

std::string ask_port(std::uint16_t port, const std::string& command,
                     std::chrono::milliseconds limit) {
    asio::io_context io;
    tcp::socket socket(io);
    std::string answer;
    std::size_t length = 0; // stays 0 when the server does not answer in time
    socket.async_connect({asio::ip::address_v4::loopback(), port}, [&](auto connect_error) {
        if (connect_error) {
            return;
        }
        asio::async_write(socket, asio::buffer(command), [&](auto write_error, std::size_t) {
            if (write_error) {
                return;
            }
            asio::async_read(socket, asio::dynamic_buffer(answer),
                             [&](auto, std::size_t bytes) { length = bytes; });
        });
    });
    io.run_for(scaled(limit));
    answer.resize(length);
    return answer;
}

bool listens(std::uint16_t port) {
    asio::io_context io;
    tcp::socket socket(io);
    error_code error;
    socket.connect({asio::ip::address_v4::loopback(), port}, error);
    return !error;
}

} // namespace

struct zk_server::state {
    explicit state(zk_server_options wanted) : options(std::move(wanted)) {}

    zk_server_options options;
    temporary_folder folder;
    std::optional<reserved_port> port;
    std::optional<reserved_port> admin_port;
    std::optional<reserved_port> tls_port;
    std::optional<child_process> process;

    std::string data() const { return (folder.path() / "data").string(); }
    std::string log() const { return (folder.path() / "log").string(); }
    std::string config() const { return (folder.path() / "zoo.cfg").string(); }

    void choose_ports() {
        port.emplace();
        admin_port.emplace();
        std::ofstream file(config());
        file << "dataDir=" << data()
             << "\nclientPortAddress=127.0.0.1\nclientPort=" << port->number()
             << "\nadmin.serverAddress=127.0.0.1\nadmin.serverPort=" << admin_port->number()
             << "\ntickTime=" << options.tick_time.count()
             << "\nminSessionTimeout=" << options.min_session_timeout.count()
             << "\nmaxSessionTimeout=" << options.max_session_timeout.count()
             << "\nmaxClientCnxns=" << options.max_client_connections
             << "\n4lw.commands.whitelist=*\n";
        if (options.tls) {
            tls_port.emplace();
            speak(*options.tls, file);
        }
        for (const auto& line : options.config) {
            file << line << '\n';
        }
        make_data();
    }

    void speak(const tls_of_server& tls, std::ostream& file) const {
        const auto path = [&](const char* name) { return (folder.path() / name).string(); };
        // ZooKeeper wants both in one file.
        std::ofstream(path("identity.pem"))
            << content_of(tls.identity.key) << content_of(tls.identity.certificate);
        const char* clients = tls.clients == client_certificates::none       ? "none"
                              : tls.clients == client_certificates::optional ? "want"
                                                                             : "need";
        file << "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"
                "\nsecureClientPortAddress=127.0.0.1\nsecureClientPort="
             << tls_port->number()
             << "\nssl.keyStore.type=PEM\nssl.keyStore.location=" << path("identity.pem")
             << "\nssl.clientAuth=" << clients << '\n';
        if (!tls.ca.empty())
            file << "ssl.trustStore.type=PEM\nssl.trustStore.location=" << tls.ca << '\n';
        if (!tls.protocols.empty())
            // Its own list of ciphers has none of TLS 1.3.
            file << "ssl.enabledProtocols=" << list_of_protocols(tls, ',')
                 << "\nssl.ciphersuites=TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256,"
                    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,"
                    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,"
                    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA\n";
        if (outdated(tls)) std::ofstream(path("security")) << "jdk.tls.disabledAlgorithms=\n";
    }

    void make_data() const {
        if (options.id == 0) {
            return;
        }
        fs::create_directory(data());
        std::ofstream(data() + "/myid") << options.id << '\n';
    }

    std::string main_class() const {
        const bool alone = options.id == 0;
        return alone ? "org.apache.zookeeper.server.ZooKeeperServerMain"
                     : "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    }

    std::vector<std::string> command() const {
        const auto interval = std::to_string(options.container_check_interval.count());
        std::vector<std::string> words = {
            "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
            "-Djava.awt.headless=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            // The data need to survive the server's death, not the machine's.
            "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=4096",
            std::string("-Dzookeeper.extendedTypesEnabled=") +
                (options.extended_types ? "true" : "false"),
            "-Dznode.container.checkIntervalMs=" + interval};
        if (options.tls && outdated(*options.tls)) {
            words.push_back("-Djava.security.properties=" + (folder.path() / "security").string());
        }
        words.insert(words.end(), options.java.begin(), options.java.end());
        for (const auto& word : {std::string("-cp"), class_path(), main_class(), config()}) {
            words.push_back(word);
        }
        return words;
    }

    void start() { process.emplace(command(), folder.path().string(), log()); }

    // Another server could have the port: the own one names its folder.
    bool answers(std::chrono::milliseconds limit) const {
        const auto answer = ask_port(port->number(), "conf", limit);
        return answer.find("dataDir=" + data()) != std::string::npos &&
               (!tls_port || listens(tls_port->number())); // which begins a little later
    }

    enum class outcome { ready, ended, late };
    outcome await_readiness(steady_clock::time_point deadline) {
        while (steady_clock::now() < deadline) {
            if (process->wait_for(20ms)) {
                return outcome::ended;
            }
            // A starting server may accept the command and never answer it: so the command is
            // repeated.
            if (answers(200ms)) {
                return outcome::ready;
            }
        }
        return outcome::late;
    }

    bool port_was_taken() const { return tail().find("BindException") != std::string::npos; }

    std::string tail() const {
        const auto all = content_of(log());
        constexpr std::size_t enough = 4000;
        return all.size() > enough ? all.substr(all.size() - enough) : all;
    }

    [[noreturn]] void give_up(const char* what) const {
        throw std::runtime_error(
            std::string("the ZooKeeper server ") + what +
            " (are java and ZooKeeper's jars installed?); its log ends with:\n" + tail());
    }
};

zk_server::zk_server(zk_server_options options)
    : state_(std::make_unique<state>(std::move(options))) {
    const auto deadline = steady_clock::now() + scaled(60s);
    for (;;) {
        state_->choose_ports();
        state_->start();
        if (state_->options.id != 0) {
            return;
        }
        const auto outcome = state_->await_readiness(deadline);
        if (outcome == state::outcome::ready) {
            return;
        }
        if (outcome == state::outcome::late) {
            state_->give_up("does not answer");
        }
        if (!state_->port_was_taken()) {
            state_->give_up("ended at once");
        }
        fs::remove(state_->log());
    }
}

zk_server::~zk_server() = default;

std::uint16_t zk_server::port() const {
    return state_->tls_port ? state_->tls_port->number() : plain_port();
}

std::string zk_server::address() const { return "127.0.0.1:" + std::to_string(port()); }

std::uint16_t zk_server::plain_port() const { return state_->port->number(); }

std::string zk_server::plain_address() const { return "127.0.0.1:" + std::to_string(plain_port()); }

std::uint16_t zk_server::admin_port() const { return state_->admin_port->number(); }

void zk_server::stop() {
    if (!state_->process) {
        return;
    }
    state_->process->signal(SIGCONT);
    state_->process->signal(SIGTERM);
    state_->process->wait_for(scaled(10s));
    state_->process.reset();
}

void zk_server::kill() { state_->process.reset(); }

void zk_server::start() {
    if (state_->process) {
        return resume();
    }
    const auto deadline = steady_clock::now() + scaled(60s);
    for (;;) {
        fs::remove(state_->log());
        state_->start();
        if (state_->options.id != 0) {
            return;
        }
        const auto outcome = state_->await_readiness(deadline);
        if (outcome == state::outcome::ready) {
            return;
        }
        const bool again = outcome == state::outcome::ended && state_->port_was_taken();
        if (!again || steady_clock::now() > deadline) {
            state_->give_up("did not start again");
        }
    }
}

void zk_server::lose_data() {
    fs::remove_all(state_->data());
    state_->make_data();
}

void zk_server::back_up() {
    const auto copy = state_->data() + "-backup";
    fs::remove_all(copy);
    fs::copy(state_->data(), copy, fs::copy_options::recursive);
}

void zk_server::restore_backup() {
    fs::remove_all(state_->data());
    fs::copy(state_->data() + "-backup", state_->data(), fs::copy_options::recursive);
}

bool zk_server::running() const { return state_->process && !state_->process->wait_for(0ms); }

bool zk_server::answers() const { return state_->answers(2s); }

void zk_server::pause() {
    if (state_->process) {
        state_->process->pause();
    }
}

void zk_server::resume() {
    if (state_->process) {
        state_->process->signal(SIGCONT);
    }
}

std::string zk_server::ask(const std::string& command) const {
    return ask_port(plain_port(), command, 2s);
}

std::string zk_server::log_tail() const { return state_->tail(); }

zk_server& shared_server() {
    static zk_server server;
    return server;
}

std::string fresh_root() {
    static std::atomic<int> last{0};
    return "/t" + std::to_string(++last);
}

} // namespace paddock::test
