#include "keeper.hpp"

#include "exit_status.hpp"
#include "message.hpp"
#include "process_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

/// How often those are killed that come after each other.
constexpr auto pause = std::chrono::milliseconds(20);

constexpr int unknown_status = 1 << 8; // as if it had ended with 1

boot_clock::time_point to_time(std::int64_t number) {
    return boot_clock::time_point(boot_clock::duration(number));
}

int check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> all;
    for (const auto& word : words)
        all.push_back(const_cast<char*>(word.c_str())); // NOLINT: as execvp() wants it
    all.push_back(nullptr);
    return all;
}

void set_variables(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::string one = text.c_str() + at;
        at += one.size() + 1;
        const auto sign = one.find('=');
        const auto name = one.substr(0, sign), value = one.substr(sign + 1);
        value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    }
}

/// Of this process, when it was started.
struct signal_state {
    sigset_t blocked{};
    struct sigaction on_child {};
};

/// Closes all files but the standard streams and these.
void close_others(std::vector<int> own) {
    std::sort(own.begin(), own.end());
    unsigned begin = 3;
    for (const int one : own) {
        const auto file = static_cast<unsigned>(one);
        if (file > begin) close_range(begin, file - 1, 0);
        begin = std::max(begin, file + 1);
    }
    close_range(begin, ~0U, 0);
}

