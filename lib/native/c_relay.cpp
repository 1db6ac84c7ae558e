// Encrypted connections: the C client has local sockets, and a relay carries their bytes. That
// takes some 0.1 ms of each request, so plain connections have none.

#include "native/c_client.hpp"
#include "native/server_list.hpp"
#include "tls/error.hpp"
#include "tls/stream.hpp"

#include <boost/asio/error.hpp>

#include <cerrno>

namespace paddock::native {

namespace {

/// What the C client itself would say of such an end. It calls the server's end EHOSTDOWN.
std::string as_error_line(const std::string& server, const relay::error_code& error) {
    const bool by_server = error == boost::asio::error::eof;
    return "Socket " + server +
           " zk retcode=-4, errno=" + std::to_string(by_server ? EHOSTDOWN : error.value()) + '(' +
           error.message() + ')';
}

/// By which name a server is known, if that is not its address.
std::string named(const std::string& host, const std::string& server) {
    return server.starts_with(host) ? std::string() : " (" + host + ')';
}

} // namespace

/// Behind the call of interest() in which the C client has opened a socket.
void c_client::begin_relay() {
    auto opened = sockets_.take();
    if (!opened) return;
    relay_server_ = opened->address + ':' + std::to_string(opened->port);
    relay_host_ = encryption_->host_of(relay_server_);
    relay_connects_ = true;
    relay_ = std::make_unique<relay>(
        encryption_->env, opened->far_end, opened->address, opened->port,
        [this](std::unique_ptr<stream> connected, stream::done secured) {
            return make_tls_stream(encryption_->env, std::move(connected), encryption_->how,
                                   relay_host_, std::move(secured));
        });
}

int c_client::phase() const noexcept {
    const bool secures = relay_connects_ && relay_->has_connected();
    return secures ? state::securing : state();
}

/// False: not yet. The C client learns in process(), by its socket, if the connection has failed.
bool c_client::is_connected_by_relay() {
    const auto at = relay_->at();
    const bool waits = at == relay::stage::connecting || at == relay::stage::securing;
    if (waits && !broken_by_us_) return false;
    relay_connects_ = false;
    char carries = 0;
    ::recv(socket_.number, &carries, sizeof carries, MSG_DONTWAIT);
    return true;
}

/// In a forked child both sides of the relay are the parent's.
void c_client::flush_relay() noexcept {
    if (relay_ && owner_.is_this_process()) relay_->flush();
}

/// The C client sees only that its socket was closed, and may have chosen the next server by now.
/// False: its own line says more.
bool c_client::report_relay() {
    if (!relay_) return false;
    const auto where = with_brackets(relay_server_);
    const auto& why = relay_->failure();
    if (relay_->at() == relay::stage::securing)
        observer_->on_tls_trouble(log_code::c_client,
                                  where + " has accepted the connection, but has not answered "
                                          "TLS's handshake: check its load, and that its port is "
                                          "one for TLS (secureClientPort)");
    else if (broken_by_us_ || !why)
        return false;
    else if (is_lasting_tls_error(why))
        observer_->on_tls_trouble(log_code::unsuitable_server,
                                  "the server " + where + named(relay_host_, relay_server_) +
                                      " cannot be used: TLS: " +
                                      tls_fault(why, verified_name(encryption_->how, relay_host_)));
    else if (is_tls_error(why))
        observer_->on_tls_trouble(log_code::c_client, "the connection to " + where +
                                                          " has ended: TLS: " + why.message());
    else if (relay_->ended_in() == relay::stage::securing)
        observer_->on_tls_trouble(log_code::c_client,
                                  where + " has closed the connection in TLS's handshake: its "
                                          "port may take plain connections");
    else
        observer_->on_error_line(as_error_line(where, why));
    relay_.reset(); // the C client has closed its socket
    relay_connects_ = false;
    return true;
}

} // namespace paddock::native
