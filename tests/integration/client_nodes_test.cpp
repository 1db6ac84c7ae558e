// The operations on nodes: modes, names, versions, data.

#include "client_support.hpp"

#include <algorithm>
#include <tuple>

using namespace paddock;
using namespace paddock::test;

namespace {

std::string last_digits(const std::string& path) { return path.substr(path.size() - 10); }

} // namespace

CO_TEST("a created node exists with the path and the stat of the result") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    const auto made = co_await zk.create(path, "hello", create_options());
    CHECK(made.path == path);
    CHECK(made.stat.czxid > 0);
    CHECK(made.stat.czxid == made.stat.mzxid);
    CHECK(made.stat.data_length == 5);
    CHECK(made.stat.ephemeral_owner == 0);
    CHECK(direct.get(path).data == "hello");
    CHECK(direct.get(path).stat.czxid == made.stat.czxid);
    const auto stat = co_await zk.exists(path);
    CHECK(stat == made.stat);
    const auto read = co_await zk.get(path);
    CHECK(read.data == "hello");
    CHECK(read.stat == made.stat);
}

CO_TEST("every field of a stat has the server's value") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    co_await zk.create(path, "1", create_options());
    co_await zk.set(path, "22", any_version);
    co_await zk.set(path, "333", any_version);
    co_await zk.create(path + "/child", "", create_options());
    co_await zk.set_acl(path, open_acl(), any_version);
    const auto mine = co_await zk.exists(path);
    const auto theirs = direct.stat(path).value();
    CHECK(mine.czxid == theirs.czxid);
    CHECK(mine.mzxid == theirs.mzxid);
    CHECK(mine.pzxid == theirs.pzxid);
    CHECK(mine.ctime == theirs.ctime);
    CHECK(mine.mtime == theirs.mtime);
    CHECK(mine.version == 2);
    CHECK(mine.cversion == 1);
    CHECK(mine.aversion == 1);
    CHECK(mine.data_length == 3);
    CHECK(mine.num_children == 1);
    CHECK(mine.czxid < mine.mzxid);
    CHECK(mine.mzxid < mine.pzxid);
}

CO_TEST("ephemeral nodes belong to the session, persistent nodes to none") {
    foreigner direct(shared_server().address());
    const auto root = fresh_root();
    direct.create(root);
    {
        client zk(executor, shared_server().address());
        for (const auto mode :
             {create_mode::persistent, create_mode::ephemeral, create_mode::persistent_sequential,
              create_mode::ephemeral_sequential, create_mode::container}) {
            create_options how{.mode = mode};
            const auto name = root + "/n" + std::to_string(static_cast<int>(mode)) + '-';
            const auto made = co_await zk.create(name, "", how);
            const bool ephemeral =
                mode == create_mode::ephemeral || mode == create_mode::ephemeral_sequential;
            CHECK(direct.get(made.path).stat.ephemeral_owner == (ephemeral ? zk.session_id() : 0));
            CHECK(made.stat.ephemeral_owner == (ephemeral ? zk.session_id() : 0));
        }
        CHECK(direct.children(root).size() == 5);
        co_await zk.close();
    }
    co_await eventually([&] { return direct.children(root).size() == 3; });
}

CO_TEST("sequential nodes get growing numbers behind their names") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    co_await zk.create(root, "", create_options());
    int number = 0;
    for (const auto mode :
         {create_mode::persistent_sequential, create_mode::ephemeral_sequential,
          create_mode::persistent_sequential_with_ttl, create_mode::persistent_sequential}) {
        create_options how{.mode = mode};
        if (mode == create_mode::persistent_sequential_with_ttl) how.ttl = 1h;
        const auto made = co_await zk.create(root + "/n-", "", how);
        CHECK(made.path == root + "/n-000000000" + std::to_string(number++));
        const auto stat = co_await zk.exists(made.path);
        CHECK(stat == made.stat);
    }
}

