#pragma once

#include <paddock/detail/access.hpp>

#include <memory>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace paddock {

namespace asio = boost::asio;

namespace detail {
class tls_state;
}

/// The PEM files of make_tls_context().
struct tls_files {
    /// The certificates of the authorities that may vouch for a server. Empty: those that the
    /// system trusts.
    std::string ca{};
    /// The client's own certificate, and behind it those of the authorities between it and one that
    /// the servers trust. Empty: the client has none.
    std::string certificate{};
    /// The private key of `certificate`, without a passphrase. Empty: it is in the same file.
    std::string key{};
    /// Lists of revoked certificates: every authority that has signed a server's certificate itself
    /// must have one in it. Empty: no certificate counts as revoked.
    std::string crl{};
};

/// Makes a context for TLS 1.2 or later from files, for the class tls. Reads the files now; does no
/// other I/O.
///
/// Errors: throws `bad_argument_error` that names the member, for a file that cannot be read or
/// used, and when the library was built without TLS (Meson feature `tls`).
///
/// Thread safety: any thread.
[[gnu::visibility("default")]] std::shared_ptr<asio::ssl::context>
make_tls_context(const tls_files& files);

class [[gnu::visibility("default")]] tls;

/// How a client's connections are encrypted, and whom it trusts: a value of client_options and
/// redis::client_options. A default-constructed one stands for plain connections.
///
///     paddock::client_options options;
///     options.tls = paddock::tls({.ca = "/etc/app/ca.pem"});
///
/// The server must show a certificate, whatever the context's ciphers and verify mode are, and it
/// is always verified, by the context's authorities and by its names, as in RFC 9525: the one that
/// is to be verified must be among the certificate's subject alternative names. A wildcard stands
/// for a whole label, and the common name counts for nothing. Only a verify callback of the context
/// is asked after all that, and has the last word. A name is also sent to the server (SNI). Until
/// the end of the handshake the client sends nothing else.
///
/// Thread safety: any thread may use distinct objects. Copies share one state, and several threads
/// may call replace() at a time, also while clients use it.
class tls {
public:
    /// Plain connections.
    tls() noexcept;
    /// Makes connections with this context. It belongs to the connections from now on: change it no
    /// more. `name` is what the certificates are verified against, a name or an address. Empty: the
    /// server's host, as it stands in the list of servers.
    ///
    /// Errors: throws `bad_argument_error` for an empty context, for a name with a null character
    /// or a dot in front, and when the library was built without TLS.
    explicit tls(std::shared_ptr<asio::ssl::context> context, std::string name = {});
    /// As above, with the context of make_tls_context().
    explicit tls(const tls_files& files, std::string name = {});

    /// Connections that begin from now on use this context: new certificates without a restart.
    ///
    /// Errors: throws `bad_argument_error` for an empty context, and for an object that stands for
    /// plain connections.
    void replace(std::shared_ptr<asio::ssl::context> context) const;

    /// False: plain connections.
    explicit operator bool() const noexcept { return state_ != nullptr; }

private:
    friend struct detail::access;

    std::shared_ptr<detail::tls_state> state_;
};

} // namespace paddock
