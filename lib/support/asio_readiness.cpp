#include "support/asio_parts.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;
using stream = asio::posix::stream_descriptor;

/// A descriptor of our own for the same connection: the C client closes its number when it likes,
/// and the system gives it away again; this one stays what it is until we close it.
int duplicate(int number) {
    const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw boost::system::system_error(errno, boost::system::system_category(), "dup");
    return copy;
}

struct readiness_core : std::enable_shared_from_this<readiness_core> {
    explicit readiness_core(const asio::any_io_executor& strand) : connection(strand) {}

    void wait(stream::wait_type what, unique_function<void()> ready) {
        connection.async_wait(
            what, [self = shared_from_this(), call = std::move(ready)](const auto& error) mutable {
                if (self->alive && error != asio::error::operation_aborted) call();
            });
    }

    stream connection;
    bool alive = true;
};

class asio_readiness final : public readiness {
public:
    asio_readiness(const asio::any_io_executor& strand, descriptor what)
        : core_(std::make_shared<readiness_core>(strand)) {
        const int copy = duplicate(what.number);
        boost::system::error_code error;
        core_->connection.assign(copy, error);
        if (!error) return;
        ::close(copy);
        throw boost::system::system_error(error, "assign");
    }

    ~asio_readiness() override {
        core_->alive = false;
        boost::system::error_code ignored;
        core_->connection.close(ignored);
    }

    void wait_readable(unique_function<void()> ready) override {
        core_->wait(stream::wait_read, std::move(ready));
    }
    void wait_writable(unique_function<void()> ready) override {
        core_->wait(stream::wait_write, std::move(ready));
    }

private:
    std::shared_ptr<readiness_core> core_;
};

} // namespace

std::unique_ptr<readiness> make_asio_readiness(const asio::any_io_executor& strand,
                                               descriptor connection) {
    return std::make_unique<asio_readiness>(strand, connection);
}

} // namespace paddock
