// The read-write lock, alone, beside Curator's nodes, and through lost connections.

#include "support/lock_harness.hpp"

#include <doctest/doctest.h>

using namespace paddock;
using namespace paddock::test;

namespace {

struct shared_scene : scene {
    explicit shared_scene(asio::any_io_executor executor, client_options options = {})
        : scene(executor, std::move(options)), rw(zk, path) {}

    shared_mutex rw;

    lock_call write() {
        return start<guard>([&](auto token) { rw.lock(std::move(token)); });
    }
    lock_call read() {
        return start<guard>([&](auto token) { rw.lock_shared(std::move(token)); });
    }
};

} // namespace

CO_TEST("readers share the lock and a writer has it alone, in the order of their calls") {
    shared_scene s(executor);
    const auto first = s.read();
    const auto second = s.read();
    co_await granted(first);
    co_await granted(second);
    const auto writer = s.write();
    co_await s.until_queue(3);
    const auto late = s.read();
    co_await s.until_queue(4);
    CHECK_FALSE(writer->done());
    co_await held(first).unlock();
    CHECK_FALSE(writer->done());
    co_await held(second).unlock();
    co_await granted(writer);
    CHECK_FALSE(late->done());
    CHECK(held(writer).path().find("-__WRIT__") != std::string::npos);
    co_await held(writer).unlock();
    co_await granted(late);
    CHECK(held(late).path().find("-__READ__") != std::string::npos);
}

CO_TEST("try_lock and try_lock_shared write nothing when they cannot have the lock") {
    shared_scene s(executor);
    const auto reader = s.read();
    co_await granted(reader);
    client other(executor, shared_server().address());
    co_await other.connect();
    shared_mutex theirs(other, s.path);
    {
        const guard also = co_await theirs.try_lock_shared();
        CHECK(also.valid());
    }
    CHECK_FALSE(co_await theirs.try_lock());
    CHECK_FALSE(co_await s.rw.try_lock());
    const guard again = co_await s.rw.try_lock_shared();
    CHECK(again.valid());
    const auto writer = s.write();
    co_await s.until_queue(3);
    CHECK_FALSE(co_await theirs.try_lock_shared());
    CHECK_FALSE(co_await s.rw.try_lock_shared());
    CHECK_FALSE(co_await theirs.try_lock_shared_for(1ms));
    co_await s.until_queue(3);
}

CO_TEST("a reader watches its nearest preceding writer only, and a writer waits for Curator's "
        "readers") {
    shared_scene s(executor);
    const auto w = queue_up(s.direct, s.path, "__WRIT__");
    const auto r = queue_up(s.direct, s.path, "__READ__");
    const auto reader = s.read();
    co_await s.until_queue(3);
    co_await eventually([&] { return s.sent(opcode::get) == 2; });
    CHECK_FALSE(reader->done());
    s.direct.remove(r);
    s.direct.remove(w);
    co_await granted(reader);
    const auto writer = s.write();
    co_await s.until_queue(2);
    co_await held(reader).unlock();
    co_await granted(writer);
}

CO_TEST("A2: a writer waits for the node that Curator leaves when it downgrades") {
    shared_scene s(executor);
    const auto w = queue_up(s.direct, s.path, "__WRIT__");
    const auto writer = s.write();
    co_await s.until_queue(2);
    co_await eventually([&] { return s.sent(opcode::get) == 2; });
    auto r = w;
    r.replace(r.find("__WRIT__"), 8, "__READ__");
    s.direct.create(r, "", node_mode::ephemeral);
    s.direct.remove(w);
    // It lists again, and watches the reader's node.
    co_await eventually([&] { return s.sent(opcode::get) == 3; });
    const auto reader = s.read(); // behind the writer
    co_await s.until_queue(3);
    CHECK_FALSE(writer->done());
    s.direct.remove(r);
    co_await granted(writer);
    CHECK_FALSE(reader->done());
}