CO_TEST("containers go with their last child, TTL nodes after their time, other nodes stay") {
    static zk_server server({.container_check_interval = 100ms});
    const auto root = fresh_root();
    foreigner direct(server.address());
    client zk(executor, server.address());
    create_options container{.mode = create_mode::container};
    create_options ttl{.mode = create_mode::persistent_with_ttl, .ttl = 50ms};
    create_options long_ttl{.mode = create_mode::persistent_with_ttl, .ttl = 1h};
    create_options numbered{.mode = create_mode::persistent_sequential_with_ttl, .ttl = 50ms};
    co_await zk.create(root, "", create_options());
    co_await zk.create(root + "/box", "", container);
    co_await zk.create(root + "/box/child", "", create_options());
    co_await zk.create(root + "/stays", "", create_options());
    co_await zk.create(root + "/stays/child", "", create_options());
    co_await zk.create(root + "/soon", "", ttl);
    co_await zk.create(root + "/late", "", long_ttl);
    const auto third = co_await zk.create(root + "/numbered-", "", numbered);
    co_await eventually(
        [&] { return !direct.exists(root + "/soon") && !direct.exists(third.path); });
    CHECK(direct.exists(root + "/box"));
    co_await zk.remove(root + "/box/child", any_version);
    co_await zk.remove(root + "/stays/child", any_version);
    co_await eventually([&] { return !direct.exists(root + "/box"); });
    CHECK(direct.exists(root + "/stays"));
    CHECK(direct.exists(root + "/late"));
}

CO_TEST("a server without extended types refuses a TTL node") {
    static zk_server server({.extended_types = false});
    client zk(executor, server.address());
    create_options ttl{.mode = create_mode::persistent_with_ttl, .ttl = 1h};
    const auto [error, made] = co_await zk.create("/ttl", "", ttl, no_throw);
    CHECK(error == zk_errc::unimplemented);
    CHECK(made.path.empty());
    const auto [missing, stat] = co_await zk.exists("/ttl", no_throw);
    CHECK(missing == zk_errc::no_node);
}

CO_TEST("a refused request fails with the ensemble's code, and changes nothing") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    create_options ephemeral{.mode = create_mode::ephemeral};
    co_await zk.create(root, "first", create_options());
    co_await zk.create(root + "/e", "", ephemeral);

    auto [error, made] = co_await zk.create(root, "second", create_options(), no_throw);
    CHECK(error == zk_errc::node_exists);
    CHECK(made.path.empty());
    std::tie(error, made) = co_await zk.create(root + "/a/b", "", create_options(), no_throw);
    CHECK(error == zk_errc::no_node);
    std::tie(error, made) = co_await zk.create(root + "/e/c", "", create_options(), no_throw);
    CHECK(error == zk_errc::no_children_for_ephemerals);

    const auto [no_data, read] = co_await zk.get(root + "/a", no_throw);
    CHECK(no_data == zk_errc::no_node);
    const auto [no_stat, stat] = co_await zk.exists(root + "/a", no_throw);
    CHECK(no_stat == zk_errc::no_node);
    const auto [no_list, list] = co_await zk.children(root + "/a", no_throw);
    CHECK(no_list == zk_errc::no_node);
    const auto [no_set, set] = co_await zk.set(root + "/a", "", any_version, no_throw);
    CHECK(no_set == zk_errc::no_node);
    const auto [no_remove] = co_await zk.remove(root + "/a", any_version, no_throw);
    CHECK(no_remove == zk_errc::no_node);
    const auto [not_empty] = co_await zk.remove(root, any_version, no_throw);
    CHECK(not_empty == zk_errc::not_empty);

    const auto kept = co_await zk.get(root);
    CHECK(kept.data == "first");
    CHECK(kept.stat.num_children == 1);
}

CO_TEST("an error is thrown as a system_error with its code") {
    client zk(executor, shared_server().address());
    error_code thrown;
    try {
        co_await zk.get(fresh_root());
    } catch (const system_error& error) {
        thrown = error.code();
    }
    CHECK(thrown == zk_errc::no_node);
    CHECK(thrown.category() == zookeeper_category());
    CHECK(thrown.value() == -101);
}

