#pragma once

#include "native/calls.hpp"
#include "rules/batch_places.hpp"
#include "session/batch.hpp"
#include "session/request.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"
#include "support/gauge.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace paddock::native {
class pump;
}

namespace paddock::detail {

/// In order of precedence: deletes and heartbeats, requests of locks, application requests.
enum class lane { urgent, lock_work, user };

/// The answer to a request, as far as the lease and the statistics need to know it.
struct observed_answer {
    answered_by by;
    boot_clock::time_point sent;
    int code;
    boot_clock::time_point answered;
    std::string_view operation;
};

/// Receives every answer just before the sender of the request does.
class answer_observer {
public:
    virtual void on_answer(const observed_answer& answer) = 0;

protected:
    ~answer_observer() = default;
};

/// Sends all requests of a client, those of one turn of the event loop together. Requests wait here
/// while there is no connection, or while the pump is about to lose it; requests of locks also
/// while too many of them are in flight, and mergeable ones while two of those are. The
/// requests of one lane are sent in the order of submit(), but for mergeable ones: they join the
/// first of them in a batch. Strand only.
///
/// A batch is executed as a whole or not at all. If the ensemble refuses one of its steps, that
/// request gets the answer, and each of the others is sent again alone: until the answer no later
/// create in their directories, nor of these, is sent, but what concerns other directories. A
/// missing directory is the answer for all its nodes. A listing of lock work that was sent behind
/// the batch is sent again behind them, because it must show their nodes.
///
/// A request that was not sent is answered before the listeners learn of the next connection: then
/// they send their requests again, so they must know by then which ones were not sent.
class dispatcher {
public:
    using answer = unique_function<void(const native::reply&)>;
    /// Whether a request that has waited here is still wanted.
    using wanted = unique_function<bool()>;

    struct limits {
        std::size_t requests;
        std::size_t bytes;
        std::size_t batch_bytes = batch::most_bytes;
    };

    dispatcher(environment& env, limits window, answer_observer& observer);
    ~dispatcher();

    /// Never calls `done` from within. A request that is no longer wanted when it is its turn is
    /// not sent, but answered with code::invalid_state.
    void submit(lane which, std::shared_ptr<const request> what, answer done, wanted still = {});
    void submit(lane which, request what, answer done, wanted still = {}) {
        submit(which, std::make_shared<const request>(std::move(what)), std::move(done),
               std::move(still));
    }

    /// The pump's turn: sends what need not wait for company.
    void take_turn() { send_lanes(when::worthwhile); }
    /// Sends what can be sent now, instead of with the next turn of the pump.
    void send() { send_lanes(when::now); }

    /// The requests of locks in flight, and their bytes; any thread.
    std::size_t requests_in_flight() const noexcept { return requests_; }
    std::size_t bytes_in_flight() const noexcept { return bytes_; }

    /// Whether the connected server alone answers all requests in flight.
    bool only_reads() const noexcept { return leader_requests_ == 0; }

    /// The connection is up. Posted answers for requests that were not sent are given now. Nothing
    /// is sent before start_sending(), so that the lanes keep their precedence whatever the order
    /// in which the listeners submit.
    void connect(native::pump& connection);
    void start_sending();

    /// The connection is lost. Requests of locks that were not sent are answered with
    /// code::invalid_state; urgent and application requests wait for the next connection.
    void disconnect();

    /// The session has ended: answers the requests of locks with code::invalid_state, and drops the
    /// urgent ones.
    void end_session();

    /// Answers all present requests, including those in flight, and all later ones with
    /// code::closing.
    void close();

private:
    struct queued_request {
        std::shared_ptr<const request> what;
        answer done;
        wanted still;
        bool alone = false; ///< a batch with it was refused
    };
    using queued_requests = std::vector<queued_request>;
    /// Links a request into the list of requests in flight.
    struct list_hook : boost::intrusive::list_base_hook<
                           boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {};
    class sent_request;
    struct refusal {
        int code;
        answer done;
    };

    struct lane_state {
        std::deque<queued_request> waiting;
        std::size_t writes = 0; ///< nodes of locks, in flight
    };

    lane_state& of(lane which) noexcept { return lanes_[static_cast<std::size_t>(which)]; }
    const lane_state& of(lane which) const noexcept {
        return lanes_[static_cast<std::size_t>(which)];
    }
    void schedule_sending();
    enum class when { now, worthwhile };
    void send_lanes(when how);
    bool would_overtake(const request& what) const;
    void pass_held_back();
    bool should_grow(lane which) const;
    bool send_first(lane which);
    std::shared_ptr<const request> merge_waiting(lane which, queued_requests& parts);
    bool window_empty() const noexcept {
        return requests_ == 0 && bytes_ == 0 && leader_requests_ == 0 && batched_.empty();
    }
    bool window_open(std::size_t more = 0, std::size_t more_bytes = 0) const noexcept;
    void answered(lane which, queued_requests parts, const native::reply& reply);
    void split(lane which, queued_requests parts, const native::reply& reply);
    void send_alone(lane which, queued_request part);
    void learn(const request& what, int code);
    void repeat(queued_request listing);
    void refuse(lane which, int code);
    void answer_later(answer done, int code);
    void answer_refused();
    static void answer_first(std::deque<refusal>& all);

    environment& env_;
    limits window_;
    answer_observer& observer_;
    native::pump* connection_ = nullptr;
    bool sending_ = false;
    bool closed_ = false;
    std::array<lane_state, 3> lanes_;
    boost::intrusive::list<list_hook, boost::intrusive::constant_time_size<false>> in_flight_;
    gauge requests_; ///< requests of locks in flight
    gauge bytes_;
    std::unordered_set<std::string_view> batched_; ///< where unanswered batches create nodes
    std::size_t leader_requests_ = 0; ///< requests in flight that the leader takes part in
    rules::batch_places places_;
    rules::batch_size directories_{batch::most_nodes}; ///< for creates with a directory
    queued_requests refused_;                          ///< what the C client has just refused
    /// Answers for requests that were not sent: a posted task gives each, or the next connect().
    std::shared_ptr<std::deque<refusal>> refusals_ = std::make_shared<std::deque<refusal>>();
};

} // namespace paddock::detail
