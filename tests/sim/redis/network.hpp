#pragma once

#include "sim/event_loop.hpp"
#include "sim/timeline.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test::sim {

class redis_link;
class redis_server;

/// The simulated servers, and all connections to them.
class redis_network {
public:
    redis_network(timeline& time, dice& chance, std::size_t servers);
    ~redis_network();

    timeline& time() noexcept { return time_; }
    dice& chance() noexcept { return chance_; }
    redis_server& server(std::size_t n) { return *servers_.at(n); }
    std::size_t size() const noexcept { return servers_.size(); }
    /// Of one message.
    duration delay();
    const std::vector<std::unique_ptr<redis_link>>& links() const noexcept { return links_; }
    redis_link& make_link(std::shared_ptr<event_loop> at);
    /// `10.0.0.1` is the first server, and so on.
    redis_server* server_at(const std::string& address);

    duration latency{std::chrono::milliseconds(1)};
    bool names_fail = false;
    int slow_one_in = 0;  ///< messages; zero: none
    int split_one_in = 0; ///< writes and reads that are cut into pieces

private:
    timeline& time_;
    dice& chance_;
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<redis_link>> links_; ///< also those that are gone
};

/// One TCP connection between a process and a server. Bytes keep their order, and only within one
/// connection and direction.
class redis_link {
public:
    redis_link(redis_network& in, std::uint64_t number, std::shared_ptr<event_loop> at);

    // The client's end.
    void connect(const std::string& address, stream::done connected);
    void read(stream::received call);
    void write(std::string bytes, stream::done written);
    void close();
    const event_loop& at() const noexcept { return *loop_; }
    bool open() const noexcept { return open_; }
    /// Nothing was lost on it.
    bool healthy() const noexcept { return open_ && !broken_ && !deaf_server_ && !deaf_client_; }

    // The server's end.
    std::uint64_t number() const noexcept { return number_; }
    /// Its process knows of this connection.
    bool accepted() const noexcept { return accepted_; }
    void reply(std::string bytes);
    /// The server closes its end.
    void hang_up();

    // Faults.
    /// The connection breaks. What has left may still arrive at the server.
    void break_off(bool what_has_left_arrives);
    /// From now on bytes are lost, and neither end hears of that.
    void go_silent(bool to_server, bool to_client);
    /// Nothing arrives before then.
    void hold_until(time_point when, bool to_server);

private:
    void arrive(std::string bytes);
    void client_hears(boost::system::error_code why);
    void look();
    void happen(unique_function<void()> what);
    template <typename Piece>
    void split(std::string bytes, Piece piece);

    redis_network& net_;
    const std::uint64_t number_;
    std::shared_ptr<event_loop> loop_;
    redis_server* server_ = nullptr;
    channel to_server_, to_client_;
    bool open_ = true;
    bool accepted_ = false;
    bool deaf_server_ = false, deaf_client_ = false;
    bool look_posted_ = false;
    boost::system::error_code broken_;
    std::string inbound_;
    stream::done connected_, written_;
    stream::received read_;
};

/// The environment of a client of Redis servers in this process.
std::unique_ptr<environment> make_redis_environment(redis_network& in,
                                                    const std::shared_ptr<event_loop>& at);

} // namespace paddock::test::sim
