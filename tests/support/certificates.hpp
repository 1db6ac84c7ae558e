#pragma once

#include "temporary_folder.hpp"

#include <string>
#include <vector>

namespace paddock::test {

/// Paths of PEM files.
struct key_pair {
    std::string certificate{};
    std::string key{};
};

enum class validity { now, over, not_yet };

struct certificate_wishes {
    std::string common_name = "localhost";
    /// Of the subject, behind the common name; empty: none.
    std::string organization{};
    /// The subject alternative names, as OpenSSL writes them; empty: the common name alone.
    std::string names = "DNS:localhost,IP:127.0.0.1";
    validity valid = validity::now;
    /// Whose certificate it may be.
    bool for_servers = true;
    bool for_clients = true;
};

/// An authority that issues certificates for tests, by the command `openssl`; each takes some 50
/// ms. Its files are in a temporary folder, which goes with it.
///
///     authority trusted;
///     redis_server server({}, {.identity = trusted.issue()});
///     const auto late = trusted.issue({.valid = validity::over});
///
/// Not thread-safe, and for a thread that lives on, as child_process.
class authority {
public:
    explicit authority(const std::string& common_name = "paddock test authority");

    /// Its own certificate.
    const std::string& ca_file() const { return own_.certificate; }
    key_pair issue(const certificate_wishes& wishes = {});
    /// Signed by its own key, instead of the authority's.
    key_pair self_signed(const certificate_wishes& wishes = {});

    /// The list of all that are revoked, signed by the authority: without, and with one more.
    std::string revocations();
    std::string revoke(const key_pair& pair);

    /// The same pair, with its key encrypted.
    key_pair encrypted(const key_pair& pair, const std::string& passphrase);
    /// PKCS #12 for Java: a pair, with the certificate of the authority; that certificate alone, as
    /// one to trust (by `keytool`, which takes a second).
    std::string key_store(const key_pair& pair, const std::string& password);
    std::string trust_store(const std::string& password);

private:
    key_pair make(const certificate_wishes& wishes, const std::string& extensions, bool by_itself);
    void run(const std::vector<std::string>& command);
    std::string new_file(const std::string& extension);

    temporary_folder folder_;
    key_pair own_;
    int files_ = 0;
};

enum class client_certificates { none, optional, required };

/// How a private server speaks TLS.
struct tls_of_server {
    key_pair identity;
    /// Whose client certificates it takes: authority::ca_file(). Needed unless it wants none.
    std::string ca{};
    client_certificates clients = client_certificates::none;
    /// Such as {"TLSv1.2"}; empty: the server's defaults. It speaks "TLSv1.1" if that is here, also
    /// where the machine's rules forbid that.
    std::vector<std::string> protocols{};
};

/// "TLSv1.2,TLSv1.3"
std::string list_of_protocols(const tls_of_server& tls, char separator);
/// Whether these are protocols that the machine's rules forbid.
bool outdated(const tls_of_server& tls);

} // namespace paddock::test