CO_TEST("set and remove need the expected version") {
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    co_await zk.create(path, "0", create_options());
    auto stat = co_await zk.set(path, "1", 0);
    CHECK(stat.version == 1);
    const auto [stale, nothing] = co_await zk.set(path, "2", 0, no_throw);
    CHECK(stale == zk_errc::bad_version);
    CHECK(nothing == paddock::node_stat());
    stat = co_await zk.set(path, "3", any_version);
    CHECK(stat.version == 2);
    auto [error] = co_await zk.remove(path, 1, no_throw);
    CHECK(error == zk_errc::bad_version);
    const auto read = co_await zk.get(path);
    CHECK(read.data == "3");
    co_await zk.remove(path, 2);
    std::tie(error) = co_await zk.remove(path, any_version, no_throw);
    CHECK(error == zk_errc::no_node);
}

CO_TEST("children are listed by name, with the stat of their parent") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    co_await zk.create(root, "", create_options());
    auto list = co_await zk.children(root);
    CHECK(list.names.empty());
    CHECK(list.stat.num_children == 0);
    for (const std::string name : {"b", "a", "ä b.c"})
        co_await zk.create(root + '/' + name, "", create_options());
    list = co_await zk.children(root);
    std::sort(list.names.begin(), list.names.end());
    CHECK(list.names == std::vector<std::string>{"a", "b", "ä b.c"});
    CHECK(list.stat.num_children == 3);
    const auto top = co_await zk.children("/");
    CHECK(std::count(top.names.begin(), top.names.end(), root.substr(1)) == 1);
}

CO_TEST("data may be empty, have zero bytes, and be close to a megabyte") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    std::string every_byte;
    for (int i = 0; i < 512; ++i)
        every_byte += static_cast<char>(i);
    std::string large(900 * 1024, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 31 >> 3);
    for (const auto& data : {every_byte, std::string(), std::string(1, '\0'), large}) {
        const auto path = fresh_root();
        const auto made = co_await zk.create(path, data, create_options());
        CHECK(static_cast<std::size_t>(made.stat.data_length) == data.size());
        auto read = co_await zk.get(path);
        CHECK(read.data == data);
        CHECK(direct.get(path).data == data);
        auto reversed = std::string(data.rbegin(), data.rend());
        co_await zk.set(path, reversed, any_version);
        read = co_await zk.get(path);
        CHECK(read.data == reversed);
        co_await zk.set(path, "", any_version);
        read = co_await zk.get(path);
        CHECK(read.data.empty());
        CHECK(read.stat.version == 2);
    }
    const auto path = fresh_root();
    direct.create(path, every_byte);
    const auto read = co_await zk.get(path);
    CHECK(read.data == every_byte);
}

CO_TEST("data that is too large fails its own call only") {
    foreigner direct(shared_server().address());
    fault_proxy proxy(shared_server().port());
    client_options options;
    options.max_request_bytes = 8 * 1024 * 1024; // more than this server accepts
    client zk(executor, proxy.address(), options);
    const auto root = fresh_root();
    co_await zk.create(root, "small", create_options());
    const auto session = zk.session_id();

    tally reads;
    for (int i = 0; i < 10; ++i)
        zk.get(root, reads.expect());
    const std::string large(1200 * 1024, 'x');
    tally writes;
    zk.create(root + "/large", large, create_options(), writes.expect());
    zk.set(root, "behind", any_version, writes.expect());
    for (int i = 0; i < 10; ++i)
        zk.get(root, reads.expect());
    co_await eventually([&] { return reads.all_once() && writes.all_once(); });
    CHECK(reads.all_say(error_code()));
    CHECK(writes.error(0) == errc::outcome_unknown); // the server has only hung up
    CHECK((!writes.error(1) || writes.error(1) == errc::outcome_unknown));
    CHECK(zk.session_id() == session);
    CHECK_FALSE(direct.exists(root + "/large"));
    const bool executed = direct.get(root).stat.version == 1;
    CHECK(executed == !writes.error(1));
    co_await zk.set(root, "after", any_version);
    CHECK(direct.get(root).data == "after");
}

CO_TEST("sync is answered") {
    client zk(executor, shared_server().address());
    co_await zk.sync("/");
    co_await zk.sync(fresh_root()); // that there is no such node does not matter
    CHECK(zk.state() == client_state::connected);
}

