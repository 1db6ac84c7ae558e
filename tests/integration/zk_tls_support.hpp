#pragma once

#include "support/certificates.hpp"
#include "support/lock_harness.hpp"

#include <paddock/tls.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// What tests of encrypted connections to ZooKeeper share.

namespace paddock::test {

inline authority& issuer() {
    static authority one;
    return one;
}

/// Asks clients for their certificates, and needs none.
inline zk_server& tls_server() {
    static zk_server one({.tls = tls_of_server{.identity = issuer().issue(),
                                               .ca = issuer().ca_file(),
                                               .clients = client_certificates::optional,
                                               .protocols = {"TLSv1.2", "TLSv1.3"}}});
    return one;
}

inline tls trusting(const authority& whom, std::string name = {}) {
    return tls(tls_files{.ca = whom.ca_file()}, std::move(name));
}

inline tls presenting(const key_pair& own) {
    return tls(tls_files{.ca = issuer().ca_file(), .certificate = own.certificate, .key = own.key});
}

inline client_options encrypted(tls how = trusting(issuer())) {
    client_options options;
    options.tls = std::move(how);
    return options;
}

/// The lines of a client's log, which it may outlive.
struct tls_log {
    struct line {
        log_code code;
        std::string text;
    };
    std::shared_ptr<std::deque<line>> lines = std::make_shared<std::deque<line>>();

    client_options write_to(client_options options) const {
        options.log = [into = lines](const log_record& one) {
            into->push_back({one.code, std::string(one.text)});
        };
        return options;
    }
    bool has(log_code code, std::string_view text) const {
        return std::any_of(lines->begin(), lines->end(), [&](const line& one) {
            return one.code == code && one.text.find(text) != std::string::npos;
        });
    }
};

} // namespace paddock::test
