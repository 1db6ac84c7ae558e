#include "redis/connection/subscriptions.hpp"

#include "redis/rules/scripts.hpp"

#include <utility>

namespace paddock::redis {

using namespace std::chrono_literals;

namespace {

/// Commands without a reply. More channels than that take a round trip per 64 after a reconnect;
/// without a limit many thousands of them would use up the connection's budget for bytes.
constexpr std::size_t window = 64;
/// Without a channel, until the connection is closed. A trade: less makes connections for locks
/// that are wanted again, more keeps a descriptor of the server.
constexpr auto idle_time = 30s;

} // namespace

subscriptions::subscriptions(environment& env, rules::server where, const connection_limits& limits,
                             server_listener& informs)
    : env_(env)
    , where_(std::move(where))
    , limits_(limits)
    , listener_(informs)
    , timer_(env.make_timer()) {}

void subscriptions::subscribe(const std::string& name) {
    auto& one = channels_[name];
    one.wanted = true;
    if (one.state == at_server::yes) return tell_again(name);
    look_at(name);
    look();
}

void subscriptions::unsubscribe(const std::string& name) {
    const auto one = channels_.find(name);
    if (one == channels_.end()) return;
    one->second.wanted = false;
    look_at(name);
    look();
}

void subscriptions::tell_again(const std::string& name) {
    env_.post([this, name, alive = std::weak_ptr(alive_)] {
        if (alive.expired()) return;
        const auto one = channels_.find(name);
        if (one == channels_.end() || !one->second.wanted) return;
        if (one->second.state == at_server::yes) listener_.on_subscribed(name);
    });
}

void subscriptions::use_server(bool reachable) {
    reachable_ = reachable;
    look();
}

/// Opens the connection when it is needed, and closes it when it has long been idle.
void subscriptions::look() {
    if (waits_) return;
    if (connection_) {
        if (channels_.empty())
            timer_->arm(env_.now() + idle_time, [this] { connection_.reset(); });
        else
            timer_->cancel();
        return;
    }
    if (!channels_.empty() && reachable_) connect();
}

void subscriptions::connect() {
    connection::user& self = *this;
    connection_ =
        std::make_unique<connection>(env_, where_, connection::kind::subscriber, limits_, self);
}

void subscriptions::on_open() {
    opened_ = env_.now();
    for (auto& [name, one] : channels_) {
        one.in_queue = true;
        queue_.push_back(name);
    }
    work();
}

void subscriptions::on_end(ending, const std::string& why) {
    if (opened_ != boot_clock::time_point{} && env_.now() - opened_ > connection::proof_time)
        delay_.reset();
    opened_ = {};
    in_flight_ = 0;
    std::erase_if(channels_, [](const auto& one) { return !one.second.wanted; });
    queue_.clear();
    for (auto& [name, one] : channels_)
        one = {};
    waits_ = true;
    timer_->arm(env_.now() + delay_.next(env_), [this] {
        waits_ = false;
        connection_.reset();
        look();
    });
    if (!channels_.empty()) listener_.on_messages_lost(why);
}

void subscriptions::on_message(const std::string& name, const std::string& text) {
    const auto one = channels_.find(name);
    if (one != channels_.end() && one->second.wanted) listener_.on_message(name, text);
}

/// The channel's state may differ from what is wanted.
void subscriptions::look_at(const std::string& name) {
    auto& one = channels_.at(name);
    if (!one.wanted && (one.state == at_server::no || one.state == at_server::refused)) {
        channels_.erase(name); // the queue may have it still
        return;
    }
    if (!connection_ || !connection_->is_open()) return; // on_open() looks at all of them
    if (!std::exchange(one.in_queue, true)) queue_.push_back(name);
    work();
}

void subscriptions::work() {
    while (!queue_.empty() && in_flight_ < window) {
        const auto at = channels_.find(queue_.front());
        if (at != channels_.end() && !ask(at)) return;
        queue_.pop_front();
    }
}

/// Sends what the channel needs; false: not now.
bool subscriptions::ask(channels::iterator at) {
    auto& one = at->second;
    const auto satisfied = one.wanted ? one.state != at_server::no : one.state != at_server::yes;
    if (!satisfied) {
        const bool sent = connection_->send(
            {one.wanted ? "SUBSCRIBE" : "UNSUBSCRIBE", at->first},
            [this, name = at->first](const auto& said, auto) { replied(name, said); });
        if (!sent) return false;
        one.state = at_server::asked;
        one.asked_to_subscribe = one.wanted;
        ++in_flight_;
    }
    one.in_queue = false;
    return true;
}

void subscriptions::replied(const std::string& name, const std::optional<rules::reply>& said) {
    if (!said) return; // on_end() has begun anew
    --in_flight_;
    auto& one = channels_.at(name);
    const bool subscribed = one.asked_to_subscribe && !said->is_error();
    if (said->is_error() && rules::read_answer(*said).what != rules::answer::kind::denied)
        return connection_->give_up(ending::lost, "the server says: " + said->text);
    one.state = subscribed ? at_server::yes : said->is_error() ? at_server::refused : at_server::no;
    const bool wanted = one.wanted;
    look_at(name);
    look();
    if (!wanted) return;
    if (subscribed)
        listener_.on_subscribed(name);
    else if (said->is_error())
        listener_.on_subscription_refused(name, said->text);
}

} // namespace paddock::redis
