#include "process.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace paddock::test {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* arguments, const char* folder, int log, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(126);
    } // it died before prctl could take effect
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int input = ::open("/dev/null", O_RDONLY);
    ::dup2(input, 0);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    if (::chdir(folder) == 0) {
        ::execvp(arguments[0], arguments);
    }
    ::_exit(127);
}

} // namespace

child_process::child_process(const std::vector<std::string>& command, const std::string& folder,
                             const std::string& log) {
    std::vector<char*> arguments;
    for (const auto& word : command) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (output < 0) {
        fail("open the log of a child process");
    }
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
        become(arguments.data(), folder.c_str(), output, parent);
    }
    ::close(output);
    if (pid_ < 0) {
        fail("fork");
    }
    handle_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    if (handle_ < 0) {
        const int reason = errno;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        errno = reason;
        fail("pidfd_open");
    }
}

child_process::~child_process() {
    if (!ended_) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    ::close(handle_);
}

void child_process::signal(int number) {
    if (!ended_ && ::kill(pid_, number) != 0) {
        fail("kill");
    }
}

void child_process::pause() {
    signal(SIGSTOP);
    siginfo_t what{};
    while (!ended_ &&
           ::waitid(P_PID, static_cast<id_t>(pid_), &what, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
}

bool child_process::wait_for(std::chrono::milliseconds limit) {
    if (ended_) {
        return true;
    }
    pollfd entry{handle_, POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0) {
        return false;
    }
    ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
}

} // namespace paddock::test
