// The locks of the chaos test on Redis. The worker's further arguments are
//
//     ttl         the time to live of its keys in milliseconds
//     max_ttl     the longest one of all clients
//     ca          whom to trust, if connections are to be encrypted

#include "locks.hpp"

#include <paddock/redis/client.hpp>
#include <paddock/redis/lock_family.hpp>
#include <paddock/redis/mutex.hpp>
#include <paddock/redis/recursive_mutex.hpp>

#include <cstdio>
#include <string>

namespace paddock::test {

namespace {

using std::chrono::milliseconds;

redis::client_options options_of(const arguments& given) {
    redis::client_options options;
    options.ttl = milliseconds(std::stoi(given.at("ttl")));
    options.max_ttl = milliseconds(std::stoi(given.at("max_ttl")));
    if (const auto& ca = given.at("ca"); !ca.empty()) options.tls = tls({.ca = ca});
    return options;
}

/// Only the first has two contenders in each process: they would keep one that is held for long.
class redis_locks final : public locks {
public:
    redis_locks(asio::any_io_executor executor, const arguments& given)
        : max_ttl_(options_of(given).max_ttl)
        , servers_(std::move(executor),
                   (given.at("ca").empty() ? "redis://" : "rediss://") + given.at("servers"),
                   options_of(given)) {}

    std::vector<way> ways() override {
        auto two = owner_way(), three = exclusive_way(three_, "three");
        two.longest_stay = max_ttl_ / 5;
        three.longest_stay = max_ttl_ / 2;
        return {exclusive_way(one_, "one"), key_way(), two, three};
    }

    asio::awaitable<void> close() override { co_await servers_.close(); }

private:
    way key_way() const {
        return {{.lock = "one"},
                [this] { return keys_.lock("one", asio::use_awaitable); },
                [this](milliseconds limit) {
                    return keys_.try_lock_for("one", limit, asio::use_awaitable);
                }};
    }
    way owner_way() const {
        return {{.lock = "two"},
                [this] { return two_.lock(owner_, asio::use_awaitable); },
                [this](milliseconds limit) {
                    return two_.try_lock_for(owner_, limit, asio::use_awaitable);
                }};
    }

    const milliseconds max_ttl_;
    redis::client servers_;
    redis::mutex one_{servers_, "chaos:one"}, three_{servers_, "chaos:three"};
    redis::recursive_mutex two_{servers_, "chaos:two"};
    redis::lock_family keys_{servers_, "chaos:"};
    const owner owner_;
};

} // namespace

std::unique_ptr<locks> open_locks(asio::any_io_executor executor, const arguments& given) {
    return std::make_unique<redis_locks>(std::move(executor), given);
}

} // namespace paddock::test
