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

/// Sells under the locks of the lines, in the same order: claims, reads, packs, then writes.
asio::awaitable<order> sell(stock& goods, std::vector<line> lines,
                            std::vector<const paddock::guard*> holds,
                            std::chrono::milliseconds packing);

class orders {
public:
    struct options {
        std::string root = "/shop";            ///< of the locks
        std::string label;                     ///< of this process, for the page and for operators
        std::chrono::milliseconds limit{1000}; ///< for the locks of an order
        std::chrono::milliseconds packing{0};  ///< how long an order holds its locks
    };
    orders(const paddock::client& zk, stock& goods, options how);

    /// Waits for the locks of all articles, and sells. Throws what sell() throws, and what paddock
    /// does; when it is cancelled, it leaves the queues.
    asio::awaitable<order> place(std::vector<line> lines) const;

    const paddock::lock_family& articles() const { return articles_; }

private:
    asio::awaitable<order> place_one(std::vector<line> lines) const;
    asio::awaitable<order> place_several(std::vector<line> lines) const;

    const paddock::client& zk_;
    stock& goods_;
    options how_;
    paddock::mutex_options locking_;
    paddock::lock_family articles_;
};

} // namespace shop
