#pragma once

#include "queue/call_queue.hpp"
#include "queue/path_use.hpp"
#include "queue/rules_driver.hpp"
#include "rules/queue.hpp"

#include <paddock/error.hpp>
#include <paddock/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace paddock::detail {

/// The driver of rules::queue: the lock queue at one path, shared by all contenders of one client.
/// Strand only.
class lock_queue final : public call_queue,
                         public rules_driver<lock_queue, rules::queue>,
                         public std::enable_shared_from_this<lock_queue> {
public:
    /// `directory` is the full path, with the client's root.
    lock_queue(core& client, std::string directory, rules::naming names, bool turn_only);

    rules::contender_key next_key() override { return ++last_key_; }
    /// Of a contender that joins again after its session has expired: the same, if it is free, so
    /// that it keeps its position among the local contenders.
    rules::contender_key next_key(rules::contender_key before);
    void join(rules::contender_key key, std::shared_ptr<queue_user> user, entry_terms how) override;
    void quit(rules::contender_key key) override;
    void release(rules::contender_key key, bool passable) override;
    void downgrade(rules::contender_key key);

    /// Whether an entry of this client, which perhaps has no node yet, blocks a new contender of
    /// that role.
    bool local_blocker(rules::role as) const noexcept;
    /// Whether a foreign node in this listing blocks a new contender of that role.
    bool foreign_blocker(const std::vector<std::string>& names, rules::role as) const;
    /// How much of the node budget an entry uses.
    std::size_t entry_bytes(const rules::contender_terms& how) const;

    /// While there is an observer, every change calls queue_changed() of every contender.
    void observe(bool on);
    /// While there is such a request, the first node of the queue is watched, too.
    void watch_first(bool on);
    /// As rules::queue::outside_hold().
    void outside_hold(bool on);
    /// As rules::queue::ahead_of().
    std::optional<std::size_t> ahead_of(rules::contender_key key) const {
        return rules_ ? rules_->ahead_of(key) : std::nullopt;
    }
    bool known_blocked(rules::contender_key key, rules::role as) const override {
        return rules_ && rules_->known_blocked(key, as);
    }
    /// A caller has changed the data of its node: see metadata::verbatim().
    void data_changed(const std::string& full_path, std::string data);
    /// The path of the contender's node; empty if there is none.
    std::string path_of(rules::contender_key key) const;
    const std::string& directory() const noexcept { return directory_; }
    const rules::naming& names() const noexcept { return names_; }

    void on_expired();
    void on_closed(error_code why);
    void directory_made() noexcept { unused_directory_ = !persistent_parents_; }
    void after_actions();

private:
    friend rules_driver;
    struct queue_entry {
        std::shared_ptr<queue_user> user;
        entry_terms how;
        std::size_t reserved = 0;            ///< bytes of the node budget
        budget::waiter_id budget_waiter = 0; ///< its turn in the node budget's waiting list
        bool abandoned = false;              ///< by its caller
        bool lost_create = false;            ///< a create with unknown outcome may have left a node
        bool granted = false;
        /// When its node was first asked to release the lock; zero: it was not.
        std::chrono::system_clock::time_point revoke_requested{};
        std::string data() const { return how.nodes->data.at(how.since, {}, revoke_requested); }
    };

    std::shared_ptr<lock_queue> self() { return shared_from_this(); }
    bool persistent_parents() const noexcept { return persistent_parents_; }
    void update_rules() { rules_->directory_free(core_.own_directories().free(directory_)); }
    /// Also with locks by path in the directory of a key.
    bool made_by_locks() const { return core_.own_directories().made_by_locks(directory_); }
    std::string_view lock_path() const;
    void look_for_other_kinds(const std::vector<std::string>& names);
    std::shared_ptr<queue_user> take_user(queue_entry& entry);
    std::shared_ptr<queue_user> take_answered(rules::contender_key key);
    std::shared_ptr<queue_user> erase_entry(rules::contender_key key);
    using rules_driver::carry_out;
    void carry_out(const rules::queue_act::create& a);
    void carry_out(const rules::queue_act::list& a);
    void carry_out(const rules::queue_act::watch_blocker& a);
    void carry_out(const rules::queue_act::watch_own& a);
    void carry_out(const rules::queue_act::forget& a);
    void carry_out(const rules::queue_act::sweep& a);
    void carry_out(const rules::queue_act::downgrade& a);
    void carry_out(const rules::queue_act::taint& a);
    void carry_out(const rules::queue_act::warn& a);
    void carry_out(const rules::queue_act::grant& a);
    void carry_out(const rules::queue_act::give_up& a);
    void carry_out(const rules::queue_act::fail& a);
    void carry_out(const rules::queue_act::request_revoke& a);
    void carry_out(const rules::queue_act::restore_data& a);
    void carry_out(const rules::queue_act::lose& a);
    void carry_out(const rules::queue_act::downgraded& a);
    void carry_out(const rules::queue_act::downgrade_refused& a);
    void carry_out(const rules::queue_act::out& a);
    void carry_out(const rules::queue_act::directory_refused& a);
    void carry_out(const rules::queue_act::directory_shared& a);
    void carry_out(const rules::queue_act::directory_left& a);

    std::optional<request> delete_unused_directory();
    void delete_directory();
    std::string path_of(std::string_view name) const;
    std::optional<watch_table::waiter_id> set_watch(const std::string& name);
    void forget_watch(const std::string& name);
    using read_done = unique_function<void(const rules::queue::own_answer&)>;
    void read_node(const std::string& name, bool by_exists, read_done done);
    void node_read(const std::string& name, bool by_exists,
                   std::optional<watch_table::waiter_id> waiter, const native::reply& reply,
                   read_done done);
    void on_node_event(const std::string& name, bool deleted);
    void watch_held_node(rules::contender_key key);

    path_use use_;          ///< while there are users of the path
    std::size_t users_ = 0; ///< entries with a user that uses the path
    std::string directory_;
    rules::naming names_;
    const bool turn_only_; ///< the lock's own path is that of the directory above
    std::map<rules::contender_key, queue_entry> entries_;
    rules::contender_key last_key_ = 0;
    std::unordered_map<std::string, watch_table::waiter_id> watches_; ///< by node name
    bool persistent_parents_ = false;
    bool keyed_ = false;            ///< the directory of a key, which is deleted when it is empty
    bool unused_directory_ = false; ///< a container of ours that has not had a node
    int observers_ = 0;
    int watching_first_ = 0;
};

} // namespace paddock::detail
