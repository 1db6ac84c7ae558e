// Connections that break during operations.

#include "client_support.hpp"
#include "support/lock_harness.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>

using namespace paddock;
using namespace paddock::test;

namespace {

/// For clients behind a proxy, also over TLS.
struct behind_proxy {
    fault_proxy proxy{shared_server().port()};
    std::unique_ptr<tls_front> front = front_of(proxy.port());
    foreigner direct{shared_server().address()};
    std::string path = fresh_root();
    behind_proxy() { direct.create(path, "1"); }

    /// Where clients connect, and how.
    std::string address() const { return front ? front->address() : proxy.address(); }
    client_options options(client_options how = {}) const { return over_front(front, how); }

    /// Cuts the connection, and refuses new ones until `proxy.refuse(false)`.
    asio::awaitable<void> disconnect(client& zk) {
        proxy.refuse(true);
        proxy.cut_all(cut::fin);
        const auto state = co_await zk.next_state(client_state::connected);
        CHECK(state == client_state::suspended);
    }
};

constexpr std::array places{0, 1, 4, 5, 8, 17, -1};
constexpr std::array ways{direction::up, direction::down};

} // namespace

CO_TEST("a read gets the right answer wherever the connection is cut") {
    behind_proxy b;
    client zk(executor, b.address(), b.options(with_timeout(4s)));
    co_await zk.connect();
    const auto session = zk.session_id();
    std::size_t cuts = 0;
    for (const auto& round : test.each(std::array{cut::fin, cut::rst}, ways, places)) {
        const auto bytes = std::get<int>(round);
        INFO("cut after " << bytes << " bytes");
        const auto data = std::to_string(++cuts);
        b.direct.set(b.path, data);
        b.proxy.cut_at(std::get<direction>(round), 0, bytes, std::get<cut>(round));
        const auto read = co_await zk.get(b.path);
        CHECK(read.data == data);
        co_await eventually([&] { return b.proxy.cuts() == cuts; });
        co_await zk.exists(b.path); // connected again
    }
    CHECK(zk.session_id() == session);
    CHECK(zk.epoch() == 1);
}

CO_TEST("every kind of read is repeated") {
    behind_proxy b;
    client zk(executor, b.address(), b.options());
    co_await zk.connect();
    b.proxy.hold(direction::down);
    tally all;
    zk.get(b.path, all.expect());
    zk.exists(b.path, all.expect());
    zk.children(b.path, all.expect());
    zk.get_acl(b.path, all.expect());
    zk.sync(b.path, all.expect());
    co_await eventually([&] { return b.proxy.waiting(direction::down) >= 5; });
    b.proxy.cut_all(cut::rst);
    b.proxy.release(direction::down);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(error_code()));
    CHECK(b.proxy.count(direction::up, opcode::get) == 2);
    CHECK(b.proxy.count(direction::up, opcode::sync) == 2);
}

CO_TEST("a write that was cut off fails with outcome_unknown, and is never executed twice") {
    behind_proxy b;
    client zk(executor, b.address(), b.options(with_timeout(4s)));
    co_await zk.connect();
    std::size_t cuts = 0;
    for (const auto& round : test.each(ways, places)) {
        const auto way = std::get<direction>(round);
        const auto bytes = std::get<int>(round);
        INFO("cut after " << bytes << " bytes");
        const auto before = b.direct.stat(b.path)->version;
        b.proxy.forget_frames();
        b.proxy.cut_at(way, 0, bytes);
        const auto [error, stat] = co_await zk.set(b.path, "new", any_version, no_throw);
        co_await eventually([&] { return b.proxy.cuts() == cuts + 1; });
        ++cuts;
        const bool answered = way == direction::down && bytes == -1;
        CHECK(error == (answered ? error_code() : error_code(errc::outcome_unknown)));
        const bool arrived = way == direction::down || bytes == -1;
        co_await zk.sync(b.path); // and with it, every repeated request
        co_await eventually(
            [&] { return b.direct.stat(b.path)->version == before + (arrived ? 1 : 0); });
        CHECK(b.proxy.count(direction::up, opcode::set) == 1);
    }
    CHECK(zk.epoch() == 1);
}

