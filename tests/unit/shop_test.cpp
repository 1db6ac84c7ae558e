// The handlers of the sample `shop`, without an ensemble.

#include "api.hpp"
#include "orders.hpp"
#include "stock.hpp"
#include "support/temporary_folder.hpp"

#include <paddock/testing.hpp>

#include <boost/asio.hpp>
#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace shop;
using namespace std::chrono_literals;
using paddock::test::temporary_folder;
using paddock::testing::guard_in_hand;

namespace {

template <typename T>
T result_of(asio::io_context& io, asio::awaitable<T> work) {
    auto result = asio::co_spawn(io, std::move(work), asio::use_future);
    io.restart();
    while (result.wait_for(0s) != std::future_status::ready)
        io.run_one();
    return result.get();
}

struct shelf {
    temporary_folder folder;
    std::string file = (folder.path() / "stock").string();
    stock goods{file};
    asio::io_context io;

    shelf() { goods.put("plums", 5); }
    std::int64_t left() { return result_of(io, goods.left("plums")); }
    static line line_under(guard_in_hand& hand, std::int64_t count) {
        return {"plums", count, to_string(hand.get().fencing_token()), 0};
    }
    order sell_under(guard_in_hand& hand, std::int64_t count) {
        return result_of(io, sell(goods, {line_under(hand, count)}, 0ms));
    }
    std::string token_of_order(std::int64_t number) {
        SQLite::Database db(file);
        SQLite::Statement orders(db, "SELECT token FROM orders WHERE id = ?");
        orders.bind(1, number);
        return orders.executeStep() ? orders.getColumn(0).getString() : "";
    }
};

template <typename Call>
std::string refused(Call call) {
    try {
        call();
    } catch (const refusal& e) {
        return e.code;
    }
    return "";
}

} // namespace

TEST_CASE("an order is sold under its hold's token") {
    shelf s;
    guard_in_hand hand(s.io.get_executor(), "/shop/plums/lock-0000000000", {7, 1});
    const auto sold = s.sell_under(hand, 2);
    CHECK(sold.lines[0].left == 3);
    CHECK(s.left() == 3);
    CHECK(s.token_of_order(sold.number) == to_string(paddock::fencing_token{7, 1}));
}

TEST_CASE("what is sold out is refused, and nothing is written") {
    shelf s;
    guard_in_hand hand(s.io.get_executor());
    CHECK(refused([&] { s.sell_under(hand, 6); }) == "sold_out");
    CHECK(s.left() == 5);
    CHECK(refused([&] {
              result_of(s.io, sell(s.goods, {{"figs", 1, {}, 0}}, 0ms));
          }) == "not_found");
}

TEST_CASE(
    "a holder that comes after a later one is refused, also between its claim and its write") {
    shelf s;
    guard_in_hand early(s.io.get_executor(), "/1", {7, 0}), late(s.io.get_executor(), "/2", {8, 0});
    auto claimed =
        result_of(s.io, s.goods.claim({{"plums", 1, to_string(early.get().fencing_token()), 0}}));
    s.sell_under(late, 1);
    claimed[0].left -= 1; // as it was when it was read
    CHECK(refused([&] { result_of(s.io, s.goods.write(claimed)); }) == "lock_lost");
    CHECK(refused([&] { s.sell_under(early, 1); }) == "lock_lost");
    CHECK(s.left() == 4);
}

TEST_CASE("an order whose hold is lost while it is packed is not written") {
    shelf s;
    guard_in_hand hand(s.io.get_executor());
    const auto work = [&] { return sell(s.goods, {s.line_under(hand, 1)}, 1h); };
    auto running = asio::co_spawn(s.io, hand.get().run(work), asio::use_future);
    asio::steady_timer soon(s.io, 20ms);
    soon.async_wait([&](auto) { hand.lose(paddock::errc::lease_lapsed); });
    s.io.restart();
    while (running.wait_for(0s) != std::future_status::ready)
        s.io.run_one();
    CHECK_THROWS_AS(running.get(), paddock::system_error);
    CHECK(s.left() == 5);
}

