// The same functions in a library without TLS: nobody can make an object of paddock::tls that is
// not empty, so no connection has one.

#include "support/argument.hpp"
#include "tls/error.hpp"
#include "tls/stream.hpp"

#include <utility>

namespace paddock {

namespace {

[[noreturn]] void refuse() {
    throw bad_argument("tls", "needs a library that was built with TLS (Meson feature tls)");
}

} // namespace

std::shared_ptr<asio::ssl::context> make_tls_context(const tls_files&) { refuse(); }

tls::tls() noexcept = default;

tls::tls(std::shared_ptr<asio::ssl::context>, std::string) { refuse(); }

tls::tls(const tls_files&, std::string) { refuse(); }

void tls::replace(std::shared_ptr<asio::ssl::context>) const { refuse(); }

std::string tls_fault(const boost::system::error_code& error, const std::string&) {
    return error.message();
}

bool is_tls_error(const boost::system::error_code&) noexcept { return false; }

bool is_lasting_tls_error(const boost::system::error_code&) noexcept { return false; }

std::unique_ptr<stream> make_tls_stream(environment&, std::unique_ptr<stream>, const tls&,
                                        const std::string&, stream::done) {
    refuse();
}

const std::string& verified_name(const tls&, const std::string& host) noexcept { return host; }

} // namespace paddock
