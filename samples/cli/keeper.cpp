#include "keeper.hpp"

#include "exit_status.hpp"
#include "process_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace cli {

namespace {

/// How often those are killed that come after each other.
constexpr auto pause = std::chrono::milliseconds(20);

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

class keeper_loop {
public:
    keeper_loop(const keeper_options& how, int socket, const sigset_t& signals_before)
        : how_(how), socket_(socket), signals_before_(signals_before) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_NAME, "paddock-keeper");
        sigset_t all, children;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        sigemptyset(&children);
        sigaddset(&children, SIGCHLD);
        signals_ = check(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
        // Not the timeout of poll(), which stands still while the machine is suspended.
        timer_ = check(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd");
    }

    void run() {
        while (!locker_gone_ || running_) {
            set_timer();
            std::array<pollfd, 3> files{{{locker_gone_ ? -1 : socket_, POLLIN, 0},
                                         {signals_, POLLIN, 0},
                                         {timer_, POLLIN, 0}}};
            poll(files.data(), files.size(), -1);
            read_away(signals_);
            read_away(timer_);
            if (files[0].revents != 0) obey();
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

    void tell(message::kind what, std::int64_t value = 0, std::string text = {}) {
        send(socket_, {what, value, std::move(text)});
    }

    void set_timer() {
        auto next = never;
        if (running_) next = ending_ ? std::max(kill_at_, killed_last_ + pause) : lease_ - margin_;
        itimerspec at{};
        // A time of zero would stop the timer.
        const auto ns = std::max<std::int64_t>(next.time_since_epoch().count(), 1);
        at.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
        if (next == never) at = {};
        timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
    }

    void obey() {
        const auto order = receive(socket_);
        if (!order) {
            locker_gone_ = true;
            // Nobody else has the lock before the lease is over.
            if (running_) end_all(std::min(kill_time(), boot_clock::now() + margin_), true);
            return;
        }
        switch (order->what) {
        case message::kind::run:
            start(order->text, std::chrono::nanoseconds(order->value));
            break;
        case message::kind::lease:
            lease_ = to_time(order->value);
            break;
        case message::kind::signal:
            if (main_ != 0) kill(main_, static_cast<int>(order->value));
            break;
        case message::kind::terminate:
            end_all(to_time(order->value), false);
            break;
        case message::kind::lost:
            end_all(std::min(to_time(order->value), kill_time()), true);
            break;
        default:
            break;
        }
    }

    boot_clock::time_point kill_time() const {
        return lease_ == never ? never : lease_ - margin_ / 10;
    }

    void start(const std::string& variables, std::chrono::nanoseconds margin) {
        std::array<int, 2> failure{};
        check(pipe2(failure.data(), O_CLOEXEC), "pipe");
        const pid_t parent = getpid();
        main_ = fork();
        if (main_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(exit_status::failed);
            set_variables(variables);
            exec(how_.command, failure[1]);
        }
        int why = errno; // of fork()
        close(failure[1]);
        const bool failed = main_ < 0 || read(failure[0], &why, sizeof why) == sizeof why;
        close(failure[0]);
        if (main_ < 0) main_ = 0;
        variables_ = variables;
        margin_ = margin;
        running_ = true;
        ending_ = false;
        status_ = 0;
        if (failed)
            tell(message::kind::cannot_run, why);
        else
            tell(message::kind::started);
    }

    [[noreturn]] void exec(const std::vector<std::string>& command, int failure) const {
        sigprocmask(SIG_SETMASK, &signals_before_, nullptr);
        execvp(command.at(0).c_str(), pointers(command).data());
        const int why = errno;
        if (write(failure, &why, sizeof why) < 0) {
        }
        _exit(exit_status::not_found);
    }

    /// With SIGTERM now, and at that time with SIGKILL.
    void end_all(boot_clock::time_point kill_at, bool lost) {
        if (!running_) return;
        if (lost && !how_.on_lost.empty() && on_lost_ == 0) run_on_lost();
        kill_at_ = ending_ ? std::min(kill_at, kill_at_) : kill_at;
        if (ending_) return;
        ending_ = true;
        signal_descendants(SIGTERM, on_lost_);
        signal_descendants(SIGCONT, on_lost_); // what is stopped would not end
    }

    /// In a session of its own, by which it is told from what has to end.
    void run_on_lost() {
        on_lost_ = fork();
        if (on_lost_ != 0) return;
        setsid();
        set_variables(variables_);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        exec({"/bin/sh", "-c", how_.on_lost}, nowhere);
    }

    void end_in_time() {
        const auto now = boot_clock::now();
        if (!running_) return;
        if (!ending_ && lease_ != never && now >= lease_ - margin_) {
            tell(message::kind::lapsed);
            end_all(kill_time(), true);
        }
        if (ending_ && now >= kill_at_) {
            killed_last_ = now;
            signal_descendants(SIGKILL, on_lost_);
        }
    }

    void reap() {
        bool exited = false;
        pid_t one = 0;
        for (int status = 0; (one = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (one != main_) continue;
            main_ = 0;
            status_ = status;
            exited = true;
        }
        const bool none_is_left = one < 0;
        if (exited && !none_is_left) tell(message::kind::exited, status_);
        if (!running_ || !none_is_left) return;
        running_ = ending_ = false;
        on_lost_ = 0;
        lease_ = never;
        tell(message::kind::ended, status_);
    }

    const keeper_options& how_;
    const int socket_;
    const sigset_t signals_before_;
    int signals_ = -1, timer_ = -1;

    bool locker_gone_ = false;
    bool running_ = false; ///< there are processes
    pid_t main_ = 0;       ///< the command itself, until it has ended
    pid_t on_lost_ = 0;
    int status_ = 0; ///< with which the command has ended
    std::string variables_{};
    std::chrono::nanoseconds margin_{}; ///< before the end of the lease: SIGTERM
    boot_clock::time_point lease_ = never;
    bool ending_ = false; ///< SIGTERM was sent
    boot_clock::time_point kill_at_ = never, killed_last_{};
};

} // namespace

std::int64_t to_number(boot_clock::time_point time) { return time.time_since_epoch().count(); }

bool send(int socket, const message& what) {
    std::string bytes(sizeof what.what + sizeof what.value, '\0');
    std::memcpy(bytes.data(), &what.what, sizeof what.what);
    std::memcpy(bytes.data() + sizeof what.what, &what.value, sizeof what.value);
    bytes += what.text;
    return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

std::optional<message> receive(int socket) {
    const ssize_t length = recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC);
    std::string bytes(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    message read;
    constexpr std::size_t head = sizeof read.what + sizeof read.value;
    if (length < static_cast<ssize_t>(head) ||
        recv(socket, bytes.data(), bytes.size(), 0) != length)
        return {};
    std::memcpy(&read.what, bytes.data(), sizeof read.what);
    std::memcpy(&read.value, bytes.data() + sizeof read.what, sizeof read.value);
    read.text = bytes.substr(head, static_cast<std::size_t>(length) - head);
    return read;
}

keeper start_keeper(const keeper_options& how) {
    std::array<int, 2> ends{};
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    sigset_t signals_before;
    sigset_t all;
    sigfillset(&all); // what comes before the keeper has its own mask waits
    sigprocmask(SIG_SETMASK, &all, &signals_before);
    const pid_t pid = check(fork(), "fork");
    if (pid != 0) {
        sigprocmask(SIG_SETMASK, &signals_before, nullptr);
        close(ends[1]);
        prctl(PR_SET_CHILD_SUBREAPER, 1); // should the keeper be killed
        return {pid, ends[0]};
    }
    close(ends[0]);
    try {
        keeper_loop(how, ends[1], signals_before).run();
    } catch (...) { // paddock sees the end of the socket
        signal_descendants(SIGKILL);
    }
    _exit(0);
}

} // namespace cli
