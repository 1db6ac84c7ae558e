#include "session/dispatcher.hpp"

#include <utility>

namespace paddock::detail {

/// A request that the C client has accepted, and owns until it is answered.
class dispatcher::sent_request final : public native::completion, public list_hook {
public:
    sent_request(dispatcher& from, lane which, queued_request&& one)
        : from_(&from)
        , by_(answered(*one.what))
        , bytes_(which == lane::lock_work ? bytes_of(*one.what) : 0)
        , sent_(from.env_.now())
        , done_(std::move(one.done)) {
        if (bytes_ > 0) ++from.requests_;
        from.bytes_ += bytes_;
        if (by_ != answered_by::server) ++from.leader_requests_;
        from.in_flight_.push_back(*this);
    }
    ~sent_request() override {
        auto* const from = leave();
        if (from && done_) from->refused_ = std::move(done_);
    }

    void complete(const native::reply& reply) noexcept override {
        auto* const from = leave();
        if (!from) return; // abandoned
        from->observer_.on_answer({by_, sent_, reply.rc});
        auto done = std::exchange(done_, {});
        done(reply);
        from->drain();
    }

    /// Answers it now; the C client's answer is ignored.
    void abandon(int code) {
        leave();
        auto done = std::exchange(done_, {});
        done(native::reply{.rc = code});
    }

private:
    /// Removes it from the dispatcher; null if that was done before.
    dispatcher* leave() noexcept {
        auto* const from = std::exchange(from_, nullptr);
        if (!from) return nullptr;
        unlink();
        if (by_ != answered_by::server) --from->leader_requests_;
        if (bytes_ > 0) --from->requests_;
        from->bytes_ -= bytes_;
        return from;
    }

    dispatcher* from_; ///< null after leave()
    answered_by by_;
    std::size_t bytes_; ///< that it uses of the window; 0 in the other lanes
    boot_clock::time_point sent_;
    answer done_;
};

dispatcher::dispatcher(environment& env, limits window, answer_observer& observer)
    : env_(env), window_(window), observer_(observer) {}

dispatcher::~dispatcher() = default;

void dispatcher::submit(lane which, std::shared_ptr<const request> what, answer done,
                        wanted still) {
    if (closed_) return answer_later(std::move(done), native::code::closing);
    if (which == lane::lock_work && !connection_)
        return answer_later(std::move(done), native::code::invalid_state);
    of(which).push_back({std::move(what), std::move(done), std::move(still)});
    drain();
}

void dispatcher::connect(native::pump& connection) {
    connection_ = &connection; // first: refused callers submit again from within answer_refused()
    sending_ = false;
    answer_refused();
}

void dispatcher::start_sending() {
    sending_ = true;
    drain();
}

void dispatcher::disconnect() {
    connection_ = nullptr;
    refuse(lane::lock_work, native::code::invalid_state);
}

void dispatcher::end_session() {
    disconnect();
    of(lane::urgent).clear(); // deletes and heartbeats of the ended session
}

void dispatcher::close() {
    closed_ = true;
    connection_ = nullptr;
    while (!in_flight_.empty())
        static_cast<sent_request&>(in_flight_.front()).abandon(native::code::closing);
    answer_refused();
    for (const auto which : {lane::urgent, lane::lock_work, lane::user})
        refuse(which, native::code::closing);
}

/// While the pump is about to lose the connection the requests stay in their lanes: the callers
/// would have to submit again each one that the pump refuses.
void dispatcher::drain() {
    while (connection_ && sending_ && connection_->ready()) {
        if (!send_one(lane::urgent) && !(window_open() && send_one(lane::lock_work)) &&
            !send_one(lane::user))
            return;
    }
}

bool dispatcher::window_open() const noexcept {
    return requests_ < window_.requests && (bytes_ < window_.bytes || requests_ == 0);
}

/// Returns whether the lane had a request.
bool dispatcher::send_one(lane which) {
    if (of(which).empty()) return false;
    auto next = std::move(of(which).front());
    of(which).pop_front();
    if (next.still && !next.still()) {
        answer_later(std::move(next.done), native::code::invalid_state);
        return true;
    }
    const auto what = next.what;
    auto completion = std::make_unique<sent_request>(*this, which, std::move(next));
    const int code = connection_->submit(
        [&](native::calls& table) { return detail::send(*what, table, std::move(completion)); });
    completion.reset(); // not null if the C client has refused it
    if (auto refused = std::exchange(refused_, {})) answer_later(std::move(refused), code);
    return true;
}

void dispatcher::refuse(lane which, int code) {
    for (auto& r : std::exchange(of(which), {}))
        r.done(native::reply{.rc = code});
}

void dispatcher::answer_later(answer done, int code) {
    if (closed_)
        return env_.post(
            [done = std::move(done), code]() mutable { done(native::reply{.rc = code}); });
    refusals_->push_back({code, std::move(done)});
    env_.post([all = refusals_] {
        if (!all->empty()) answer_first(*all);
    });
}

void dispatcher::answer_refused() {
    for (auto count = refusals_->size(); count > 0 && !refusals_->empty(); --count)
        answer_first(*refusals_);
}

void dispatcher::answer_first(std::deque<refusal>& all) {
    auto [code, done] = std::move(all.front()); // done() may come back here
    all.pop_front();
    done(native::reply{.rc = code});
}

} // namespace paddock::detail
