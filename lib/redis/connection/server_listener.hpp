#pragma once

#include <paddock/boot_clock.hpp>

#include <chrono>
#include <string>

namespace paddock::redis {

/// Learns what becomes of one server. Strand only; every method may destroy the server.
class server_listener {
public:
    /// The server's clock, at some moment between the sending of a request and now.
    virtual void on_clock(boot_clock::time_point sent, std::chrono::microseconds clock) = 0;
    /// The server takes calls.
    virtual void on_reachable() = 0;
    /// It takes none, or an attempt to connect has failed once more: for the log.
    virtual void on_unreachable(const std::string& why) = 0;
    /// It is there, and must not be used, or does not let us; it is asked again later.
    virtual void on_refused(const std::string& fault) = 0;
    /// Likewise: its other clients use another deployment.
    virtual void on_mismatch(const std::string& fault) = 0;

    /// From now on messages of the channel arrive: at first, and after every reconnect, when
    /// messages may have been missed.
    virtual void on_subscribed(const std::string& channel) = 0;
    virtual void on_message(const std::string& channel, const std::string& text) = 0;
    /// The server refuses the subscription. It is asked again only after a reconnect.
    virtual void on_subscription_refused(const std::string& channel, const std::string& fault) = 0;
    /// No message arrives until on_subscribed(): for the log.
    virtual void on_messages_lost(const std::string& why) = 0;

protected:
    ~server_listener() = default;
};

} // namespace paddock::redis
