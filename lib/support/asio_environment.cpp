#include "support/asio_environment.hpp"

#include "support/asio_parts.hpp"
#include "support/asio_task_queue.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace paddock {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

std::mt19937_64 seeded_engine() {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source()};
    return std::mt19937_64(seed);
}

std::vector<std::string> addresses_of(const tcp::resolver::results_type& entries) {
    std::vector<std::string> addresses;
    for (const auto& entry : entries) {
        std::string address = entry.endpoint().address().to_string();
        if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
            addresses.push_back(std::move(address));
    }
    return addresses;
}

class asio_environment final : public environment {
public:
    explicit asio_environment(io_strand strand)
        : strand_(std::move(strand))
        , random_(seeded_engine())
        , tasks_(std::make_shared<asio_task_queue>(strand_)) {}

    ~asio_environment() override {
        stop_resolving();
        tasks_->close();
    }

    boot_clock::time_point now() const override { return boot_clock::now(); }
    std::chrono::system_clock::time_point wall_clock() const override {
        return std::chrono::system_clock::now();
    }
    std::uint64_t random() override { return random_(); }

    void post(unique_function<void()>&& task) override { tasks_->post(std::move(task)); }
    void post_behind(unique_function<void()>&& task) override {
        tasks_->post_behind(std::move(task));
    }

    std::unique_ptr<timer> make_timer() override { return make_asio_timer(strand_, owner_); }
    std::unique_ptr<wakeup> make_wakeup(unique_function<void()> woken) override {
        return make_asio_wakeup(strand_, std::move(woken));
    }
    std::unique_ptr<readiness> make_readiness(descriptor connection) override {
        return make_asio_readiness(strand_, connection, owner_);
    }

    std::unique_ptr<tcp_stream> make_stream() override { return make_asio_stream(strand_, lives_); }

    void after_fork() noexcept override { *owner_ = {}; }

    void resolve(const std::string& host, resolved done) override {
        // Asio starts its resolver thread with the first look-up.
        if (!resolver_) resolver_.emplace(strand_);
        if (!lookups_) lookups_ = std::make_shared<const bool>(true);
        resolver_->async_resolve(host, "",
                                 [lookups = std::weak_ptr(lookups_), done = std::move(done)](
                                     const auto& error, const auto& entries) mutable {
                                     if (!lookups.expired()) done(error, addresses_of(entries));
                                 });
    }

    /// Cancels the look-ups that wait for the resolver thread. The look-up that the thread is doing
    /// cannot be interrupted: run() of the context returns only after it.
    void stop_resolving() noexcept override {
        lookups_.reset();
        if (resolver_) resolver_->cancel();
    }

private:
    io_strand strand_;
    std::mt19937_64 random_;
    std::shared_ptr<asio_task_queue> tasks_;
    std::optional<asio::ip::basic_resolver<tcp, io_strand>> resolver_;
    std::shared_ptr<const bool> lookups_; ///< a look-up calls back only while this exists
    std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
    std::shared_ptr<process_stamp> owner_ = std::make_shared<process_stamp>();
};

} // namespace

std::unique_ptr<environment> make_asio_environment(io_strand strand) {
    return std::make_unique<asio_environment>(std::move(strand));
}

} // namespace paddock
