// Several steps, all or none.

#include "client_support.hpp"

using namespace paddock;
using namespace paddock::test;

namespace {

using steps = std::vector<operation>;

} // namespace

CO_TEST("a multi executes all its steps, and returns the result of each") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    co_await zk.create(root, "", create_options());
    co_await zk.create(root + "/old", "x", create_options());
    steps all{
        op::check{root, 0},
        op::create{root + "/a", std::string("\0data", 5)},
        op::create{root + "/e", "", create_mode::ephemeral},
        op::create{root + "/s-", "", create_mode::persistent_sequential},
        op::create{root + "/s-", "", create_mode::ephemeral_sequential},
        op::set{root + "/old", "new", 0},
        op::set{root + "/a", "again"},
        op::create{root + "/a/b", ""},
        op::remove{root + "/old", 1},
    };
    const auto done = co_await zk.multi(all);
    REQUIRE(done.size() == all.size());
    CHECK(done[0].path.empty());
    CHECK(done[1].path == root + "/a");
    CHECK(done[2].path == root + "/e");
    CHECK(done[3].path == root + "/s-0000000003");
    CHECK(done[4].path == root + "/s-0000000004");
    CHECK(done[5].stat.version == 1);
    CHECK(done[5].stat.data_length == 3);
    CHECK(done[6].stat.version == 1);
    CHECK(done[7].path == root + "/a/b");
    CHECK(direct.get(root + "/a").data == "again");
    CHECK(direct.get(root + "/e").stat.ephemeral_owner == zk.session_id());
    CHECK(direct.get(done[4].path).stat.ephemeral_owner == zk.session_id());
    CHECK(direct.get(done[3].path).stat.ephemeral_owner == 0);
    CHECK_FALSE(direct.exists(root + "/old"));
}

CO_TEST("a multi with a refused step does nothing, and names that step") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    direct.create(root, "x");
    const auto before = direct.stat(root)->pzxid;
    op::create with_bad_acl{root + "/b", ""};
    with_bad_acl.acl = {{permission::all, "no", "body"}};
    const std::vector<std::pair<operation, zk_errc>> refused{
        {op::check{root, 0}, zk_errc::bad_version}, // the set has made it 1
        {op::check{root + "/b"}, zk_errc::no_node},
        {op::create{root + "/a", ""}, zk_errc::node_exists},
        {op::remove{root}, zk_errc::not_empty},
        {op::set{root, "", 5}, zk_errc::bad_version},
        {with_bad_acl, zk_errc::invalid_acl},
        {op::check{root}, zk_errc::no_node}, // so it is the last step that is refused
    };
    for (const auto& [step, code] : refused) {
        steps all{op::create{root + "/a", ""}, op::set{root, "y"}, step,
                  op::remove{root + "/missing", 7}};
        const auto [error, results] = co_await zk.multi(std::move(all), no_throw);
        CHECK(error == code);
        CHECK(results.empty());
        CHECK_FALSE(direct.exists(root + "/a"));
        CHECK(direct.get(root).data == "x");
        CHECK(direct.stat(root)->pzxid == before);
    }
}

CO_TEST("a refused first step is named as well") {
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    steps all{op::check{root}, op::create{root, ""}};
    const auto [error, results] = co_await zk.multi(std::move(all), no_throw);
    CHECK(error == zk_errc::no_node);
    CHECK(results.empty());
}

CO_TEST("a multi without steps succeeds") {
    client zk(executor, shared_server().address());
    const auto done = co_await zk.multi(steps());
    CHECK(done.empty());
    co_await zk.exists("/");
    CHECK(zk.epoch() == 1);
}

CO_TEST("a multi of a single step, and one of a thousand") {
    foreigner direct(shared_server().address());
    client zk(executor, shared_server().address());
    const auto root = fresh_root();
    steps one{op::create{root, ""}};
    auto done = co_await zk.multi(std::move(one));
    CHECK(done.at(0).path == root);
    steps many;
    for (int i = 0; i < 1000; ++i)
        many.push_back(
            op::create{root + "/n-", std::to_string(i), create_mode::persistent_sequential});
    done = co_await zk.multi(std::move(many));
    REQUIRE(done.size() == 1000);
    CHECK(done[999].path == root + "/n-0000000999");
    CHECK(direct.get(done[500].path).data == "500");
}

CO_TEST("a multi that the C client cannot send is refused unsent") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address());
    co_await zk.connect();
    const auto root = fresh_root();
    tally all;
    for (const auto mode : {create_mode::container, create_mode::persistent_with_ttl,
                            create_mode::persistent_sequential_with_ttl})
        zk.multi({op::check{"/"}, op::create{root, "", mode}}, all.expect());
    zk.multi({op::create{root, "", create_mode::persistent, {}}}, all.expect());
    co_await eventually([&] { return all.all_once(); });
    CHECK(all.all_say(errc::bad_argument));
    CHECK(proxy.count(direction::up) == 0);
    co_await zk.exists("/");
    CHECK(proxy.accepted() == 1);
}

CO_TEST("a multi that the server does not accept fails its own call only") {
    fault_proxy proxy(shared_server().port());
    client_options options;
    options.max_request_bytes *= 2; // which is not true
    client zk(executor, proxy.address(), options);
    const auto root = fresh_root();
    steps all;
    for (int i = 0; i < 3; ++i)
        all.push_back(op::create{root + '-' + std::to_string(i), std::string(400 * 1024, 'x')});
    const auto [error, results] = co_await zk.multi(std::move(all), no_throw);
    CHECK(error == errc::outcome_unknown);
    const auto [missing, stat] = co_await zk.exists(root + "-0", no_throw);
    CHECK(missing == zk_errc::no_node);
    CHECK(zk.epoch() == 1);
    CHECK(proxy.accepted() == 2);
}

CO_TEST("steps on nodes of other owners need permission") {
    const auto path = fresh_root();
    client_options options;
    options.auth.push_back({"someone", "secret"});
    client owner(executor, shared_server().address(), options);
    client other(executor, shared_server().address());
    create_options how{.acl = creator_acl()};
    co_await owner.create(path, "", how);
    steps all{op::set{path, "x"}};
    const auto [error, results] = co_await other.multi(all, no_throw);
    CHECK(error == zk_errc::no_auth);
    const auto done = co_await owner.multi(all);
    CHECK(done.at(0).stat.version == 1);
}
