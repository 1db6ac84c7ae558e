#include "stock.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <sqlite3.h>
#include <utility>

namespace shop {

namespace {

/// Runs a statement; the number of rows that it changes.
template <typename... Values>
int change(SQLite::Database& db, const char* sql, const Values&... values) {
    SQLite::Statement statement(db, sql);
    SQLite::bind(statement, values...);
    return statement.exec();
}

/// The number that a statement reads, if there is one.
template <typename... Values>
std::optional<std::int64_t> read(SQLite::Database& db, const char* sql, const Values&... values) {
    SQLite::Statement statement(db, sql);
    if constexpr (sizeof...(values) > 0) SQLite::bind(statement, values...);
    if (!statement.executeStep()) return std::nullopt;
    return statement.getColumn(0).getInt64();
}

/// Calls `work()` on the other thread, and continues here with its result.
template <typename Work>
asio::awaitable<std::invoke_result_t<Work&>> elsewhere(asio::thread_pool& thread, Work work) {
    const auto call = [](Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
        try {
            co_return work();
        } catch (const SQLite::Exception& e) {
            const bool busy = e.getErrorCode() == SQLITE_BUSY;
            throw refusal(busy ? "stock_busy" : "failed", std::string("the stock: ") + e.what());
        }
    };
    co_return co_await asio::co_spawn(thread, call(std::move(work)), asio::use_awaitable);
}

[[noreturn]] void refuse_late(const line& one) {
    throw refusal("lock_lost", "a later holder has claimed " + one.article);
}

} // namespace

stock::stock(const std::string& file)
    : db_(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 250 /* ms, while it is locked */) {
    db_.exec("PRAGMA journal_mode = WAL;"
             "CREATE TABLE IF NOT EXISTS stock"
             " (article TEXT PRIMARY KEY, left INTEGER NOT NULL, token TEXT NOT NULL DEFAULT '');"
             "CREATE TABLE IF NOT EXISTS orders"
             " (id INTEGER, article TEXT, count INTEGER, token TEXT, PRIMARY KEY (id, article))");
}

void stock::put(const std::string& article, std::int64_t count) {
    change(db_,
           "INSERT INTO stock (article, left) VALUES (?1, ?2)"
           " ON CONFLICT (article) DO UPDATE SET left = ?2",
           article, count);
}

asio::awaitable<std::optional<std::int64_t>> stock::left(std::string article) {
    auto work = [this, article] {
        return read(db_, "SELECT left FROM stock WHERE article = ?1", article);
    };
    co_return co_await elsewhere(thread_, std::move(work));
}

asio::awaitable<std::vector<line>> stock::claim(std::vector<line> lines) {
    auto work = [this, lines]() mutable {
        SQLite::Transaction all(db_, SQLite::TransactionBehavior::IMMEDIATE);
        for (auto& one : lines) {
            const auto left = read(db_, "SELECT left FROM stock WHERE article = ?1", one.article);
            if (!left) throw refusal("not_found", "there is no article " + one.article);
            one.left = *left;
            if (change(db_, "UPDATE stock SET token = ?2 WHERE article = ?1 AND token <= ?2",
                       one.article, one.token) != 1)
                refuse_late(one);
        }
        all.commit();
        return lines;
    };
    co_return co_await elsewhere(thread_, std::move(work));
}

asio::awaitable<std::int64_t> stock::write(std::vector<line> lines) {
    auto work = [this, lines] {
        SQLite::Transaction all(db_, SQLite::TransactionBehavior::IMMEDIATE);
        const auto number = *read(db_, "SELECT coalesce(max(id), 0) + 1 FROM orders");
        for (const auto& one : lines) {
            if (change(db_, "UPDATE stock SET left = ?3 WHERE article = ?1 AND token = ?2",
                       one.article, one.token, one.left) != 1)
                refuse_late(one);
            change(db_, "INSERT INTO orders VALUES (?1, ?2, ?3, ?4)", number, one.article,
                   one.count, one.token);
        }
        all.commit();
        return number;
    };
    co_return co_await elsewhere(thread_, std::move(work));
}

} // namespace shop
