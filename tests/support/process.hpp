#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace paddock::test {

/// A child process that inherits no file descriptor but its log. The kernel kills it when the
/// thread that started it ends, however that happens. Start children from a thread that lives on.
class child_process {
public:
    /// Standard output and error are appended to `log`.
    child_process(const std::vector<std::string>& command, const std::string& folder,
                  const std::string& log);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    /// Kills the child and waits for its end.
    ~child_process();

    pid_t pid() const { return pid_; }
    void signal(int number);
    /// Stops it, and returns when all its threads have stopped.
    void pause();
    /// Waits for the end of the child; false if it still runs after `limit`.
    bool wait_for(std::chrono::milliseconds limit);
    /// It has ended by itself, with the status 0.
    bool succeeded() const { return ended_ && status_ == 0; }

private:
    pid_t pid_ = -1;
    int handle_ = -1; // a pidfd, readable when the process has ended
    bool ended_ = false;
    int status_ = 0;
};

} // namespace paddock::test
