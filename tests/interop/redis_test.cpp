// paddock's mutex on Redis and redis-py's Lock, alive, at one key of a real server.
//
//     interop_redis [--seconds=N]    contend for so long, or longer, and doctest's options

#define DOCTEST_CONFIG_IMPLEMENT

#include "journal.hpp"
#include "support/process.hpp"
#include "support/redis_harness.hpp"
#include "support/temporary_folder.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

constexpr int contenders_of_paddock = 6, contenders_of_redis_py = 3;
constexpr int enough = 300;       ///< grants of each side
constexpr int enough_for_one = 5; ///< of each contender
auto contention = 0s;             ///< at least

/// A folder with the journal and a counter, and perhaps a program with redis-py.
struct shared_room {
    explicit shared_room(redis_scene& at) : s(at) { std::ofstream(counter()) << 0; }

    std::filesystem::path counter() const { return folder.path() / "counter"; }

    void start_peer(const std::string& mode, int contenders, const std::string& seconds) {
        const std::string is = folder.path().string();
        peer = std::make_unique<child_process>(
            std::vector<std::string>{
                REDIS_PYTHON, REDIS_PY_PEER, "port=" + std::to_string(s.ports[0]),
                "database=" + database_of(1), "lock=" + s.name, "folder=" + is, "name=python",
                "contenders=" + std::to_string(contenders), "mode=" + mode, "seconds=" + seconds},
            is, is + "/log");
    }
    std::string said() const {
        std::ifstream file(folder.path() / "log");
        return std::string(std::istreambuf_iterator<char>(file), {});
    }
    verdict so_far() const { return judge(read_journal(folder.path() / "journal"), 1); }
    int grants_of(const std::string& name) const { return so_far().processes[name].granted; }
    /// Nobody starves.
    bool all_are_served() const {
        std::map<std::string, int> grants;
        for (const auto& each : read_journal(folder.path() / "journal"))
            if (each.what == "in") ++grants[each.contender];
        return grants.size() == contenders_of_paddock + contenders_of_redis_py &&
               std::all_of(grants.begin(), grants.end(),
                           [](const auto& one) { return one.second >= enough_for_one; });
    }
    bool inside(const std::string& name) const {
        const auto now = so_far();
        return !now.inside.empty() && now.inside.begin()->first.starts_with(name);
    }
    /// Loses a step if somebody else counts at the same time.
    int count() const {
        int number = 0;
        std::ifstream(counter()) >> number;
        std::ofstream(counter()) << number + 1;
        return number + 1;
    }

    redis_scene& s;
    temporary_folder folder;
    journal_writer journal{folder.path() / "journal"};
    std::unique_ptr<child_process> peer;
    bool stop = false;
    int at_work = 0;
};

/// One contender of paddock: waits for the lock, or asks for it again and again.
asio::awaitable<void> contend(shared_room& room, redis::mutex lock, int number, bool waits) {
    ++room.at_work;
    const auto name = "paddock." + std::to_string(number);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int round = 0; !room.stop; ++round) {
        guard held;
        if (waits)
            held = co_await lock.try_lock_for(2s);
        else
            held = co_await lock.try_lock();
        if (held) {
            CHECK(held.valid());
            room.journal.note("in", name + " 1 -");
            room.count();
            room.journal.note("out", name);
            if (round % 2 == 0) co_await held.unlock(); // else in the background
        } else {
            room.journal.note("gave-up", name);
        }
        held = guard();
        timer.expires_after(std::chrono::milliseconds(1 + number));
        co_await timer.async_wait(asio::use_awaitable);
    }
    --room.at_work;
}

} // namespace

CO_TEST("paddock and redis-py's Lock exclude each other") {
    test.time_limit(contention + 90s);
    const auto until = std::chrono::steady_clock::now() + contention;
    redis_scene s(executor, 1);
    redis::client other(executor, url_of(s.ports), new_servers());
    co_await s.client.connect();
    co_await other.connect();
    shared_room room(s);
    room.start_peer("loop", contenders_of_redis_py, "10");
    for (int n = 0; n < 4; ++n)
        asio::co_spawn(executor, contend(room, s.lock, n, true), asio::detached);
    for (int n = 4; n < contenders_of_paddock; ++n)
        asio::co_spawn(executor, contend(room, redis::mutex(other, s.name), n, false),
                       asio::detached);
    co_await eventually(
        [&] {
            REQUIRE_MESSAGE(!room.peer->wait_for(0ms), room.said());
            if (std::chrono::steady_clock::now() < until) return false;
            return room.grants_of("paddock") >= enough && room.grants_of("python") >= enough &&
                   room.all_are_served();
        },
        contention + 60s);
    room.stop = true;
    std::ofstream(room.folder.path() / "python.stop");
    co_await eventually([&] { return room.at_work == 0 && room.peer->wait_for(0ms); });
    const auto all = room.so_far();
    for (const auto& complaint : all.complaints)
        FAIL_CHECK(complaint);
    CHECK_MESSAGE(room.so_far().processes["python"].done, room.said());
    CHECK(room.count() == all.granted() + 1);
    MESSAGE("paddock: " << room.grants_of("paddock") << ", redis-py: " << room.grants_of("python"));
}

CO_TEST("the lock of a redis-py program that dies is granted when its key expires") {
    redis_scene s(executor, 1);
    shared_room room(s);
    room.start_peer("hold", 1, "2");
    co_await eventually([&] { return room.inside("python"); });
    const auto a = ask(s.lock);
    const auto left = std::chrono::milliseconds((*s.call[0])({"PTTL", s.name}).number);
    const auto asked = std::chrono::steady_clock::now();
    room.peer.reset(); // as by a power cut
    co_await granted(a);
    CHECK(a->ended - asked >= left - 100ms); // the clock of Redis is coarse
    co_await unlocked(a);
}

CO_TEST("redis-py waits for a hold of paddock that is renewed, and is granted the lock after it") {
    redis_scene s(executor, 1, new_servers(1500ms * time_scale));
    const auto a = ask(s.lock);
    co_await granted(a);
    shared_room room(s);
    room.start_peer("loop", 1, "10");
    const auto until = held(a).valid_until() + 1s;
    co_await eventually([&] { return held(a).valid_until() > until; });
    CHECK(room.grants_of("python") == 0);
    co_await unlocked(a);
    co_await eventually([&] { return room.grants_of("python") > 0; });
}

int main(int argc, char** argv) {
    const std::string longer = "--seconds=";
    const std::string word = argc > 1 ? argv[1] : "";
    if (word.starts_with(longer))
        contention = std::chrono::seconds(std::stoi(word.substr(longer.size())));
    return doctest::Context(argc, argv).run();
}
