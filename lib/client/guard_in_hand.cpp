#include "client/client_base.hpp"
#include "client/hold.hpp"
#include "client/pending_call.hpp"
#include "client/shutdown_service.hpp"
#include "support/argument.hpp"
#include "support/asio_environment.hpp"

#include <paddock/testing.hpp>

#include <boost/asio/strand.hpp>

#include <atomic>
#include <mutex>
#include <utility>
#include <variant>

namespace paddock::testing {

using paddock::detail::client_base;
using paddock::detail::handler;
using paddock::detail::held_resource;
using paddock::detail::lease_term;
using paddock::detail::make_pending_call;

namespace {

/// A client without servers, and without work that would keep io_context::run() from returning.
class lone_client final : public client_base, public std::enable_shared_from_this<lone_client> {
public:
    explicit lone_client(const asio::any_io_executor& executor)
        : client_base(executor, make_asio_environment(asio::make_strand(executor)),
                      &boot_clock::now, [](const log_record&) {}) {
        prepare_releases(std::make_unique<poster>(*this));
    }

    void start() override {}
    client_statistics statistics() const override { return common_statistics(); }
    void close(error_code why) override {
        if (closed()) return;
        begin_close(why);
        end_holds();
        end();
    }

private:
    class poster final : public wakeup {
    public:
        explicit poster(lone_client& of) : client_(of) {}
        void notify() noexcept override {
            client_.post([self = client_.shared_from_this()] { self->run_pending_releases(); });
        }
        void stop() noexcept override {}

    private:
        lone_client& client_; ///< a hold that is to be released keeps it alive
    };

    void drop_connections() noexcept override {}
    client_health readiness() const override { return {}; }
    boot_clock::duration patience() const noexcept override { return {}; }
};

/// Longer than any test.
constexpr std::chrono::hours lease_length{24 * 365};

} // namespace

namespace detail {

/// What the test and the hold share.
class hand final : public held_resource {
public:
    hand()
        : term(std::make_shared<lease_term>(&boot_clock::now, boot_clock::now() + lease_length)) {}

    void release() override { released = true; }
    void when_deleted(unique_function<void(error_code)> deleted) override { deleted({}); }

    void remember(const std::vector<operation>& more) {
        const std::lock_guard lock(mutex);
        steps.insert(steps.end(), more.begin(), more.end());
    }

    const std::shared_ptr<lease_term> term;
    std::atomic<bool> released = false;
    std::weak_ptr<paddock::detail::hold> held;
    mutable std::mutex mutex;
    std::vector<operation> steps; ///< under the mutex
    error_code loss;              ///< likewise: of lose()
};

namespace {

operation_result done(const operation& step) {
    const auto* const made = std::get_if<op::create>(&step);
    return {.path = made ? made->path : std::string()};
}

class hold_in_hand final : public paddock::detail::hold {
public:
    hold_in_hand(std::shared_ptr<client_base> client, const std::shared_ptr<hand>& by,
                 std::string path, const fencing_token& token)
        : hold(std::move(client), by->term, by, nullptr, token)
        , hand_(by)
        , path_(std::move(path)) {}

    std::string_view path() const noexcept override { return path_; }
    std::string_view lock_path() const noexcept override {
        return std::string_view(path_).substr(0, path_.rfind('/'));
    }
    bool has_transactions() const noexcept override { return true; }

    void start_verify(handler<void(error_code)> h) override {
        const auto call = make_pending_call(client(), std::move(h));
        call->start([self = shared_from_this(), call] {
            call->complete(self->valid() ? error_code() : errc::lock_lost);
        });
    }
    void start_transaction(handler<void(error_code, std::vector<operation_result>)> h,
                           std::vector<operation> steps) override {
        const auto call = make_pending_call(client(), std::move(h));
        call->start([self = shared_from_this(), this, call, steps = std::move(steps)] {
            if (!valid()) return call->fail(errc::lock_lost);
            std::vector<operation_result> results;
            for (const auto& step : steps)
                results.push_back(done(step));
            hand_->remember(steps);
            call->complete({}, std::move(results));
        });
    }

private:
    /// lose() has ended the lease first, whose end is no reason of its own.
    error_code first_reason(error_code why) const noexcept override {
        const std::lock_guard lock(hand_->mutex);
        return why == errc::lease_lapsed ? hand_->loss : why;
    }

    const std::shared_ptr<hand> hand_;
    const std::string path_;
};

} // namespace

} // namespace detail

guard_in_hand::guard_in_hand(asio::any_io_executor executor, std::string path,
                             paddock::fencing_token token)
    : hand_(std::make_shared<detail::hand>()) {
    const auto client = std::make_shared<lone_client>(checked(executor));
    end_with_context(client);
    const auto held = std::make_shared<detail::hold_in_hand>(client, hand_, std::move(path), token);
    hand_->held = held;
    guard_ = paddock::detail::access::make<guard>(held);
}

guard_in_hand::~guard_in_hand() = default;
guard_in_hand::guard_in_hand(guard_in_hand&&) noexcept = default;
guard_in_hand& guard_in_hand::operator=(guard_in_hand&&) noexcept = default;

void guard_in_hand::lose(error_code why) {
    if (!why || why == errc::released) throw bad_argument("why", "is no loss");
    if (!hand_) throw bad_argument("guard_in_hand", "was moved from");
    {
        const std::lock_guard lock(hand_->mutex);
        if (!hand_->loss) hand_->loss = why;
    }
    hand_->term->end();
    const auto held = hand_->held.lock();
    if (held) held->client()->post([held, why] { held->end(why); });
}

void guard_in_hand::request_revoke() {
    if (!hand_) throw bad_argument("guard_in_hand", "was moved from");
    const auto held = hand_->held.lock();
    if (held) held->client()->post([held] { held->request_revoke(); });
}

bool guard_in_hand::release_seen() const noexcept { return hand_ && hand_->released; }

std::vector<operation> guard_in_hand::steps() const {
    if (!hand_) return {};
    const std::lock_guard lock(hand_->mutex);
    return hand_->steps;
}

} // namespace paddock::testing
