// A shop whose orders take locks: an HTTP service on Boost.Beast, of which several processes share
// one stock.
//     shop --stock FILE --put plums=100
//     shop --listen 127.0.0.1:8080 --servers localhost:2181 --stock FILE
#include "api.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <ctime>
#include <iostream>
#include <sys/resource.h>
#include <thread>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

struct settings {
    std::string listen = "127.0.0.1:8080", servers = "localhost:2181", stock;
    std::vector<std::string> put;
    int threads = 1;
    long limit = 1000, packing = 0, session_timeout = 10'000; // milliseconds
    std::string root = "/shop", label;
};

asio::ip::tcp::endpoint endpoint_of(const std::string& listen) {
    const auto colon = listen.rfind(':');
    unsigned short port = 0;
    const auto* const end = listen.data() + listen.size();
    if (colon == std::string::npos ||
        std::from_chars(listen.data() + colon + 1, end, port).ptr != end)
        throw std::invalid_argument("--listen: expected HOST:PORT");
    return {asio::ip::make_address(listen.substr(0, colon)), port};
}

void put(shop::stock& goods, const std::string& what) {
    const auto equals = what.rfind('=');
    std::int64_t count = -1;
    const auto* const end = what.data() + what.size();
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(what.data() + equals + 1, end, count).ptr != end || count < 0)
        throw std::invalid_argument("--put: expected ARTICLE=COUNT");
    goods.put(what.substr(0, equals), count);
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
        auto known = longest.load();
        while (took > known && !longest.compare_exchange_weak(known, took)) {
        }
    }
}

/// On the first SIGTERM or SIGINT; a second one ends the process at once.
asio::awaitable<void> end_on_signal(asio::io_context& io, paddock::client& zk,
                                    shop::http_server& server) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGTERM, SIGINT);
    co_await signals.async_wait(asio::use_awaitable);
    signals.clear();
    co_await (server.stop(8s) && zk.drain(7s, asio::use_awaitable));
    io.stop();
}

void serve(const settings& with) {
    asio::io_context io(with.threads);
    shop::stock goods(with.stock);
    const std::chrono::milliseconds session(with.session_timeout), limit(with.limit),
        packing(with.packing);
    const paddock::client_options options{.session_timeout = session};
    paddock::client zk(io, with.servers, options);
    const shop::orders sales(zk, goods, {with.root, with.label, limit, packing});
    shop::api api(zk, goods, sales);
    shop::http_server server(io, endpoint_of(with.listen),
                             [&](shop::request asked) { return api.handle(std::move(asked)); });
    std::cout << "http://" << server.address() << "/" << std::endl;
    const auto ended = [](std::exception_ptr failure) {
        if (failure) std::rethrow_exception(failure);
    };
    asio::co_spawn(io, zk.connect(), [](std::exception_ptr, auto...) {});
    asio::co_spawn(server.strand(), server.accept_until_stopped(), ended);
    asio::co_spawn(server.strand(), end_on_signal(io, zk, server), ended);
    std::vector<std::jthread> others;
    for (int n = 1; n < with.threads; ++n)
        others.emplace_back([&] { run(io, api.longest_handler_ns); });
    run(io, api.longest_handler_ns);
}

} // namespace

int main(int argc, char** argv) {
    settings with;
    const std::map<std::string, long> units{{"ms", 1}, {"s", 1000}, {"min", 60'000}};
    CLI::App app("An HTTP service whose orders take locks");
    app.add_option("--listen", with.listen, "HOST:PORT")->capture_default_str();
    app.add_option("--servers", with.servers, "ZooKeeper's")->capture_default_str();
    app.add_option("--stock", with.stock, "SQLite file of the goods and orders")->required();
    app.add_option("--put", with.put, "ARTICLE=COUNT: fill the stock, and end");
    app.add_option("--threads", with.threads, "that run handlers")->check(CLI::Range(1, 64));
    app.add_option("--limit", with.limit, "how long an order waits for its locks (1s)")
        ->transform(CLI::AsNumberWithUnit(units));
    app.add_option("--root", with.root, "of the locks")->capture_default_str();
    app.add_option("--label", with.label, "of this process (its address)");
    app.add_option("--packing", with.packing, "how long an order holds its locks (0s)")
        ->transform(CLI::AsNumberWithUnit(units));
    app.add_option("--session-timeout", with.session_timeout, "of ZooKeeper's session (10s)")
        ->transform(CLI::AsNumberWithUnit(units));
    CLI11_PARSE(app, argc, argv);
    if (with.label.empty()) with.label = with.listen;
    try {
        if (with.put.empty()) {
            rlimit files{};
            getrlimit(RLIMIT_NOFILE, &files);
            files.rlim_cur = files.rlim_max;
            setrlimit(RLIMIT_NOFILE, &files);
            serve(with);
        } else {
            shop::stock goods(with.stock);
            for (const auto& one : with.put)
                put(goods, one);
        }
    } catch (const std::exception& e) {
        std::cerr << "shop: " << e.what() << '\n';
        return 1;
    }
}
