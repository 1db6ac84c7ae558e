// One process of the chaos test: contenders of some locks on one client, on one thread, until told
// to stop. They write down how long their guards were valid. Arguments are words `key=value`:
//
//     servers     for the client
//     folder      holds the journal NAME.holds (hold_journal.hpp), NAME.stop when it shall come to
//                 an end, and NAME.done when it has
//     name        of this process
//     seed        of its random decisions
//
// and those of the system's locks (zk_locks.cpp, redis_locks.cpp).

#include "locks.hpp"

#include <paddock/boot_clock.hpp>
#include <paddock/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

using std::chrono::milliseconds;
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

std::int64_t now() { return boot_clock::now().time_since_epoch().count(); }

class worker {
public:
    explicit worker(const arguments& given)
        : given_(given)
        , name_(given.at("name"))
        , folder_(given.at("folder"))
        , journal_(folder_ / (name_ + ".holds"))
        , random_(std::stoul(given.at("seed"))) {}

    asio::awaitable<void> run() {
        const auto all = open_locks(co_await asio::this_coro::executor, given_);
        int number = 0;
        std::optional<asio::awaitable<void>> contenders;
        for (const auto& how : all->ways()) {
            auto next = contender(how, number++);
            contenders = contenders ? std::move(*contenders) && std::move(next) : std::move(next);
        }
        co_await std::move(*contenders);
        co_await all->close();
        std::ofstream(folder_ / (name_ + ".done"));
    }

private:
    bool told_to_stop() const { return std::filesystem::exists(folder_ / (name_ + ".stop")); }
    int chance(int less_than) {
        return std::uniform_int_distribution<int>(0, less_than - 1)(random_);
    }

    asio::awaitable<void> contender(way how, int number) {
        how.form.contender = name_ + '.' + std::to_string(number);
        while (!told_to_stop()) {
            guard hold;
            if (chance(5) == 0)
                hold = co_await unless_offline(how.wait_for(milliseconds(chance(500))));
            else
                hold = co_await how.wait();
            if (hold) co_await stay(std::move(hold), how.form, any_up_to(how.longest_stay));
            co_await pause(any_up_to(how.longest_rest));
        }
    }

    /// Nothing is held either when the time has run out without a connection.
    static asio::awaitable<guard> unless_offline(asio::awaitable<guard> tries) {
        try {
            co_return co_await std::move(tries);
        } catch (const system_error& error) {
            if (error.code() != errc::not_connected) throw;
        }
        co_return guard();
    }

    /// The journal never says more than has been seen: every time is read before valid() is asked.
    asio::awaitable<void> stay(guard hold, hold_record record, milliseconds length) {
        record.token = hold.fencing_token();
        record.from = now();
        if (!look(hold, record, record.from)) co_return; // it is over already
        const auto place = journal_.add(record);
        const auto end = record.from + std::chrono::nanoseconds(length).count();
        while (record.until < end) {
            co_await pause(1ms);
            if (!look(hold, record, now())) {
                record.end = fate::lost;
                journal_.write_over(place, record);
                co_return;
            }
            journal_.write_over(place, record);
        }
        record.released = now();
        record.end = fate::released;
        journal_.write_over(place, record);
        if (chance(2) == 0) co_await unlock(hold);
    }

    static bool look(const guard& hold, hold_record& record, std::int64_t at) {
        const auto promise = hold.valid_until().time_since_epoch().count();
        if (!hold.valid()) return false;
        record.until = at;
        record.promise = promise;
        return true;
    }

    milliseconds any_up_to(milliseconds longest) {
        return milliseconds(chance(static_cast<int>(longest.count()) + 1));
    }

    static asio::awaitable<void> unlock(guard& hold) {
        const auto [error] = co_await hold.unlock(no_throw);
        if (error && error != errc::lock_lost && error != errc::outcome_unknown)
            throw system_error(error, "unlock");
    }

    static asio::awaitable<void> pause(milliseconds time) {
        asio::steady_timer timer(co_await asio::this_coro::executor, time);
        co_await timer.async_wait(asio::use_awaitable);
    }

    const arguments given_;
    const std::string name_;
    const std::filesystem::path folder_;
    hold_journal journal_;
    std::mt19937_64 random_;
};

} // namespace

int main(int argc, char** argv) { return run_program<worker>(argc, argv); }
