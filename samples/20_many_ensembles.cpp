// A lock for each key, on one of many ensembles, while their list changes: see the guide, too.
//     many_ensembles [host:port,… [host:port,…]]
// The node /stage of one of them, the home, has the lists that count: "1 a b", then also
// "2 a b c", then only that. A key is locked in its place of each list, the older one first.
#include <paddock/paddock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/uuid/name_generator_sha1.hpp>

#include <iostream>
#include <map>
#include <sstream>

namespace asio = boost::asio;
constexpr auto with_error = asio::as_tuple(asio::use_awaitable); // sessions and waits end, too

/// Rendezvous hashing: a new ensemble takes keys from all others, which exchange none.
std::string place_of(const std::string& key, const std::string& list) {
    const boost::uuids::name_generator_sha1 hash(boost::uuids::ns::url());
    std::map<boost::uuids::uuid, std::string> places;
    std::istringstream names(list);
    for (std::string name; names >> name;)
        places[hash(name + ' ' + key)] = name;
    return places.rbegin()->second;
}

/// The tokens of a hold, by the number of the list. A store keeps those of the last claim.
using fence = std::map<int, paddock::fencing_token>;
bool not_older(const fence& mine, const fence& stored) {
    for (const auto& [list, token] : mine) // only tokens of one list compare
        if (stored.contains(list)) return token >= stored.at(list);
    return stored.empty() || mine.begin()->first > stored.begin()->first;
}

/// The operator's step, one at a time: waits until no process uses a stage before the present one.
asio::awaitable<void> publish(paddock::client& home, std::string lists) {
    const auto now = co_await home.exists("/stage");
    const paddock::shared_mutex before(home, "/used/" + std::to_string(now.version - 1));
    const paddock::guard unused = co_await before.lock();
    co_await home.set("/stage", lists, now.version);
}

struct many_ensembles {
    asio::awaitable<void> follow() { // for as long as there are calls
        for (;;) {
            paddock::watch changed(home);
            const auto found = co_await home.get("/stage", changed);
            const paddock::shared_mutex use(home, "/used/" + std::to_string(found.stat.version));
            paddock::guard shared = co_await use.lock_shared();
            const auto again = co_await home.exists("/stage");
            if (again.version != found.stat.version) continue; // perhaps nobody waits for us
            used = std::make_shared<paddock::guard>(std::move(shared));
            lists = found.data;
            begun.cancel();
            co_await paddock::first_of(changed.event(with_error), used->lost(with_error));
            if (!used->valid()) used.reset(); // back to the present stage
        }
    }
    /// Waits so long for the stage and for each lock. False: ask again. Throws as with() does.
    asio::awaitable<bool> try_with(std::string key, std::chrono::seconds limit, auto work) {
        asio::steady_timer late(home.get_executor(), limit);
        while (!used && late.expiry() > std::chrono::steady_clock::now())
            co_await paddock::first_of(begun.async_wait(with_error), late.async_wait(with_error));
        if (!used) co_return false;
        const auto stage = used; // until this call ends
        std::istringstream lines(lists);
        std::map<std::string, paddock::guard> held;
        fence mine;
        for (std::string number, list; lines >> number && std::getline(lines, list);) {
            const auto place = place_of(key, list);
            if (!locks_in.contains(place)) throw std::out_of_range("unknown ensemble: " + place);
            if (!held[place]) held[place] = co_await locks_in.at(place).try_lock_for(key, limit);
            if (!held[place]) co_return false;
            mine[std::stoi(number)] = held[place].fencing_token();
        }
        const auto &one = held.begin()->second, &other = held.rbegin()->second; // often the same
        const auto valid = [&] { return stage->valid() && one.valid() && other.valid(); };
        if (!valid()) co_return false;
        const auto in_one = [&] { return one.run([&] { return work(mine, valid); }); };
        const auto in_both = [&] { return other.run(in_one); };
        co_await stage->run(in_both);
        co_return true;
    }
    paddock::client& home;
    std::map<std::string, paddock::lock_family> locks_in; // by the ensemble's name
    std::shared_ptr<paddock::guard> used{};
    std::string lists{};
    asio::steady_timer begun{home.get_executor(), asio::steady_timer::time_point::max()};
};

asio::awaitable<void> demo(std::string first, std::string second) {
    paddock::client a(co_await asio::this_coro::executor, first), b(a.get_executor(), second);
    many_ensembles locks{a, {{"a", {a, "/locks/in-a"}}, {"b", {b, "/locks/in-b"}}}};
    const paddock::create_options for_now{.mode = paddock::create_mode::ephemeral};
    co_await a.create("/stage", "1 a", for_now); // but yours stays, and is made only once
    fence stored;
    const auto sell = [&](const fence& mine, auto) -> asio::awaitable<void> {
        const bool claimed = not_older(mine, stored);
        if (claimed) stored = mine; // then read, and write where it is still stored
        std::cout << "list " << mine.rbegin()->first << (claimed ? ": sold\n" : ": refused\n");
        co_return;
    };
    const auto shop = [&]() -> asio::awaitable<void> {
        for (std::string next : {"1 a", "1 a\n2 b", "2 b", "2 b"}) {
            co_await publish(a, next);
            co_await locks.try_with("apples", std::chrono::minutes(1), sell);
        }
    };
    co_await paddock::first_of(locks.follow(), shop());
}

int main(int argc, char** argv) {
    asio::io_context io;
    const std::string one = argc > 1 ? argv[1] : "localhost:2181";
    asio::co_spawn(io, demo(one, argc > 2 ? argv[2] : one), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
