// The goods and the orders, in an SQLite file that several processes share.
#pragma once

#include <boost/asio.hpp>

#include <SQLiteCpp/Database.h>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

namespace asio = boost::asio;

/// One article of an order.
struct line {
    std::string article;
    std::int64_t count = 0;
    std::string token; ///< of the hold under which it is sold; grows with every hold of the article
    std::int64_t left = 0;
};

/// Why an order is not sold, or a request not answered: one of the codes of api.hpp, and words.
struct refusal : std::runtime_error {
    refusal(const char* which, const std::string& why) : runtime_error(why), code(which) {}
    const char* code;
};

/// Any thread may call the coroutines; SQLite, which blocks, has a thread of its own.
class stock {
public:
    explicit stock(const std::string& file);

    void put(const std::string& article, std::int64_t count); ///< blocks
    asio::awaitable<std::optional<std::int64_t>> left(std::string article);

    /// Claims the articles with the tokens of the lines, then reads what is left of them: from then
    /// on no holder with a smaller token can write.
    asio::awaitable<std::vector<line>> claim(std::vector<line> lines);
    /// Writes what is left, and the order, if the tokens still are those of the lines; all or
    /// nothing. Returns the order's number.
    asio::awaitable<std::int64_t> write(std::vector<line> lines);

private:
    SQLite::Database db_;
    asio::thread_pool thread_{1};
};

} // namespace shop
