#include "ask_servers.hpp"

#include "exit_status.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <iostream>
#include <utility>

namespace cli {

namespace {

asio::awaitable<int> connect_and_ask(const server_options& how, const question& ask) {
    servers at(co_await asio::this_coro::executor, how);
    int status = exit_status::failed;
    std::exception_ptr failed;
    try {
        co_await at.connect(how.connect_timeout);
        status = co_await ask(at);
    } catch (...) {
        failed = std::current_exception();
    }
    co_await at.close();
    if (failed) std::rethrow_exception(failed);
    co_return status;
}

} // namespace

int run_alone(std::function<asio::awaitable<int>()> work) {
    asio::io_context io(1);
    int status = exit_status::failed;
    std::exception_ptr failed;
    asio::co_spawn(io, work, [&](std::exception_ptr error, int result) {
        failed = std::move(error);
        status = result;
    });
    io.run();
    try {
        if (failed) std::rethrow_exception(failed);
    } catch (const refusal& no) {
        std::cerr << "paddock: " << no.what() << '\n';
        return exit_status::refused;
    } catch (const paddock::system_error& error) {
        explain(error);
    }
    return status;
}

int ask_servers(const server_options& how, const question& ask) {
    return run_alone([&] { return connect_and_ask(how, ask); });
}

} // namespace cli
