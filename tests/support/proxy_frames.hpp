#pragma once

#include "proxy.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <span>

namespace paddock::test {

/// Understands the frames of one connection.
class frame_reader {
public:
    explicit frame_reader(std::size_t connection) : connection_(connection) {}

    /// `bytes`: the frame with its length in front.
    frame read(direction way, std::span<const std::uint8_t> bytes);
    /// The same for bytes that are no such frame.
    frame unread(direction way, std::span<const std::uint8_t> bytes) const;
    /// The result of the handshake, once it was read.
    const credentials& session() const { return session_; }

private:
    struct asked {
        std::int32_t opcode = 0;
        std::string path;
        bool heartbeat = false;
    };
    void read_request(frame& result, jute_reader& reader);
    void read_reply(frame& result, jute_reader& reader);

    std::size_t connection_;
    bool handshake_seen_[2] = {false, false};
    credentials session_;
    std::map<std::int32_t, asked> requests_;
};

/// The proxy's observations; the only object that its thread and its users share.
class frame_journal {
public:
    /// Returns the number of the entry, to be used with `forwarded`.
    std::size_t add(frame seen);
    void forwarded(std::size_t entry, std::size_t bytes);
    void accepted();
    void closed();
    void cut();
    void session(const credentials& granted);
    void forget_frames();

    credentials last_credentials() const;
    template <class Function>
    auto look(Function function) const {
        const std::lock_guard lock(mutex_);
        return function(now_);
    }
    bool wait_for(const std::function<bool(const proxy_snapshot&)>& predicate,
                  std::chrono::milliseconds limit) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    proxy_snapshot now_;
    std::size_t forgotten_ = 0;
    credentials credentials_;
};

} // namespace paddock::test