CO_TEST("a thousand operations at once are all answered, in order") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    co_await zk.create(root, "", create_options());
    std::vector<std::string> made;
    create_options how{.mode = create_mode::persistent_sequential};
    const std::size_t many = test.full_or_brief(1000, 50);
    for (std::size_t i = 0; i < many; ++i)
        zk.create(root + "/n-", "", how, [&](error_code error, create_result result) {
            CHECK_FALSE(error);
            made.push_back(result.path);
        });
    co_await eventually([&] { return made.size() == many; });
    for (std::size_t i = 0; i < made.size(); ++i)
        CHECK(std::stoul(last_digits(made[i])) == i);
}

CO_TEST("malformed arguments are refused by the client, and nothing is sent") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    tally all;
    const std::string with_zero("/a\0b", 4);
    for (const auto& path :
         std::vector<std::string>{"", "a", "a/b", "/a/", "//", "//a", "/a//b", "/.", "/a/.",
                                  "/a/../b", "/a/..", "/a\nb", "/a\x7f", "/\xc2\x80", "/\xff",
                                  "/\xc0\xaf", "/\xed\xa0\x80", "/\xef\xbf\xbf", with_zero}) {
        zk.create(path, "", create_options(), all.expect());
        zk.get(path, all.expect());
        zk.exists(path, all.expect());
        zk.children(path, all.expect());
        zk.set(path, "", any_version, all.expect());
        zk.remove(path, any_version, all.expect());
        zk.sync(path, all.expect());
        zk.get_acl(path, all.expect());
        zk.set_acl(path, open_acl(), any_version, all.expect());
        zk.multi({op::check{"/"}, op::check{path}}, all.expect());
        zk.multi({op::set{path, ""}}, all.expect());
        zk.multi({op::create{path, ""}}, all.expect());
        zk.multi({op::remove{path}}, all.expect());
    }
    const auto create = [&](create_options how) {
        zk.create("/a", "", std::move(how), all.expect());
    };
    create({.ttl = 1ms});
    create({.mode = create_mode::ephemeral, .ttl = 1ms});
    create({.mode = create_mode::persistent_with_ttl});
    create({.mode = create_mode::persistent_with_ttl, .ttl = -1ms});
    create({.mode = create_mode::persistent_sequential_with_ttl,
            .ttl = std::chrono::milliseconds(0x100'0000'0000)});
    create({.acl = {}});
    zk.set_acl("/a", {}, any_version, all.expect());
    CHECK(all.completions() == 0); // never from within the call
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::bad_argument));
    co_await let_others_run();
    CHECK(proxy.accepted() == 0);
}

CO_TEST("the client refuses the same characters in a path as the server") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    direct.create(root);
    // Characters around the ranges that ZooKeeper's documentation forbids, and some in common use.
    for (const std::string name : {"\x01",
                                   "\x1e",
                                   "\x1f",
                                   " ",
                                   "~",
                                   "\x7f",
                                   "\xc2\x80",
                                   "\xc2\x9f",
                                   "\xc2\xa0",
                                   "\xc3\xa4",
                                   "\xed\x9f\xbf",
                                   "\xee\x80\x80",
                                   "\xef\x80\x80",
                                   "\xef\xa3\xbf",
                                   "\xef\xa4\x80",
                                   "\xef\xbf\xaf",
                                   "\xef\xbf\xb0",
                                   "\xef\xbf\xbd",
                                   "\xef\xbf\xbf",
                                   "\xf0\x9f\x94\x92",
                                   "\xf4\x8f\xbf\xbf"}) {
        const auto code = code_of([&] { direct.create(root + "/theirs" + name); });
        const auto [error, made] =
            co_await zk.create(root + "/ours" + name, "", create_options(), no_throw);
        std::string bytes;
        for (const unsigned char c : name)
            bytes += std::to_string(c) + ' ';
        CAPTURE(bytes);
        CHECK((code == zk_code::ok || code == zk_code::bad_arguments));
        if (code == zk_code::ok)
            CHECK_FALSE(error);
        else
            CHECK(error == errc::bad_argument);
    }
}
