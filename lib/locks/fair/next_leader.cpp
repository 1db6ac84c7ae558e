#include "locks/fair/next_leader.hpp"

#include "client/metadata.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "session/session_call.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {

/// One call of next_leader(). It lists the directory, then reads and watches the first node, or
/// watches the directory if there is no node; an event starts it again. Each watch enters the table
/// before the read that arms it is sent.
class next_leader_call final : public session_call<std::optional<contender>> {
public:
    next_leader_call(std::shared_ptr<const fair_lock> of,
                     handler<void(error_code, std::optional<contender>)>&& h, fencing_token seen)
        : pending_call(of->client, std::move(h)), lock_(std::move(of)), seen_(seen) {}

    void start() {
        start_open([this] { search(); });
    }

private:
    void search() {
        if (!open()) return;
        if (lock_->client->closed()) return finish(lock_->client->close_reason());
        list(lock_->client->dispatcher(), lane::user, lock_->directory,
             [self = self()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

    void listed(int code, const std::vector<std::string>& names) {
        std::optional<rules::node_position> first;
        for (const auto& name : names)
            if (const auto sequence = lock_->names.sequence(name)) {
                rules::node_position here{*sequence, name};
                if (!first || here < *first) first = std::move(here);
            }
        switch (rules::judge(rules::request_kind::list, code)) {
        case rules::outcome::done:
            if (first) return read(rules::child(lock_->directory, first->name));
            return seen_ == fencing_token() ? wait_for_child() : finish({});
        case rules::outcome::missing:
            return seen_ == fencing_token() ? wait_for_directory() : finish({});
        case rules::outcome::lost:
        case rules::outcome::not_sent:
            return search();
        default:
            return finish(zookeeper_error(code));
        }
    }

    void read(const std::string& path) {
        read_and_watch(path, watch_kind::data, requests::get{path, true},
                       [this, path](const native::reply& r) {
                           if (r.rc != 0 || !r.stat) return;
                           const auto token =
                               lock_->names.token(rules::name_of(path), r.stat->czxid);
                           if (token == seen_) return;
                           contender leader;
                           leader.path = rules::without(lock_->client->root(), path);
                           leader.sequence =
                               lock_->names.sequence(rules::name_of(path)).value_or(0);
                           leader.holder = true;
                           leader.token = token;
                           read_node(r.value, *r.stat, leader);
                           finish({}, std::move(leader));
                       });
    }

    void wait_for_child() {
        read_and_watch(lock_->directory, watch_kind::children,
                       requests::list{lock_->directory, true}, [this](const native::reply& r) {
                           const bool any =
                               std::any_of(r.names.begin(), r.names.end(), [&](const char* name) {
                                   return lock_->names.sequence(name).has_value();
                               });
                           if (any) forget(), search();
                       });
    }

    void wait_for_directory() {
        read_and_watch(lock_->directory, watch_kind::existence,
                       requests::exists{lock_->directory, true}, [this](const native::reply& r) {
                           if (r.rc == 0) forget(), search();
                       });
    }

    /// Reads with a watch. Calls `answered` with an answer that has set the watch.
    template <typename Answered>
    void read_and_watch(const std::string& path, watch_kind kind, request reads,
                        Answered answered) {
        auto& client = *lock_->client;
        if (!client.watches().room_for(path, kind)) return finish(errc::over_budget);
        path_ = path;
        waiter_ = client.watches().add(
            path, kind,
            [self = self()](error_code, watch_event) {
                self->waiter_ = 0;
                self->search();
            },
            watch_table::unarmed::outlives_session);
        client.dispatcher().submit(lane::user, std::move(reads),
                                   [self = self(), path, kind, answered,
                                    waiter = waiter_](const native::reply& r) mutable {
                                       const auto result =
                                           rules::judge(rules::request_kind::look, r.rc);
                                       const bool set = result == rules::outcome::done ||
                                                        (kind == watch_kind::existence &&
                                                         result == rules::outcome::missing);
                                       if (set) self->lock_->client->watches().armed(path, waiter);
                                       if (self->waiter_ != waiter) return; // an event came first
                                       if (set)
                                           answered(r);
                                       else
                                           self->read_failed(r.rc, result);
                                   });
    }

    void read_failed(int code, rules::outcome result) {
        forget();
        const bool again = result == rules::outcome::lost || result == rules::outcome::not_sent ||
                           result == rules::outcome::missing;
        if (again) return search();
        finish(zookeeper_error(code));
    }

    void forget() {
        if (waiter_ != 0) lock_->client->watches().drop(path_, std::exchange(waiter_, 0));
    }

    void finish(error_code why, std::optional<contender> leader = std::nullopt) {
        forget();
        complete(why, std::move(leader));
    }

    void cancelled() override { finish(asio::error::operation_aborted); }

    std::shared_ptr<next_leader_call> self() {
        return std::static_pointer_cast<next_leader_call>(shared_from_this());
    }

    std::shared_ptr<const fair_lock> lock_;
    fencing_token seen_;
    std::string path_; ///< the watched path
    watch_table::waiter_id waiter_ = 0;
};

} // namespace

void find_next_leader(std::shared_ptr<const fair_lock> of,
                      handler<void(error_code, std::optional<contender>)> h, fencing_token seen) {
    std::make_shared<next_leader_call>(std::move(of), std::move(h), seen)->start();
}

} // namespace paddock::detail
