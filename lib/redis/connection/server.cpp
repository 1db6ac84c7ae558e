#include "redis/connection/server.hpp"

#include "redis/rules/obstacle.hpp"

#include <algorithm>
#include <utility>

namespace paddock::redis {

using rules::answer;

namespace {

std::size_t index_of(rules::script which) noexcept { return static_cast<std::size_t>(which); }

connection::words command(std::string_view name, const std::string& script,
                          const rules::call_words& words) {
    connection::words all{std::string(name), script};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

} // namespace

struct server::pending_call {
    rules::script which;
    rules::call_words words;
    unique_function<bool()> still_wanted;
    called done;
};

server::server(environment& env, const rules::server& where, const rules::deployment& all,
               const connection_limits& limits, server_listener& informs)
    : env_(env)
    , where_(where)
    , deployment_(all)
    , limits_(limits)
    , listener_(informs)
    , timer_(env.make_timer())
    , messages_(env, where, limits, informs) {
    connect();
}

void server::connect() {
    info_text_.clear();
    asks_info_ = false;
    connection::user& self = *this;
    connection_ =
        std::make_unique<connection>(env_, where_, connection::kind::commands, limits_, self);
}

void server::on_open() {
    ask_info();
    ask_marker();
    require({"CLIENT", "SETNAME", limits_.name}, {}); // a refusal does no harm
    load_scripts();
}

void server::on_end(ending how, const std::string& why) {
    const bool healthy = reachable_ && env_.now() - reachable_since_ > connection::proof_time;
    if (healthy && !resumes_ && how == ending::lost && connection_->ended_idle()) {
        resumes_ = true;
        resumed_run_id_ = info_.run_id;
        timer_->arm(env_.now(), [this] { connect(); });
        return;
    }
    resumes_ = false;
    fail_waiting();
    if (std::exchange(reachable_, false) && env_.now() - reachable_since_ > connection::proof_time)
        delay_.reset();
    timer_->arm(env_.now() + delay_.next(env_), [this] { connect(); });
    messages_.use_server(false);
    if (std::exchange(mismatch_, false))
        listener_.on_mismatch(why);
    else if (how == ending::refused)
        listener_.on_refused(why);
    else
        listener_.on_unreachable(why);
}

/// Sends a command without which the server cannot be used.
void server::require(const connection::words& command, connection::replied done) {
    if (!connection_->send(command, std::move(done)))
        connection_->give_up(ending::lost, "the budget for bytes that wait to be sent is too small "
                                           "for what each server is asked first");
}

void server::ask_info() {
    if (std::exchange(asks_info_, true)) return;
    const auto& sections = rules::server_info::sections;
    for (const auto section : sections)
        require({"INFO", std::string(section)},
                [this, is_last = section == sections.back()](
                    const std::optional<rules::reply>& said, time_point sent) {
                    on_info(said, sent, is_last);
                });
}

/// The sections may have been sent one after the other: the clock is not older than the first.
void server::on_info(const std::optional<rules::reply>& said, time_point sent, bool is_last) {
    if (!said) return;
    if (said->what != rules::reply::kind::text) return give_up("INFO", *said);
    if (info_text_.empty()) info_sent_ = sent;
    info_text_ += said->text + '\n';
    if (!is_last) return;
    info_ = rules::read_info(std::exchange(info_text_, {}));
    asks_info_ = false;
    judge();
    if (info_.clock.count() != 0) listener_.on_clock(info_sent_, info_.clock);
}

void server::judge() {
    if (info_.is_loading)
        return connection_->give_up(ending::lost, "the server still loads its data");
    const bool was_master = reachable_since_ != time_point{};
    if (const auto fault = rules::fault_of(info_); !fault.empty())
        connection_->give_up(was_master && info_.role != "master" ? ending::lost : ending::refused,
                             fault);
}

void server::ask_marker() {
    require(rules::marker_command(), [this](const auto& said, auto) { on_marker(said); });
}

/// Any other error is that of the first script, too, which knows best what it means.
void server::on_marker(const std::optional<rules::reply>& said) {
    if (!said) return;
    if (rules::read_answer(*said).what == answer::kind::denied) return give_up("HMGET", *said);
    const auto mismatch = rules::mismatch_in(*said, deployment_);
    if (!mismatch) return;
    mismatch_ = true;
    connection_->give_up(ending::refused, "it " + rules::complaint_about(*mismatch, deployment_));
}

void server::load_scripts() {
    for (std::size_t n = 0; n < hashes_.size(); ++n) {
        const auto which = static_cast<rules::script>(n);
        require({"SCRIPT", "LOAD", rules::text_of(which)},
                [this, n](const auto& said, auto) { on_script(n, said); });
    }
}

void server::on_script(std::size_t which, const std::optional<rules::reply>& said) {
    if (!said) return;
    if (said->what != rules::reply::kind::text) return give_up("SCRIPT LOAD", *said);
    hashes_[which] = said->text;
    if (which + 1 < hashes_.size()) return;
    if (std::exchange(resumes_, false)) return resume();
    reachable_ = true;
    reachable_since_ = env_.now();
    messages_.use_server(true);
    listener_.on_reachable();
}

/// Another process at the address is another server.
void server::resume() {
    reachable_since_ = env_.now();
    if (info_.run_id != resumed_run_id_)
        return connection_->give_up(ending::lost, "the server was started anew");
    for (auto& one : std::exchange(waiting_, {}))
        send(std::move(one));
}

void server::fail_waiting() {
    for (auto& one : std::exchange(waiting_, {}))
        fail_later(std::move(one));
}

void server::fail_later(std::shared_ptr<pending_call> one) {
    env_.post([one = std::move(one), at = env_.now(), alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) one->done({}, at);
    });
}

void server::give_up(const char* what, const rules::reply& said) {
    const bool denied = rules::read_answer(said).what == answer::kind::denied;
    connection_->give_up(denied ? ending::refused : ending::lost,
                         std::string("the server refuses ") + what + ": " +
                             (said.is_error() ? said.text : "an unexpected reply"));
}

void server::call(rules::script which, rules::call_words words,
                  unique_function<bool()> still_wanted, called done) {
    auto one = std::make_shared<pending_call>(
        pending_call{which, std::move(words), std::move(still_wanted), std::move(done)});
    if (resumes_)
        waiting_.push_back(std::move(one));
    else
        send(std::move(one));
}

void server::send(std::shared_ptr<pending_call> one) {
    const auto n = index_of(one->which);
    const auto words = n < hashes_.size() ? command("EVALSHA", hashes_[n], one->words)
                                          : command("EVAL", rules::text_of(one->which), one->words);
    const bool sent =
        reachable_ && connection_->send(words, [this, one](const auto& said, time_point at) {
            if (!said) return one->done({}, at);
            answered(one, *said, at);
        });
    if (!sent) fail_later(std::move(one));
}

void server::answered(std::shared_ptr<pending_call> one, const rules::reply& said,
                      time_point sent) {
    auto result = rules::read_answer(said);
    const std::weak_ptr alive(alive_);
    const bool again =
        result.what == answer::kind::unknown_script && (!one->still_wanted || one->still_wanted());
    if (alive.expired()) return;
    if (again) {
        const auto& text = rules::text_of(one->which);
        const bool sent_again = connection_->send(
            command("EVAL", text, one->words), [one, sent](const auto& now_said, auto) {
                if (!now_said) return one->done({}, sent);
                one->done(rules::read_answer(*now_said), sent);
            });
        if (sent_again) return;
    }
    if (result.what == answer::kind::replica) { // it was a master before, and may be one soon
        ask_info();
        result.what = answer::kind::refused;
        result.text = "it is no master any more";
    }
    one->done(std::move(result), sent);
}

} // namespace paddock::redis
