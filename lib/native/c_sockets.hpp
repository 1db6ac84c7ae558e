#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>

namespace paddock::native {

/// The sockets of the C client, if its connections are encrypted: each is one end of a pair, of
/// which we have the other. The library links a copy of the C client that calls our functions
/// instead of socket(), connect() and setsockopt(). They are those of the system, but for calls of
/// the C client within a scope.
class c_sockets {
public:
    /// Where the C client wants to be connected.
    struct opened {
        int far_end = -1; ///< belongs to the caller
        std::string address;
        std::uint16_t port = 0;
    };

    c_sockets() = default;
    ~c_sockets() { forget(); }
    c_sockets(const c_sockets&) = delete;
    c_sockets& operator=(const c_sockets&) = delete;

    /// The socket that the C client has opened and connected last, once. It believes that the
    /// connection will be made soon.
    std::optional<opened> take();

    /// While a scope exists, `of` gives the C client its sockets on this thread; nullptr: the
    /// system does.
    class scope {
    public:
        explicit scope(c_sockets* of) noexcept : previous_(current_) { current_ = of; }
        ~scope() { current_ = previous_; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

    private:
        c_sockets* previous_;
    };

    // For those functions.
    static c_sockets* current() noexcept { return current_; }
    int open() noexcept;
    int connect(const sockaddr* address, socklen_t size) noexcept;

private:
    void forget() noexcept;

    static inline constinit thread_local c_sockets* current_ = nullptr;

    int far_end_ = -1;
    bool connected_ = false;
    sockaddr_storage address_{};
    socklen_t address_size_ = 0;
};

} // namespace paddock::native
