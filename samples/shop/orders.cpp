#include "orders.hpp"

#include <utility>

namespace shop {

asio::awaitable<order> sell(stock& goods, std::vector<line> lines,
                            std::vector<const paddock::guard*> holds,
                            std::chrono::milliseconds packing) {
    for (std::size_t n = 0; n < lines.size(); ++n)
        lines[n].token = to_string(holds[n]->fencing_token());
    order sold;
    sold.lines = co_await goods.claim(std::move(lines));
    for (auto& one : sold.lines) {
        if (one.left < one.count)
            throw refusal("sold_out",
                          "of " + one.article + " there are " + std::to_string(one.left));
        one.left -= one.count;
    }
    asio::steady_timer work(co_await asio::this_coro::executor, packing);
    co_await work.async_wait(asio::use_awaitable);
    sold.number = co_await goods.write(sold.lines);
    co_return sold;
}

orders::orders(const paddock::client& zk, stock& goods, options how)
    : zk_(zk)
    , goods_(goods)
    , how_(std::move(how))
    , locking_{.label = how_.label, .group = how_.root}
    , articles_(zk, how_.root, locking_) {}

asio::awaitable<order> orders::place(std::vector<line> lines) const {
    return lines.size() == 1 ? place_one(std::move(lines)) : place_several(std::move(lines));
}

asio::awaitable<order> orders::place_one(std::vector<line> lines) const {
    const auto work = [&](paddock::guard& hold) -> asio::awaitable<order> {
        return sell(goods_, lines, {&hold}, how_.packing);
    };
    auto sold = co_await articles_.try_with_for(lines.front().article, how_.limit, work);
    if (!sold) throw refusal("busy", "others are ordering " + lines.front().article);
    co_return std::move(*sold);
}

asio::awaitable<order> orders::place_several(std::vector<line> lines) const {
    std::vector<paddock::mutex> locks;
    for (const auto& one : lines)
        locks.emplace_back(zk_, articles_.path_of(one.article), locking_);
    const auto work = [&](paddock::guard_set& all) -> asio::awaitable<order> {
        std::vector<const paddock::guard*> holds;
        for (std::size_t n = 0; n < all.size(); ++n)
            holds.push_back(&all[n]);
        return sell(goods_, lines, std::move(holds), how_.packing);
    };
    auto sold = co_await paddock::try_with_all_for(locks, how_.limit, work);
    if (!sold) throw refusal("busy", "others are ordering one of these articles");
    co_return std::move(*sold);
}

} // namespace shop
