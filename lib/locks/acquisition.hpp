#pragma once

#include "line/line.hpp"
#include "locks/asking.hpp"
#include "locks/hold.hpp"
#include "locks/lease_lock.hpp"
#include "locks/permit_counter.hpp"
#include "rules/leases.hpp"
#include "session/lookout.hpp"

#include <paddock/guard.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::detail {

/// One call of a semaphore's acquire() and its kin, and then what its guard holds. Carries out what
/// rules::leases decides.
class acquisition final : public entrant,
                          public tenure,
                          public session_listener,
                          public asking<guard> {
public:
    acquisition(std::shared_ptr<const lease_lock> what, std::size_t count,
                handler<void(error_code, guard)>&& h, kind how);

    // From the line of those who acquire.
    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override;
    void failed(error_code why) override;
    void lost(error_code why) override;

    // From the session.
    void on_connected() override;
    void on_suspended() override;
    void on_expired() override;
    void on_closed(error_code why) override;

    // From the hold.
    void release() override;
    void when_gone(unique_function<void(error_code)> gone) override;

private:
    struct glance;

    std::shared_ptr<acquisition> self() {
        return std::static_pointer_cast<acquisition>(shared_from_this());
    }
    std::weak_ptr<acquisition> weak_self() { return self(); }
    void begin() override;
    void abandoned() override;
    void look();
    void saw(glance& all, error_code why);
    void take_part();
    void queue();
    void refuse(error_code why) { fail(why, lock_->place.on_over_budget); }

    /// Where everything that happens is told.
    rules::leases& facts();
    void carry_out();
    void carry_out(const rules::lease_act::enter& a);
    void carry_out(const rules::lease_act::leave& a);
    void carry_out(const rules::lease_act::create& a);
    void carry_out(const rules::lease_act::list& a);
    void carry_out(const rules::lease_act::read_permits& a);
    void carry_out(const rules::lease_act::make_parents& a);
    void carry_out(const rules::lease_act::forget& a);
    void carry_out(const rules::lease_act::watch_own& a);
    void carry_out(const rules::lease_act::sweep& a);
    void carry_out(const rules::lease_act::taint& a);
    void carry_out(const rules::lease_act::pause& a);
    void carry_out(const rules::lease_act::await_lease& a);
    void carry_out(const rules::lease_act::grant& a);
    void carry_out(const rules::lease_act::give_up& a);
    void carry_out(const rules::lease_act::fail& a);
    void carry_out(const rules::lease_act::lose& a);
    void carry_out(const rules::lease_act::out& a);

    std::shared_ptr<lookout> look_out(std::string path, watch_kind kind,
                                      void (*heard)(acquisition&, watch_event));
    std::string path_of(std::string_view name) const;
    std::string lease_prefix(rules::node_id id) const;

    std::shared_ptr<const lease_lock> lock_;
    std::shared_ptr<acquisition> alive_; ///< itself, as long as it has, or wants, something
    std::size_t count_;
    std::optional<rules::leases> rules_;
    bool carrying_out_ = false;

    std::shared_ptr<line> line_;
    rules::contender_key key_ = 0; ///< 0: not in the line
    bool placed_ = false;          ///< it has let us in

    std::size_t bytes_ = 0; ///< of the budget of nodes, for the leases
    std::size_t bytes_each_ = 0;
    budget::turn waiting_ = 0; ///< for the budget
    bool lost_create_ = false; ///< a lease may exist that nobody knows
    bool settled_ = false; ///< what becomes of the call is decided, and no lease is made any more

    std::shared_ptr<lookout> directory_, counter_;
    std::map<rules::node_id, std::shared_ptr<lookout>> own_;
    std::unique_ptr<timer> pause_;
    std::weak_ptr<hold> hold_;
    std::vector<std::string> paths_; ///< of what was granted
};

} // namespace paddock::detail
