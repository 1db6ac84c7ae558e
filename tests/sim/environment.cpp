// The seam of the outside world: paddock::environment, in virtual time.
#include "sim/host.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace paddock::test::sim {

namespace {

/// At most one event of the timeline at a time: a timer that was armed again for later fires too
/// early, and waits again.
class virtual_timer final : public timer {
public:
    explicit virtual_timer(std::shared_ptr<host> in)
        : inside_(std::make_shared<inside>(std::move(in))) {}
    ~virtual_timer() override { cancel(); }

    void arm(time_point when, unique_function<void()> fired) override {
        inside_->when = when;
        inside_->fired = std::move(fired);
        ++inside_->armed;
        inside_->wait();
    }
    void cancel() noexcept override {
        inside_->when.reset();
        inside_->fired = {};
        ++inside_->armed;
    }

private:
    struct inside : std::enable_shared_from_this<inside> {
        explicit inside(std::shared_ptr<host> in) : here(std::move(in)) {}

        void wait() {
            if (waits_until && *waits_until <= *when) return;
            waits_until = when;
            here->time().at(*when, [self = this->shared_from_this(), until = *when] {
                if (self->waits_until != until) return; // it was armed for an earlier time
                self->waits_until.reset();
                self->look();
            });
        }
        void look() {
            if (!when) return;
            if (*when > here->time().now()) return wait();
            here->happen([self = this->shared_from_this(), number = armed] {
                if (self->armed != number) return;
                self->when.reset();
                auto call = std::move(self->fired); // it may arm or destroy the timer
                call();
            });
        }

        std::shared_ptr<host> here;
        std::optional<time_point> when, waits_until;
        unique_function<void()> fired;
        std::uint64_t armed = 0;
    };
    std::shared_ptr<inside> inside_;
};

class virtual_wakeup final : public wakeup {
public:
    virtual_wakeup(std::shared_ptr<host> in, unique_function<void()> woken)
        : here_(std::move(in))
        , woken_(std::make_shared<unique_function<void()>>(std::move(woken))) {}
    void notify() noexcept override {
        here_->happen([weak = std::weak_ptr(woken_)] {
            if (const auto call = weak.lock()) (*call)();
        });
    }
    void stop() noexcept override { woken_.reset(); }

private:
    std::shared_ptr<host> here_;
    std::shared_ptr<unique_function<void()>> woken_;
};

class virtual_readiness final : public readiness {
public:
    virtual_readiness(std::shared_ptr<host> in, std::uint64_t identity)
        : inside_(std::make_shared<inside>(inside{std::move(in), identity, {}, {}})) {
        if (auto* const s = inside_->here->find(identity))
            s->changed = [weak = std::weak_ptr(inside_)] {
                if (const auto self = weak.lock()) look(self);
            };
    }
    ~virtual_readiness() override {
        if (auto* const s = inside_->here->find(inside_->identity)) s->changed = {};
    }
    void wait_readable(unique_function<void()> ready) override {
        inside_->readable = std::move(ready);
        look(inside_);
    }
    void wait_writable(unique_function<void()> ready) override {
        inside_->writable = std::move(ready);
        look(inside_);
    }

private:
    struct inside {
        std::shared_ptr<host> here;
        std::uint64_t identity;
        unique_function<void()> readable, writable;
    };
    static void look(const std::shared_ptr<inside>& in) {
        const auto* const s = in->here->find(in->identity);
        if (!s) return;
        if (in->readable && (s->broken() || !s->inbound.empty())) fire(in, &inside::readable);
        if (in->writable && (s->broken() || s->established())) fire(in, &inside::writable);
    }
    static void fire(const std::shared_ptr<inside>& in, unique_function<void()> inside::*which) {
        in->here->happen([weak = std::weak_ptr(in), call = std::move((*in).*which)]() mutable {
            if (!weak.expired()) call();
        });
        (*in).*which = {};
    }
    std::shared_ptr<inside> inside_;
};

class virtual_environment final : public environment {
public:
    explicit virtual_environment(std::shared_ptr<host> in) : here_(std::move(in)) {}

    boot_clock::time_point now() const override { return here_->time().now(); }
    std::chrono::system_clock::time_point wall_clock() const override {
        return std::chrono::system_clock::time_point(
            std::chrono::milliseconds(here_->servers().wall_milliseconds()));
    }
    std::uint64_t random() override { return here_->chance().next(); }
    void post(unique_function<void()>&& task) override {
        if (!here_->dead()) here_->post(guarded(std::move(task)));
    }
    void post_behind(unique_function<void()>&& task) override {
        if (!here_->dead()) here_->post_behind(guarded(std::move(task)));
    }
    std::unique_ptr<timer> make_timer() override { return std::make_unique<virtual_timer>(here_); }
    std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) override {
        return std::make_unique<virtual_wakeup>(here_, std::move(woken));
    }
    std::unique_ptr<readiness> make_readiness(descriptor connection) override {
        return std::make_unique<virtual_readiness>(here_, connection.identity);
    }
    std::unique_ptr<stream> make_stream() override {
        throw std::logic_error("this network has only the connections of the C client");
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
    unique_function<void()> guarded(unique_function<void()>&& task) const {
        return [alive = std::weak_ptr(alive_), task = std::move(task)]() mutable {
            if (!alive.expired()) task();
        };
    }

    std::shared_ptr<host> here_;
    std::shared_ptr<const bool> wanted_ = std::make_shared<const bool>(true);
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace

std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in) {
    return std::make_unique<virtual_environment>(in);
}

} // namespace paddock::test::sim
