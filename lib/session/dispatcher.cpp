#include "session/dispatcher.hpp"

#include "native/pump.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "support/invariant.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace paddock::detail {

namespace {
/// How far behind a mergeable request others are looked for: a full batch, with three others each.
constexpr std::size_t farthest_merged = 256;
/// How many that cannot be merged end the search: each costs its check. A trade, not measured.
constexpr std::size_t most_misfits = 16;
/// So many creates, and so many deletes, are under way before others wait for company. With one,
/// the second lock of two would wait for a round trip; with more, batches stay small.
constexpr std::size_t most_writes = 2;
} // namespace

/// A request, or a batch, that the C client has accepted, and owns until it is answered.
class dispatcher::sent_request final : public native::completion, public list_hook {
public:
    sent_request(dispatcher& from, lane which, queued_requests&& parts, const request& what)
        : from_(&from)
        , which_(which)
        , by_(detail::answered(what))
        , operation_(name_of(what))
        , writes_(mergeable(*parts.front().what))
        , sent_(from.env_.now())
        , parts_(std::move(parts)) {
        if (which == lane::lock_work) {
            requests_ = parts_.size();
            for (const auto& part : parts_)
                bytes_ += bytes_of(*part.what);
        }
        from.requests_ += requests_;
        from.bytes_ += bytes_;
        if (by_ != answered_by::server) ++from.leader_requests_;
        if (writes_) ++from.of(which_).writes;
        if (creates_together())
            for (const auto& part : parts_)
                from.batched_.insert(directory_of(*part.what));
        from.in_flight_.push_back(*this);
    }
    ~sent_request() override {
        if (auto* const from = leave()) from->refused_ = std::move(parts_);
    }

    void complete(const native::reply& reply) noexcept override {
        auto* const from = leave();
        if (!from) return; // abandoned
        from->observer_.on_answer({by_, sent_, reply.rc, from->env_.now(), operation_});
        auto parts = std::exchange(parts_, {});
        const auto meaning = rules::judge(rules::request_kind::list, reply.rc);
        if (outdated_ && meaning != rules::outcome::lost)
            from->repeat(std::move(parts.front()));
        else
            from->answered(which_, std::move(parts), reply);
        from->schedule_sending();
    }

    /// Answers it now; the C client's answer is ignored.
    void abandon(int code) {
        leave();
        auto parts = std::exchange(parts_, {});
        for (auto& part : parts)
            part.done(native::reply{.rc = code});
    }

    /// A node will be created in the directory that this request, if it is a listing, does not
    /// show.
    void outdate(std::string_view directory) {
        const auto* const lists = std::get_if<requests::list>(parts_.front().what.get());
        if (which_ == lane::lock_work && lists && lists->path == directory) outdated_ = true;
    }

private:
    bool creates_together() const { return parts_.size() > 1 && creates(*parts_.front().what); }
    /// Removes it from the dispatcher; null if that was done before.
    dispatcher* leave() noexcept {
        auto* const from = std::exchange(from_, nullptr);
        if (!from) return nullptr;
        unlink();
        if (by_ != answered_by::server) --from->leader_requests_;
        if (writes_) --from->of(which_).writes;
        if (creates_together())
            for (const auto& part : parts_)
                from->batched_.erase(directory_of(*part.what));
        from->requests_ -= requests_;
        from->bytes_ -= bytes_;
        invariant("with nothing in flight the window is empty",
                  [from] { return !from->in_flight_.empty() || from->window_empty(); });
        return from;
    }

    dispatcher* from_; ///< null after leave()
    lane which_;
    answered_by by_;
    std::string_view operation_;
    bool writes_;              ///< nodes of locks
    std::size_t requests_ = 0; ///< that it uses of the window; 0 in the other lanes
    std::size_t bytes_ = 0;    ///< likewise
    bool outdated_ = false;
    boot_clock::time_point sent_;
    queued_requests parts_;
};

dispatcher::dispatcher(environment& env, limits window, answer_observer& observer)
    : env_(env), window_(window), observer_(observer) {}

dispatcher::~dispatcher() = default;

void dispatcher::submit(lane which, std::shared_ptr<const request> what, answer done,
                        wanted still) {
    if (closed_) return answer_later(std::move(done), native::code::closing);
    if (which == lane::lock_work && !connection_)
        return answer_later(std::move(done), native::code::invalid_state);
    of(which).waiting.push_back({std::move(what), std::move(done), std::move(still)});
    schedule_sending();
}

void dispatcher::connect(native::pump& connection) {
    connection_ = &connection; // first: refused callers submit again from within answer_refused()
    sending_ = false;
    answer_refused();
}

void dispatcher::start_sending() {
    sending_ = true;
    schedule_sending();
}

void dispatcher::disconnect() {
    connection_ = nullptr;
    refuse(lane::lock_work, native::code::invalid_state);
}

