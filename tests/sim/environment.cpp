// The seam of the outside world: paddock::environment, in virtual time.
#include "sim/host.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace paddock::test::sim {

namespace {

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

class virtual_environment final : public loop_environment {
public:
    explicit virtual_environment(const std::shared_ptr<host>& in)
        : loop_environment(in), here_(in) {}

    std::chrono::system_clock::time_point wall_clock() const override {
        return std::chrono::system_clock::time_point(
            std::chrono::milliseconds(here_->servers().wall_milliseconds()));
    }
    std::unique_ptr<readiness> make_readiness(descriptor connection) override {
        return std::make_unique<virtual_readiness>(here_, connection.identity);
    }
    std::unique_ptr<tcp_stream> make_stream() override {
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
    std::shared_ptr<host> here_;
    std::shared_ptr<const bool> wanted_ = std::make_shared<const bool>(true);
};

} // namespace

std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in) {
    return std::make_unique<virtual_environment>(in);
}

} // namespace paddock::test::sim
