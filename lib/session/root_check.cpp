#include "session/root_check.hpp"

#include "rules/outcome.hpp"
#include "session/call.hpp"
#include "session/parents.hpp"

#include <string>
#include <utility>

namespace paddock::detail {

void root_check::on_connected() {
    if (epoch_ != core_.epoch()) at_ = stage::unknown;
    if (at_ == stage::unknown) ask(); // else the lost answer has asked again
}

void root_check::when_known(unique_function<void(error_code)> done) {
    if (core_.closed()) return done(core_.close_reason());
    if (at_ == stage::exists) return done({});
    waiters_.push_back(std::move(done));
    if (at_ == stage::missing) ask();
}

void root_check::found_missing() {
    if (at_ != stage::asked) at_ = stage::missing; // else the answer is on its way
    core_.trouble(log_code::no_root,
                  "the root " + core_.root() +
                      " does not exist: connect() and the operations of locks fail. Correct "
                      "client_options::root (or the path behind the server list), create it, or "
                      "set client_options::create_root");
}

/// Before all other requests.
void root_check::ask() {
    at_ = stage::asked;
    epoch_ = core_.epoch();
    core_.dispatcher().submit(
        lane::urgent, requests::exists{core_.root()},
        [weak = core_.weak_from_this(), epoch = epoch_](const native::reply& r) {
            if (const auto client = weak.lock()) client->use<root_check>().looked(epoch, r.rc);
        });
}

/// An overloaded ensemble has refused to create it.
void root_check::ask_later() {
    if (!pause_) pause_ = core_.env().make_timer();
    pause_->arm(core_.retry_pauses().end(core_.env().now()), [this, epoch = epoch_] {
        if (!core_.closed() && at_ == stage::asked && epoch == core_.epoch()) ask();
    });
}

/// An ensemble that does not say that the root is missing may have it.
void root_check::looked(std::uint64_t epoch, int code) {
    if (lost(epoch, code)) return;
    if (zookeeper_error(code) != zk_errc::no_node) return finish({});
    if (core_.options().create_root) return create();
    at_ = stage::missing;
    found_missing();
    finish(errc::no_root);
}

void root_check::create() {
    make_directory(core_, core_.root(), true,
                   [weak = core_.weak_from_this(), epoch = epoch_](int code, bool) {
                       if (const auto client = weak.lock())
                           client->use<root_check>().created(epoch, code);
                   });
}

void root_check::created(std::uint64_t epoch, int code) {
    if (lost(epoch, code)) return;
    if (code == 0) return finish({});
    const auto why = zookeeper_error(code);
    if (rules::judge(rules::request_kind::create, code) == rules::outcome::later)
        return ask_later();
    core_.trouble(log_code::no_root,
                  "the root " + core_.root() +
                      " does not exist, and cannot be created: " + why.message());
    finish(why);
}

/// Whether the answer says nothing. If it is of the present session, asks again.
bool root_check::lost(std::uint64_t epoch, int code) {
    if (core_.closed() || at_ != stage::asked || epoch != epoch_) return true;
    const auto result = rules::judge(rules::request_kind::look, code);
    if (result != rules::outcome::lost && result != rules::outcome::not_sent) return false;
    ask();
    return true;
}

void root_check::finish(error_code result) {
    at_ = result ? stage::missing : stage::exists;
    for (auto& done : std::exchange(waiters_, {}))
        done(result);
}

} // namespace paddock::detail