void dispatcher::end_session() {
    disconnect();
    of(lane::urgent).waiting.clear(); // deletes and heartbeats of the ended session
    places_.clear();
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

void dispatcher::schedule_sending() {
    if (connection_ && sending_) connection_->schedule_turn();
}

/// While the pump is about to lose the connection the requests stay in their lanes: the callers
/// would have to submit again each one that the pump refuses.
void dispatcher::send_lanes(when how) {
    const auto waits = [&](lane which) {
        const auto& waiting = of(which).waiting;
        if (!waiting.empty() && would_overtake(*waiting.front().what)) return true;
        return how == when::worthwhile && should_grow(which);
    };
    while (connection_ && sending_ && connection_->ready()) {
        pass_held_back();
        if (waits(lane::urgent)) return; // nothing overtakes a delete
        if (!send_first(lane::urgent) &&
            !(window_open() && !waits(lane::lock_work) && send_first(lane::lock_work)) &&
            !send_first(lane::user))
            return;
    }
}

/// Whether it is a create in a directory where an unanswered batch creates nodes, too, or that of
/// the directory itself: these nodes are sent again if the batch is refused.
bool dispatcher::would_overtake(const request& what) const {
    const auto* const one = std::get_if<requests::create>(&what);
    return one && (batched_.contains(one->path) ||
                   (one->mergeable && batched_.contains(directory_of(what))));
}

/// Brings the first request of locks to the front that has nothing to do with those that wait for
/// the answer to a batch: they hold back no lock in another directory.
void dispatcher::pass_held_back() {
    auto& waiting = of(lane::lock_work).waiting;
    if (waiting.empty() || !would_overtake(*waiting.front().what)) return;
    std::unordered_set<std::string_view> held;
    const auto end = std::min(waiting.size(), farthest_merged);
    for (std::size_t i = 0; i < end; ++i) {
        const auto place = place_of(*waiting[i].what);
        if (!place) return;
        if (would_overtake(*waiting[i].what) || held.contains(*place) ||
            held.contains(rules::parent(*place))) {
            held.insert(*place);
            continue;
        }
        const auto at = waiting.begin() + static_cast<std::ptrdiff_t>(i);
        return static_cast<void>(std::rotate(waiting.begin(), at, at + 1));
    }
}

/// While two writes are under way, the next batch gets more nodes if it waits for an answer: unless
/// another one waits that cannot join it.
bool dispatcher::should_grow(lane which) const {
    const auto& [waiting, writes] = of(which);
    if (writes < most_writes || waiting.empty() || waiting.size() >= batch::most_nodes)
        return false;
    const auto& first = waiting.front();
    batch together(places_, window_.batch_bytes, batch::most_nodes);
    if (first.alone || !together.fits(*first.what)) return false;
    together.add(*first.what);
    const auto other = std::find_if(waiting.begin() + 1, waiting.end(),
                                    [](const auto& one) { return mergeable(*one.what); });
    return other == waiting.end() ||
           (!other->alone && same_kind(*first.what, *other->what) && together.fits(*other->what));
}

/// Whether there is room behind so many requests more than those in flight.
bool dispatcher::window_open(std::size_t more, std::size_t more_bytes) const noexcept {
    return requests_ + more < window_.requests &&
           (bytes_ + more_bytes < window_.bytes || requests_ + more == 0);
}

/// Sends the first request of the lane, with those that can be merged with it. Returns whether the
/// lane had a request.
bool dispatcher::send_first(lane which) {
    if (of(which).waiting.empty()) return false;
    queued_requests parts;
    parts.push_back(std::move(of(which).waiting.front()));
    of(which).waiting.pop_front();
    if (parts.front().still && !parts.front().still()) {
        answer_later(std::move(parts.front().done), native::code::invalid_state);
        return true;
    }
    const auto what = merge_waiting(which, parts);
    auto completion = std::make_unique<sent_request>(*this, which, std::move(parts), *what);
    const int code = connection_->submit(
        [&](native::calls& table) { return detail::send(*what, table, std::move(completion)); },
        bytes_of(*what));
    completion.reset(); // not null if the C client has refused it
    for (auto& part : std::exchange(refused_, {}))
        answer_later(std::move(part.done), code);
    return true;
}

/// Moves requests that can be executed together with the only one in `parts` there. Returns the
/// request to send.
std::shared_ptr<const request> dispatcher::merge_waiting(lane which, queued_requests& parts) {
    auto first = parts.front().what;
    auto& waiting = of(which).waiting;
    const auto end = std::min(waiting.size(), farthest_merged);
    const auto begin = waiting.begin();
    const auto mergeable = [&](const queued_request& one) {
        return same_kind(*one.what, *first) && !one.alone;
    };
    const bool makes_directory = with_directory(*first) && creates(*first);
    batch together(places_, window_.batch_bytes,
                   makes_directory ? directories_.now() : batch::most_nodes);
    const bool alone = parts.front().alone ||
                       std::none_of(begin, begin + static_cast<std::ptrdiff_t>(end), mergeable);
    if (!with_directory(*first) && (alone || !together.fits(*first))) return first;
    together.add(*first);
    if (alone) return std::make_shared<const request>(together.steps());
    auto bytes = bytes_of(*first);
    const auto room = [&] { return which != lane::lock_work || window_open(parts.size(), bytes); };
    std::size_t kept = 0;
    std::size_t misfits = 0; // so that many of them cost no more than other requests do
    for (std::size_t i = 0; i < end; ++i) {
        auto& one = waiting[i];
        const bool candidate =
            misfits < most_misfits && mergeable(one) && room() && !would_overtake(*one.what);
        if (candidate && together.fits(*one.what) && (!one.still || one.still())) {
            together.add(*one.what);
            bytes += bytes_of(*one.what);
            parts.push_back(std::move(one));
            continue;
        }
        if (candidate) ++misfits;
        if (misfits < most_misfits) together.leave_out(*one.what);
        if (kept != i) waiting[kept] = std::move(one);
        ++kept;
    }
    if (parts.size() == 1 && !with_directory(*first)) return first;
    waiting.erase(begin + static_cast<std::ptrdiff_t>(kept),
                  begin + static_cast<std::ptrdiff_t>(end));
    return std::make_shared<const request>(together.steps());
}

void dispatcher::answered(lane which, queued_requests parts, const native::reply& reply) {
    const auto& first = *parts.front().what;
    if (parts.size() == 1 && !with_directory(first)) {
        learn(first, reply.rc);
        return parts.front().done(reply);
    }
    const auto meaning = rules::judge(rules::request_kind::create, reply.rc);
    if (reply.refused_step >= 0 && meaning != rules::outcome::lost)
        return split(which, std::move(parts), reply);
    if (reply.rc != native::code::ok || std::holds_alternative<requests::remove>(first)) {
        for (auto& part : parts)
            part.done(native::reply{.rc = reply.rc});
        return;
    }
    for (const auto& part : parts)
        learn(*part.what, reply.rc);
    if (with_directory(first)) directories_.executed();
    const auto each = steps_of_each(first);
    const auto stat = stat_of_created(reply, parts.size() * each);
    for (std::size_t i = 0; i < parts.size(); ++i)
        parts[i].done(
            native::reply{.value = reply.results[(i + 1) * each - 1].path, .stat = &stat});
}

/// A batch was refused because of one of its steps. All of that is in order before an answer, whose
/// receiver may submit the next request. If a directory is missing, that is the answer for each
/// node there: if the others were sent again, the first one would join behind them.
void dispatcher::split(lane which, queued_requests parts, const native::reply& reply) {
    const auto first = parts.front().what;
    const auto found = static_cast<std::size_t>(reply.refused_step) / steps_of_each(*first);
    const bool of_a_part = found < parts.size(); // else of those that tell the transaction
    const auto place = directory_of(*parts[of_a_part ? found : 0].what);
    const auto why = static_cast<zk_errc>(reply.rc);
    if (!with_directory(*first))
        places_.refused(place, reply.rc);
    else if (why == zk_errc::node_exists)
        directories_.refused();
    const auto guilty = parts.size() == 1 ? 0 : found;
    const bool missing = of_a_part && why == zk_errc::no_node && creates(*first);
    queued_requests refused;
    queued_requests others;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool of_it = i == guilty || (missing && directory_of(*parts[i].what) == place);
        (of_it ? refused : others).push_back(std::move(parts[i]));
    }
    for (auto one = others.rbegin(); one != others.rend(); ++one)
        send_alone(which, std::move(*one));
    for (auto& one : refused)
        one.done(native::reply{.rc = reply.rc});
}

