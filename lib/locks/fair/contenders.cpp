#include "locks/fair/contenders.hpp"

#include "client/metadata.hpp"
#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "session/session_call.hpp"

#include <algorithm>
#include <utility>

namespace paddock::detail {

namespace {

bool must_repeat(int code) {
    const auto result = rules::judge(rules::request_kind::look, code);
    return result == rules::outcome::lost || result == rules::outcome::not_sent;
}

/// Starts again if an answer is lost: old and new answers together could show a queue that never
/// existed.
class contender_reader final : public std::enable_shared_from_this<contender_reader> {
public:
    contender_reader(contender_query query,
                     unique_function<void(error_code, std::vector<contender>)> done)
        : query_(std::move(query)), done_(std::move(done)) {}

    void start() {
        auto& client = *query_.client;
        if (client.closed()) return finish(client.close_reason());
        found_.clear();
        lost_ = false;
        list(client.dispatcher(), lane::user, query_.directory,
             [self = shared_from_this()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

private:
    void listed(int code, const std::vector<std::string>& names) {
        if (must_repeat(code)) return start();
        if (zookeeper_error(code) == zk_errc::no_node) return finish({});
        if (code != 0) return finish(zookeeper_error(code));
        for (const auto& name : names) {
            const auto read = query_.names.read(name);
            if (!read && !query_.all_nodes) continue;
            auto& one = found_.emplace_back();
            one.path = rules::child(query_.directory, name);
            one.sequence = read ? read->sequence : 0;
            one.shared = read && read->as == rules::role::shared;
        }
        std::sort(found_.begin(), found_.end(), [](const contender& a, const contender& b) {
            return std::tie(a.sequence, a.path) < std::tie(b.sequence, b.path);
        });
        unanswered_ = found_.size();
        if (unanswered_ == 0) return finish({});
        for (std::size_t i = 0; i < found_.size(); ++i)
            ask_for(i);
    }

    void ask_for(std::size_t i) {
        query_.client->dispatcher().submit(
            lane::user, requests::get{found_[i].path},
            [self = this->shared_from_this(), i](const native::reply& r) { self->answered(i, r); });
    }

    void answered(std::size_t i, const native::reply& r) {
        auto& one = found_[i];
        lost_ = lost_ || must_repeat(r.rc);
        if (zookeeper_error(r.rc) == zk_errc::no_node) one.path.clear();
        if (r.rc == 0 && r.stat) {
            read_node(r.value, *r.stat, one);
            one.token = query_.names.token(rules::name_of(one.path), r.stat->czxid);
        }
        if (--unanswered_ > 0) return;
        if (lost_) return start();
        std::erase_if(found_, [](const contender& c) { return c.path.empty(); });
        for (auto& c : found_)
            c.path = rules::without(query_.client->root(), c.path);
        mark_holders();
        finish({});
    }

    /// The first contender, or all shared ones before the first exclusive one.
    void mark_holders() {
        for (auto& one : found_) {
            if (!one.shared && &one != &found_.front()) return;
            one.holder = true;
            if (!one.shared) return;
        }
    }

    void finish(error_code why) {
        if (why) found_.clear();
        done_(why, std::move(found_));
    }

    contender_query query_;
    unique_function<void(error_code, std::vector<contender>)> done_;
    std::vector<contender> found_;
    std::size_t unanswered_ = 0;
    bool lost_ = false;
};

} // namespace

void read_contenders(contender_query query,
                     unique_function<void(error_code, std::vector<contender>)> done) {
    std::make_shared<contender_reader>(std::move(query), std::move(done))->start();
}

void find_contenders(std::shared_ptr<const fair_lock> of,
                     handler<void(error_code, std::vector<contender>)> h) {
    using found = std::vector<contender>;
    const auto call = make_pending_call(of->client, std::move(h));
    call->start_open([of, call] {
        read_contenders(query_of(*of),
                        [call](error_code why, found all) { call->complete(why, std::move(all)); });
    });
}

void find_holder(std::shared_ptr<const fair_lock> of,
                 handler<void(error_code, std::optional<contender>)> h) {
    using found = std::optional<contender>;
    const auto call = make_pending_call(of->client, std::move(h));
    call->start_open([of, call] {
        read_contenders(query_of(*of), [call](error_code why, std::vector<contender> all) {
            call->complete(why, all.empty() ? found() : found(std::move(all.front())));
        });
    });
}

} // namespace paddock::detail