CO_TEST("a downgrade keeps the place, and lets no writer in between") {
    shared_scene s(executor);
    const auto writer = s.write();
    co_await granted(writer);
    const auto before = std::string(held(writer).path());
    const auto token = held(writer).fencing_token();
    const auto reader = s.read();
    const auto next = s.write();
    co_await s.until_queue(3);
    client other(executor, shared_server().address());
    shared_mutex theirs(other, s.path);
    const auto foreign = start<guard>([&](auto t) { theirs.lock_shared(std::move(t)); });
    co_await s.until_queue(4);

    co_await held(writer).downgrade();
    CHECK(held(writer).valid());
    CHECK(held(writer).path() != before);
    CHECK(sequence_of(held(writer).path()) == sequence_of(before));
    CHECK(held(writer).path().find("__READ__") != std::string::npos);
    CHECK(held(writer).fencing_token() == token);
    co_await held(writer).downgrade(); // it is a reader already
    co_await granted(reader);
    co_await held(writer).verify();
    CHECK_FALSE(next->done());
    co_await held(reader).unlock();
    CHECK_FALSE(next->done());
    co_await held(writer).unlock();
    co_await granted(next);
    CHECK_FALSE(foreign->done());
    co_await held(next).unlock();
    co_await granted(foreign);
    CHECK(s.queue().size() == 1);
}

CO_TEST("after a downgrade, readers of the same client need not wait for the lock either") {
    shared_scene s(executor);
    const auto writer = s.write();
    co_await granted(writer);
    auto reader = co_await s.rw.try_lock_shared();
    CHECK_FALSE(reader);
    co_await held(writer).downgrade();
    reader = co_await s.rw.try_lock_shared();
    CHECK(reader.valid());
    const guard next = co_await s.rw.try_lock();
    CHECK_FALSE(next);
}

CO_TEST("a downgrade of any other guard is refused") {
    shared_scene s(executor);
    const auto plain = ask(s.lock);
    co_await granted(plain);
    const auto refused = start([&](auto t) { held(plain).downgrade(std::move(t)); });
    co_await finished(refused);
    CHECK(refused->error == errc::bad_argument);
    CHECK(refused->error.message() == "guard is not the exclusive hold of a shared_mutex");
    co_await unlocked(plain);
    const auto reader = s.read();
    co_await granted(reader);
    const auto shared = start([&](auto t) { held(reader).downgrade(std::move(t)); });
    const auto up = start([&](auto t) { held(reader).upgrade(std::move(t)); });
    co_await finished(shared);
    co_await finished(up);
    CHECK(shared->error == errc::bad_argument);
    CHECK(up->error == errc::would_deadlock);
    CHECK(held(reader).valid());
}

CO_TEST("a downgrade outlives a connection that is cut anywhere") {
    for (int packets = 0; packets < 3; ++packets) {
        CAPTURE(packets);
        shared_scene s(executor, short_session(10s));
        const auto writer = s.write();
        co_await granted(writer);
        const auto reader = s.read();
        co_await s.until_queue(2);
        if (packets == 0)
            s.proxy.cut_all(cut::rst);
        else
            s.proxy.cut_at(packets == 1 ? direction::up : direction::down, 0, 0);
        const auto change = start([&](auto t) { held(writer).downgrade(std::move(t)); });
        co_await finished(change);
        CHECK_MESSAGE(!change->error, change->error.message());
        CHECK(held(writer).valid());
        co_await granted(reader);
        CHECK(s.queue().size() == 2);
        const auto checked = start([&](auto t) { held(writer).verify(std::move(t)); });
        co_await finished(checked);
        CHECK_MESSAGE(!checked->error, checked->error.message());
        co_await held(reader).unlock();
        co_await held(writer).unlock();
        CHECK(s.queue().empty());
    }
}

CO_TEST("a downgrade that is refused for good fails, and leaves the hold as it was") {
    shared_scene s(executor);
    const auto writer = s.write();
    co_await granted(writer);
    const auto reader = s.read();
    co_await s.until_queue(2);
    const auto downgrade = [&] {
        return start([&](auto t) { held(writer).downgrade(std::move(t)); });
    };
    s.direct.set_acl(s.path, {{31 - 4, "world", "anyone"}});
    const auto first = downgrade();
    const auto second = downgrade();
    co_await finished(first);
    co_await finished(second);
    CHECK(first->error == zk_errc::no_auth);
    CHECK(second->error == zk_errc::no_auth);
    CHECK(held(writer).valid());
    CHECK_FALSE(reader->done());
    co_await held(writer).verify();
    s.direct.set_acl(s.path, {test::acl_entry()});
    const auto third = downgrade();
    co_await finished(third);
    CHECK_MESSAGE(!third->error, third->error.message());
    co_await granted(reader);
    CHECK(s.queue().size() == 2);
}

