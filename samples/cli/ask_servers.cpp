#include "ask_servers.hpp"

#include "exit_status.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <exception>
#include <iostream>
#include <unistd.h>
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

/// Reads a line while the session is kept alive. The terminal is left as it is: others use it, too.
asio::awaitable<bool> confirmed(const std::string& question) {
    std::cerr << question << " [y/N] " << std::flush;
    asio::posix::stream_descriptor terminal(co_await asio::this_coro::executor, dup(STDIN_FILENO));
    co_await terminal.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    std::array<char, 256> line{};
    const auto length = read(STDIN_FILENO, line.data(), line.size());
    co_return length > 0 && (line[0] == 'y' || line[0] == 'Y');
}

} // namespace

asio::awaitable<void> confirm(bool yes, const std::string& question) {
    if (yes) co_return;
    const bool agreed = co_await confirmed(question);
    if (!agreed) throw refusal("nothing was done");
}

void check_confirmable(bool yes) {
    if (!yes && isatty(STDIN_FILENO) != 1)
        throw usage_error("without a terminal that could confirm it, give --yes");
}

CLI::Option* add_yes(CLI::App& app, bool& into) {
    return app.add_flag("-y,--yes", into, "do not ask for a confirmation");
}

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
