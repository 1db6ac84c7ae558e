#include "session/gate.hpp"

#include <utility>

namespace paddock::detail {

/// A request that the C client has taken, and owns until it is answered.
class gate::in_flight final : public native::completion {
public:
    in_flight(gate& from, request&& what)
        : from_(from)
        , by_(what.by)
        , bytes_(what.bytes)
        , sent_(from.env_.now())
        , done_(std::move(what.done)) {
        if (bytes_ > 0) ++from_.requests_;
        from_.bytes_ += bytes_;
        if (by_ != answered_by::server) ++from_.beyond_;
    }
    ~in_flight() override {
        leave();
        if (done_) from_.refused_ = std::move(done_);
    }

    void complete(const native::reply& reply) noexcept override {
        leave();
        from_.witness_.on_answer({by_, sent_, reply.rc});
        auto done = std::exchange(done_, {});
        done(reply);
        from_.drain();
    }

private:
    void leave() noexcept {
        if (std::exchange(left_, true)) return;
        if (by_ != answered_by::server) --from_.beyond_;
        if (bytes_ > 0) --from_.requests_;
        from_.bytes_ -= bytes_;
    }

    gate& from_;
    answered_by by_;
    std::size_t bytes_; ///< that it takes of the window; 0 outside of it
    boot_clock::time_point sent_;
    bool left_ = false;
    answer done_;
};

void gate::submit(lane which, answered_by by, std::size_t bytes, send make, answer done) {
    if (closed_) return answer_later(std::move(done), native::code::closing);
    if (which == lane::line && !connection_)
        return answer_later(std::move(done), native::code::invalid_state);
    of(which).push_back({by, which == lane::line ? bytes : 0, std::move(make), std::move(done)});
    drain();
}

void gate::connect(native::pump& connection) {
    connection_ = &connection;
    released_ = false;
}

void gate::release() {
    released_ = true;
    drain();
}

void gate::disconnect() {
    connection_ = nullptr;
    refuse(lane::line, native::code::invalid_state);
}

void gate::end_session() {
    disconnect();
    of(lane::urgent).clear(); // their nodes are gone with the session
}

void gate::close() {
    closed_ = true;
    connection_ = nullptr;
    for (const auto which : {lane::urgent, lane::line, lane::user})
        refuse(which, native::code::closing);
}

void gate::drain() {
    while (connection_ && released_) {
        if (!send_one(lane::urgent) && !(window_open() && send_one(lane::line)) &&
            !send_one(lane::user))
            return;
    }
}

bool gate::window_open() const noexcept {
    return requests_ < window_.requests && (bytes_ < window_.bytes || requests_ == 0);
}

/// Whether there was one.
bool gate::send_one(lane which) {
    if (of(which).empty()) return false;
    auto next = std::move(of(which).front());
    of(which).pop_front();
    auto completion = std::make_unique<in_flight>(*this, std::move(next));
    const int code =
        connection_->submit([&](native::calls& c) { return next.make(c, std::move(completion)); });
    completion.reset(); // still ours when there was no connection
    auto refused = std::exchange(refused_, {});
    if (refused && code != unwanted) answer_later(std::move(refused), code);
    return true;
}

void gate::refuse(lane which, int code) {
    for (auto& r : std::exchange(of(which), {}))
        r.done(native::reply{.rc = code});
}

void gate::answer_later(answer done, int code) {
    env_.post([done = std::move(done), code]() mutable { done(native::reply{.rc = code}); });
}

} // namespace paddock::detail
