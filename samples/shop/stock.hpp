// The goods and the orders, in an SQLite file that several processes share.
#pragma once

#include <boost/asio.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <chrono>
#include <cstdint>
#include <optional>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <utility>
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
    explicit stock(const std::string& file)
        : db_(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 100 /* ms, if it is locked */) {
        db_.exec(
            "PRAGMA journal_mode = WAL;"
            "CREATE TABLE IF NOT EXISTS stock (article TEXT PRIMARY KEY, left INTEGER NOT NULL,"
            " token TEXT NOT NULL DEFAULT '');"
            "CREATE TABLE IF NOT EXISTS orders (id INTEGER, article TEXT, count INTEGER,"
            " token TEXT, PRIMARY KEY (id, article))");
    }

    /// Blocks. Who has claimed the article has to begin again.
    void put(const std::string& article, std::int64_t count) {
        change("INSERT INTO stock (article, left) VALUES (?1, ?2)"
               " ON CONFLICT (article) DO UPDATE SET left = ?2, token = ''",
               article, count);
    }

    /// Refuses an article that does not exist.
    asio::awaitable<std::int64_t> left(std::string article) {
        return elsewhere([this, article] { return left_of(article); });
    }

    /// Claims the articles with the tokens of the lines, then reads what is left of them: from then
    /// on no holder with a smaller token can write.
    asio::awaitable<std::vector<line>> claim(std::vector<line> lines) {
        return elsewhere([this, lines]() mutable {
            SQLite::Transaction all(db_, SQLite::TransactionBehavior::IMMEDIATE);
            for (auto& one : lines) {
                one.left = left_of(one.article);
                need_own(one, change("UPDATE stock SET token = ?2"
                                     " WHERE article = ?1 AND token <= ?2",
                                     one.article, one.token));
            }
            all.commit();
            return lines;
        });
    }

    /// Writes what is left, and the order, if the tokens still are those of the lines; all or
    /// nothing. Returns the order's number.
    asio::awaitable<std::int64_t> write(std::vector<line> lines) {
        return elsewhere([this, lines] {
            SQLite::Transaction all(db_, SQLite::TransactionBehavior::IMMEDIATE);
            const auto number = *read("SELECT coalesce(max(id), 0) + ?1 FROM orders", 1);
            for (const auto& one : lines) {
                need_own(one, change("UPDATE stock SET left = ?3 WHERE article = ?1 AND token = ?2",
                                     one.article, one.token, one.left));
                change("INSERT INTO orders VALUES (?1, ?2, ?3, ?4)", number, one.article, one.count,
                       one.token);
            }
            all.commit();
            return number;
        });
    }

private:
    std::int64_t left_of(const std::string& article) {
        const auto left = read("SELECT left FROM stock WHERE article = ?1", article);
        if (!left) throw refusal("not_found", "there is no article " + article);
        return *left;
    }

    static void need_own(const line& one, int rows) {
        if (rows != 1) throw refusal("lock_lost", "a later holder has claimed " + one.article);
    }

    template <typename... Values>
    int change(const char* sql, const Values&... values) {
        SQLite::Statement statement(db_, sql);
        SQLite::bind(statement, values...);
        return statement.exec();
    }

    template <typename... Values>
    std::optional<std::int64_t> read(const char* sql, const Values&... values) {
        SQLite::Statement statement(db_, sql);
        SQLite::bind(statement, values...);
        if (!statement.executeStep()) return std::nullopt;
        return statement.getColumn(0).getInt64();
    }

    /// Calls `work()` on the other thread, and continues here with its result; refuses what has
    /// waited there for too long.
    template <typename Work>
    asio::awaitable<std::invoke_result_t<Work&>> elsewhere(Work work) {
        const auto latest = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
        const auto call = [](Work work,
                             auto latest) -> asio::awaitable<std::invoke_result_t<Work&>> {
            // Without a pause, Asio (1.81) would put the result behind the calls that wait.
            co_await asio::post(asio::use_awaitable);
            if (std::chrono::steady_clock::now() > latest)
                throw refusal("stock_busy", "the stock has too much to do");
            try {
                co_return work();
            } catch (const SQLite::Exception& e) {
                const bool busy = e.getErrorCode() == SQLITE_BUSY;
                throw refusal(busy ? "stock_busy" : "failed", std::string("stock: ") + e.what());
            }
        };
        // Not to be cancelled: SQLite cannot be, and Asio (1.81) would reach for a coroutine on the
        // other thread that may have ended.
        co_return co_await asio::co_spawn(
            thread_, call(std::move(work), latest),
            asio::bind_cancellation_slot(asio::cancellation_slot(), asio::use_awaitable));
    }

    SQLite::Database db_;
    asio::thread_pool thread_{1};
};

} // namespace shop
