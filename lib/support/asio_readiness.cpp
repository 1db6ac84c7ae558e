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
using io_descriptor = asio::posix::basic_stream_descriptor<io_strand>;

/// A second descriptor of the same connection. The C client may close its own at any time, and the
/// system then reuses the number; the duplicate stays valid until we close it.
int duplicate(int number) { return ::fcntl(number, F_DUPFD_CLOEXEC, 0); }

struct readiness_state : std::enable_shared_from_this<readiness_state> {
    explicit readiness_state(const io_strand& strand) : connection(strand), for_writing(strand) {}

    void wait(io_descriptor& on, io_descriptor::wait_type what, unique_function<void()> ready) {
        on.async_wait(what, [self = shared_from_this(), what,
                             call = std::move(ready)](const auto& error) mutable {
            boost::system::error_code ignored;
            if (what == io_descriptor::wait_write) self->for_writing.close(ignored);
            if (self->alive && error != asio::error::operation_aborted) call();
        });
    }

    /// After the first wait for writability Asio polls a descriptor for it as long as it is open:
    /// every later wait for readability would begin with a useless event. So each wait for
    /// writability uses a duplicate of its own, or the same descriptor if no other is left.
    void wait_writable(unique_function<void()> ready) {
        boost::system::error_code error;
        const int copy = duplicate(connection.native_handle());
        if (copy >= 0) for_writing.assign(copy, error);
        if (error) ::close(copy);
        wait(for_writing.is_open() ? for_writing : connection, io_descriptor::wait_write,
             std::move(ready));
    }

    io_descriptor connection, for_writing;
    bool alive = true;
};

class asio_readiness final : public readiness {
public:
    asio_readiness(const io_strand& strand, descriptor what,
                   std::shared_ptr<const process_stamp> owner)
        : core_(std::make_shared<readiness_state>(strand)), owner_(std::move(owner)) {
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
        close(core_->connection);
        close(core_->for_writing);
    }

    void wait_readable(unique_function<void()> ready) override {
        core_->wait(core_->connection, io_descriptor::wait_read, std::move(ready));
    }
    void wait_writable(unique_function<void()> ready) override {
        core_->wait_writable(std::move(ready));
    }

private:
    /// When Asio closes a descriptor it removes it from its epoll set. A forked child shares that
    /// set with its parent until notify_fork in the child.
    void close(io_descriptor& what) noexcept {
        boost::system::error_code ignored;
        if (what.is_open() && !owner_->is_this_process() && !point_to_nothing(what.native_handle()))
            ::close(what.native_handle()); // Asio's removal then fails harmlessly
        what.close(ignored);
    }

    std::shared_ptr<readiness_state> core_;
    std::shared_ptr<const process_stamp> owner_;
};

} // namespace

std::unique_ptr<readiness> make_asio_readiness(const io_strand& strand, descriptor connection,
                                               std::shared_ptr<const process_stamp> owner) {
    return std::make_unique<asio_readiness>(strand, connection, std::move(owner));
}

} // namespace paddock
