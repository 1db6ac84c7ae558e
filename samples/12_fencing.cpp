// What no lock can prevent: a holder that is paused for longer than its lease, and writes late. So
// each claims the last ticket with its fencing token, then reads, then writes only where the token
// is still its own. If only smaller tokens were refused, both would sell it.
//     fencing [host:port,…]       leaves tickets.sqlite in the current folder
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <sqlite3.h>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;

sqlite3* db = nullptr;

void need(int code) {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
}

/// The number that a statement reads, or the number of rows that it changed.
int run(const char* sql, paddock::fencing_token token = {}, int rest = 0) {
    sqlite3_stmt* statement = nullptr;
    need(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr));
    sqlite3_bind_int64(statement, 1, token.zxid);
    sqlite3_bind_int64(statement, 2, static_cast<sqlite3_int64>(token.sub));
    sqlite3_bind_int(statement, 3, rest);
    const bool reads = sqlite3_step(statement) == SQLITE_ROW;
    const int number = reads ? sqlite3_column_int(statement, 0) : sqlite3_changes(db);
    need(sqlite3_finalize(statement)); // says what went wrong in the step
    return number;
}
//[claim
/// Claim, then read. A larger token in the store means that the lock is lost.
int tickets_for(paddock::fencing_token mine) {
    const auto claim = "UPDATE tickets SET zxid = ?1, sub = ?2 WHERE (zxid, sub) <= (?1, ?2)";
    if (run(claim, mine) != 1) throw paddock::system_error(paddock::errc::lock_lost);
    return run("SELECT rest FROM tickets");
}

void sell(const std::string& seller, int rest, paddock::fencing_token mine) {
    const auto write = "UPDATE tickets SET rest = ?3 WHERE (zxid, sub) = (?1, ?2)";
    std::cout << seller << (run(write, mine, rest) == 1 ? ": sold\n" : ": refused\n");
}
//]
asio::awaitable<void> next_holder(std::string servers, bool& has_read) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/tickets");
    paddock::guard guard = co_await mutex.lock(); // the other holder's session must expire first
    const int found = tickets_for(guard.fencing_token());
    has_read = true;
    co_await zk.exists("/"); // now the other holder goes on, and writes late
    sell("the next holder", found - 1, guard.fencing_token());
}

asio::awaitable<void> first_holder(std::string servers) {
    const paddock::client_options options{.session_timeout = std::chrono::seconds(2)};
    paddock::client zk(co_await asio::this_coro::executor, servers, options);
    paddock::mutex mutex(zk, "/locks/tickets");
    paddock::guard guard = co_await mutex.lock();
    const int found = tickets_for(guard.fencing_token());
    std::cout << "the first holder, before its pause: valid " << guard.valid() << '\n';
    // Its event loop stands still, as if the process was stopped, until the next one has read.
    asio::io_context other;
    bool has_read = false;
    auto next = co_spawn(other, next_holder(servers, has_read), asio::use_future);
    while (!has_read && other.run_one() > 0) {
    }
    std::cout << "the first holder, after its pause: valid " << guard.valid() << '\n';
    // To ask valid() first is no protection: the pause may come right after the answer.
    sell("the first holder", found - 1, guard.fencing_token());
    other.run();
    next.get();
}

int main(int argc, char** argv) {
    need(sqlite3_open("tickets.sqlite", &db));
    const auto sql = "DROP TABLE IF EXISTS tickets; CREATE TABLE tickets (rest, zxid, sub);"
                     "INSERT INTO tickets VALUES (1, 0, 0)";
    need(sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); // tokens of a new ensemble are small
    asio::io_context io;
    auto done = co_spawn(io, first_holder(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
