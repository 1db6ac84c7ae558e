#include "locks/simple/simple_holder.hpp"

#include "rules/names.hpp"
#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/listing.hpp"
#include "session/session_call.hpp"
#include "support/argument.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

/// All holders have a node of the same name. One transaction creates it and its marker, so both
/// have the same czxid; a write that goes along with a check, or the delete, of that marker meets
/// this hold and no other. The data says which marker it is as well, but a request to release
/// overwrites it. Another program's node has no marker: then its version must do. Starts again if a
/// read is lost.
class holder_search final : public std::enable_shared_from_this<holder_search> {
public:
    holder_search(std::shared_ptr<simple_lock> lock, session_call_ptr<> one, std::int64_t czxid,
                  holder_change how)
        : lock_(std::move(lock)), call_(std::move(one)), czxid_(czxid), how_(how) {}

    void start() {
        if (!call_->open()) return;
        if (client().closed()) return call_->complete(client().close_reason());
        nodes_.clear();
        version_.reset();
        marker_.clear();
        refusal_ = {};
        lost_ = false;
        list(client().dispatcher(), lane::user, terms().directory,
             [self = shared_from_this()](int code, const std::vector<std::string>& names) {
                 self->listed(code, names);
             });
    }

private:
    const simple_lock_settings& terms() const noexcept { return lock_->settings(); }
    core& client() const noexcept { return *terms().client; }
    static bool lost(int code) {
        const auto result = rules::judge(rules::request_kind::look, code);
        return result == rules::outcome::lost || result == rules::outcome::not_sent;
    }

    void listed(int code, const std::vector<std::string>& names) {
        if (lost(code)) return start();
        if (code != 0) return call_->complete(zookeeper_error(code));
        nodes_ = {terms().path};
        for (const auto& name : names)
            if (rules::marked_lock(name) == rules::name_of(terms().path))
                nodes_.push_back(rules::child(terms().directory, name));
        unanswered_ = nodes_.size();
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            client().dispatcher().submit(
                lane::user, requests::exists{nodes_[i]},
                [self = shared_from_this(), i](const native::reply& r) { self->read(i, r); });
    }

    void read(std::size_t i, const native::reply& r) {
        lost_ = lost_ || lost(r.rc);
        const auto problem = zookeeper_error(r.rc);
        if (problem && problem != zk_errc::no_node) refusal_ = problem;
        if (r.rc == 0 && r.stat && r.stat->czxid == czxid_) {
            if (i == 0)
                version_ = r.stat->version;
            else
                marker_ = nodes_[i];
        }
        if (--unanswered_ > 0) return;
        if (lost_) return start();
        if (refusal_ || !version_) return call_->complete(refusal_ ? refusal_ : no_holder());
        change();
    }

    static error_code no_holder() { return zookeeper_error(static_cast<int>(zk_errc::no_node)); }

    void change() {
        if (!call_->open()) return;
        client().dispatcher().submit(
            lane::user, requests::multi{steps()},
            [self = shared_from_this()](const native::reply& r) { self->changed(r.rc); },
            [self = shared_from_this()] { return self->call_->open(); });
    }

    std::vector<operation> steps() const {
        const auto version = marker_.empty() ? *version_ : any_version;
        std::vector<operation> all;
        if (how_ == holder_change::kick) {
            if (!marker_.empty()) all.emplace_back(op::remove{marker_});
            all.emplace_back(op::remove{terms().path, version});
        } else {
            if (!marker_.empty()) all.emplace_back(op::check{marker_});
            all.emplace_back(op::set{terms().path, std::string(rules::revoke_message), version});
        }
        return all;
    }

    void changed(int code) {
        const auto result = rules::judge(rules::request_kind::look, code);
        if (result == rules::outcome::not_sent) return start();
        if (client().closed()) return call_->complete(client().close_reason());
        call_->complete(result == rules::outcome::lost ? errc::outcome_unknown
                                                       : zookeeper_error(code));
    }

    std::shared_ptr<simple_lock> lock_;
    session_call_ptr<> call_;
    const std::int64_t czxid_; ///< of the holder's node, and of its marker
    const holder_change how_;
    std::vector<std::string> nodes_; ///< the lock's, and the markers
    std::size_t unanswered_ = 0;
    std::optional<std::int32_t> version_; ///< of the holder's node, if it is still there
    std::string marker_;                  ///< the holder's; empty: there is none
    error_code refusal_;
    bool lost_ = false;
};

} // namespace

void change_holder(const std::shared_ptr<simple_lock>& lock, handler<void(error_code)> h,
                   const contender& holder, holder_change how) {
    const auto& terms = lock->settings();
    const auto call = make_pending_call(terms.client, std::move(h));
    if (rules::below(terms.client->root(), holder.path) != terms.path)
        return call->fail(refused_argument("contender", "is not of this lock"));
    call->start_open([lock, call, czxid = holder.token.zxid, how] {
        std::make_shared<holder_search>(lock, call, czxid, how)->start();
    });
}

} // namespace paddock::detail
