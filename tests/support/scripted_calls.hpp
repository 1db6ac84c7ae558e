#pragma once

#include "fake_environment.hpp"
#include "native/calls.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::test {

/// A C client whose server is the test. It keeps the C client's rules as far as they matter to the
/// pump: one packet per process(), a pause after each pass over all servers, silence for two thirds
/// of the session timeout ends a connection, every connection has the same number, and a failed
/// send closes it silently.
struct script {
    explicit script(fake_environment& in) : env(in) {}

    fake_environment& env;

    // --- how the servers behave ---

    bool accepts = true;            ///< connections are established at once
    bool secures = false;           ///< what is not established is in TLS's handshake
    bool answers = true;            ///< so are sessions
    bool refuses_sessions = false;  ///< the peer closes the connection in the handshake
    bool refuses = false;           ///< a connect fails as soon as its socket is checked
    bool next_send_fails = false;   ///< the next request closes the connection silently
    int refused = 0;                ///< so many of the next requests are refused
    bool ping_fails = false;        ///< interest() says so once, but does not close the connection
    bool stuck = false;             ///< there is something to read, and it never is a packet
    int unwritten = 0;              ///< steps of end_session() that find something still to write
    bool lingers = false;           ///< a session that was asked to end does so with hang_up()
    bool answers_heartbeats = true; ///< at once, with `heartbeat_code`; else they are as any other
    int heartbeat_code = native::code::ok;             ///< of the proofs among them
    std::deque<int> interest_codes;                    ///< errors of the next interest() calls
    int next_session_state = native::state::connected; ///< what the next handshake ends with

    /// What the server sends: each entry is a packet, and runs inside the process() that takes it.
    void send(std::function<void()> packet);
    /// Answers the oldest open request.
    void answer(int rc = native::code::ok, int refused_step = -1);
    /// Answers the oldest open request, a listing, with these names.
    void answer_names(std::vector<std::string> names);
    /// Answers the oldest open request, a multi that was executed.
    void answer_multi(std::vector<operation_result> results);
    /// The peer has closed the connection.
    void hang_up();

    // --- observations ---

    int opened = 0, closed = 0, asked_to_end = 0, interests = 0, processed = 0, broken = 0,
        executed = 0;
    std::vector<unsigned> events;         ///< of each process()
    std::vector<std::string> servers;     ///< of open() and set_servers()
    std::vector<std::string> credentials; ///< of add_auth()
    std::optional<native::encryption> encryption;
    std::deque<native::calls::done> requests;   ///< that are open
    std::deque<native::calls::done> heartbeats; ///< likewise, of those that are answered at once
    int beats = 0;                              ///< how many of those there were
    std::vector<std::string> log;               ///< of all requests: "remove /a", "children /"
    int held_back = 0;                          ///< requests since the last flush()
    std::int64_t session = 0x1234;              ///< the id that the next handshake gives

    // --- the C client's state ---

    void answer_heartbeat(native::calls::done reply_to, int rc);
    void lose(int rc);
    void use(const std::string& list_of_servers);
    void complete_all(int rc);
    void set_readable();

    native::observer* observer = nullptr;
    int state = native::state::not_connected;
    descriptor connection;
    descriptor parting; ///< the connection of a session that was asked to end
    std::uint64_t last_identity = 0;
    std::vector<std::string> list; ///< the servers
    std::size_t place = 0;         ///< in the list, of the present attempt or connection
    bool rests = false;            ///< the next interest() pauses: all servers have failed
    bool unusable = false;         ///< break_connection() was called, or the peer hung up
    std::size_t unsent = 0;        ///< requests of a connection that was closed silently
    std::deque<std::function<void()>> inbound;
    std::chrono::milliseconds session_timeout{0};
    boot_clock::time_point last_heard{};
};

/// The entries of a server list, `ip:port,…`.
std::vector<std::string> entries_of(const std::string& list);

std::unique_ptr<native::calls> make_scripted_calls(std::shared_ptr<script> of);

} // namespace paddock::test
