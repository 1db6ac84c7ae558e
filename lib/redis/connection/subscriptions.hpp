#pragma once

#include "redis/connection/connection.hpp"
#include "redis/connection/server_listener.hpp"
#include "support/backoff.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>

namespace paddock::redis {

/// The channels of one server that one client listens to, on a connection of their own. It exists
/// while there are channels, and a little longer. Strand only.
class subscriptions final : connection::user {
public:
    subscriptions(environment& env, rules::server where, const connection_limits& limits,
                  server_listener& informs);

    /// Each channel once; when it is subscribed already, the listener is told again.
    void subscribe(const std::string& channel);
    void unsubscribe(const std::string& channel);

    /// Whether the server can be used: only then it is connected to.
    void use_server(bool reachable);

private:
    enum class at_server { no, asked, yes, refused };
    struct channel {
        bool wanted = true;
        bool asked_to_subscribe = false; ///< by the command in flight
        at_server state = at_server::no;
        bool in_queue = false;
    };
    using channels = std::map<std::string, channel>;

    void on_open() override;
    void on_message(const std::string& name, const std::string& text) override;
    void on_end(ending how, const std::string& why) override;

    void look();
    void connect();
    void look_at(const std::string& name);
    void work();
    bool ask(channels::iterator at);
    void replied(const std::string& name, const std::optional<rules::reply>& said);
    void tell_again(const std::string& name);

    environment& env_;
    const rules::server where_;
    const connection_limits limits_;
    server_listener& listener_;
    channels channels_;
    std::deque<std::string> queue_; ///< channels that perhaps need a command, while it is open
    std::size_t in_flight_ = 0;
    bool reachable_ = false;
    bool waits_ = false; ///< the timer runs until the next attempt
    backoff delay_{connection::longest_pause};
    boot_clock::time_point opened_{};
    std::unique_ptr<timer> timer_;
    std::unique_ptr<connection> connection_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace paddock::redis
