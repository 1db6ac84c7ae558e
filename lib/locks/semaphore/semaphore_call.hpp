#pragma once

#include "locks/fair/queue_call.hpp"
#include "locks/semaphore/permit_counter.hpp"
#include "locks/semaphore/semaphore_lock.hpp"
#include "queue/path_use.hpp"
#include "queue/rules_driver.hpp"
#include "rules/permits.hpp"
#include "session/rearming_watch.hpp"
#include "session/reservation.hpp"

#include <paddock/guard.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::detail {

/// One call of acquire() or a similar operation, and after the grant the permits of its guard. The
/// driver of rules::permits.
class semaphore_call final : public queue_call,
                             public session_listener,
                             public rules_driver<semaphore_call, rules::permits> {
public:
    /// With a reservation, the bytes of its nodes come from that. Should it have to begin again,
    /// and find no room for them, then it does not wait for room, but fails with errc::lock_lost.
    semaphore_call(std::shared_ptr<const semaphore_lock> what, std::size_t count,
                   handler<void(error_code, guard)>&& h, kind how,
                   std::shared_ptr<reservation> reserved = {});

    // From the queue.
    void granted(const std::string& path, const fencing_token& token) override;
    void given_up() override;
    void failed(error_code why) override;
    void lost(error_code why) override;
    void revoke_requested() override;

    // From the session.
    void on_connected() override { rules_driver::on_connected(); }
    void on_suspended() override { rules_driver::on_suspended(); }
    void on_expired() override;
    void on_closed(error_code why) override;

    // From the hold.
    void release() override;
    void when_deleted(unique_function<void(error_code)> gone) override;

    void find_holder(handler<void(error_code, std::optional<contender>)> h) const override;

private:
    friend rules_driver;
    struct free_check;

    std::shared_ptr<semaphore_call> self() {
        return std::static_pointer_cast<semaphore_call>(shared_from_this());
    }
    std::weak_ptr<semaphore_call> weak_self() { return self(); }
    void join() override;
    void abandoned() override;
    bool known_blocked() const override;
    void look();
    void look_for_other_kinds();
    void saw(free_check& all, error_code why);
    void acquire();
    std::string rights() const override;
    void join_queue();
    void end_attempts();

    const std::string& directory() const noexcept { return lock_->directory; }
    std::string_view lock_path() const override { return rules::parent(lock_->directory); }
    const counted_lock* counted() const noexcept override { return lock_->queue.counted.get(); }
    bool persistent_parents() const noexcept { return lock_->queue.nodes->persistent_parents; }
    using rules_driver::carry_out;
    void carry_out(const rules::permit_act::join_queue& a);
    void carry_out(const rules::permit_act::leave& a);
    void carry_out(const rules::permit_act::create& a);
    void carry_out(const rules::permit_act::list& a);
    void carry_out(const rules::permit_act::read_permits& a);
    void carry_out(const rules::permit_act::forget& a);
    void carry_out(const rules::permit_act::watch_own& a);
    void carry_out(const rules::permit_act::look& a);
    void carry_out(const rules::permit_act::restore_data& a);
    void carry_out(const rules::permit_act::sweep& a);
    void carry_out(const rules::permit_act::taint& a);
    void carry_out(const rules::permit_act::grant& a);
    void carry_out(const rules::permit_act::request_revoke& a);
    void carry_out(const rules::permit_act::give_up& a);
    void carry_out(const rules::permit_act::fail& a);
    void carry_out(const rules::permit_act::lose& a);
    void carry_out(const rules::permit_act::out& a);

    std::shared_ptr<rearming_watch> make_watch(std::string path, watch_kind kind,
                                               void (*heard)(semaphore_call&, watch_event));
    std::string path_of(std::string_view name) const;

    std::shared_ptr<const semaphore_lock> lock_;
    std::shared_ptr<semaphore_call>
        alive_;    ///< itself, until the rules decide `out`, or the client closes
    path_use use_; ///< while it waits, or has permits
    std::size_t count_;
    std::shared_ptr<reservation> reservation_;
    bool joined_ = false; ///< once at least

    bool admitted_ = false; ///< the queue has granted its turn

    std::size_t bytes_ = 0; ///< of the node budget, for the permit nodes
    std::size_t bytes_each_ = 0;
    budget::waiter_id waiting_ = 0; ///< for the node budget
    bool lost_create_ = false;      ///< a create with unknown outcome may have left a node
    bool held_ = false;             ///< the queue counts this hold as an outside hold
    bool settled_ = false;          ///< the call creates no more permit nodes

    std::shared_ptr<rearming_watch> directory_watch_, counter_watch_;
    std::map<rules::node_id, std::shared_ptr<rearming_watch>> own_;
    /// When each permit node was created.
    std::map<rules::node_id, std::chrono::system_clock::time_point> created_at_;
    bool revoke_requested_ = false; ///< of the node in the queue
    std::weak_ptr<node_hold> hold_;
    std::vector<std::string> paths_; ///< of the permit nodes of the hold
};

} // namespace paddock::detail
