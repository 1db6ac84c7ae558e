// Which keys of a family are held or waited for.

#include "lock_family_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using in_use = std::vector<key_in_use>;

/// The keys, each in angle brackets.
std::string keys_of(const in_use& all) {
    std::string text;
    for (const auto& one : all)
        text.append("<").append(one.key).append(">");
    return text;
}

} // namespace

CO_TEST("the keys of a family are listed with the number of their contenders") {
    family_scene s(executor);
    CHECK((co_await s.ours.keys()).empty()); // the directory does not exist
    const auto a = ask(s.ours, "EU/1"), b = ask(s.ours, "a b~c"), c = ask(s.ours, ".");
    for (const auto& one : {a, b, c})
        co_await granted(one);
    const auto d = ask(s.theirs, "EU/1");
    co_await s.until_queue("EU/1", 2);
    const auto all = co_await s.theirs.keys();
    REQUIRE(all.size() == 3);
    CHECK(keys_of(all) == "<.><EU/1><a b~c>");
    CHECK(all[1].contenders == 2);
    CHECK(all[2].contenders == 1);
    for (const auto& one : all) {
        CHECK(one.complete);
        CHECK(one.path == s.ours.path_of(one.key));
    }
    co_await unlocked(c);
    co_await eventually([&] { return s.direct.children(s.path).size() == 2; });
    const auto rest = co_await s.ours.keys();
    CHECK(keys_of(rest) == "<EU/1><a b~c>");
}

CO_TEST("empty directories are left out, and so is what no key has") {
    mutex_options how;
    how.persistent_parents = true;
    family_scene s(executor, how);
    const auto a = ask(s.ours, "1");
    co_await granted(a);
    s.direct.make_path(s.path + "/empty");
    s.direct.make_path(s.path + "/100%/child");
    const auto all = co_await s.ours.keys();
    CHECK(keys_of(all) == "<1>");
    co_await unlocked(a);
    CHECK((co_await s.ours.keys()).empty());
}

CO_TEST("of a long key the beginning is known, and the path of its lock") {
    family_scene s(executor);
    const std::string key(1000, 'k');
    const auto a = ask(s.ours, key);
    co_await granted(a);
    const auto all = co_await s.ours.keys();
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all[0].complete);
    CHECK(all[0].key == std::string(120, 'k'));
    CHECK(all[0].path == s.ours.path_of(key));
    const mutex same(s.other, all[0].path);
    CHECK((co_await same.contenders()).size() == 1);
}

CO_TEST("the keys of a shared_lock_family are listed as well") {
    family_scene s(executor);
    const shared_lock_family shared(s.zk, s.path);
    const guard one = co_await shared.lock_shared("x");
    const guard two = co_await shared.lock_shared("x");
    const auto all = co_await shared.keys();
    REQUIRE(all.size() == 1);
    CHECK(all[0].key == "x");
    CHECK(all[0].contenders == 2);
}

CO_TEST("keys() reports a refusal, ends by cancellation, and with its client") {
    family_scene s(executor);
    const auto keys = [&] {
        return start<in_use>([&](auto token) { s.ours.keys(std::move(token)); });
    };
    s.direct.make_path(s.path);
    s.direct.set_acl(s.path, {{4 | 8, "world", "anyone"}});
    const auto refused = keys();
    co_await finished(refused);
    CHECK(refused->error == zk_errc::no_auth);
    s.proxy.black_hole(true);
    const auto stopped = keys();
    stopped->cancel();
    co_await finished(stopped);
    CHECK(stopped->error == asio::error::operation_aborted);
    s.proxy.black_hole(false);
    co_await s.zk.close();
    const auto closed = keys();
    co_await finished(closed);
    CHECK(closed->error == errc::closed);
}

CO_TEST("keys() begins again when an answer is lost") {
    family_scene s(executor);
    const auto a = ask(s.theirs, "1"), b = ask(s.theirs, "2");
    co_await granted(a);
    co_await granted(b);
    co_await s.zk.connect();
    s.proxy.hold_from(direction::down, opcode::exists);
    const auto all = start<in_use>([&](auto token) { s.ours.keys(std::move(token)); });
    co_await eventually([&] { return s.proxy.waiting(direction::down) > 0; });
    s.proxy.cut_all(cut::rst);
    s.proxy.release(direction::down);
    co_await finished(all);
    CHECK_FALSE(all->error);
    CHECK(keys_of(std::get<in_use>(all->result)) == "<1><2>");
}
