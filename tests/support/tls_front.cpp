#include "tls_front.hpp"

#if PADDOCK_TESTS_SPEAK_TLS

#include "certificates.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

authority& issuer_of_fronts() {
    static authority one("authority of the tests' fronts");
    return one;
}

struct front_link : std::enable_shared_from_this<front_link> {
    front_link(tcp::socket client, asio::ssl::context& how)
        : near(std::move(client), how), far(near.get_executor()) {}

    void start(const tcp::endpoint& upstream) {
        far.async_connect(upstream, [self = shared_from_this()](error_code error) {
            if (error) return self->end(asio::error::connection_reset);
            self->near.async_handshake(asio::ssl::stream_base::server, [self](error_code failed) {
                if (failed) return self->end(failed);
                self->carry(self->near, self->far, self->up);
                self->carry(self->far, self->near, self->down);
            });
        });
    }

    template <class From, class To, class Buffer>
    void carry(From& from, To& to, Buffer& bytes) {
        from.async_read_some(asio::buffer(bytes),
                             [&, self = shared_from_this()](error_code error, std::size_t n) {
                                 if (error) return self->end(error);
                                 asio::async_write(to, asio::buffer(bytes, n),
                                                   [&, self](error_code failed, std::size_t) {
                                                       if (failed) return self->end(failed);
                                                       self->carry(from, to, bytes);
                                                   });
                             });
    }

    /// As the other side has ended: in order, or with a reset.
    void end(const error_code& why) {
        const bool orderly = why == asio::error::eof || why == asio::ssl::error::stream_truncated;
        for (auto* const one : {&near.next_layer(), &far}) {
            error_code ignored;
            if (!orderly) one->set_option(asio::socket_base::linger(true, 0), ignored);
            one->close(ignored);
        }
    }

    asio::ssl::stream<tcp::socket> near;
    tcp::socket far;
    std::array<char, 16 * 1024> up, down;
};

} // namespace

class tls_front::engine {
public:
    explicit engine(std::uint16_t upstream)
        : upstream_(asio::ip::address_v4::loopback(), upstream)
        , acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        static const auto identity = issuer_of_fronts().issue();
        how_.use_certificate_chain_file(identity.certificate);
        how_.use_private_key_file(identity.key, asio::ssl::context::pem);
        accept();
        thread_ = std::thread([this] { io_.run(); });
    }
    ~engine() {
        asio::post(io_, [this] {
            acceptor_.close();
            for (const auto& each : links_)
                if (const auto link = each.lock()) link->end(asio::error::connection_reset);
        });
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket client) {
            if (error) return; // it was closed
            const auto link = std::make_shared<front_link>(std::move(client), how_);
            links_.remove_if([](const auto& each) { return each.expired(); });
            links_.push_back(link);
            link->start(upstream_);
            accept();
        });
    }

    asio::ssl::context how_{asio::ssl::context::tls_server};
    tcp::endpoint upstream_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    std::list<std::weak_ptr<front_link>> links_;
    std::thread thread_;
};

tls_front::tls_front(std::uint16_t upstream_port)
    : engine_(std::make_unique<engine>(upstream_port)) {}

tls_front::~tls_front() = default;

std::uint16_t tls_front::port() const { return engine_->port(); }

std::string tls_front::address() const { return "127.0.0.1:" + std::to_string(port()); }

const std::string& tls_front::ca_file() { return issuer_of_fronts().ca_file(); }

} // namespace paddock::test

#else

#include <stdexcept>

namespace paddock::test {

class tls_front::engine {};

tls_front::tls_front(std::uint16_t) { throw std::logic_error("the tests were built without TLS"); }

tls_front::~tls_front() = default;

std::uint16_t tls_front::port() const { return 0; }

std::string tls_front::address() const { return {}; }

const std::string& tls_front::ca_file() {
    static const std::string none;
    return none;
}

} // namespace paddock::test

#endif
