// The locks of the chaos test on ZooKeeper. The worker's further arguments are
//
//     session     the session timeout in milliseconds
//     tick        the servers' tickTime in milliseconds, if the client shall know it
//     permits     of the semaphore
//     ca          whom to trust, if connections are to be encrypted

#include "locks.hpp"

#include <paddock/paddock.hpp>

#include <string>

namespace paddock::test {

namespace {

using std::chrono::milliseconds;

milliseconds in_milliseconds(const std::string& word) { return milliseconds(std::stoi(word)); }

client_options options_of(const arguments& given) {
    client_options options;
    options.session_timeout = in_milliseconds(given.at("session"));
    options.lease.tick_time = in_milliseconds(given.at("tick"));
    if (const auto& ca = given.at("ca"); !ca.empty()) options.tls = tls({.ca = ca});
    return options;
}

mutex_options sticky() {
    mutex_options options;
    options.max_local_handoffs = 3;
    options.linger = milliseconds(200);
    return options;
}

class zk_locks final : public locks {
public:
    zk_locks(asio::any_io_executor executor, const arguments& given)
        : session_(in_milliseconds(given.at("session")))
        , zk_(std::move(executor), given.at("servers"), options_of(given))
        , some_(zk_, "/chaos/permits", std::stoi(given.at("permits"))) {}

    std::vector<way> ways() override {
        auto slow = exclusive_way(two_, "two"), slower = exclusive_way(three_, "three");
        slow.longest_stay = session_ / 2;
        slower.longest_stay = session_;
        auto rare = key_way("rare-key");
        rare.longest_rest = 4 * session_;
        auto reading = read_way(), permitted = permit_way();
        reading.longest_stay = permitted.longest_stay = session_ / 10;
        return {exclusive_way(one_, "one"),
                exclusive_way(sticky_, "sticky"),
                exclusive_way(sticky_, "sticky"),
                key_way("key"),
                rare,
                slow,
                slower,
                exclusive_way(both_, "shared"),
                reading,
                reading,
                permitted,
                permitted};
    }

    asio::awaitable<void> close() override { co_await zk_.close(); }

private:
    way key_way(const char* key) const {
        return {{.lock = key},
                [this, key] { return keys_.lock(key, asio::use_awaitable); },
                [this, key](milliseconds limit) {
                    return keys_.try_lock_for(key, limit, asio::use_awaitable);
                }};
    }
    way read_way() const {
        return {{.lock = "shared", .kind = share::shared},
                [this] { return both_.lock_shared(asio::use_awaitable); },
                [this](milliseconds limit) {
                    return both_.try_lock_shared_for(limit, asio::use_awaitable);
                }};
    }
    way permit_way() const {
        return {{.lock = "permits", .kind = share::permits},
                [this] { return some_.acquire(1, asio::use_awaitable); },
                [this](milliseconds limit) {
                    return some_.try_acquire_for(1, limit, asio::use_awaitable);
                }};
    }

    const milliseconds session_;
    client zk_;
    mutex one_{zk_, "/chaos/one"}, two_{zk_, "/chaos/two"}, three_{zk_, "/chaos/three"};
    mutex sticky_{zk_, "/chaos/sticky", sticky()};
    shared_mutex both_{zk_, "/chaos/shared"};
    lock_family keys_{zk_, "/chaos/keys"};
    semaphore some_;
};

} // namespace

std::unique_ptr<locks> open_locks(asio::any_io_executor executor, const arguments& given) {
    return std::make_unique<zk_locks>(std::move(executor), given);
}

} // namespace paddock::test
