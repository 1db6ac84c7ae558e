#include "session/dispatcher.hpp"

#include <utility>

namespace paddock::detail {

/// A request that the C client has taken, and owns until it is answered.
class dispatcher::in_flight final : public native::completion, public listed {
public:
    in_flight(dispatcher& from, lane which, waiting&& one)
        : from_(&from)
        , by_(answered(*one.what))
        , bytes_(which == lane::lock_work ? bytes_of(*one.what) : 0)
        , sent_(from.env_.now())
        , done_(std::move(one.done)) {
        if (bytes_ > 0) ++from.requests_;
        from.bytes_ += bytes_;
        if (by_ != answered_by::server) ++from.beyond_;
        from.under_way_.push_back(*this);
    }
    ~in_flight() override {
        auto* const from = leave();
        if (from && done_) from->refused_ = std::move(done_);
    }

    void complete(const native::reply& reply) noexcept override {
        auto* const from = leave();
        if (!from) return; // abandoned
        from->witness_.on_answer({by_, sent_, reply.rc});
        auto done = std::exchange(done_, {});
        done(reply);
        from->drain();
    }

    /// Answers it now; what the C client has to say about it later is ignored.
    void abandon(int code) {
        leave();
        auto done = std::exchange(done_, {});
        done(native::reply{.rc = code});
    }

private:
    /// Null if it has left before.
    dispatcher* leave() noexcept {
        auto* const from = std::exchange(from_, nullptr);
        if (!from) return nullptr;
        unlink();
        if (by_ != answered_by::server) --from->beyond_;
        if (bytes_ > 0) --from->requests_;
        from->bytes_ -= bytes_;
        return from;
    }

    dispatcher* from_; ///< as long as it counts there
    answered_by by_;
    std::size_t bytes_; ///< that it takes of the window; 0 outside of it
    boot_clock::time_point sent_;
    answer done_;
};

dispatcher::dispatcher(environment& env, limits window, answer_observer& sees)
    : env_(env), window_(window), witness_(sees) {}

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
    connection_ = &connection; // first: what the refused callers ask for now goes out with it
    released_ = false;
    tell_refused();
}

void dispatcher::release() {
    released_ = true;
    drain();
}

void dispatcher::disconnect() {
    connection_ = nullptr;
    refuse(lane::lock_work, native::code::invalid_state);
}

void dispatcher::end_session() {
    disconnect();
    of(lane::urgent).clear(); // their nodes are gone with the session
}

void dispatcher::close() {
    closed_ = true;
    connection_ = nullptr;
    while (!under_way_.empty())
        static_cast<in_flight&>(under_way_.front()).abandon(native::code::closing);
    tell_refused();
    for (const auto which : {lane::urgent, lane::lock_work, lane::user})
        refuse(which, native::code::closing);
}

/// While the connection is just going all requests stay where they are: each one that the pump
/// refused would have to be made again by its caller.
void dispatcher::drain() {
    while (connection_ && released_ && connection_->ready()) {
        if (!send_one(lane::urgent) && !(window_open() && send_one(lane::lock_work)) &&
            !send_one(lane::user))
            return;
    }
}

bool dispatcher::window_open() const noexcept {
    return requests_ < window_.requests && (bytes_ < window_.bytes || requests_ == 0);
}

/// Whether there was one.
bool dispatcher::send_one(lane which) {
    if (of(which).empty()) return false;
    auto next = std::move(of(which).front());
    of(which).pop_front();
    if (next.still && !next.still()) {
        answer_later(std::move(next.done), native::code::invalid_state);
        return true;
    }
    const auto what = next.what;
    auto completion = std::make_unique<in_flight>(*this, which, std::move(next));
    const int code = connection_->submit(
        [&](native::calls& table) { return detail::send(*what, table, std::move(completion)); });
    completion.reset(); // still ours when the C client has not taken it
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
        if (!all->empty()) tell_first(*all);
    });
}

void dispatcher::tell_refused() {
    for (auto count = refusals_->size(); count > 0 && !refusals_->empty(); --count)
        tell_first(*refusals_);
}

void dispatcher::tell_first(std::deque<refusal>& all) {
    auto [code, done] = std::move(all.front()); // it may be the next one's turn from within
    all.pop_front();
    done(native::reply{.rc = code});
}

} // namespace paddock::detail