TEST_CASE("while somebody else has the stock's file locked, orders are refused as busy") {
    shelf s;
    SQLite::Database other(s.file, SQLite::OPEN_READWRITE);
    SQLite::Transaction held(other, SQLite::TransactionBehavior::IMMEDIATE);
    guard_in_hand hand(s.io.get_executor());
    CHECK(refused([&] { s.sell_under(hand, 1); }) == "stock_busy");
}

TEST_CASE("orders that queue for a locked stock file are refused soon, not one after the other") {
    shelf s;
    SQLite::Database other(s.file, SQLite::OPEN_READWRITE);
    SQLite::Transaction held(other, SQLite::TransactionBehavior::IMMEDIATE);
    guard_in_hand hand(s.io.get_executor());
    const auto begin = std::chrono::steady_clock::now();
    int refusals = 0;
    for (int n = 0; n < 200; ++n) // each would wait for 100 ms
        asio::co_spawn(s.io, sell(s.goods, {s.line_under(hand, 1)}, 0ms),
                       [&](std::exception_ptr failed, const order&) {
                           CHECK(refused([&] { std::rethrow_exception(failed); }) == "stock_busy");
                           ++refusals;
                       });
    s.io.run();
    CHECK(refusals == 200);
    CHECK(std::chrono::steady_clock::now() - begin < 15s);
}

TEST_CASE("a stock that ends while orders queue for it ends their coroutines") {
    asio::io_context io; // as in main.cpp it lives longer
    shelf s;
    SQLite::Database other(s.file, SQLite::OPEN_READWRITE);
    SQLite::Transaction held(other, SQLite::TransactionBehavior::IMMEDIATE);
    guard_in_hand hand(io.get_executor());
    for (int n = 0; n < 20; ++n)
        asio::co_spawn(asio::make_strand(io), sell(s.goods, {s.line_under(hand, 1)}, 0ms),
                       asio::detached);
    io.poll();
}

TEST_CASE("a new count makes who has claimed the article begin again") {
    shelf s;
    guard_in_hand hand(s.io.get_executor());
    const auto claimed = result_of(s.io, s.goods.claim({s.line_under(hand, 1)}));
    s.goods.put("plums", 100);
    CHECK(refused([&] { result_of(s.io, s.goods.write(claimed)); }) == "lock_lost");
    CHECK(s.left() == 100);
}

