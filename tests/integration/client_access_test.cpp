// Access control lists, credentials, and the root in front of every path.

#include "client_support.hpp"

#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

client_options as(const std::string& user, const std::string& password) {
    client_options options;
    options.auth.push_back({user, password});
    return options;
}

client_options below(const std::string& root) {
    client_options options;
    options.root = root;
    return options;
}

acl two_entries() {
    return {{permission::all, "world", "anyone"}, {permission::read, "ip", "10.0.0.1"}};
}

} // namespace

CO_TEST("an access control list is read as it was written") {
    client zk(executor, shared_server().address());
    const auto path = fresh_root();
    const acl first{{permission::all, "world", "anyone"},
                    {permission::read | permission::write, "ip", "127.0.0.1"}};
    create_options how{.acl = first};
    co_await zk.create(path, "", how);
    auto read = co_await zk.get_acl(path);
    CHECK(read.acl == first);
    CHECK(read.stat.aversion == 0);

    const acl second{{permission::read | permission::admin, "world", "anyone"}};
    co_await zk.set_acl(path, second, 0);
    read = co_await zk.get_acl(path);
    CHECK(read.acl == second);
    CHECK(read.stat.aversion == 1);
    const auto [stale] = co_await zk.set_acl(path, first, 0, no_throw);
    CHECK(stale == zk_errc::bad_version);
    const auto [refused, stat] = co_await zk.set(path, "x", any_version, no_throw);
    CHECK(refused == zk_errc::no_auth);
    co_await zk.get(path);
    co_await zk.set_acl(path, open_acl(), 1);
    co_await zk.set(path, "x", any_version);
}

CO_TEST("a list that no server understands is refused by the server") {
    client zk(executor, shared_server().address());
    create_options unknown{.acl = {{permission::all, "nonsense", "x"}}};
    const auto [error, made] = co_await zk.create(fresh_root(), "", unknown, no_throw);
    CHECK(error == zk_errc::invalid_acl);
}

CO_TEST("a list for the creator alone is refused at once if the client has no credentials") {
    client zk(executor, shared_server().address()); // and is not connected
    create_options how{.acl = creator_acl()};
    const auto [no_create, made] = co_await zk.create(fresh_root(), "", how, no_throw);
    CHECK(no_create == errc::bad_argument);
    const auto [no_acl] = co_await zk.set_acl("/", how.acl, any_version, no_throw);
    CHECK(no_acl == errc::bad_argument);
    std::vector<operation> steps{op::create{.path = fresh_root(), .acl = how.acl}};
    const auto [no_multi, results] = co_await zk.multi(std::move(steps), no_throw);
    CHECK(no_multi == errc::bad_argument);
    CHECK(zk.epoch() == 0);
}

CO_TEST("only a client with the right credentials has access") {
    const auto path = fresh_root();
    client owner(executor, shared_server().address(), as("someone", "sec:ret"));
    create_options how{.acl = creator_acl()};
    co_await owner.create(path, "mine", how);
    const auto list = co_await owner.get_acl(path);
    CHECK(list.acl.at(0).scheme == "digest");
    CHECK(list.acl.at(0).id.starts_with("someone:"));

    client same(executor, shared_server().address(), as("someone", "sec:ret"));
    const auto read = co_await same.get(path);
    CHECK(read.data == "mine");
    co_await same.set(path, "ours", any_version);

    client wrong(executor, shared_server().address(), as("someone", "wrong"));
    client none(executor, shared_server().address());
    for (auto* const unauthorized : {&wrong, &none}) {
        const auto [no_get, nothing] = co_await unauthorized->get(path, no_throw);
        CHECK(no_get == zk_errc::no_auth);
        const auto [no_set, stat] = co_await unauthorized->set(path, "", any_version, no_throw);
        CHECK(no_set == zk_errc::no_auth);
        const auto [no_list, names] = co_await unauthorized->children(path, no_throw);
        CHECK(no_list == zk_errc::no_auth);
        const auto [no_acl] =
            co_await unauthorized->set_acl(path, open_acl(), any_version, no_throw);
        CHECK(no_acl == zk_errc::no_auth);
        co_await unauthorized->exists(path); // which ZooKeeper allows without permission
    }
}

CO_TEST("each of several credentials counts") {
    const auto path = fresh_root();
    client first(executor, shared_server().address(), as("a", "1"));
    client second(executor, shared_server().address(), as("b", "2"));
    create_options how{.acl = creator_acl()};
    co_await first.create(path + "-a", "", how);
    co_await second.create(path + "-b", "", how);
    auto options = as("a", "1");
    options.auth.push_back({"b", "2"});
    client both(executor, shared_server().address(), options);
    co_await both.get(path + "-a");
    co_await both.get(path + "-b");
    const auto [error, read] = co_await first.get(path + "-b", no_throw);
    CHECK(error == zk_errc::no_auth);
}