/// Puts a request that was not executed before all others of its lane.
void dispatcher::send_alone(lane which, queued_request part) {
    if (which == lane::lock_work && !connection_)
        return answer_later(std::move(part.done), native::code::invalid_state);
    if (creates(*part.what))
        for (auto& one : in_flight_)
            static_cast<sent_request&>(one).outdate(directory_of(*part.what));
    part.alone = true;
    of(which).waiting.push_front(std::move(part));
}

/// Sends an outdated listing again, behind the nodes that it must show.
void dispatcher::repeat(queued_request listing) {
    if (!connection_) return answer_later(std::move(listing.done), native::code::invalid_state);
    of(lane::lock_work).waiting.push_back(std::move(listing));
}

void dispatcher::learn(const request& what, int code) {
    const auto* const creates = std::get_if<requests::create>(&what);
    const auto* const removes = std::get_if<requests::remove>(&what);
    if (!(creates && creates->mergeable) && !(removes && removes->mergeable)) return;
    if (with_directory(what)) return;
    if (code != native::code::ok && rules::agreed(code))
        places_.refused(directory_of(what), code);
    else if (code == native::code::ok && creates)
        places_.created(directory_of(what));
}

void dispatcher::refuse(lane which, int code) {
    for (auto& r : std::exchange(of(which).waiting, {}))
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
