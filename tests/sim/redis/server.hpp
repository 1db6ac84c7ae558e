#pragma once

#include "redis/rules/resp.hpp"
#include "sim/redis/model.hpp"
#include "sim/redis/network.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test::sim {

/// One simulated server: speaks RESP with its clients, and runs the three scripts.
class redis_server {
public:
    /// An error, which these scripts get, and what it leaves.
    struct refusal {
        const char* text;
        std::set<redis::rules::script> of;
        bool is_done = false; ///< the script is executed, and the error comes after that
    };

    redis_server(redis_network& in, std::size_t number);

    // From connections.
    bool accept(redis_link& by);
    void receive(redis_link& from, std::string bytes);
    void lose(redis_link& of);
    /// Packets to it are lost.
    bool unreachable() const noexcept { return unreachable_until_ > now(); }

    // Faults.
    void pause(duration time);
    /// Its process ends, and begins again with these data.
    void restart(const redis_model::data& with, duration down, duration loading);
    /// It follows another master for a while, and then has the data of that one.
    void follow(const redis_model::data& of, duration time);
    /// It answers scripts with an error for a while.
    void refuse_scripts(const refusal& how, duration time);
    void flush_scripts() { known_scripts_ = {}; }
    void cut_off(duration time) { unreachable_until_ = now() + time; }
    /// Its faults end.
    void recover();

    redis_model& model() noexcept { return model_; }
    const std::string& name() const noexcept { return name_; }

    std::string password;
    std::size_t commands = 0; ///< that were scripts

private:
    using words = std::vector<redis::rules::reply>;
    /// A connection as the server sees it.
    struct peer {
        redis_link* link = nullptr;
        redis::rules::reply_reader reader{};
        std::set<std::string> channels{};
        std::set<std::string> released{}; ///< values
        bool authenticated = false;
    };

    time_point now() const { return net_.time().now(); }
    bool stopped() const noexcept { return paused_until_ > now(); }
    void work();
    std::string execute(peer& by, const words& command);
    std::string info(const std::string& section) const;
    std::string marker() const;
    std::string script(const words& command);
    std::string run(peer& by, const words& command, bool by_text);
    std::string call(peer& by, std::size_t which, const words& command);
    std::string subscribe(peer& by, const std::string& verb, const std::string& name);
    std::size_t publish(const std::string& channel,
                        const std::string& value); ///< returns how many hear it
    void note(const std::string& lock, const char* what, const std::string& value,
              const redis_model::answer& said);

    redis_network& net_;
    const std::size_t number_;
    const std::string name_;
    redis_model model_;
    refusal refusal_{};
    std::map<std::uint64_t, peer> peers_;                     ///< by the number of the connection
    std::deque<std::pair<std::uint64_t, std::string>> inbox_; ///< while it is stopped
    std::array<bool, redis::rules::script_count> known_scripts_{};
    time_point paused_until_{}, down_until_{}, loads_until_{}, follows_until_{}, refuses_until_{},
        unreachable_until_{};
};

} // namespace paddock::test::sim
