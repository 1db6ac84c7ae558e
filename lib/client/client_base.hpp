#pragma once

#include "client/draining.hpp"
#include "client/hold_deadlines.hpp"
#include "client/lease_term.hpp"
#include "client/loss_log.hpp"
#include "client/trouble_log.hpp"
#include "observation/loop_probe.hpp"
#include "observation/observers.hpp"
#include "observation/series_table.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>
#include <paddock/observer.hpp>
#include <paddock/statistics.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace asio = boost::asio;

/// An object that a destructor releases from any thread without allocating. It contains the list's
/// link, and the reference that keeps it alive until the strand releases it.
class releasable {
public:
    virtual ~releasable() = default;
    virtual void release_on_strand() = 0; ///< on the strand

private:
    friend class client_base;
    std::shared_ptr<releasable> self_;
    releasable* next_ = nullptr;
};

/// What the inside of every client has, whichever system has its locks: a strand, the releases that
/// destructors ask for, the deadlines of its holds, and its end.
class client_base {
public:
    client_base(asio::any_io_executor io, std::unique_ptr<environment> env, lease_term::clock now,
                log_function log, std::shared_ptr<observer> seen_by = {});
    virtual ~client_base() = default;
    client_base(const client_base&) = delete;
    client_base& operator=(const client_base&) = delete;

    // Any thread.
    /// No executor after the end of the execution context.
    asio::any_io_executor get_executor() const {
        const std::lock_guard lock(context_mutex_);
        return io_;
    }
    void post(unique_function<void()> task) {
        const std::lock_guard lock(context_mutex_);
        if (env_) env_->post(std::move(task)); // else the execution context is gone
    }
    /// Calls release_on_strand() on the strand; after the end of the client it only destroys the
    /// object.
    void release_later(std::shared_ptr<releasable> what) noexcept;
    /// The statistics of its locks.
    series_table& series() noexcept { return series_; }
    /// As client::statistics() and client::health().
    virtual client_statistics statistics() const = 0;
    client_health health();

    // Strand only.
    environment& env() noexcept { return *env_; }
    lease_term::clock clock() const noexcept { return clock_; }
    hold_deadlines& deadlines() noexcept { return deadlines_; }
    class draining& draining() noexcept {
        return draining_;
    }
    /// A line for the log, if it is not limited. Returns whether the log has it.
    bool trouble(log_code code, std::string_view text, std::string_view path = {}) noexcept {
        return has_context() && log_.write(code, text, env_->now(), path);
    }
    loss_log& losses() noexcept { return losses_; }
    class observers& observers() noexcept {
        return observers_;
    }

    /// Connects to the servers; no effect later.
    virtual void start() = 0;
    bool closed() const noexcept { return static_cast<bool>(close_reason_); }
    error_code close_reason() const noexcept { return close_reason_; }
    /// Completes all operations with `why`, and tells the servers.
    virtual void close(error_code why) = 0;
    /// The same for the program: the guards that it has destroyed before are released first.
    void close_after_releases() {
        run_pending_releases();
        close(errc::closed);
    }
    /// Calls back when the client has told the servers of its end, or does not wait for that any
    /// more.
    void when_ended(unique_function<void()> done);

    /// Call before the first guard exists; release_later() needs it.
    void prepare_releases();
    /// Releases all objects that release_later() has received. A lock call runs it first, so that
    /// it finds the locks of destroyed guards free.
    void run_pending_releases() noexcept;

    /// The execution context is being destroyed: destroys what belongs to it.
    void shutdown() noexcept;
    /// In a forked child, after notify_fork: closes the client, and sends nothing.
    void after_fork() noexcept;

protected:
    /// As prepare_releases(), with another way to call run_pending_releases().
    void prepare_releases(std::unique_ptr<wakeup> by) { wakeup_ = std::move(by); }
    /// The first step of close().
    void begin_close(error_code why) noexcept {
        close_reason_ = why;
        (why == errc::auth_failed ? refused_ : closed_).store(true, std::memory_order_release);
        draining_.close();
    }
    /// Once nothing can be granted any more, and the operations know why.
    void end_holds() noexcept;
    /// Once the servers know.
    void end();
    bool has_context() const noexcept { return env_ != nullptr; }
    trouble_log& log() noexcept { return log_; }
    /// What all systems have of the statistics; any thread.
    client_statistics common_statistics() const;

private:
    /// Whether a lock can be granted now, or waited for, and why; any thread.
    virtual client_health readiness() const = 0;
    /// After how long a loop that does not run is stuck, any thread.
    virtual boot_clock::duration patience() const noexcept = 0;
    /// Destroys what uses the environment; part of shutdown(), after close().
    virtual void drop_connections() noexcept = 0;
    void take(releasable* newest) noexcept;

    mutable std::mutex context_mutex_; ///< the strand changes io_ and env_ under it, in shutdown()
    asio::any_io_executor io_;
    std::unique_ptr<environment> env_;
    lease_term::clock clock_;
    error_code close_reason_;
    std::atomic<bool> closed_ = false;  ///< for other threads
    std::atomic<bool> refused_ = false; ///< likewise: closed for errc::auth_failed
    hold_deadlines deadlines_;
    class draining draining_;
    class observers observers_;
    series_table series_;
    loop_probe probe_;
    trouble_log log_;
    loss_log losses_;

    /// The newest object in the list; &releases_ended after end_holds(): from then on the thread
    /// that releases an object destroys it.
    std::atomic<releasable*> pending_releases_{nullptr};
    std::unique_ptr<wakeup> wakeup_; ///< never reset: any thread may use it
    bool ended_ = false;
    std::vector<unique_function<void()>> end_callbacks_;
};

} // namespace paddock::detail
