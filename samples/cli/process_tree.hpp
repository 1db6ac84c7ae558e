// The processes below this one.
#pragma once

#include <cstddef>
#include <sys/types.h>
#include <vector>

namespace cli {

/// With PR_SET_CHILD_SUBREAPER those are below, too, that have left their parents. (And what has
/// ended, and was not waited for: it may have threads that work.)
///
/// That they can all be killed takes one file, opened in time: the list of those directly below,
/// whom the others join when these end. So no limit of files, nothing mounted on /proc or hidden
/// in it keeps one alive.
class process_tree {
public:
    /// Of the thread that calls. Throws failure, where the kernel does not say what is below.
    process_tree();
    process_tree(const process_tree&) = delete;
    process_tree& operator=(const process_tree&) = delete;
    ~process_tree();

    int file() const { return children_; }
    /// All that can be seen. The process `except` and its session are left out.
    std::vector<pid_t> all(pid_t except = 0) const;
    /// Sends a signal to each of them. Returns how many there were.
    std::size_t signal(int number, pid_t except = 0) const;

private:
    template <typename Visit>
    std::vector<pid_t> walk(pid_t except, const Visit& visit) const;

    int children_ = -1;
};

} // namespace cli
