// The paddock side of the interop tests: contenders on one client, on one thread. Its arguments are
// those of all peers (peers.hpp); `kind` is a name of the table `kinds`.

#include "journal.hpp"

#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

using namespace paddock;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

using arguments = std::map<std::string, std::string>;

/// About as long as it takes to come to the head of the line, so that both happens.
constexpr auto patience = 5ms;

asio::awaitable<void> pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

/// How one contender takes what the others want too. The guard is empty if it has given up.
struct way {
    int weight = 1;
    std::function<asio::awaitable<guard>(int round)> take;
};

/// In all the ways that a lock can be asked for, one after the other.
asio::awaitable<guard> take_mutex(mutex& m, int round) {
    guard hold;
    switch (round % 6) {
    case 1:
        hold = co_await m.try_lock_for(patience);
        break;
    case 3:
        hold = co_await m.try_lock();
        break;
    case 5: {
        auto first = co_await (m.lock() || pause(patience));
        if (first.index() == 0) hold = std::move(std::get<0>(first));
        break;
    }
    default:
        hold = co_await m.lock();
    }
    co_return hold;
}

way mutex_way(const client& zk, const arguments& given) {
    mutex_options options;
    options.persistent_parents = given.contains("persistent_parents");
    const auto lock = std::make_shared<mutex>(zk, given.at("path"), options);
    return {1, [lock](int round) { return take_mutex(*lock, round); }};
}

const std::map<std::string, std::function<way(const client&, const arguments&)>> kinds = {
    {"mutex", &mutex_way},
};

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

    asio::awaitable<void> contender(client& zk, int number) {
        const auto who = name_ + '.' + std::to_string(number);
        const bool loops = given_.at("mode") == "loop";
        const auto one = kinds.at(given_.at("kind"))(zk, given_);
        for (int round = 0; !told_to_stop(); ++round) {
            guard hold = co_await one.take(round);
            if (!hold) {
                journal_.note("gave-up", who);
                continue;
            }
            journal_.in(who, one.weight, hold.path());
            if (loops) co_await pause(round % 3 * 1ms);
            while (!loops && !told_to_stop())
                co_await pause(patience);
            if (!hold.valid()) throw std::runtime_error(who + " has lost its hold");
            journal_.note("out", who);
            if (round % 2 == 0) co_await hold.unlock(); // else in the background
        }
    }

    const arguments given_;
    const std::string name_;
    const std::filesystem::path stop_;
    test::journal_writer journal_;
};

} // namespace

int main(int argc, char** argv) {
    arguments given;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto middle = word.find('=');
        given[word.substr(0, middle)] = word.substr(middle + 1);
    }
    asio::io_context io(1);
    peer p(given);
    asio::co_spawn(io, p.run(), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    try {
        io.run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
