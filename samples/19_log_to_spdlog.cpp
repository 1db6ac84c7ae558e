// The lines of a client's log in a logger of the program: spdlog.
//     log_to_spdlog [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

//[log
spdlog::level::level_enum level_of(const paddock::log_record& line) {
    if (line.level == paddock::log_level::error) return spdlog::level::err;
    return line.level == paddock::log_level::warning ? spdlog::level::warn : spdlog::level::info;
}

paddock::log_function log_to(std::shared_ptr<spdlog::logger> logger) {
    return [logger](const paddock::log_record& line) {
        logger->log(level_of(line), "{} [{}] {}", line.text, name_of(line.code), line.path);
    };
}
//]

/// Somebody deletes the node of a hold, which is an error in the log.
asio::awaitable<void> lose_a_lock(std::string servers, paddock::client_options options) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers, options);
    const paddock::mutex lock(zk, "/locks/logged");
    const paddock::guard held = co_await lock.lock();
    co_await zk.remove(std::string(held.path()));
    co_await held.lost();
    co_await zk.close();
}

int main(int argc, char** argv) {
    const std::string servers = argc > 1 ? argv[1] : "localhost:2181";
    const auto logger = spdlog::stdout_logger_mt("locks");
    logger->set_pattern("%l: %v");
    paddock::client_options options;
    options.log = log_to(logger);
    asio::io_context io;
    asio::co_spawn(io, lose_a_lock(servers, options), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
