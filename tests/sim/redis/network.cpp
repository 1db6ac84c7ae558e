// The seam of the outside world for a client of Redis: streams, in virtual time.
#include "sim/redis/network.hpp"

#include "sim/redis/server.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace paddock::test::sim {

using boost::system::error_code;
namespace error = boost::asio::error;

redis_network::redis_network(timeline& time, dice& chance, std::size_t servers)
    : time_(time), chance_(chance) {
    for (std::size_t n = 0; n < servers; ++n)
        servers_.push_back(std::make_unique<redis_server>(*this, n));
}

redis_network::~redis_network() = default;

duration redis_network::delay() {
    const bool slow = slow_one_in > 0 && chance_.one_in(slow_one_in);
    return chance_.between(latency / 2, slow ? 50 * latency : latency);
}

redis_link& redis_network::make_link(std::shared_ptr<event_loop> at) {
    return *links_.emplace_back(std::make_unique<redis_link>(*this, links_.size(), std::move(at)));
}

redis_server* redis_network::server_at(const std::string& address) {
    const auto n = static_cast<std::size_t>(std::atoi(address.c_str() + address.rfind('.') + 1));
    return n >= 1 && n <= servers_.size() ? servers_[n - 1].get() : nullptr;
}

redis_link::redis_link(redis_network& in, std::uint64_t number, std::shared_ptr<event_loop> at)
    : net_(in)
    , number_(number)
    , loop_(std::move(at))
    , to_server_(in.time())
    , to_client_(in.time()) {}

/// Cuts the bytes at any place.
template <typename Piece>
void redis_link::split(std::string bytes, Piece piece) {
    while (bytes.size() > 1 && net_.split_one_in > 0 && net_.chance().one_in(net_.split_one_in)) {
        const auto size =
            1 + static_cast<std::size_t>(net_.chance().below(static_cast<int>(bytes.size()) - 1));
        piece(bytes.substr(0, size));
        bytes.erase(0, size);
    }
    piece(std::move(bytes));
}

/// On the client's strand, while the client's end is open.
void redis_link::happen(unique_function<void()> what) {
    loop_->happen([this, what = std::move(what)]() mutable {
        if (open_) what();
    });
}

void redis_link::connect(const std::string& address, stream::done connected) {
    server_ = net_.server_at(address);
    connected_ = std::move(connected);
    to_server_.send(net_.delay(), [this] {
        if (!server_ || server_->unreachable() || deaf_server_) return; // the packets are lost
        accepted_ = server_->accept(*this);
        if (deaf_client_) return;
        to_client_.send(net_.delay(), [this, here = accepted_] {
            const auto why = here ? broken_ : error::connection_refused;
            happen([this, why] {
                if (auto call = std::exchange(connected_, {})) call(why);
            });
        });
    });
}

void redis_link::read(stream::received call) {
    read_ = std::move(call);
    look();
}

void redis_link::look() {
    if (!read_ || (inbound_.empty() && !broken_) || std::exchange(look_posted_, true)) return;
    happen([this] {
        look_posted_ = false;
        if (!read_) return;
        const auto call = std::make_unique<stream::received>(std::exchange(read_, {}));
        auto size = inbound_.size();
        if (size > 1 && net_.split_one_in > 0 && net_.chance().one_in(net_.split_one_in))
            size = 1 + static_cast<std::size_t>(net_.chance().below(static_cast<int>(size)));
        const auto bytes = inbound_.substr(0, size);
        inbound_.erase(0, size);
        (*call)(bytes.empty() ? broken_ : error_code(), bytes);
    });
}

void redis_link::write(std::string bytes, stream::done written) {
    written_ = std::move(written);
    if (!deaf_server_ && !broken_)
        split(std::move(bytes), [this](std::string piece) {
            to_server_.send(net_.delay(), [this, piece = std::move(piece)]() mutable {
                if (!deaf_server_) arrive(std::move(piece));
            });
        });
    happen([this] {
        if (auto call = std::exchange(written_, {})) call(broken_);
    });
}

void redis_link::arrive(std::string bytes) {
    if (accepted_) server_->receive(*this, std::move(bytes));
}

