#include "run_locked.hpp"

#include "exit_status.hpp"
#include "standard_error.hpp"

#include <paddock/first_of.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <variant>

namespace cli {

namespace {

/// The signals that the command gets in this process's stead; those not that are ignored, as those
/// of nohup(1) are.
sigset_t passed_on() {
    sigset_t all;
    sigemptyset(&all);
    for (const int one :
         {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCHLD}) {
        struct sigaction now {};
        sigaction(one, nullptr, &now);
        if (now.sa_handler != SIG_IGN) sigaddset(&all, one);
    }
    return all;
}

/// Ends this process as the command was ended, without a core file of its own.
[[noreturn]] void die_of(int signal) {
    finish_errors();
    prctl(PR_SET_DUMPABLE, 0);
    std::signal(signal, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    raise(signal);
    _exit(128 + signal); // as the first process of a container it is still alive
}

/// Passes signals on while the command runs. Ends with the first one that comes without a command.
asio::awaitable<int> await_signal(int file, job& command) {
    asio::posix::stream_descriptor signals(co_await asio::this_coro::executor, file);
    for (;;) {
        co_await signals.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        signalfd_siginfo one{};
        if (read(file, &one, sizeof one) != sizeof one) continue;
        const int number = static_cast<int>(one.ssi_signo);
        if (number == SIGCHLD) { // the first process of a container has the orphans of all
            while (waitpid(-1, nullptr, WNOHANG) > 0) {
            }
            continue;
        }
        const bool of_keyboard = number == SIGINT || number == SIGQUIT || number == SIGWINCH;
        const bool of_terminal = of_keyboard && one.ssi_code == SI_KERNEL;
        if (command.takes_signals() && of_terminal) {
            command.key(number);
        } else if (command.takes_signals()) {
            command.signal(number);
        } else if (number != SIGWINCH) {
            co_return number;
        }
    }
}

asio::awaitable<ending> connect_and_work(servers& at, job& command, const command_options& how,
                                         const locked_work& work) {
    const auto now = paddock::boot_clock::now();
    deadline until;
    if (how.timeout) until = now + *how.timeout;
    // A moment at least, which those servers need that do answer.
    auto limit = how.servers.connect_timeout;
    if (how.timeout) limit = std::max<milliseconds>(*how.timeout, std::chrono::seconds(1));
    co_await at.connect(limit);
    if (how.only_try) until = now;
    co_return co_await work(at, command, until);
}

asio::awaitable<void> run(const command_options& how, keeper started, int signals,
                          const locked_work& work, ending& result) {
    const auto executor = co_await asio::this_coro::executor;
    job command(executor, started);
    servers at(executor, how.servers);
    check(how.lock, at);
    std::exception_ptr failed;
    try {
        const auto first = co_await paddock::first_of(connect_and_work(at, command, how, work),
                                                      await_signal(signals, command));
        if (const auto* const ended = std::get_if<0>(&first)) result = *ended;
        if (const int* const signal = std::get_if<1>(&first)) result.signal = *signal;
    } catch (...) {
        failed = std::current_exception();
    }
    co_await at.close();
    if (failed) std::rethrow_exception(failed);
}

std::string variables_of(const holding& held, const lock_choice& lock) {
    std::string all = "PADDOCK_LOCK_PATH=" + lock.name();
    (all += '\0') += "PADDOCK_FENCING_TOKEN=" + held.tokens();
    return all += '\0';
}

} // namespace

std::string host_name() {
    std::string host(256, '\0');
    gethostname(host.data(), host.size() - 1);
    host.resize(host.find('\0'));
    return host;
}

int run_with_keeper(const command_options& how, const locked_work& work) {
    check(how);
    const keeper started = start_keeper({how.command, how.on_lost, how.runs_again});
    const sigset_t mask = passed_on();
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    const int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    std::signal(SIGPIPE, SIG_IGN);
    write_errors_in_background();
    asio::io_context io(1);
    ending result;
    asio::co_spawn(io, run(how, started, signals, work, result), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    try {
        io.run();
    } catch (const paddock::system_error& error) {
        explain(error);
    }
    if (result.signal != 0) die_of(result.signal);
    return result.status;
}

asio::awaitable<outcome> run_under(const holding& held, servers& at, job& command,
                                   const command_options& how) {
    run_options run;
    const auto timeout = at.session_timeout();
    run.variables = variables_of(held, how.lock);
    run.margin = std::min(how.margin.value_or(timeout * 3 / 20), timeout / 5);
    run.at_most = how.at_most;
    run.lease_every = std::max(timeout / 20, milliseconds(10));
    run.quiet = how.servers.quiet;
    co_return co_await command.run(held, run);
}

asio::awaitable<void> rest(const outcome& result, const command_options& how,
                           paddock::boot_clock::time_point begin) {
    if (!how.at_least || result.lost || result.cannot_run != 0) co_return;
    asio::steady_timer timer(co_await asio::this_coro::executor,
                             begin + *how.at_least - paddock::boot_clock::now());
    co_await timer.async_wait(asio::use_awaitable);
}

ending ending_of(const outcome& result, const command_options& how) {
    if (result.cannot_run != 0) {
        std::cerr << "paddock: " << how.command.at(0) << ": " << std::strerror(result.cannot_run)
                  << '\n';
        return {result.cannot_run == ENOENT ? exit_status::not_found : exit_status::cannot_run};
    }
    if (result.lost) {
        std::cerr << "paddock: the lock was lost, and the command ended: " << result.why << '\n';
        return {exit_status::lost};
    }
    if (result.too_long) {
        std::cerr << "paddock: the command ran for longer than --at-most, and was ended\n";
        return {exit_status::lost};
    }
    if (WIFSIGNALED(result.status)) return {0, WTERMSIG(result.status)};
    return {WEXITSTATUS(result.status)};
}

ending not_granted(const command_options& how) {
    if (!how.servers.quiet)
        std::cerr << "paddock: " << how.lock.name()
                  << (how.only_try ? " is taken" : " was not granted in time") << '\n';
    return {how.no_fail ? 0 : exit_status::not_granted};
}

} // namespace cli