class keeper_loop {
public:
    keeper_loop(const keeper_options& how, int socket, const signal_state& before)
        : how_(how), socket_(socket), before_(before) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_NAME, "lock-keeper"); // killall paddock leaves it, to do what it is for
        sigset_t all, children;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        sigemptyset(&children);
        sigaddset(&children, SIGCHLD);
        signals_ = check(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
        // Not the timeout of poll(), which stands still while the machine is suspended.
        timer_ = check(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd");
    }

    keeper_loop(const keeper_loop&) = delete;
    keeper_loop& operator=(const keeper_loop&) = delete;
    ~keeper_loop() { below_.signal(SIGKILL); } // after an exception

    void run() {
        while (!locker_gone_ || running_) {
            set_timer();
            std::array<pollfd, 4> files{{{locker_gone_ ? -1 : socket_, POLLIN, 0},
                                         {signals_, POLLIN, 0},
                                         {timer_, POLLIN, 0},
                                         {starting_, POLLIN, 0}}};
            poll(files.data(), files.size(), -1);
            read_away(signals_);
            read_away(timer_);
            if (files[0].revents != 0) obey_all();
            if (files[3].revents != 0) see_start();
            reap();
            end_in_time();
            reap();
        }
    }

private:
    static void read_away(int file) {
        std::array<char, 512> into{};
        while (read(file, into.data(), into.size()) > 0) {
        }
    }

    void tell(message::kind what, std::int64_t value = 0) { send(socket_, {what, value}); }

    void set_timer() {
        auto next = never;
        if (running_ && !lost_) next = lapse_time();
        if (running_ && ending_) next = std::min(next, std::max(kill_at_, killed_last_ + pause));
        itimerspec at{};
        // A time of zero would stop the timer.
        const auto ns = std::max<std::int64_t>(next.time_since_epoch().count(), 1);
        at.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
        if (next == never) at = {};
        timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
    }

    /// All that has come. After a pause the newest lease counts, also for what was told before it.
    void obey_all() {
        std::vector<message> orders;
        pollfd more{socket_, POLLIN, 0};
        while (!locker_gone_ && poll(&more, 1, 0) > 0) {
            auto order = receive(socket_);
            locker_gone_ = !order;
            if (order) orders.push_back(std::move(*order));
        }
        const auto is_lease = [](const message& one) { return one.what == message::kind::lease; };
        std::stable_partition(orders.begin(), orders.end(), is_lease);
        for (const auto& one : orders)
            obey(one);
        // Nobody else has the lock before the lease is over.
        if (locker_gone_) end_all(std::min(lease_, boot_clock::now() + margin_), true);
    }

    void obey(const message& order) {
        switch (order.what) {
        case message::kind::run:
            start(order.text, std::chrono::nanoseconds(order.value));
            break;
        case message::kind::lease:
            lease_ = to_time(order.value);
            break;
        case message::kind::signal:
        case message::kind::key:
            pass_on(static_cast<int>(order.value), order.what == message::kind::key);
            break;
        case message::kind::terminate:
            end_all(to_time(order.value), false);
            break;
        case message::kind::lost:
            end_all(std::min(to_time(order.value), lease_), true);
            break;
        default:
            break;
        }
    }

    void pass_on(int signal, bool of_terminal) {
        const bool interrupts = signal == SIGINT || signal == SIGQUIT;
        if (main_ == 0) { // its other processes: those in the background ignore an interrupt
            below_.signal(interrupts ? SIGTERM : signal, on_lost_);
            return;
        }
        const pid_t group = getpgid(main_);
        if (of_terminal && group == getpgrp()) return; // it has it already
        if (!interrupts) {
            kill(main_, signal);
            return;
        }
        for (const pid_t one : below_.all(on_lost_)) // as a terminal does
            if (getpgid(one) == group) kill(one, signal);
    }

    /// When everything has to begin to end, unless another lease comes.
    boot_clock::time_point lapse_time() const { return lease_ == never ? never : lease_ - margin_; }

    void start(const std::string& variables, std::chrono::nanoseconds margin) {
        variables_ = variables;
        margin_ = margin;
        running_ = true;
        ending_ = lost_ = false;
        status_ = unknown_status;
        if (boot_clock::now() >= lapse_time()) { // there was a pause
            lost_ = true;
            return tell(message::kind::lapsed);
        }
        std::array<int, 2> failure{-1, -1};
        if (pipe2(failure.data(), O_CLOEXEC) < 0) return tell(message::kind::cannot_run, errno);
        const pid_t parent = getpid();
        main_ = fork();
        if (main_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(exit_status::failed);
            set_variables(variables);
            exec(how_.command, failure[1]);
        }
        if (main_ < 0) tell(message::kind::cannot_run, errno);
        main_ = std::max(main_, 0);
        close(failure[1]);
        starting_ = failure[0];
    }

    /// The pipe has the number of an error, or is closed by exec().
    void see_start() {
        int why = 0;
        if (read(starting_, &why, sizeof why) == sizeof why) tell(message::kind::cannot_run, why);
        close(starting_);
        starting_ = -1;
        if (!how_.runs_again) leave_files();
    }

    /// Those that the command was given, but for standard error.
    void leave_files() const {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
        close_others({socket_, signals_, timer_, below_.file()});
    }

    [[noreturn]] void exec(const std::vector<std::string>& command, int failure) const {
        sigaction(SIGCHLD, &before_.on_child, nullptr);
        sigprocmask(SIG_SETMASK, &before_.blocked, nullptr);
        execvp(command.at(0).c_str(), pointers(command).data());
        const int why = errno;
        if (write(failure, &why, sizeof why) < 0) {
        }
        _exit(exit_status::not_found);
    }

    /// With SIGTERM now, and at that time with SIGKILL.
    void end_all(boot_clock::time_point kill_at, bool lost) {
        if (!running_) return;
        if (lost && !lost_ && !how_.on_lost.empty()) run_on_lost();
        lost_ = lost_ || lost;
        kill_at_ = ending_ ? std::min(kill_at, kill_at_) : kill_at;
        if (ending_) return;
        ending_ = true;
        below_.signal(SIGTERM, on_lost_);
    }

    /// In a session of its own, by which it is told from what has to end.
    void run_on_lost() {
        on_lost_ = fork();
        if (on_lost_ != 0) return;
        setsid();
        dup2(STDERR_FILENO, STDOUT_FILENO);
        set_variables(variables_);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        exec({"/bin/sh", "-c", how_.on_lost}, nowhere);
    }

    void end_in_time() {
        const auto now = boot_clock::now();
        if (!running_) return;
        if (!lost_ && now >= lapse_time()) {
            tell(message::kind::lapsed);
            end_all(lease_, true);
        }
        if (ending_ && now >= kill_at_) {
            killed_last_ = now;
            below_.signal(SIGKILL, on_lost_);
        }
    }

    void reap() {
        bool exited = false;
        pid_t one = 0;
        for (int status = 0; (one = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (one == on_lost_) on_lost_ = 0;
            if (one != main_) continue;
            if (starting_ >= 0) see_start();
            main_ = 0;
            status_ = status;
            exited = true;
        }
        const bool none_is_left = one < 0;
        if (exited && !none_is_left && !lost_) tell(message::kind::exited);
        if (!running_ || !none_is_left) return;
        if (starting_ >= 0) see_start();
        running_ = false;
        lease_ = never;
        tell(message::kind::ended, status_);
    }

    const keeper_options& how_;
    const int socket_;
    const signal_state before_;
    const process_tree below_;
    int signals_ = -1, timer_ = -1;
    int starting_ = -1; ///< a pipe, until the command is started

    bool locker_gone_ = false;
    bool running_ = false; ///< there are processes
    pid_t main_ = 0;       ///< the command itself, until it has ended
    pid_t on_lost_ = 0;
    int status_ = unknown_status; ///< with which the command has ended
    std::string variables_{};
    std::chrono::nanoseconds margin_{}; ///< between SIGTERM and SIGKILL
    boot_clock::time_point lease_ = never;
    bool ending_ = false; ///< SIGTERM was sent
    bool lost_ = false;   ///< because the hold is lost
    boot_clock::time_point kill_at_ = never, killed_last_{};
};

} // namespace

keeper start_keeper(const keeper_options& how) {
    std::array<int, 2> ends{};
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    signal_state before;
    // A parent that ignores it would leave this process without the status of the command.
    struct sigaction seen {};
    seen.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &seen, &before.on_child);
    sigset_t all;
    sigfillset(&all); // what comes before the keeper has its own mask waits
    sigprocmask(SIG_SETMASK, &all, &before.blocked);
    const pid_t pid = check(fork(), "fork");
    if (pid != 0) {
        sigprocmask(SIG_SETMASK, &before.blocked, nullptr);
        prctl(PR_SET_CHILD_SUBREAPER, 1); // should the keeper be killed
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        close_others({ends[0]});
        return {pid, ends[0]};
    }
    close(ends[0]);
    try {
        keeper_loop(how, ends[1], before).run();
    } catch (...) { // paddock sees the end of the socket
    }
    _exit(0);
}

} // namespace cli
