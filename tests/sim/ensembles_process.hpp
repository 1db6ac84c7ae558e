#pragma once

// The sample itself; its main() ends without a return.
#define main main_of_the_sample
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
#include "../../samples/20_many_ensembles.cpp"
#pragma GCC diagnostic pop
#undef main

#include "session/make_core.hpp"
#include "sim/c_client.hpp"
#include "sim/host.hpp"
#include "sim/timeline.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::test::sim {

using ensembles_by_name = std::map<std::string, std::unique_ptr<ensemble>>;

/// A process that locks keys as the sample does, with a client of each ensemble that it uses. Its
/// coroutines run in an event loop of their own.
class ensembles_process {
public:
    ensembles_process(ensembles_by_name& all, timeline& time, dice& chance, std::string called)
        : name(std::move(called)), all_(all), time_(time), chance_(chance) {
        io_->get_executor().on_work_started();
        std::map<std::string, lock_family> locks_in;
        for (const auto& [ensemble, servers] : all)
            locks_in.emplace(ensemble, lock_family(client_of(ensemble), "/locks"));
        locks_ = std::make_unique<many_ensembles>(
            many_ensembles{client_of("home"), std::move(locks_in)});
    }
    ~ensembles_process() { die(); }
    ensembles_process(const ensembles_process&) = delete;
    ensembles_process& operator=(const ensembles_process&) = delete;

    many_ensembles& locks() { return *locks_; }

    client& client_of(const std::string& ensemble) {
        auto& made = connections_[ensemble];
        if (made.zk) return *made.zk;
        auto& servers = *all_.at(ensemble);
        made.where = std::make_shared<host>(servers, name + " at " + ensemble);
        made.where->hasty = chance_.one_in(2);
        paddock::detail::world outside{
            make_environment(made.where),
            [here = made.where] { return std::make_unique<c_client>(here); },
            &timeline::latest_now,
            {name, 1000}};
        client_options options;
        options.session_timeout = std::chrono::seconds(4);
        options.log = [&time = time_, here = made.where->name](std::string_view what) {
            time.note([&] { return here + ": " + std::string(what); });
        };
        const auto list = servers.size() == 1 ? "10.0.0.1" : "10.0.0.1,10.0.0.2,10.0.0.3";
        made.zk = std::make_unique<client>(
            paddock::detail::access::make<client>(paddock::detail::make_core(
                io_->get_executor(), std::move(outside), list, std::move(options))));
        return *made.zk;
    }

    void begin(asio::awaitable<void> what) {
        asio::co_spawn(*io_, std::move(what), [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    }
    /// After each event of the timeline.
    void poll() {
        if (io_ && paused_until_ <= time_.now()) io_->poll();
    }
    /// It ends early only with the loss of the lock under which it is called.
    asio::awaitable<void> sleep(duration how_long) {
        using timer = asio::steady_timer;
        const auto never = std::make_shared<timer>(*io_, timer::time_point::max());
        time_.after(how_long, [weak = std::weak_ptr(never)] {
            if (const auto self = weak.lock()) self->cancel();
        });
        error_code ended;
        co_await never->async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }

    void pause(duration how_long) {
        time_.note([&] { return name + " is paused"; });
        paused_until_ = std::max(paused_until_, time_.now() + how_long);
        for (auto& [ensemble, one] : connections_)
            one.where->pause(how_long);
        time_.at(paused_until_, [] {}); // a poll() follows
    }
    void lose_a_connection() { any().where->lose_connection(); }
    void hold_a_connection(duration how_long) { any().where->hold_connection(how_long); }
    void recover() {
        paused_until_ = {};
        for (auto& [ensemble, one] : connections_)
            one.where->recover();
    }
    /// As kill -9: the sessions live on until they time out.
    void die() {
        if (dead()) return;
        for (auto& [ensemble, one] : connections_)
            one.where->die();
        locks_.reset(); // has a timer
        io_.reset();
        for (auto& [ensemble, one] : connections_) {
            one.zk.reset();
            one.where->end();
        }
    }
    bool dead() const { return !io_; }

    const std::string name;

private:
    struct connection {
        std::shared_ptr<host> where;
        std::unique_ptr<client> zk;
    };
    connection& any() {
        return std::next(connections_.begin(), chance_.below(static_cast<int>(connections_.size())))
            ->second;
    }

    ensembles_by_name& all_;
    timeline& time_;
    dice& chance_;
    std::unique_ptr<asio::io_context> io_ = std::make_unique<asio::io_context>(1);
    std::map<std::string, connection> connections_;
    std::unique_ptr<many_ensembles> locks_;
    time_point paused_until_{};
};

} // namespace paddock::test::sim