CO_TEST("every kind of write fails with outcome_unknown when its answer is lost") {
    behind_proxy b;
    b.direct.create(b.path + "/doomed");
    client zk(executor, b.address(), b.options());
    co_await zk.connect();
    b.proxy.hold(direction::down);
    tally all;
    create_options numbered{.mode = create_mode::persistent_sequential};
    zk.create(b.path + "/n-", "", numbered, all.expect());
    zk.set(b.path, "2", 0, all.expect());
    zk.remove(b.path + "/doomed", any_version, all.expect());
    zk.set_acl(b.path, open_acl(), 0, all.expect());
    zk.multi({op::set{b.path, "3", 1}}, all.expect());
    co_await eventually([&] { return b.proxy.waiting(direction::down) >= 5; });
    b.proxy.cut_all(cut::rst);
    b.proxy.release(direction::down);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::outcome_unknown));
    const auto read = co_await zk.get(b.path);
    CHECK(read.data == "3");
    CHECK(read.stat.version == 2);
    CHECK(read.stat.aversion == 1);
    CHECK(read.stat.num_children == 1);
    CHECK(b.proxy.accepted() == 2);
}

CO_TEST("a write that was not sent waits for the connection, and keeps its place") {
    behind_proxy b;
    client zk(executor, b.address(), b.options());
    co_await zk.connect();
    co_await b.disconnect(zk);
    tally all;
    for (int i = 0; i < 10; ++i)
        zk.set(b.path, std::to_string(i), i, all.expect());
    start_every_operation(zk, b.path, all);
    co_await let_others_run();
    CHECK(all.completions() == 0);
    CHECK(b.direct.get(b.path).stat.version == 0);
    b.proxy.refuse(false);
    co_await eventually([&] { return all.all_once(); });
    for (std::size_t i = 0; i < 15; ++i)
        CHECK_FALSE(all.error(i));
    CHECK(all.error(15) == zk_errc::no_node); // the remove
    CHECK(b.direct.get(b.path).stat.version == 11);
    CHECK(zk.epoch() == 1);
}

CO_TEST("a cancelled write that was not sent is never executed") {
    behind_proxy b;
    client zk(executor, b.address(), b.options());
    co_await zk.connect();
    co_await b.disconnect(zk);
    asio::cancellation_signal stop;
    tally all;
    zk.set(b.path, "no", any_version, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    co_await let_others_run();
    stop.emit(asio::cancellation_type::total);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == asio::error::operation_aborted);
    b.proxy.refuse(false);
    co_await zk.sync(b.path);
    CHECK(b.direct.get(b.path).data == "1");
    CHECK(b.proxy.count(direction::up, opcode::set) == 0);
}

CO_TEST("a cancelled write that was sent is executed once") {
    behind_proxy b;
    client zk(executor, b.address(), b.options());
    co_await zk.connect();
    b.proxy.hold(direction::down);
    asio::cancellation_signal stop;
    tally all;
    zk.set(b.path, "yes", any_version, asio::bind_cancellation_slot(stop.slot(), all.expect()));
    co_await eventually([&] { return b.proxy.waiting(direction::down) > 0; });
    stop.emit(asio::cancellation_type::terminal);
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.error(0) == asio::error::operation_aborted);
    b.proxy.release(direction::down);
    co_await zk.sync(b.path);
    CHECK(b.direct.get(b.path).data == "yes");
    CHECK(b.direct.get(b.path).stat.version == 1);
    CHECK(all.all_once());
}

CO_TEST("a hundred clients that lose their connection at once find it again") {
    behind_proxy b;
    std::vector<std::unique_ptr<client>> all;
    tally reads;
    const int many = test.full_or_brief(100, 5);
    for (int i = 0; i < many; ++i) {
        all.push_back(std::make_unique<client>(executor, b.address(), b.options()));
        all.back()->get(b.path, reads.expect());
    }
    co_await eventually([&] { return reads.all_once(); });
    b.proxy.cut_all(cut::rst);
    for (auto& zk : all)
        zk->get(b.path, reads.expect());
    co_await eventually([&] { return reads.all_once(); });
    CHECK(reads.all_say(error_code()));
    for (auto& zk : all)
        CHECK(zk->epoch() == 1);
}
