#pragma once

#include <string>
#include <string_view>

namespace paddock::native {

/// Keeps the first ERROR line that the C client has logged since the last take(): later lines are
/// consequences of the first. The C client's log function gets no handle, so a line belongs to the
/// client whose call runs on the same thread.
class c_error_line {
public:
    /// The log function that the C client calls.
    static void write(const char* line) noexcept;

    std::string take();

    /// While a scope exists, `where` gets the lines of this thread; nullptr discards them.
    class scope {
    public:
        explicit scope(c_error_line* where) noexcept : previous_(current_) { current_ = where; }
        ~scope() { current_ = previous_; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

    private:
        c_error_line* previous_;
    };

private:
    static inline constinit thread_local c_error_line* current_ = nullptr;

    std::string line_;
};

/// What has happened, for whoever reads the log: the C client reports some of it with an error
/// number that has another meaning (a connection that the server closed as "Host is down").
/// `in_session`: of a connection that has had a session.
std::string explained(std::string_view line, bool in_session);

} // namespace paddock::native
