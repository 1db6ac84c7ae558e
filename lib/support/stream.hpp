#pragma once

#include "support/function.hpp"

#include <boost/system/error_code.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

/// A connection that carries bytes. It may read and write at the same time, each once at a time.
/// Callbacks run on the client's strand, never from within the call that got them, and never after
/// close() or the destructor; they may destroy the stream.
class stream {
public:
    using error_code = boost::system::error_code;
    using done = unique_function<void(error_code)>;
    using received = unique_function<void(error_code, std::string_view)>;

    virtual ~stream() = default;

    /// The next bytes, at least one; they are valid during the callback. The peer's end of the
    /// connection is the error boost::asio::error::eof.
    virtual void read_some(received call) = 0;
    /// All of these bytes, or an error. True: they are written already, and nothing is called.
    virtual bool write(std::string bytes, done written) = 0;
    virtual void close() noexcept = 0;
    /// As close(), but what has not arrived yet shall never arrive: the system would go on sending
    /// it for a while, and behind what a later connection has sent.
    virtual void abort() noexcept = 0;
};

/// A stream over TCP, or what a simulation has instead. It connects once, before it carries bytes.
class tcp_stream : public stream {
public:
    /// `address` is numeric. There is no time limit but the system's.
    virtual void connect(const std::string& address, std::uint16_t port, done connected) = 0;
    /// The file descriptor, for those who wait without an event loop; -1 if there is none.
    virtual int descriptor() noexcept { return -1; }
};

} // namespace paddock
