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
using stream = asio::posix::basic_stream_descriptor<io_strand>;

/// A descriptor of our own for the same connection: the C client closes its number when it likes,
/// and the system gives it away again; this one stays what it is until we close it.
int duplicate(int number) { return ::fcntl(number, F_DUPFD_CLOEXEC, 0); }

struct readiness_core : std::enable_shared_from_this<readiness_core> {
    explicit readiness_core(const io_strand& strand) : connection(strand), for_writing(strand) {}

    void wait(stream& on, stream::wait_type what, unique_function<void()> ready) {
        on.async_wait(what, [self = shared_from_this(), what,
                             call = std::move(ready)](const auto& error) mutable {
            boost::system::error_code ignored;
            if (what == stream::wait_write) self->for_writing.close(ignored);
            if (self->alive && error != asio::error::operation_aborted) call();
        });
    }

    /// Once asked for, Asio looks for writability for as long as the descriptor lives: then every
    /// wait for something to read would begin with an event that nobody waits for. So it has a
    /// descriptor of its own, while it lasts; if there is none left, the other will do.
    void wait_writable(unique_function<void()> ready) {
        boost::system::error_code error;
        const int copy = duplicate(connection.native_handle());
        if (copy >= 0) for_writing.assign(copy, error);
        if (error) ::close(copy);
        wait(for_writing.is_open() ? for_writing : connection, stream::wait_write,
             std::move(ready));
    }

    stream connection, for_writing;
    bool alive = true;
};

class asio_readiness final : public readiness {
public:
    asio_readiness(const io_strand& strand, descriptor what)
        : core_(std::make_shared<readiness_core>(strand)) {
        const int copy = duplicate(what.number);
        if (copy < 0)
            throw boost::system::system_error(errno, boost::system::system_category(), "dup");
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
        core_->for_writing.close(ignored);
    }

    void wait_readable(unique_function<void()> ready) override {
        core_->wait(core_->connection, stream::wait_read, std::move(ready));
    }
    void wait_writable(unique_function<void()> ready) override {
        core_->wait_writable(std::move(ready));
    }

private:
    std::shared_ptr<readiness_core> core_;
};

} // namespace

std::unique_ptr<readiness> make_asio_readiness(const io_strand& strand, descriptor connection) {
    return std::make_unique<asio_readiness>(strand, connection);
}

} // namespace paddock
