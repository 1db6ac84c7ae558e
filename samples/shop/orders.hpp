// Orders: each is sold under the locks of its articles.
#pragma once

#include "stock.hpp"

#include <paddock/paddock.hpp>

#include <chrono>

namespace shop {

struct order {
    std::int64_t number = 0;
    std::vector<line> lines; ///< with what is left now, and the tokens
};

/// Sells under the locks whose tokens the lines have: claims, reads, packs, then writes.
inline asio::awaitable<order> sell(stock& goods, std::vector<line> lines,
                                   std::chrono::milliseconds packing) {
    order sold;
    sold.lines = co_await goods.claim(std::move(lines));
    for (auto& one : sold.lines) {
        if (one.left < one.count)
            throw refusal("sold_out", std::to_string(one.left) + " " + one.article + " are left");
        one.left -= one.count;
    }
    asio::steady_timer work(co_await asio::this_coro::executor, packing);
    co_await work.async_wait(asio::use_awaitable);
    sold.number = co_await goods.write(sold.lines);
    co_return sold;
}

/// Any thread may call its coroutines.
class orders {
public:
    struct options {
        std::string root{};                  ///< of the locks
        std::string label{};                 ///< of this process, for the page and for operators
        std::chrono::milliseconds limit{};   ///< for the locks of an order
        std::chrono::milliseconds packing{}; ///< how long an order holds its locks
        bool without_locks = false;          ///< sells goods twice: to see what locks are for
    };
    orders(const paddock::client& zk, stock& goods, options how)
        : zk_(zk), goods_(goods), how_(std::move(how)) {}

    /// Waits for the locks of all articles, and sells. Throws refusals, and what paddock throws;
    /// when it is cancelled, it leaves the queues.
    asio::awaitable<order> place(std::vector<line> lines) const {
        for (const auto& one : lines)
            co_await goods_.left(one.article); // what does not exist is not locked either
        if (how_.without_locks) co_return co_await sell(goods_, std::move(lines), how_.packing);
        if (lines.size() > 1) co_return co_await under_several(std::move(lines));
        co_return co_await under_one_lock(std::move(lines));
    }

    const paddock::lock_family& articles() const { return articles_; }
    const std::string& label() const { return how_.label; }

private:
    /// The answer does not wait until the locks are free again, as it would with `with`: their
    /// guards release them. A result may come although the lock was lost at the end, after a pause
    /// of the process above all; here the stock has compared the tokens. With another store look at
    /// `hold.valid()` before the answer, which still leaves a moment.
    asio::awaitable<order> under_one_lock(std::vector<line> lines) const {
        const auto hold = co_await articles_.try_lock_for(lines.front().article, how_.limit);
        if (!hold) throw refusal("busy", "others are ordering the same");
        lines.front().token = to_string(hold.fencing_token());
        const auto work = [&] { return sell(goods_, lines, how_.packing); };
        co_return co_await hold.run(work);
    }

    asio::awaitable<order> under_several(std::vector<line> lines) const {
        std::vector<paddock::mutex> locks;
        for (const auto& one : lines)
            locks.emplace_back(zk_, articles_.path_of(one.article), locking_);
        const auto all = co_await paddock::try_lock_all_for(locks, how_.limit);
        if (!all) throw refusal("busy", "others are ordering one of these");
        for (std::size_t n = 0; n < all.size(); ++n)
            lines[n].token = to_string(all[n].fencing_token());
        const auto work = [&] { return sell(goods_, lines, how_.packing); };
        co_return co_await all.run(work);
    }

    const paddock::client& zk_;
    stock& goods_;
    const options how_;
    const paddock::mutex_options locking_{.label = how_.label, .group = how_.root};
    const paddock::lock_family articles_{zk_, how_.root, locking_};
};

} // namespace shop