void redis_link::close() {
    if (!std::exchange(open_, false)) return;
    to_client_.lose();
    connected_ = {};
    written_ = {};
    read_ = {};
    if (broken_ || deaf_server_) return;
    to_server_.send(net_.delay(), [this] {
        if (std::exchange(accepted_, false)) server_->lose(*this);
    });
}

void redis_link::reply(std::string bytes) {
    if (deaf_client_ || !open_) return;
    split(std::move(bytes), [this](std::string piece) {
        to_client_.send(net_.delay(), [this, piece = std::move(piece)] {
            if (deaf_client_ || !open_ || broken_) return;
            inbound_ += piece;
            look();
        });
    });
}

void redis_link::hang_up() {
    accepted_ = false;
    to_server_.lose();
    if (deaf_client_) return;
    to_client_.send(net_.delay(), [this] { client_hears(error::eof); });
}

void redis_link::client_hears(error_code why) {
    if (!open_ || broken_) return;
    broken_ = why;
    look();
    if (connected_)
        happen([this] {
            if (auto call = std::exchange(connected_, {})) call(broken_);
        });
}

void redis_link::break_off(bool what_has_left_arrives) {
    to_client_.lose();
    if (!what_has_left_arrives) to_server_.lose();
    to_server_.send(net_.delay(), [this] {
        if (std::exchange(accepted_, false)) server_->lose(*this);
    });
    client_hears(error::connection_reset);
}

void redis_link::go_silent(bool to_server, bool to_client) {
    deaf_server_ = deaf_server_ || to_server;
    deaf_client_ = deaf_client_ || to_client;
}

void redis_link::hold_until(time_point when, bool to_server) {
    (to_server ? to_server_ : to_client_).hold_until(when);
}

namespace {

class virtual_stream final : public tcp_stream {
public:
    explicit virtual_stream(redis_link& of) : link_(of) {}
    ~virtual_stream() override { close(); }

    void connect(const std::string& address, std::uint16_t, done connected) override {
        link_.connect(address, std::move(connected));
    }
    void read_some(received call) override { link_.read(std::move(call)); }
    bool write(std::string bytes, done written) override {
        link_.write(std::move(bytes), std::move(written));
        return false;
    }
    void close() noexcept override { link_.close(); }
    /// What is under way may arrive all the same.
    void abort() noexcept override { close(); }

private:
    redis_link& link_;
};

class redis_environment final : public loop_environment {
public:
    redis_environment(redis_network& in, const std::shared_ptr<event_loop>& at)
        : loop_environment(at), net_(in), loop_(at) {}

    std::chrono::system_clock::time_point wall_clock() const override {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                net_.time().now().time_since_epoch()));
    }
    std::unique_ptr<readiness> make_readiness(descriptor) override {
        throw std::logic_error("this network has only streams");
    }
    std::unique_ptr<tcp_stream> make_stream() override {
        return std::make_unique<virtual_stream>(net_.make_link(loop_));
    }
    /// `redis1` is the first server, and so on.
    void resolve(const std::string& host, resolved done) override {
        net_.time().after(net_.delay(), [this, host, here = loop_, alive = std::weak_ptr(wanted_),
                                         done = std::move(done)]() mutable {
            if (alive.expired()) return;
            const bool fails = net_.names_fail && net_.chance().one_in(2);
            here->happen([host, fails, alive, done = std::move(done)]() mutable {
                if (alive.expired()) return;
                if (fails) return done(error::host_not_found, {});
                done({}, {"10.0.0." + host.substr(5)});
            });
        });
    }
    void stop_resolving() noexcept override { wanted_ = std::make_shared<const bool>(true); }

private:
    redis_network& net_;
    std::shared_ptr<event_loop> loop_;
    std::shared_ptr<const bool> wanted_ = std::make_shared<const bool>(true);
};

} // namespace

std::unique_ptr<environment> make_redis_environment(redis_network& in,
                                                    const std::shared_ptr<event_loop>& at) {
    return std::make_unique<redis_environment>(in, at);
}

} // namespace paddock::test::sim