TEST_CASE("the body of an order: what is accepted, and what is refused") {
    const auto lines = lines_of(
        R"({"items": [{"article": "b", "count": 1}, {"article": "a", "count": 2}, {"article": "b", "count": 3}]})");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].article == "a");
    CHECK(lines[1].count == 4);
    for (const std::string body :
         {"", "[]", "{}", R"({"items": []})", R"({"items": [{"article": "a"}]})",
          R"({"items": [{"article": "", "count": 1}]})",
          R"({"items": [{"article": "a", "count": 0}]})",
          R"({"items": [{"article": "a", "count": -1}]})",
          R"({"items": [{"article": "a", "count": 1.5}]})",
          R"({"items": [{"article": "a", "count": 99999999999999999999}]})",
          R"({"items": [{"article": "a", "count": 1000001}]})",
          R"({"items": [{"article": 1, "count": 1}]})"})
        CHECK_MESSAGE(refused([&] { lines_of(body); }) == "bad_request", body);
    const std::string deep(10'000, '[');
    CHECK(refused([&] { lines_of(deep); }) == "bad_request");
}

namespace {

/// A shop whose ensemble cannot be reached.
struct lonely_shop : shelf {
    paddock::client zk{io, "127.0.0.1:1"};
    orders sales{zk, goods, {"/shop", "a \"shop\"", 50ms, 0ms}};
    shop::api api{zk, goods, sales};

    http::response<http::string_body> ask(http::verb how, const std::string& target,
                                          const std::string& body = {},
                                          const std::string& type = "application/json") {
        request asked(how, target, 11);
        asked.set(http::field::content_type, type);
        asked.body() = body;
        return result_of(io, api.handle(std::move(asked))).head;
    }
    template <typename... More>
    std::string error(http::verb how, const std::string& target, const More&... more) {
        const auto said = ask(how, target, more...);
        return std::to_string(said.result_int()) + ' ' +
               json::value_to<std::string>(json::parse(said.body()).at("error"));
    }
};

} // namespace

TEST_CASE("the paths, without an ensemble") {
    lonely_shop s;
    using enum http::verb;
    CHECK(s.ask(get, "/stock/plums").body() == "{\"article\":\"plums\",\"left\":5}\n");
    CHECK(s.ask(get, "/stock/pl%75ms").result() == http::status::ok);
    CHECK(s.error(get, "/stock/figs") == "404 not_found");
    CHECK(s.error(get, "/stock") == "404 not_found");
    CHECK(s.error(get, "/nothing") == "404 not_found");
    CHECK(s.error(get, "nothing") == "400 bad_request");
    CHECK(s.error(delete_, "/orders") == "400 bad_request");
    CHECK(s.error(post, "/orders", "no") == "400 bad_request");
    CHECK(s.ask(get, "/health").result() == http::status::service_unavailable);
    const auto locks = json::parse(s.ask(get, "/locks").body());
    CHECK(locks.at("articles").as_array().empty());
    CHECK(locks.at("seen").is_null());
    CHECK(locks.at("shop") == "a \"shop\"");
    CHECK(s.ask(get, "/").at(http::field::content_type) == "text/html; charset=utf-8");
    const auto busy = s.ask(post, "/orders", R"({"items": [{"article": "plums", "count": 1}]})");
    CHECK(busy.result() == http::status::service_unavailable);
    CHECK(busy.at(http::field::retry_after) == "1");
    CHECK(json::parse(busy.body()).at("error") == "no_ensemble");
    CHECK(s.left() == 5);
    const auto metrics = s.ask(get, "/metrics").body();
    CHECK(metrics.find("\nshop_answers_total{code=\"no_ensemble\"} 1\n") != std::string::npos);
    CHECK(metrics.find("paddock_lock_wait_seconds_count{lock=\"/shop\",kind=\"mutex\",outcome="
                       "\"error\"} 1\n") != std::string::npos);
}

TEST_CASE("an order of an article that does not exist asks for no lock") {
    lonely_shop s; // a lock would be "no_ensemble"
    const auto order = R"({"items": [{"article": "plums", "count": 1},
                                     {"article": "figs", "count": 1}]})";
    CHECK(s.error(http::verb::post, "/orders", order) == "404 not_found");
}

TEST_CASE("an order of another content type, as any page may send it, is refused") {
    lonely_shop s;
    const std::string order = R"({"items": [{"article": "plums", "count": 1}]})";
    const auto error_of = [&](const std::string& type) {
        return s.error(http::verb::post, "/orders", order, type);
    };
    for (const auto* const type : {"", "text/plain", "application/x-www-form-urlencoded",
                                   "multipart/form-data", "text/plain; application/json"})
        CHECK(error_of(type) == "415 not_json");
    CHECK(error_of("application/json; charset=utf-8") == "503 no_ensemble");
}

TEST_CASE("JSON is valid although a name is no UTF-8") {
    CHECK(json_text({{"a", "€\xff\xc3\"\xe2\x82"}}) == "{\"a\":\"€??\\\"??\"}");
    lonely_shop s;
    s.goods.put("\xff", 1);
    const auto said = json::parse(s.ask(http::verb::get, "/stock/%FF").body());
    CHECK(said.at("article") == "?");
    CHECK(s.error(http::verb::get, "/stock/%FE") == "404 not_found");
}
