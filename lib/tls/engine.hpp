#pragma once

#include <boost/system/error_code.hpp>

#include <memory>
#include <string>
#include <string_view>

struct ssl_st;

namespace boost::asio::ssl {
class context;
}

namespace paddock {

/// The client's side of one TLS connection: bytes of the network go in and out, and nothing is sent
/// or received here. OpenSSL's own input and output would read from the socket within its calls,
/// where a forked child takes what belongs to its parent.
class tls_engine {
public:
    using error_code = boost::system::error_code;

    enum class outcome {
        wants_input, ///< nothing more without bytes of the server
        done,
        ended, ///< the server has ended the connection as TLS wants it
        failed ///< see error()
    };

    /// `name`: what the server's certificate must have as a name: a host's name, which the server
    /// is told, or an address.
    tls_engine(std::shared_ptr<boost::asio::ssl::context> context, std::string name);

    /// Bytes that the server has sent. Afterwards go on with what wanted them.
    void feed(std::string_view bytes);
    /// What is to be sent now, in any state; each byte once.
    std::string output();

    outcome shake_hands();
    /// Appends what there is; `done` never occurs.
    outcome read(std::string& to);
    /// `wants_input`: nothing was written. The same bytes are to be written again, when more input
    /// was read.
    outcome write(std::string_view bytes);
    /// The last word of this side is in output() then.
    void end() noexcept;

    const error_code& error() const noexcept { return error_; }

private:
    struct release {
        void operator()(ssl_st* it) const noexcept;
    };

    outcome outcome_of(int returned);

    std::shared_ptr<boost::asio::ssl::context> context_; ///< has what its verify callback needs
    std::unique_ptr<ssl_st, release> ssl_;
    error_code error_;
};

} // namespace paddock
