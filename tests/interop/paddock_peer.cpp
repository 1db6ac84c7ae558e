// The paddock side of the interop tests: contenders on one client, on one thread. Its arguments are
// those of all peers (peers.hpp); paddock_ways.cpp lists the kinds.

#include "journal.hpp"
#include "paddock_ways.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace paddock::test;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

class peer {
public:
    explicit peer(const arguments& given)
        : given_(given)
        , name_(given.at("name"))
        , stop_(std::filesystem::path(given.at("folder")) / (name_ + ".stop"))
        , journal_(std::filesystem::path(given.at("folder")) / "journal") {}

    asio::awaitable<void> run() {
        client_options options;
        options.session_timeout = std::chrono::milliseconds(std::stoi(given_.at("session")));
        client zk(co_await asio::this_coro::executor, given_.at("server"), options);
        auto all = contender(zk, 0);
        for (int i = 1; i < std::stoi(given_.at("contenders")); ++i)
            all = std::move(all) && contender(zk, i);
        co_await std::move(all);
        co_await zk.close();
        journal_.note("done", name_);
    }

private:
    bool told_to_stop() const { return std::filesystem::exists(stop_); }

    asio::awaitable<void> stay(int round) {
        const bool loops = given_.at("mode") == "loop";
        if (loops) co_await pause(round % 3 * 1ms);
        while (!loops && !told_to_stop())
            co_await pause(patience);
    }

    asio::awaitable<void> contender(client& zk, int number) {
        const auto contender = name_ + '.' + std::to_string(number);
        const auto how = way_of(given_, zk, number);
        for (int round = 0; !told_to_stop(); ++round) {
            guard hold = co_await take(how, round);
            if (!hold) {
                journal_.note("gave-up", contender);
                continue;
            }
            journal_.in(contender, how.weight, hold.path());
            co_await stay(round);
            if (how.downgrades && round % 4 == 0) {
                journal_.note("out", contender);
                co_await hold.downgrade();
                journal_.in(contender, 1, hold.path());
                co_await stay(round + 1);
            }
            if (!hold.valid()) throw std::runtime_error(contender + " has lost its hold");
            journal_.note("out", contender);
            if (round % 2 == 0) co_await hold.unlock(); // else in the background
        }
    }

    const arguments given_;
    const std::string name_;
    const std::filesystem::path stop_;
    journal_writer journal_;
};

} // namespace

int main(int argc, char** argv) { return run_program<peer>(argc, argv); }
