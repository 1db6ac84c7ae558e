#include "locks/leader_watch.hpp"

#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "support/bridge.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {

/// One call of next_leader(): looks for the first node; reads it, with a watch, or watches the
/// directory if there is none; and looks again when something happens. Each watch is in the table
/// before the read that arms it is sent.
class leader_watch final : public std::enable_shared_from_this<leader_watch> {
public:
    leader_watch(std::shared_ptr<const line_lock> of,
                 handler<void(error_code, std::optional<contender>)>&& h, fencing_token seen)
        : lock_(std::move(of)), user_(lock_->client->get_executor(), std::move(h)), seen_(seen) {}

    void launch() {
        user_.on_cancel([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->lock_->client->post([self] { self->finish(asio::error::operation_aborted); });
        });
        lock_->client->post([self = shared_from_this()] {
            self->lock_->client->start();
            self->look();
        });
    }

private:
    void look() {
        if (!user_) return;
        if (lock_->client->closed()) return finish(lock_->client->close_reason());
        list(*lock_->client, lane::user, lock_->directory,
             [self = shared_from_this()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

    void listed(int code, const std::vector<std::string>& names) {
        std::optional<rules::place> first;
        for (const auto& name : names)
            if (const auto sequence = lock_->names.sequence(name)) {
                rules::place here{*sequence, name};
                if (!first || here < *first) first = std::move(here);
            }
        switch (rules::judge(rules::request::list, code)) {
        case rules::outcome::done:
            if (first) return read(rules::child(lock_->directory, first->name));
            return seen_ == fencing_token() ? wait_for_child() : finish({});
        case rules::outcome::missing:
            return seen_ == fencing_token() ? wait_for_directory() : finish({});
        case rules::outcome::lost:
        case rules::outcome::not_sent:
            return look();
        default:
            return finish(zookeeper_error(code));
        }
    }

    void read(const std::string& path) {
        ask(path, watch_kind::data, &native::calls::get, [this, path](const native::reply& r) {
            if (r.rc != 0 || !r.stat) return;
            const fencing_token token{r.stat->czxid, 0};
            if (token == seen_) return;
            contender leader;
            leader.path = rules::without(lock_->client->root(), path);
            leader.sequence = lock_->names.sequence(rules::name_of(path)).value_or(0);
            leader.holder = true;
            leader.session = r.stat->ephemeral_owner;
            leader.token = token;
            leader.data = r.value;
            finish({}, std::move(leader));
        });
    }

    void wait_for_child() {
        ask(lock_->directory, watch_kind::children, &native::calls::children,
            [this](const native::reply& r) {
                const bool any = std::any_of(r.names.begin(), r.names.end(), [&](const char* name) {
                    return lock_->names.sequence(name).has_value();
                });
                if (any) forget(), look();
            });
    }

    void wait_for_directory() {
        ask(lock_->directory, watch_kind::existence, &native::calls::exists,
            [this](const native::reply& r) {
                if (r.rc == 0) forget(), look();
            });
    }

    using call = int (native::calls::*)(const std::string&, bool, native::calls::done);

    /// Reads with a watch. `answered` hears of an answer that has set it.
    template <typename Answered>
    void ask(const std::string& path, watch_kind kind, call read, Answered answered) {
        auto& client = *lock_->client;
        if (!client.watches().room_for(path)) return finish(errc::over_budget);
        path_ = path;
        waiter_ = client.watches().add(
            path, kind,
            [self = shared_from_this()](error_code, watch_event) {
                self->waiter_ = 0;
                self->look();
            },
            false);
        client.gate().submit(
            lane::user, answered_by::server, 0,
            [path, read](native::calls& c, std::unique_ptr<native::completion> done) {
                return (c.*read)(path, true, std::move(done));
            },
            [self = shared_from_this(), kind, answered, mine = waiter_](
                const native::reply& r) mutable { self->read_answered(kind, mine, r, answered); });
    }

    template <typename Answered>
    void read_answered(watch_kind kind, watch_table::waiter mine, const native::reply& r,
                       Answered& answered) {
        if (waiter_ != mine) return; // an event came first
        const auto result = rules::judge(rules::request::look, r.rc);
        const bool set = result == rules::outcome::done ||
                         (kind == watch_kind::existence && result == rules::outcome::missing);
        if (set) {
            lock_->client->watches().armed(path_, waiter_);
            return answered(r);
        }
        lock_->client->watches().not_armed(path_, std::exchange(waiter_, 0));
        const bool again = result == rules::outcome::lost || result == rules::outcome::not_sent ||
                           result == rules::outcome::missing;
        if (again) return look();
        finish(zookeeper_error(r.rc));
    }

    void forget() {
        if (waiter_ != 0) lock_->client->watches().drop(path_, std::exchange(waiter_, 0));
    }

    void finish(error_code why, std::optional<contender> leader = std::nullopt) {
        if (!user_) return;
        forget();
        user_.complete(why, std::move(leader));
    }

    std::shared_ptr<const line_lock> lock_;
    bridge<error_code, std::optional<contender>> user_;
    fencing_token seen_;
    std::string path_; ///< that is watched
    watch_table::waiter waiter_ = 0;
};

} // namespace

void find_next_leader(std::shared_ptr<const line_lock> of,
                      handler<void(error_code, std::optional<contender>)> h, fencing_token seen) {
    std::make_shared<leader_watch>(std::move(of), std::move(h), seen)->launch();
}

} // namespace paddock::detail