CO_TEST("a downgrade fails when its hold ends, early or late") {
    auto options = short_session(2s);
    options.lease.margin = 400ms;
    shared_scene s(executor, options);
    const auto writer = s.write();
    co_await granted(writer);
    const auto downgrade = [&] {
        return start([&](auto t) { held(writer).downgrade(std::move(t)); });
    };
    const auto over = end_of(held(writer));
    s.proxy.hold(direction::down);
    const auto before = downgrade();
    co_await finished(over);
    CHECK(over->error == errc::lease_lapsed);
    co_await finished(before);
    CHECK(before->error == errc::lease_lapsed);
    const bool still_valid = held(writer).valid(); // for as long as the warning is early
    const auto late = downgrade();
    co_await finished(late);
    if (still_valid)
        CHECK((late->error == errc::lease_lapsed || late->error == errc::lock_lost));
    else
        CHECK(late->error == errc::lock_lost);
    s.proxy.release(direction::down);
}

CO_TEST("a downgrade under way fails when the client ends") {
    shared_scene s(executor);
    const auto writer = s.write();
    co_await granted(writer);
    s.proxy.hold(direction::down);
    const auto change = start([&](auto t) { held(writer).downgrade(std::move(t)); });
    co_await s.zk.close();
    co_await finished(change);
    CHECK(change->error == errc::closed);
    const auto late = start([&](auto t) { held(writer).downgrade(std::move(t)); });
    co_await finished(late);
    CHECK(late->error);
}

CO_TEST("contenders() tells readers from writers, and holders from waiters") {
    shared_scene s(executor);
    const auto first = s.read();
    const auto second = s.read();
    co_await granted(first);
    co_await granted(second);
    const auto writer = s.write();
    co_await s.until_queue(3);
    const auto all = co_await s.rw.contenders();
    REQUIRE(all.size() == 3);
    CHECK((all[0].shared && all[0].holder));
    CHECK((all[1].shared && all[1].holder));
    CHECK((!all[2].shared && !all[2].holder));
}

CO_TEST("holds of readers and writers end with an expired session, and waiters queue again") {
    shared_scene s(executor, short_session(4s));
    const auto reader = s.read();
    co_await granted(reader);
    const auto writer = s.write();
    co_await s.until_queue(2);
    const auto end = end_of(held(reader));
    expire(s);
    co_await finished(end);
    CHECK(end->error == errc::session_expired);
    CHECK_FALSE(held(reader).valid());
    co_await granted(writer);
    CHECK(s.zk.epoch() == 2);
}

CO_TEST("a hundred readers in one client share the lock, and each releases it") {
    shared_scene s(executor);
    const auto writer = s.write();
    co_await granted(writer);
    std::vector<lock_call> readers;
    for (int i = 0; i < 100; ++i)
        readers.push_back(s.read());
    co_await s.until_queue(101);
    co_await held(writer).unlock();
    for (const auto& one : readers)
        co_await granted(one);
    const auto last = s.write();
    co_await s.until_queue(101);
    for (const auto& one : readers) {
        CHECK_FALSE(last->done());
        held(one) = {};
    }
    co_await granted(last);
}

TEST_CASE("a shared_mutex refuses malformed arguments") {
    asio::io_context io;
    client zk(io.get_executor(), "127.0.0.1:1");
    const auto said = [&](std::string_view path, const shared_mutex_options& how) {
        try {
            const shared_mutex m(zk, path, how);
        } catch (const system_error& error) {
            CHECK(error.code() == errc::bad_argument);
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(said("/a", {}).empty());
    CHECK(said("a", {}).find("shared_mutex path 'a'") != std::string::npos);
    shared_mutex_options bare;
    bare.acl.clear();
    CHECK(said("/a", bare).find("shared_mutex_options::acl") != std::string::npos);
    shared_mutex_options odd;
    odd.label = "\xff";
    CHECK(said("/a", odd).find("shared_mutex_options::label") != std::string::npos);
}
