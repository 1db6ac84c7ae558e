#include "locks/semaphore/semaphore_state.hpp"

#include "locks/semaphore/permit_counter.hpp"
#include "session/call.hpp"
#include "session/session_call.hpp"

#include <utility>

namespace paddock::detail {

namespace {

using contenders = std::vector<contender>;

/// Reads the owners of the permit nodes, one for each, in the order of the nodes.
void read_holders(const semaphore_lock& of, unique_function<void(error_code, contenders)> done) {
    read_contenders(permit_nodes(of),
                    [done = std::move(done)](error_code why, contenders all) mutable {
                        for (auto& one : all) {
                            one.holder = true;
                            one.token = {}; // a permit has no fencing token
                        }
                        done(why, std::move(all));
                    });
}

/// One call of state() or contenders(): two or three reads at the same time.
struct overview : std::enable_shared_from_this<overview> {
    using result = unique_function<void(error_code, semaphore_state)>;
    overview(std::shared_ptr<const semaphore_lock> of, result to)
        : lock(std::move(of)), complete(std::move(to)) {}

    std::shared_ptr<const semaphore_lock> lock;
    result complete;
    semaphore_state found{};
    int open = 0; ///< of the reads below
    bool failed = false;

    void start(bool with_permits) {
        open = with_permits ? 3 : 2;
        read_holders(*lock, [self = shared_from_this()](error_code why, contenders all) {
            self->found.holders = std::move(all);
            self->done(why);
        });
        read_contenders(query_of(lock->queue),
                        [self = shared_from_this()](error_code why, contenders all) {
                            for (auto& one : all) {
                                one.holder = false;
                                one.token = {};
                            }
                            self->found.waiters = std::move(all);
                            self->done(why);
                        });
        if (with_permits) look_for_permits();
    }

    void look_for_permits() {
        found.permits = lock->permits;
        if (lock->fixed()) return done({});
        auto& client = *lock->queue.client;
        if (client.closed()) return done(client.close_reason());
        look_at_permits(client, *lock, [self = shared_from_this()](const permits_answer& said) {
            const auto result = rules::judge(rules::request_kind::look, said.code);
            if (result == rules::outcome::lost || result == rules::outcome::not_sent)
                return self->look_for_permits();
            self->found.permits = said.permits;
            self->done(zookeeper_error(said.code));
        });
    }

    void done(error_code why) {
        --open;
        if (failed || (open > 0 && !why)) return;
        failed = static_cast<bool>(why);
        complete(why, why ? semaphore_state() : std::move(found));
    }
};

} // namespace

void find_state(std::shared_ptr<const semaphore_lock> of,
                handler<void(error_code, semaphore_state)> h) {
    const auto call = make_pending_call(of->queue.client, std::move(h));
    call->start_open([of, call] {
        std::make_shared<overview>(of, [call](error_code why, semaphore_state all) {
            call->complete(why, std::move(all));
        })->start(true);
    });
}

void find_contenders(std::shared_ptr<const semaphore_lock> of,
                     handler<void(error_code, std::vector<contender>)> h) {
    const auto call = make_pending_call(of->queue.client, std::move(h));
    call->start_open([of, call] {
        std::make_shared<overview>(of, [call](error_code why, semaphore_state all) {
            for (auto& one : all.waiters)
                all.holders.push_back(std::move(one));
            call->complete(why, std::move(all.holders));
        })->start(false);
    });
}

contender_query permit_nodes(const semaphore_lock& of) {
    return {of.queue.client, of.directory, rules::naming::of_leases(), true};
}

void find_holder(std::shared_ptr<const semaphore_lock> of,
                 handler<void(error_code, std::optional<contender>)> h) {
    using found = std::optional<contender>;
    const auto call = make_pending_call(of->queue.client, std::move(h));
    call->start_open([of, call] {
        read_holders(*of, [call](error_code why, contenders all) {
            call->complete(why, all.empty() ? found() : found(std::move(all.front())));
        });
    });
}

} // namespace paddock::detail
