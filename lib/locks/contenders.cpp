#include "locks/contenders.hpp"

#include "locks/metadata.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "support/bridge.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace paddock::detail {

namespace {

bool again(int code) {
    const auto result = rules::judge(rules::request::look, code);
    return result == rules::outcome::lost || result == rules::outcome::not_sent;
}

/// One call of contenders(), or of something that wants a part of them. When an answer is lost it
/// begins anew: half old and half new would be a line that never was.
template <typename Result>
class survey final : public std::enable_shared_from_this<survey<Result>> {
public:
    survey(std::shared_ptr<const line_lock> of, handler<void(error_code, Result)>&& h)
        : lock_(std::move(of)), user_(lock_->client->get_executor(), std::move(h)) {}

    void launch() {
        user_.on_cancel([weak = this->weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->lock_->client->post([self] { self->finish(asio::error::operation_aborted); });
        });
        lock_->client->post([self = this->shared_from_this()] {
            self->lock_->client->start();
            self->begin();
        });
    }

private:
    void begin() {
        auto& client = *lock_->client;
        if (client.closed()) return finish(client.close_reason());
        found_.clear();
        lost_ = false;
        list(client, lane::user, lock_->directory,
             [self = this->shared_from_this()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

    void listed(int code, const std::vector<std::string>& names) {
        if (!user_) return;
        if (again(code)) return begin();
        if (zookeeper_error(code) == zk_errc::no_node) return finish({});
        if (code != 0) return finish(zookeeper_error(code));
        for (const auto& name : names)
            if (const auto said = lock_->names.read(name)) {
                auto& one = found_.emplace_back();
                one.path = rules::child(lock_->directory, name);
                one.sequence = said->sequence;
                one.shared = said->as == rules::role::shared;
            }
        std::sort(found_.begin(), found_.end(), [](const contender& a, const contender& b) {
            return std::tie(a.sequence, a.path) < std::tie(b.sequence, b.path);
        });
        open_ = found_.size();
        if (open_ == 0) return finish({});
        for (std::size_t i = 0; i < found_.size(); ++i)
            read(i);
    }

    void read(std::size_t i) {
        lock_->client->gate().submit(
            lane::user, 0,
            [path = found_[i].path](native::calls& c, std::unique_ptr<native::completion> done) {
                return c.get(path, false, std::move(done));
            },
            [self = this->shared_from_this(), i](const native::reply& r) { self->answered(i, r); });
    }

    void answered(std::size_t i, const native::reply& r) {
        auto& one = found_[i];
        lost_ = lost_ || again(r.rc);
        if (zookeeper_error(r.rc) == zk_errc::no_node) one.path.clear();
        if (r.rc == 0 && r.stat) {
            one.data = r.value;
            one.session = r.stat->ephemeral_owner;
            one.token = {r.stat->czxid, 0};
            read_metadata(one.data, one);
        }
        if (--open_ > 0 || !user_) return;
        if (lost_) return begin();
        std::erase_if(found_, [](const contender& c) { return c.path.empty(); });
        for (auto& c : found_)
            c.path = rules::without(lock_->client->root(), c.path);
        mark_holders();
        finish({});
    }

    /// The first, or as many as share it before the first who does not.
    void mark_holders() {
        for (auto& one : found_) {
            if (!one.shared && &one != &found_.front()) return;
            one.holder = true;
            if (!one.shared) return;
        }
    }

    void finish(error_code why) {
        if (!user_) return;
        if (why) found_.clear();
        if constexpr (std::is_same_v<Result, std::vector<contender>>)
            user_.complete(why, std::move(found_));
        else
            user_.complete(why, found_.empty() ? Result() : Result(std::move(found_.front())));
    }

    std::shared_ptr<const line_lock> lock_;
    bridge<error_code, Result> user_;
    std::vector<contender> found_;
    std::size_t open_ = 0;
    bool lost_ = false;
};

} // namespace

void find_contenders(std::shared_ptr<const line_lock> of,
                     handler<void(error_code, std::vector<contender>)> h) {
    using all = survey<std::vector<contender>>;
    std::make_shared<all>(std::move(of), std::move(h))->launch();
}

void find_holder(std::shared_ptr<const line_lock> of,
                 handler<void(error_code, std::optional<contender>)> h) {
    using first = survey<std::optional<contender>>;
    std::make_shared<first>(std::move(of), std::move(h))->launch();
}

} // namespace paddock::detail