CO_TEST("credentials are given again on every connection and in every session") {
    fault_proxy proxy(shared_server().port());
    client zk(executor, proxy.address(), as("someone", "secret"));
    const auto path = fresh_root();
    create_options how{.acl = creator_acl()};
    co_await zk.create(path, "", how);
    proxy.cut_all(cut::fin);
    co_await zk.next_state(client_state::connected);
    co_await zk.get(path);
    CHECK(proxy.accepted() == 2);
    CHECK(zk.epoch() == 1);
    kill_session(shared_server().address(), proxy.last_credentials());
    co_await eventually([&] { return zk.epoch() >= 2; });
    co_await zk.get(path);
}

CO_TEST("a server that knows no digests ends the client") {
    static zk_server server({.java = {"-Dzookeeper.DigestAuthenticationProvider.enabled=false"}});
    client zk(executor, server.address(), as("someone", "secret"));
    tally all;
    zk.get("/", all.expect());
    const auto [error] = co_await zk.connect(no_throw);
    if (error) CHECK(error == errc::auth_failed);
    co_await eventually([&] { return zk.state() == client_state::closed; });
    const auto [again] = co_await zk.connect(no_throw);
    CHECK(again == errc::auth_failed);
    const auto [refused, read] = co_await zk.get("/", no_throw);
    CHECK(refused == errc::auth_failed);
    CHECK(all.all_once());
}

CO_TEST("a root is prepended to every path, and removed from every result") {
    foreigner direct(shared_server().address());
    const auto root = fresh_root();
    direct.make_path(root + "/app");
    client by_option(executor, shared_server().address(), below(root + "/app"));
    client by_list(executor, shared_server().address() + root + "/app");
    int n = 0;
    for (auto* const zk : {&by_option, &by_list}) {
        const auto name = "/n" + std::to_string(++n);
        const auto full = root + "/app" + name;
        const auto made = co_await zk->create(name, "1", create_options());
        CHECK(made.path == name);
        CHECK(direct.get(full).data == "1");
        create_options numbered{.mode = create_mode::persistent_sequential};
        const auto child = co_await zk->create(name + "/s-", "", numbered);
        CHECK(child.path == name + "/s-0000000000");
        CHECK(direct.exists(full + "/s-0000000000"));
        const auto list = co_await zk->children(name);
        CHECK(list.names == std::vector<std::string>{"s-0000000000"});
        co_await zk->exists(child.path);
        co_await zk->set(name, "22", any_version);
        CHECK(direct.get(full).data == "22");
        co_await zk->set_acl(name, two_entries(), any_version);
        const auto rights = co_await zk->get_acl(name);
        CHECK(rights.acl == two_entries());
        co_await zk->sync(name);
        std::vector<operation> steps{op::check{name}, op::create{name + "/m", ""},
                                     op::remove{child.path}};
        const auto done = co_await zk->multi(std::move(steps));
        CHECK(done.at(1).path == name + "/m");
        CHECK(direct.children(full) == std::vector<std::string>{"m"});
        co_await zk->remove(name + "/m", any_version);
        CHECK(direct.children(full).empty());
        paddock::watch changed(*zk);
        co_await zk->get(name, changed);
        direct.set(full, "333");
        const auto what = co_await changed.event();
        CHECK(what == watch_event::changed);
    }
    CHECK(direct.children(root + "/app") == std::vector<std::string>{"n1", "n2"});
}

CO_TEST("the operations on nodes may create the root, like any node") {
    foreigner direct(shared_server().address());
    const auto root = fresh_root();
    client zk(executor, shared_server().address(), below(root));
    const auto [refused] = co_await zk.connect(no_throw);
    CHECK(refused == errc::no_root);
    const auto [error, nothing] = co_await zk.create("/a", "", create_options(), no_throw);
    CHECK(error == zk_errc::no_node);
    const auto [missing, stat] = co_await zk.exists("/", no_throw);
    CHECK(missing == zk_errc::no_node);
    const auto made = co_await zk.create("/", "top", create_options());
    CHECK(made.path == "/");
    CHECK(direct.get(root).data == "top");
    co_await zk.connect();
    co_await zk.create("/a", "", create_options());
    CHECK(direct.exists(root + "/a"));
    co_await zk.remove("/a", any_version);
    co_await zk.remove("/", any_version);
    CHECK_FALSE(direct.exists(root));
}

CO_TEST("a numbered node at the root of a client stays below its root") {
    foreigner direct(shared_server().address());
    const auto root = fresh_root();
    direct.create(root);
    client zk(executor, shared_server().address(), below(root));
    create_options numbered{.mode = create_mode::persistent_sequential};
    const auto made = co_await zk.create("/", "", numbered);
    CHECK(made.path == "/0000000000");
    CHECK(direct.children(root) == std::vector<std::string>{"0000000000"});
    std::vector<operation> steps{op::create{"/", "", create_mode::persistent_sequential}};
    const auto done = co_await zk.multi(std::move(steps));
    CHECK(done.at(0).path == "/0000000001");
    CHECK(direct.children(root).size() == 2);
    co_await zk.remove(made.path, any_version);
}

CO_TEST("a root of '/' is an empty root") {
    foreigner direct(shared_server().address());
    const auto path = fresh_root();
    client by_option(executor, shared_server().address(), below("/"));
    client by_list(executor, shared_server().address() + "/");
    const auto made = co_await by_option.create(path, "", create_options());
    CHECK(made.path == path);
    CHECK(direct.exists(path));
    co_await by_list.get(path);
}
