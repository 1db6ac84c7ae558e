#pragma once

#include "locks/asking.hpp"
#include "locks/hold.hpp"
#include "locks/metadata.hpp"
#include "session/core.hpp"

#include <paddock/options.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace paddock::detail {

class simple_lock;

/// What the nodes of a simple_mutex are like; it does not change.
struct simple_terms {
    std::shared_ptr<core> client;
    std::string directory; ///< where the marker stands; below the client's root
    std::string path;      ///< of the lock's node, likewise
    metadata data;
    paddock::acl acl;
    bool persistent_parents = false;
    bool sync_first = false;
    paddock::on_expiry on_expiry = paddock::on_expiry::requeue;
    paddock::on_over_budget on_over_budget = paddock::on_over_budget::wait;
};

/// One call of a simple_mutex.
class simple_asking final : public asking<guard> {
public:
    simple_asking(std::shared_ptr<simple_lock> what, handler<void(error_code, guard)>&& h,
                  kind how);
    using asking::open;

private:
    void begin() override;
    void abandoned() override;

    std::shared_ptr<simple_lock> lock_;
};

/// What a guard of a simple_mutex holds: two nodes that were made together.
class simple_tenure final : public tenure, public std::enable_shared_from_this<simple_tenure> {
public:
    simple_tenure(std::shared_ptr<simple_lock> of, std::string marker, rules::node_id id,
                  std::size_t bytes)
        : marker(std::move(marker)), id(id), bytes(bytes), lock_(std::move(of)) {}

    void release() override;
    void when_gone(unique_function<void(error_code)> gone) override;
    void ended(error_code why) override;

    const std::string marker; ///< its path
    const rules::node_id id;
    const std::size_t bytes; ///< of the budget of nodes
    std::weak_ptr<hold> held;

private:
    std::shared_ptr<simple_lock> lock_;
};

/// A simple_mutex and its copies: of those who wait, one races at a time. On the strand.
///
/// A race is a multi, which creates the marker and the lock's node or neither, and in the same
/// flight a read of the lock's node with a watch: it shows whose the node is (by the id in its
/// data), gives the token, and tells of its end, whether the node is ours or another's.
class simple_lock final : public std::enable_shared_from_this<simple_lock> {
public:
    using caller = std::shared_ptr<simple_asking>;

    explicit simple_lock(simple_terms terms) : terms_(std::move(terms)) {}
    ~simple_lock();                                               ///< any thread
    const simple_terms& terms() const noexcept { return terms_; } ///< any thread

    void enter(caller who);
    void leave(const simple_asking& who);
    void give_back(const simple_tenure& what);
    /// Its node is gone, and nobody here has deleted it.
    void gone_by_hand(const simple_tenure& what);

private:
    enum class stage {
        idle,
        saving,    ///< waits for room in the budget of nodes
        preparing, ///< makes the directory
        racing,    ///< the multi, and the read behind it, are under way
        unsure,    ///< their answers were lost
        settling,  ///< looks whether the multi was executed
        watching,  ///< the node is another's
        holding,
        leaving, ///< waits until the own nodes are gone, so that others have a chance, too
    };
    enum class made { no, yes, unknown };

    core& client() const noexcept { return *terms_.client; }
    bool connected() const { return client().state() == client_state::connected; }

    void follow_session();
    void on_state(client_state now);
    void on_expired();
    void on_closed();
    void go_on();
    void pause();
    void look_first(caller who);
    void reserve();
    void prepare();
    void fail_all(error_code why);
    void dismiss_impatient(error_code why);

    void race();
    void raced(const native::reply& r);
    void settle();
    void look();
    void looked(watch_table::waiter waiter, const native::reply& r);
    void judge_race(const native::reply& r);
    void judge_settling(const native::reply& r);
    void judge_watch(const native::reply& r);
    void judge_hold(const native::reply& r);
    void lost_race(const native::reply& r);
    void become_unsure();
    void begin_to_watch();
    void grant(std::int64_t czxid);
    void not_made();
    void perhaps_made();
    void hand_over(bool both);
    void hear(bool deleted);
    void forget_watch(bool tell);
    std::string marker() const;

    simple_terms terms_;
    std::deque<caller> waiting_;
    stage stage_ = stage::idle;
    std::uint64_t turn_ = 0;              ///< answers to questions of an earlier one do not count
    core::state_waiter_id following_ = 0; ///< the session
    bool paused_ = false;
    std::unique_ptr<timer> pause_;
    budget::turn saving_ = 0;

    // The nodes that the present race wants to make.
    rules::node_id id_ = 0;
    std::size_t bytes_ = 0;
    std::string data_;
    made made_ = made::no;
    int refused_ = 0; ///< why they were not made

    watch_table::waiter watch_ = 0; ///< in the table
    bool armed_ = false;            ///< and set at the ensemble
    std::shared_ptr<simple_tenure> tenure_;
    std::int64_t czxid_ = 0; ///< of the own node
};

} // namespace paddock::detail
