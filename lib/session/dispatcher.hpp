#pragma once

#include "native/pump.hpp"
#include "session/request.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>

namespace paddock::detail {

/// Before what could not be done is tried again.
inline constexpr std::chrono::milliseconds retry_pause{250};

/// Who goes first: what must be deleted, then the work of queues, then the application.
enum class lane { urgent, lock_work, user };

/// A request that the ensemble has answered.
struct sighting {
    answered_by by;
    boot_clock::time_point sent;
    int code;
};

/// Hears of every answer, just before whoever asked.
class answer_observer {
public:
    virtual void on_answer(const sighting& seen) = 0;

protected:
    ~answer_observer() = default;
};

/// The one way to the ensemble. Requests wait here while there is no connection, or the pump is
/// about to lose it, and the requests of queues also while too many of them are under way. Those of
/// one lane go out in the order in which they came. Strand only.
///
/// A request that was not sent is answered before the rooms above hear of the next connection: then
/// they make their requests again, and each of them must know by then which ones were not sent.
class dispatcher {
public:
    using answer = unique_function<void(const native::reply&)>;
    /// Whether a request that has waited here is still to be sent.
    using wanted = unique_function<bool()>;

    struct limits {
        std::size_t requests;
        std::size_t bytes;
    };

    dispatcher(environment& env, limits window, answer_observer& sees);
    ~dispatcher();

    /// Never answers from within. A request that is not wanted any more when its turn comes is not
    /// sent, and answered with code::invalid_state.
    void submit(lane which, std::shared_ptr<const request> what, answer done, wanted still = {});
    void submit(lane which, request what, answer done, wanted still = {}) {
        submit(which, std::make_shared<const request>(std::move(what)), std::move(done),
               std::move(still));
    }

    /// Whether everything that is under way is answered by the server at hand.
    bool only_reads() const noexcept { return beyond_ == 0; }

    /// A connection is up. Answers that say "not sent" and are still on their way are given now.
    /// Nothing is sent before release(), so that the order of lanes holds
    /// whatever the order in which the rooms above wake up.
    void connect(native::pump& connection);
    void release();

    /// The connection is lost. The requests of queues that were not sent are answered with
    /// code::invalid_state; what is urgent, and the application's, waits for the next one.
    void disconnect();

    /// The session is over, and what its queues and deletes wanted with it.
    void end_session();

    /// Answers everything, what is under way too, now and from now on, with code::closing.
    void close();

private:
    struct waiting {
        std::shared_ptr<const request> what;
        answer done;
        wanted still;
    };
    /// In the list of what is under way.
    struct listed : boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {};
    class in_flight;
    using queue = std::deque<waiting>;
    struct refusal {
        int code;
        answer done;
    };

    queue& of(lane which) { return queues_[static_cast<std::size_t>(which)]; }
    void drain();
    bool send_one(lane which);
    bool window_open() const noexcept;
    void refuse(lane which, int code);
    void answer_later(answer done, int code);
    void tell_refused();
    static void tell_first(std::deque<refusal>& all);

    environment& env_;
    limits window_;
    answer_observer& witness_;
    native::pump* connection_ = nullptr;
    bool released_ = false;
    bool closed_ = false;
    std::array<queue, 3> queues_;
    boost::intrusive::list<listed, boost::intrusive::constant_time_size<false>> under_way_;
    std::size_t requests_ = 0; ///< of queues, under way
    std::size_t bytes_ = 0;
    std::size_t beyond_ = 0; ///< under way, and not for the server at hand alone
    answer refused_;         ///< of a request that the C client did not take
    /// Answers that are on their way: each has a task, unless the next connection is faster.
    std::shared_ptr<std::deque<refusal>> refusals_ = std::make_shared<std::deque<refusal>>();
};

} // namespace paddock::detail
