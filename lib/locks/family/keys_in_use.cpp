#include "locks/family/keys_in_use.hpp"

#include "rules/keys.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "session/session_call.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace paddock::detail {

namespace {

using found_keys = std::vector<key_in_use>;

/// One call of keys(). Starts again if an answer is lost.
class key_reader final : public std::enable_shared_from_this<key_reader> {
public:
    key_reader(std::shared_ptr<const fair_lock> family, session_call_ptr<found_keys> one)
        : family_(std::move(family)), call_(std::move(one)) {}

    void start() {
        auto& client = *family_->client;
        if (!call_->open()) return;
        if (client.closed()) return finish(client.close_reason());
        found_.clear();
        refusal_ = {};
        lost_ = false;
        list(client.dispatcher(), lane::user, family_->directory,
             [self = shared_from_this()](int code, std::vector<std::string> names) {
                 self->listed(code, names);
             });
    }

private:
    static bool lost(int code) {
        const auto result = rules::judge(rules::request_kind::look, code);
        return result == rules::outcome::lost || result == rules::outcome::not_sent;
    }

    void listed(int code, std::vector<std::string>& names) {
        if (lost(code)) return start();
        if (zookeeper_error(code) == zk_errc::no_node) return finish({});
        if (code != 0) return finish(zookeeper_error(code));
        std::sort(names.begin(), names.end());
        for (const auto& name : names) {
            auto read = rules::key_of_node_name(name);
            if (!read) continue;
            auto& one = found_.emplace_back();
            one.key = std::move(read->key);
            one.complete = read->complete;
            one.path = rules::child(family_->directory, name);
        }
        unanswered_ = found_.size();
        if (unanswered_ == 0) return finish({});
        for (std::size_t i = 0; i < found_.size(); ++i)
            family_->client->dispatcher().submit(
                lane::user, requests::exists{found_[i].path},
                [self = shared_from_this(), i](const native::reply& r) { self->answered(i, r); },
                [self = shared_from_this()] { return self->call_->open(); });
    }

    /// A directory that has been deleted meanwhile counts as empty.
    void answered(std::size_t i, const native::reply& r) {
        lost_ = lost_ || lost(r.rc);
        const auto problem = zookeeper_error(r.rc);
        if (problem && problem != zk_errc::no_node) refusal_ = problem;
        found_[i].contenders = r.rc == 0 && r.stat ? r.stat->num_children : 0;
        if (--unanswered_ > 0) return;
        if (lost_) return start();
        std::erase_if(found_, [](const key_in_use& one) { return one.contenders == 0; });
        for (auto& one : found_)
            one.path = rules::without(family_->client->root(), one.path);
        finish(refusal_);
    }

    void finish(error_code why) {
        if (why) found_.clear();
        call_->complete(why, std::move(found_));
    }

    std::shared_ptr<const fair_lock> family_;
    session_call_ptr<found_keys> call_;
    found_keys found_;
    std::size_t unanswered_ = 0;
    error_code refusal_;
    bool lost_ = false;
};

} // namespace

void find_keys(std::shared_ptr<const fair_lock> family,
               handler<void(error_code, std::vector<key_in_use>)> h) {
    const auto call = make_pending_call(family->client, std::move(h));
    call->start_open([family, call] { std::make_shared<key_reader>(family, call)->start(); });
}

} // namespace paddock::detail
