#pragma once

#include "sim/messages.hpp"
#include "sim/socket.hpp"
#include "sim/timeline.hpp"
#include "sim/tree.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::sim {

class ensemble;
class leader;

using logged = std::shared_ptr<const txn>;

/// One server: its view of the tree, and its connected clients. As leader or follower it is a part
/// of the ensemble; else it serves no client.
class server {
public:
    server(ensemble& all, int id);
    ~server();

    enum class role { looking, following, leading };

    // From clients.
    void shake_hands(const std::shared_ptr<socket>& from, std::int64_t session,
                     std::chrono::milliseconds timeout, std::int64_t seen);
    void receive(std::uint64_t connection, request r);
    void hung_up(std::uint64_t connection);

    // From the leader.
    void propose(logged t);
    void commit();
    void ping();
    void synced(std::uint64_t ticket);
    void revalidated(std::uint64_t connection, std::int64_t session, bool valid,
                     std::chrono::milliseconds timeout);

    // Elections and faults of the ensemble.
    void lead(int epoch, const std::vector<server*>& followers);
    void follow(server& leader);
    void look_for_leader();
    void lose_data();
    /// The server with the greatest rank leads: the last epoch that it took part in, then the last
    /// transaction.
    std::pair<int, std::int64_t> credentials() const {
        return {epoch_, log_.empty() ? 0 : log_.back()->zxid};
    }
    void pulse();
    void hear_leader() { heard_ = time_.now(); }
    /// The requests of clients wait here for so long before they go on to the leader; other
    /// messages to it do not wait.
    void stall_requests(time_point until) { requests_.hold_until(until); }

    void apply_next();

    role is() const noexcept { return role_; }
    int follows() const noexcept { return leader_id_; }
    leader* leading() noexcept { return leader_.get(); }
    const tree& view() const noexcept { return view_; }
    const std::vector<logged>& log() const noexcept { return log_; }
    std::vector<logged>& log() noexcept { return log_; }
    std::size_t applied() const noexcept { return applied_; }
    /// Of clients, with their sessions.
    std::vector<std::string> watches() const;

    const int id;

private:
    struct pending {
        request what;
        std::uint64_t ticket = 0; ///< of a request that the leader answers
        bool done = false;
    };
    struct connection {
        std::shared_ptr<socket> peer;
        std::int64_t session = 0;
        std::uint64_t opening = 0; ///< the ticket of its new session
        std::deque<pending> queue{};
        std::set<std::string> data_watches{}, child_watches{};
    };

    void open_session(connection& c, std::chrono::milliseconds timeout);
    void to_leader(std::uint64_t ticket, std::int64_t session, request r);
    void touch(std::int64_t session);
    void advance(connection& c);
    packet read(connection& c, const request& r);
    void set_watches(connection& c, const request& r);
    packet reply_to(const request& r, const txn& t, const std::vector<node_stat>& stats) const;
    void answer(const txn& t, const std::vector<node_stat>& stats);
    void fire(const sight& seen);
    void drop(std::uint64_t connection);
    void drop_older(std::int64_t session, std::uint64_t connection);
    void drop_all();
    static bool is_write(verb what) noexcept;

    ensemble& all_;
    timeline& time_;
    role role_ = role::looking;
    int leader_id_ = -1;
    int epoch_ = 0;
    time_point heard_{};
    std::vector<logged> log_;
    std::size_t applied_ = 0;
    tree view_;
    std::map<std::uint64_t, connection> connections_;
    std::map<std::uint64_t, std::uint64_t> tickets_; ///< to connections
    std::uint64_t last_ticket_ = 0;
    std::set<std::int64_t> touched_;
    channel requests_; ///< on their way to the leader, still in this process
    std::unique_ptr<leader> leader_;
};

} // namespace paddock::test::sim
