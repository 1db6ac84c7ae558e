#include "native/c_error_line.hpp"

#include <cerrno>
#include <utility>

namespace paddock::native {

void c_error_line::write(const char* line) noexcept {
    if (current_ == nullptr || line == nullptr || !current_->line_.empty()) return;
    try {
        current_->line_ = line;
    } catch (...) {
        // No memory for the line: C code must not see an exception.
    }
}

/// Strips time, process and function off the line: `…:ZOO_ERROR@function@line: text`.
std::string c_error_line::take() {
    auto line = std::exchange(line_, {});
    const auto level = line.find("ZOO_ERROR@");
    const auto text = line.find(": ", level == std::string::npos ? 0 : level);
    if (level != std::string::npos && text != std::string::npos) line.erase(0, text + 2);
    return line;
}

namespace {

/// A server that closes the connection, or is silent, does so for other reasons once it has
/// granted a session.
struct meaning {
    int error; ///< errno
    const char* text;
    const char* in_session = text;
};

constexpr meaning meanings[] = {
    {ECONNREFUSED, " refuses connections: no server listens there"},
    {EHOSTDOWN,
     " closed the connection: the server is starting or stopping, has no quorum or too many "
     "connections from this address (maxClientCnxns), expects TLS, or is no ZooKeeper server; "
     "`echo srvr | nc HOST PORT` and its log show which",
     " closed the connection: the server is stopping, has lost its quorum, has ended the session "
     "of a client that was silent for too long, or got a request beyond its jute.maxbuffer; its "
     "log may show the cause"},
    {ECONNRESET, " reset the connection: the server has ended, or something between closed it; the "
                 "server's log may show the cause"},
    {ETIMEDOUT,
     " does not answer: check that it is a ZooKeeper server, its load, and the network between",
     " does not answer any more: check its load, and the network between"},
    {EHOSTUNREACH, " is not reachable: there is no route to that host"},
    {ENETUNREACH, " is not reachable: there is no route to that network"},
};

/// The text between two others; empty if one is missing.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
    const auto begin = text.find(before);
    if (begin == text.npos) return {};
    text.remove_prefix(begin + before.size());
    const auto end = text.find(behind);
    return end == text.npos ? std::string_view() : text.substr(0, end);
}

} // namespace

/// Most lines are `Socket 10.0.0.1:2181 zk retcode=-4, errno=111(Connection refused): …`.
std::string explained(std::string_view line, bool in_session) {
    const auto server = between(line, "Socket ", " zk retcode=");
    const auto error = between(line, "errno=", "(");
    if (!server.empty())
        for (const auto& one : meanings)
            if (error == std::to_string(one.error))
                return std::string(server) + (in_session ? one.in_session : one.text);
    return "ZooKeeper's C client says: " + std::string(line) +
           ": the server's log may show the cause";
}

} // namespace paddock::native
