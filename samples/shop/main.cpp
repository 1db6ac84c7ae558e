// A shop whose orders take locks: an HTTP service on Boost.Beast, of which several processes share
// one stock.
//     shop --stock FILE --put plums=100
//     shop --listen 127.0.0.1:8080 --servers localhost:2181 --stock FILE
#include "api.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/lexical_cast.hpp>

#include <CLI/CLI.hpp>
#include <csignal>
#include <ctime>
#include <iostream>
#include <sys/resource.h>
#include <thread>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

/// Divides `NAME<separator>NUMBER`.
std::pair<std::string, long> divide(const std::string& text, char separator, long most) {
    const auto place = text.rfind(separator);
    long number = -1;
    if (place == 0 || place == std::string::npos ||
        !boost::conversion::try_lexical_convert(text.substr(place + 1), number) || number < 0 ||
        number > most)
        throw std::invalid_argument(text + ": expected a name, " + separator + " and a number");
    return {text.substr(0, place), number};
}

std::int64_t cpu_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// As io.run(), and finds the handler that keeps a thread busy for the longest time.
void run(asio::io_context& io, std::atomic<std::int64_t>& longest) {
    for (auto begin = cpu_time(); io.run_one() > 0; begin = cpu_time()) {
        const auto took = cpu_time() - begin;
        if (took > longest) longest = took; // of two at once one is enough
    }
}

/// On the first SIGTERM, SIGINT or SIGHUP; a second one ends the process at once.
asio::awaitable<void> end_on_signal(asio::io_context& io, paddock::client& zk,
                                    shop::http_server& server) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGTERM, SIGINT, SIGHUP);
    co_await signals.async_wait(asio::use_awaitable);
    signals.clear();
    // Orders have 7 s to end, and their answers one more: more than an order takes, and less than
    // what kills the process waits (10 s at Docker, 30 s in Kubernetes, 90 s of systemd). An order
    // that takes longer is an error of drain(), which must not cancel the other.
    const auto patient = asio::as_tuple(asio::use_awaitable);
    co_await (server.stop(std::chrono::seconds(8)) && zk.drain(std::chrono::seconds(7), patient));
    io.stop();
}

void serve(asio::io_context& io, shop::stock& goods, const std::string& listen,
           const std::string& servers, const paddock::client_options& connection, int threads,
           const shop::orders::options& how) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    const auto [host, port] = divide(listen, ':', 65535);
    paddock::client zk(io, servers, connection);
    const shop::orders sales(zk, goods, how);
    shop::api api(zk, goods, sales);
    shop::http_server server(io, {asio::ip::make_address(host), asio::ip::port_type(port)},
                             files.rlim_cur / 2, // connections; the rest is for everything else
                             [&](shop::request asked) { return api.handle(std::move(asked)); });
    std::cout << "http://" << server.address() << "/" << std::endl;
    asio::co_spawn(io, zk.connect(), asio::detached);
    asio::co_spawn(server.get_executor(), server.accept_until_stopped(), asio::detached);
    asio::co_spawn(server.get_executor(), end_on_signal(io, zk, server), asio::detached);
    std::vector<std::jthread> others;
    for (int n = 1; n < threads; ++n)
        others.emplace_back([&] { run(io, api.longest_handler_ns); });
    run(io, api.longest_handler_ns);
}

} // namespace

int main(int argc, char** argv) {
    std::string listen = "127.0.0.1:8080", servers = "localhost:2181", stock, tls_name;
    std::vector<std::string> put;
    shop::orders::options how{.root = "/shop"};
    paddock::client_options connection;
    paddock::tls_files files;
    int threads = 1;
    long limit = 1000, packing = 0, session_timeout = 10'000;
    const CLI::AsNumberWithUnit milliseconds(
        std::map<std::string, long>{{"ms", 1}, {"s", 1000}, {"min", 60'000}});
    CLI::App app("An HTTP service whose orders take locks");
    app.add_option("--listen", listen, "HOST:PORT")->capture_default_str();
    app.add_option("--servers", servers, "of ZooKeeper")->capture_default_str();
    app.add_option("--stock", stock, "the SQLite file of the goods and orders")->required();
    app.add_option("--put", put, "ARTICLE=COUNT: fill the stock, and end");
    app.add_option("--threads", threads, "that run handlers (1)")->check(CLI::Range(1, 64));
    app.add_option("--root", how.root, "of the locks")->capture_default_str();
    app.add_option("--label", how.label, "of this process (its address)");
    app.add_option("--limit", limit, "for the locks of an order (1s)")->transform(milliseconds);
    app.add_option("--packing", packing, "how long they are held (0s)")->transform(milliseconds);
    app.add_option("--session-timeout", session_timeout, "(10s)")->transform(milliseconds);
    app.add_flag("--without-locks", how.without_locks, "sells goods twice: what locks are for");
    auto* const tls = app.add_option_group("TLS", "encrypts the connections to ZooKeeper");
    tls->add_option("--tls-ca", files.ca, "who vouches for them")->check(CLI::ExistingFile);
    tls->add_option("--tls-cert", files.certificate, "this one's own")->check(CLI::ExistingFile);
    tls->add_option("--tls-key", files.key, "if not in that file")->check(CLI::ExistingFile);
    tls->add_option("--tls-name", tls_name, "the name in their certificates (their host)");
    CLI11_PARSE(app, argc, argv);
    if (how.label.empty()) how.label = listen;
    how.limit = std::chrono::milliseconds(limit);
    how.packing = std::chrono::milliseconds(packing);
    connection.session_timeout = std::chrono::milliseconds(session_timeout);
    try {
        if (tls->count_all() > 0) connection.tls = paddock::tls(files, tls_name);
        asio::io_context io(threads); // lives longer than the stock's thread, which continues in it
        shop::stock goods(stock);
        for (const auto& one : put) {
            const auto [article, count] = divide(one, '=', 1'000'000'000);
            goods.put(article, count);
        }
        if (put.empty()) serve(io, goods, listen, servers, connection, threads, how);
    } catch (const std::exception& e) {
        std::cerr << "shop: " << e.what() << '\n';
        return 1;
    }
}
