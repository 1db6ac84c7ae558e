// Operations that refuse an argument: the error names it, and the reason. No server is needed.

#include <paddock/client.hpp>
#include <paddock/election.hpp>
#include <paddock/guard.hpp>
#include <paddock/lock_family.hpp>
#include <paddock/mutex.hpp>
#include <paddock/shared_lock_family.hpp>
#include <paddock/watch.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>

using namespace paddock;
using namespace std::chrono_literals;

namespace {

struct refusal {
    explicit refusal(std::string& text) : text_(&text) {}
    void operator()(error_code why, auto&&...) const {
        CHECK(why == errc::bad_argument);
        *text_ = why.message();
    }

private:
    std::string* text_;
};

/// The text of the error with which an operation of a client without servers completes.
std::string refused(const std::function<void(client&, refusal)>& call) {
    asio::io_context io;
    std::string text = "is not complete";
    client zk(io.get_executor(), "127.0.0.1:1");
    call(zk, refusal(text));
    io.poll();
    return text;
}

} // namespace

TEST_CASE("operations on nodes name the argument that they refuse") {
    const auto at = [](std::string path) {
        return refused([path](client& zk, refusal r) { zk.create(path, r); });
    };
    CHECK(at("") == "path is empty");
    CHECK(at("no-slash") == "path does not start with '/'");
    CHECK(at("/a/") == "path ends with '/'");
    CHECK(at("/a//b") == "path has an empty component");
    CHECK(at("/a/../b") == "path has a relative component");
    CHECK(at("/a\n") == "path has a character that ZooKeeper refuses");
    CHECK(at("/\xff") == "path is not valid UTF-8");
    const auto why = "path does not start with '/'";
    CHECK(refused([](client& zk, refusal r) { zk.get("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.exists("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.children("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.get_acl("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.set("a", "", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.remove("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.sync("a", r); }) == why);
    CHECK(refused([](client& zk, refusal r) { zk.set_acl("a", open_acl(), any_version, r); }) ==
          why);
    CHECK(refused([](client& zk, refusal r) { zk.set_acl("/a", {}, any_version, r); }) ==
          "acl is empty");
}

TEST_CASE("the options of create, and the steps of a multi, are named by their member") {
    const auto created = [](create_options how) {
        return refused([how](client& zk, refusal r) { zk.create("/a", "", how, r); });
    };
    CHECK(created({.acl = {}}) == "create_options::acl is empty");
    CHECK(created({.ttl = 1ms}) == "create_options::ttl is for the modes with a TTL only");
    CHECK(created({.mode = create_mode::persistent_with_ttl}) ==
          "create_options::ttl is not between 1 ms and 2^40 ms");
    const auto multi = [](operation step) {
        return refused([step](client& zk, refusal r) { zk.multi({op::check{"/a"}, step}, r); });
    };
    CHECK(multi(op::create{"a"}) == "op::create::path does not start with '/'");
    CHECK(multi(op::create{"/a", "", create_mode::container}) ==
          "op::create::mode is none that a multi can have");
    CHECK(multi(op::create{"/a", "", create_mode::ephemeral, {}}) == "op::create::acl is empty");
    CHECK(multi(op::set{"/a/"}) == "op::set::path ends with '/'");
    CHECK(multi(op::remove{""}) == "op::remove::path is empty");
    CHECK(multi(op::check{"/a//b"}) == "op::check::path has an empty component");
}

TEST_CASE("a request that is too large is refused with the option that says how large") {
    const auto text =
        refused([](client& zk, refusal r) { zk.create("/a", std::string(2 << 20, 'a'), r); });
    CHECK(text == "the request is larger than client_options::max_request_bytes");
}

TEST_CASE("a watch of another client is refused, for the read and for its event") {
    asio::io_context io;
    client other(io.get_executor(), "127.0.0.1:1");
    watch foreign(other);
    CHECK(refused([&](client& zk, refusal r) { zk.get("/a", foreign, r); }) ==
          "watch is of another client, or was moved from");
    std::string event;
    foreign.event(refusal(event));
    io.poll();
    CHECK(event == "watch is of another client, or was moved from");
}

TEST_CASE("a key that is not acceptable is refused, and a contender of another lock") {
    CHECK(refused([](client& zk, refusal r) { lock_family(zk, "/a").lock("", r); }) ==
          "key is empty");
    CHECK(refused([](client& zk, refusal r) {
              shared_lock_family(zk, "/a").lock_shared(std::string(4097, 'k'), r);
          }) == "key is longer than 4096 bytes");
    CHECK(refused([](client& zk, refusal r) { mutex(zk, "/a").kick(contender{}, r); }) ==
          "contender is not of this lock");
}

TEST_CASE("an operation of an empty object says that it is empty") {
    const auto text = refused(
        [](client& zk, refusal r) { guard().verify(asio::bind_executor(zk.get_executor(), r)); });
    CHECK(text == "the object is empty, or was moved from");
}

TEST_CASE("an awaited operation throws what names the argument") {
    asio::io_context io;
    client zk(io.get_executor(), "127.0.0.1:1");
    std::string text;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await zk.get("no-slash");
            } catch (const system_error& error) {
                CHECK(error.code() == errc::bad_argument);
                text = error.what();
            }
        },
        asio::detached);
    io.poll();
    CHECK(text.starts_with("path does not start with '/'"));
}
