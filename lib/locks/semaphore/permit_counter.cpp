#include "locks/semaphore/permit_counter.hpp"

#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/parents.hpp"
#include "session/session_call.hpp"

#include <utility>

namespace paddock::detail {

namespace {

permits_answer answer_of(const native::reply& r, bool watched) {
    if (r.rc != 0) return {.code = r.rc};
    const auto permits = read_permit_text(r.value);
    if (!permits) return {.code = static_cast<int>(zk_errc::data_inconsistency)};
    return {.code = 0, .permits = *permits, .watched = watched};
}

/// Creates the counter and the missing components of its path. Calls back with 0 when the counter
/// exists, also when another client has created it; otherwise with the error code.
void make_counter(core& client, std::shared_ptr<const semaphore_lock> of, lane which,
                  std::int32_t permits, unique_function<void(int code)> done) {
    client.dispatcher().submit(
        which,
        requests::create{
            of->counter, permit_text(permits),
            requests::share(
                {.mode = create_mode::persistent, .acl = of->queue.nodes->how->acl, .ttl = {}})},
        [&client, of, which, permits, done = std::move(done)](const native::reply& r) mutable {
            const auto said = static_cast<zk_errc>(r.rc);
            if (said != zk_errc::no_node) return done(said == zk_errc::node_exists ? 0 : r.rc);
            make_directory(
                client, std::string(rules::parent(of->counter)),
                of->queue.nodes->persistent_parents,
                [&client, of, which, permits, done = std::move(done)](int code, bool) mutable {
                    if (code != 0) return done(code);
                    make_counter(client, of, which, permits, std::move(done));
                });
        });
}

/// One call of set_permits().
class setting final : public std::enable_shared_from_this<setting> {
public:
    setting(std::shared_ptr<const semaphore_lock> of, std::int32_t permits, session_call_ptr<> call)
        : lock_(std::move(of)), permits_(permits), call_(std::move(call)) {}

    void set() {
        if (!call_->open()) return;
        if (client().closed()) return finish(client().close_reason());
        client().dispatcher().submit(
            lane::user, requests::set{lock_->counter, permit_text(permits_)},
            [self = shared_from_this()](const native::reply& r) {
                if (static_cast<zk_errc>(r.rc) == zk_errc::no_node) return self->make();
                self->answered(r.rc);
            },
            [call = call_] { return call->open(); });
    }

private:
    /// Creates the counter, then sets it: another client may have created it with another number.
    void make() {
        if (!call_->open()) return;
        make_counter(client(), lock_, lane::user, permits_, [self = shared_from_this()](int code) {
            if (code == 0) return self->set();
            self->answered(code);
        });
    }

    core& client() const { return *lock_->queue.client; }

    void answered(int code) {
        switch (rules::judge(rules::request_kind::look, code)) {
        case rules::outcome::not_sent:
            return set();
        case rules::outcome::lost:
            return finish(client().closed() ? client().close_reason() : errc::outcome_unknown);
        default:
            return finish(zookeeper_error(code));
        }
    }

    void finish(error_code why) { call_->complete(why); }

    std::shared_ptr<const semaphore_lock> lock_;
    std::int32_t permits_;
    session_call_ptr<> call_;
};

} // namespace

std::string permit_text(std::int32_t permits) {
    const auto bits = static_cast<std::uint32_t>(permits);
    std::string text;
    for (const int shift : {24, 16, 8, 0})
        text += static_cast<char>(bits >> shift & 0xff);
    return text;
}

std::optional<std::int32_t> read_permit_text(std::string_view data) {
    if (data.size() != sizeof(std::int32_t)) return std::nullopt;
    std::uint32_t bits = 0;
    for (const char c : data)
        bits = bits << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int32_t>(bits);
}

void look_at_permits(core& client, const semaphore_lock& of, permits_done done) {
    client.dispatcher().submit(
        lane::user, requests::get{of.counter},
        [seed = of.permits, done = std::move(done)](const native::reply& r) mutable {
            if (static_cast<zk_errc>(r.rc) == zk_errc::no_node) return done({.permits = seed});
            done(answer_of(r, false));
        });
}

void watch_permits(core& client, std::shared_ptr<const semaphore_lock> of,
                   std::shared_ptr<rearming_watch> watch, permits_done done) {
    const auto waiter = watch->set();
    client.dispatcher().submit(
        lane::lock_work, requests::get{of->counter, waiter != 0},
        [&client, of, watch, waiter, done = std::move(done)](const native::reply& r) mutable {
            const bool watched = watch->answered(waiter, r.rc == 0);
            if (static_cast<zk_errc>(r.rc) != zk_errc::no_node) return done(answer_of(r, watched));
            make_counter(client, of, lane::lock_work, of->permits,
                         [&client, of, watch, done = std::move(done)](int code) mutable {
                             if (code != 0) return done({.code = code});
                             watch_permits(client, of, watch, std::move(done));
                         });
        });
}

void set_permits(std::shared_ptr<const semaphore_lock> of, std::int32_t permits,
                 handler<void(error_code)> h) {
    const auto call = make_pending_call(of->queue.client, std::move(h));
    call->start_open([of, permits, call] { std::make_shared<setting>(of, permits, call)->set(); });
}

} // namespace paddock::detail
