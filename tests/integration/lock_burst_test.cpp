// So many calls at once that the connection is lost and restored while they wait for their turn.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

/// A client of three servers, so that it reconnects at once; in truth they are the same one.
struct three_ways {
    explicit three_ways(asio::any_io_executor executor)
        : zk(executor, ways[0].address() + ',' + ways[1].address() + ',' + ways[2].address())
        , path(fresh_root() + "/lock")
        , crowd_path(fresh_root() + "/lock")
        , lock(zk, path)
        , crowd(zk, crowd_path) {
        direct.make_path(path);
        direct.make_path(crowd_path);
    }
    void reset_connections() {
        for (auto& way : ways)
            way.cut_all(cut::rst);
    }
    std::size_t accepted() const {
        return ways[0].accepted() + ways[1].accepted() + ways[2].accepted();
    }
    std::size_t nodes(const std::string& at) { return queue_at(direct, at).size(); }

    fault_proxy ways[3]{fault_proxy(shared_server().port()), fault_proxy(shared_server().port()),
                        fault_proxy(shared_server().port())};
    foreigner direct{shared_server().address()};
    client zk;
    std::string path, crowd_path;
    mutex lock, crowd;
};

} // namespace

CO_TEST("a burst of calls on a connection that is being reset loses no call") {
    test.time_limit(90s);
    const std::size_t many = test.full_or_brief(3000, 30);
    three_ways s(executor);
    const auto first = ask(s.crowd); // all other calls wait behind it
    co_await granted(first);
    for (int round = 0; round < test.full_or_brief(5, 1); ++round) {
        const auto holder = ask(s.lock);
        co_await granted(holder);
        const auto before = s.accepted();
        s.reset_connections();
        std::vector<lock_call> all;
        for (std::size_t i = 0; i < many; ++i) {
            if (i == many / 2) co_await asio::post(executor, asio::use_awaitable);
            all.push_back(ask(s.crowd));
        }
        const auto end = give_back(held(holder));
        co_await finished(end);
        CHECK(!end->error);
        co_await eventually([&] { return s.nodes(s.crowd_path) == many + 1; });
        CHECK(s.nodes(s.path) == 0);
        CHECK(s.accepted() > before);
        for (const auto& one : all)
            one->cancel();
        co_await finished(all);
        co_await eventually([&] { return s.nodes(s.crowd_path) == 1; });
    }
    CHECK(held(first).valid());
    CHECK(s.zk.epoch() == 1);
}
