#include "locks/contenders.hpp"

#include "locks/metadata.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "support/bridge.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {

bool again(int code) {
    const auto result = rules::judge(rules::request::look, code);
    return result == rules::outcome::lost || result == rules::outcome::not_sent;
}

/// One call of contenders(). When an answer is lost it begins anew: half old and half new would be
/// a line that never was.
class survey final : public std::enable_shared_from_this<survey> {
public:
    survey(std::shared_ptr<const line_lock> of,
           handler<void(error_code, std::vector<contender>)>&& h)
        : lock_(std::move(of)), user_(lock_->client->get_executor(), std::move(h)) {}

    void launch() {
        user_.on_cancel([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (!self) return;
            self->lock_->client->post([self] { self->finish(asio::error::operation_aborted); });
        });
        lock_->client->post([self = shared_from_this()] {
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
             [self = shared_from_this()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

    void listed(int code, const std::vector<std::string>& names) {
        if (!user_) return;
        if (again(code)) return begin();
        if (zookeeper_error(code) == zk_errc::no_node) return finish({});
        if (code != 0) return finish(zookeeper_error(code));
        for (const auto& name : names)
            if (const auto sequence = lock_->names.sequence(name)) {
                auto& one = found_.emplace_back();
                one.path = rules::child(lock_->directory, name);
                one.sequence = *sequence;
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
            [self = shared_from_this(), i](const native::reply& r) { self->answered(i, r); });
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
        if (!found_.empty()) found_.front().holder = true;
        finish({});
    }

    void finish(error_code why) {
        if (!user_) return;
        if (why) found_.clear();
        user_.complete(why, std::move(found_));
    }

    std::shared_ptr<const line_lock> lock_;
    bridge<error_code, std::vector<contender>> user_;
    std::vector<contender> found_;
    std::size_t open_ = 0;
    bool lost_ = false;
};

} // namespace

void find_contenders(std::shared_ptr<const line_lock> of,
                     handler<void(error_code, std::vector<contender>)> h) {
    std::make_shared<survey>(std::move(of), std::move(h))->launch();
}

} // namespace paddock::detail
