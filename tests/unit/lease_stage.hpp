#pragma once

#include "locks/call/node_hold.hpp"
#include "support/session_stage.hpp"

#include <paddock/guard.hpp>

#include <algorithm>
#include <memory>

// A lease above a scripted C client, in virtual time.

namespace paddock::test {

using detail::answered_by;
using detail::lane;
using namespace std::chrono_literals;

struct nothing final : detail::held_resource {
    void release() override { ++released; }
    void when_deleted(unique_function<void(error_code)> gone) override { gone({}); }
    int released = 0;
};

inline client_options with(lease_options lease) {
    client_options options;
    options.lease = lease;
    return options;
}

/// Session timeout 9 s: gap 2.7 s, a beat every 1.44 s, at least 2.25 s for a new hold.
struct lease_stage : session_stage {
    using session_stage::session_stage;

    std::shared_ptr<detail::hold> hold() {
        return std::make_shared<detail::node_hold>(core, std::make_shared<nothing>(), nullptr, "/n",
                                                   2, fencing_token{1, 0});
    }
    boot_clock::duration left() const { return core->lease().term()->until() - env->now(); }
    /// One request, and its answer after a while.
    void ask(answered_by by, boot_clock::duration time = 0s, int code = native::code::ok) {
        detail::request what = detail::requests::exists{"/x"};
        if (by == answered_by::leader) what = detail::requests::sync{"/x"};
        if (by == answered_by::quorum) what = detail::requests::remove{"/x"};
        core->dispatcher().submit(lane::user, what, [](const native::reply&) {});
        env->run();
        pass(time);
        answer(code);
    }
    /// Lets time pass in which the server sends packets but answers no request of the lease.
    void pass(boot_clock::duration time) {
        for (; time > 0s; time -= 100ms) {
            c->last_heard = env->now();
            env->advance(std::min<boot_clock::duration>(time, 100ms));
        }
    }
    /// The server goes on answering reads, but no write gets a quorum.
    void cut_off_server() { c->heartbeat_code = native::code::connection_loss; }
};

} // namespace paddock::test
