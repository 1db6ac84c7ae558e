#pragma once

#include "sim/server.hpp"
#include "sim/violation.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace paddock::test::sim {

struct ensemble_options {
    int servers = 3;
    std::chrono::milliseconds tick{2000};
    int sync_limit = 5; ///< ticks
    duration client_latency{std::chrono::microseconds(300)};
    duration server_latency{std::chrono::microseconds(300)};
    /// One in so many messages takes up to a hundred times as long.
    int slow_one_in = 0;
    /// One in so many messages from and to clients costs its connection.
    int broken_one_in = 0;
    /// The clients have TLS, and so the library's relay.
    bool encrypted = false;
};

/// How many multis of several lock nodes the leaders decided.
struct batch_counts {
    int creates = 0;
    int removes = 0;
    int refused = 0;          ///< of both
    int directories_made = 0; ///< together with a node
    int directories_removed = 0;
};

/// Some servers, the network between them, and the truth: the transactions of a majority.
class ensemble {
public:
    ensemble(timeline& time, dice& chance, ensemble_options options);
    ~ensemble();

    // For clients.
    std::shared_ptr<socket> connect(int server);
    bool accepts(int server) const;
    server& at(int number) { return *servers_[static_cast<std::size_t>(number)]; }
    int size() const noexcept { return options_.servers; }
    bool breaks_now() {
        return options_.broken_one_in != 0 && chance_.one_in(options_.broken_one_in);
    }
    bool encrypted() const noexcept { return options_.encrypted; }
    duration client_latency() { return latency(options_.client_latency); }

    // For servers.
    timeline& time() noexcept { return time_; }
    dice& chance() noexcept { return chance_; }
    void send(int from, int to, unique_function<void(server&)> what);
    duration server_delay() { return latency(options_.server_latency / 4); }
    std::int64_t new_session(int server);
    std::chrono::milliseconds negotiate(std::chrono::milliseconds asked) const;
    std::chrono::milliseconds tick() const noexcept { return options_.tick; }
    duration sync_limit() const noexcept { return options_.sync_limit * options_.tick; }
    int majority() const noexcept { return options_.servers / 2 + 1; }
    std::int64_t wall_milliseconds() const;
    void committed(std::size_t index, const logged& t);
    void count(const request& r, const txn& decided);
    void join(int one, int other); ///< messages between the two arrive from now on
    bool joined(int one, int other) const { return links_.at({one, other})->open; }
    void disconnect(int one, int other);
    void step_down(int leader);

    const batch_counts& batches() const noexcept { return batches_; }
    /// Whose session it is.
    void belongs_to(std::int64_t session, const std::string& client) {
        clients_[session] = client;
        ++connections_[session];
    }
    /// Clients delete no directories but those of keyed locks, and containers that they have made.
    bool only_own_directories = false;

    // The truth.
    const tree& truth() const noexcept { return truth_; }
    /// How a session's node of this path has ended.
    struct ended {
        std::int64_t zxid = 0; ///< 0: it has not
        bool by_hand = false;  ///< an administrator deleted it, or killed the session
    };
    ended end_of(const std::string& path, std::int64_t owner) const;
    /// The node that replaced this one in one transaction, if there is one.
    std::string now_at(const std::string& path, std::int64_t owner) const;
    /// A short name for a session, to print.
    std::string name_of(std::int64_t session) const;
    /// The watches, with their sessions.
    std::string watches() const;
    /// The transactions so far, from this one on.
    std::string story_of(std::size_t index) const;

    // Faults. Each of them ends by itself.
    void cut_off(int server, duration how_long, bool at_once);
    void restart(int server, duration down);
    void stall_requests(int server, duration how_long);
    /// All servers are stopped, and start again as new ones; nothing shortens the time.
    void lose_data(duration down);
    /// False if there is no leader at the moment.
    bool administrator(const request& r);
    void kill(std::int64_t session);
    /// Deletes the empty containers, as the leader does from time to time.
    void reap();
    void heal();
    int leader() const; ///< that a majority follows; -1 if there is none

private:
    struct link {
        explicit link(timeline& time) : way(time) {}
        channel way;
        bool open = false; ///< else what is sent goes nowhere
    };

    duration latency(duration usual);
    link& between(int from, int to) { return *links_.at({from, to}); }
    void part(int one, int other);
    bool reachable(int number) const;
    server* established() const;
    void lose_leader(int number);
    void stop_following(int leader);
    void pulse();
    void consider_election();
    void elect();
    void check_order(const txn& t);

    timeline& time_;
    dice& chance_;
    ensemble_options options_;
    std::vector<std::unique_ptr<server>> servers_;
    std::map<std::pair<int, int>, std::unique_ptr<link>> links_;
    std::vector<time_point> cut_until_, down_until_;
    time_point replaced_until_{}; ///< while servers are made anew
    int epoch_ = 0;
    bool election_under_way_ = false;
    std::int64_t last_session_ = 0;
    std::uint64_t last_connection_ = 0;
    std::vector<std::weak_ptr<socket>> sockets_;

    tree truth_;
    std::vector<logged> history_;
    std::map<std::pair<std::string, std::int64_t>, ended> ends_;
    std::map<std::pair<std::string, std::int64_t>, std::string> successors_;
    std::map<std::int64_t, std::string> clients_;                          ///< by session
    std::map<std::int64_t, int> connections_;                              ///< by session
    std::map<std::pair<std::int64_t, std::string>, std::string> youngest_; ///< ids, by directory
    std::map<std::string, std::set<std::string>> makers_; ///< of the containers: clients
    std::set<std::int64_t> killed_;
    batch_counts batches_;
};

} // namespace paddock::test::sim
