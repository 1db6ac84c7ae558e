// The seam of the outside world: paddock::environment, in virtual time.
#include "sim/encrypted_stream.hpp"
#include "sim/host.hpp"
#include "sim/violation.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace paddock::test::sim {

namespace {

/// What a connection of the C client can do.
struct source {
    virtual ~source() = default;
    virtual bool readable() const = 0;
    virtual bool writable() const = 0;
};

class virtual_readiness final : public readiness {
public:
    virtual_readiness(std::shared_ptr<host> in, std::unique_ptr<source> of)
        : inside_(std::make_shared<inside>(inside{std::move(in), std::move(of), {}, {}})) {}

    void wait_readable(unique_function<void()> ready) override {
        inside_->readable = std::move(ready);
        look(inside_);
    }
    void wait_writable(unique_function<void()> ready) override {
        inside_->writable = std::move(ready);
        look(inside_);
    }
    /// To be called when the source may have changed. False: this object does not exist any more.
    unique_function<bool()> looks() const {
        return [weak = std::weak_ptr(inside_)] {
            const auto self = weak.lock();
            if (self) look(self);
            return self != nullptr;
        };
    }

private:
    struct inside {
        std::shared_ptr<host> here;
        std::unique_ptr<source> of;
        unique_function<void()> readable, writable;
    };
    static void look(const std::shared_ptr<inside>& in) {
        if (in->readable && in->of->readable()) fire(in, &inside::readable);
        if (in->writable && in->of->writable()) fire(in, &inside::writable);
    }
    static void fire(const std::shared_ptr<inside>& in, unique_function<void()> inside::*which) {
        in->here->happen([weak = std::weak_ptr(in), call = std::move((*in).*which)]() mutable {
            if (!weak.expired()) call();
        });
        (*in).*which = {};
    }
    std::shared_ptr<inside> inside_;
};

struct socket_source final : source {
    socket_source(std::shared_ptr<host> in, std::uint64_t of) : here(std::move(in)), identity(of) {}
    ~socket_source() override {
        if (auto* const s = here->find(identity)) s->changed = {};
    }
    bool readable() const override {
        const auto* const s = here->find(identity);
        return s && (s->broken() || !s->inbound.empty());
    }
    bool writable() const override {
        const auto* const s = here->find(identity);
        return s && (s->broken() || s->established());
    }

    std::shared_ptr<host> here;
    const std::uint64_t identity;
};

/// A second descriptor, as Asio's readiness has one.
struct descriptor_source final : source {
    explicit descriptor_source(int number) : copy(::fcntl(number, F_DUPFD_CLOEXEC, 0)) {
        must(copy >= 0, "no descriptors are left");
    }
    ~descriptor_source() override { ::close(copy); }
    descriptor_source(const descriptor_source&) = delete;
    descriptor_source& operator=(const descriptor_source&) = delete;
    bool readable() const override { return is_ready(POLLIN); }
    bool writable() const override { return is_ready(POLLOUT); }
    bool is_ready(short what) const {
        pollfd at{copy, what, 0};
        return ::poll(&at, 1, 0) > 0;
    }

    const int copy;
};

std::unique_ptr<readiness> readiness_of(const std::shared_ptr<host>& in, descriptor connection) {
    if (in->servers().encrypted()) {
        auto made = std::make_unique<virtual_readiness>(
            in, std::make_unique<descriptor_source>(connection.number));
        in->watch(made->looks());
        return made;
    }
    auto made = std::make_unique<virtual_readiness>(
        in, std::make_unique<socket_source>(in, connection.identity));
    if (auto* const s = in->find(connection.identity))
        s->changed = [look = made->looks()]() mutable { look(); };
    return made;
}

class virtual_environment final : public loop_environment {
public:
    explicit virtual_environment(const std::shared_ptr<host>& in)
        : loop_environment(in), here_(in) {}

    std::chrono::system_clock::time_point wall_clock() const override {
        return std::chrono::system_clock::time_point(
            std::chrono::milliseconds(here_->servers().wall_milliseconds()));
    }
    std::unique_ptr<readiness> make_readiness(descriptor connection) override {
        return readiness_of(here_, connection);
    }
    std::unique_ptr<tcp_stream> make_stream() override {
        return std::make_unique<encrypted_stream>(here_);
    }
    /// `zk1` is the first server, and so on.
    void resolve(const std::string& host, resolved done) override {
        here_->time().after(
            here_->servers().client_latency(),
            [here = here_, host, alive = std::weak_ptr(wanted_), done = std::move(done)]() mutable {
                const bool fails = here->names_fail && here->chance().one_in(2);
                here->happen([host, fails, alive, done = std::move(done)]() mutable {
                    if (alive.expired()) return;
                    if (fails) return done(boost::asio::error::host_not_found, {});
                    done({}, {"10.0.0." + host.substr(2)});
                });
            });
    }
    void stop_resolving() noexcept override { wanted_ = std::make_shared<const bool>(true); }

private:
    std::shared_ptr<host> here_;
    std::shared_ptr<const bool> wanted_ = std::make_shared<const bool>(true);
};

} // namespace

std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in) {
    return std::make_unique<virtual_environment>(in);
}

} // namespace paddock::test::sim
