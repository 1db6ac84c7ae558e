// What no lock can prevent: a holder that is paused for longer than its lease, and writes late. The
// database remembers the greatest fencing token that it has seen, and refuses smaller ones.
//     fencing [host:port,…]       leaves price.sqlite in the current folder
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <sqlite3.h>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

using database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

void need(sqlite3* db, int code) {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
}

database open_price() {
    sqlite3* db = nullptr;
    const int code = sqlite3_open("price.sqlite", &db);
    database owned(db, &sqlite3_close);
    need(db, code);
    return owned;
}

/// Compares the tokens and writes in one step, and says whether it has written.
bool write(sqlite3* db, int cents, paddock::fencing_token token) {
    const auto sql = "UPDATE price SET cents = ?1, token = ?2 WHERE token <= ?2";
    sqlite3_stmt* update = nullptr;
    need(db, sqlite3_prepare_v2(db, sql, -1, &update, nullptr));
    sqlite3_bind_int(update, 1, cents);
    sqlite3_bind_int64(update, 2, token.zxid);
    sqlite3_step(update);
    need(db, sqlite3_finalize(update)); // says what went wrong in the step
    return sqlite3_changes(db) == 1;
}

asio::awaitable<void> next_holder(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/price");
    paddock::guard hold = co_await mutex.lock(); // suspended until the other's session is over
    const bool written = write(open_price().get(), 120, hold.fencing_token());
    std::cout << "the next holder: " << (written ? "written\n" : "refused\n");
    co_await hold.unlock();
    co_await zk.close();
}

asio::awaitable<void> paused_holder(std::string servers) {
    paddock::client_options options;
    options.session_timeout = 2s;
    paddock::client zk(co_await asio::this_coro::executor, servers, options);
    paddock::mutex mutex(zk, "/locks/price");
    paddock::guard hold = co_await mutex.lock();
    std::cout << "the first holder, before its pause: valid " << hold.valid() << '\n';
    // Its only thread stands still, as if the process was stopped, until the next one has written.
    std::async(std::launch::async, [&] {
        asio::io_context other;
        auto done = co_spawn(other, next_holder(servers), asio::use_future);
        other.run();
        done.get();
    }).get();
    std::cout << "the first holder, after its pause: valid " << hold.valid() << '\n';
    // To ask valid() first is no protection: the pause may come right after the answer.
    const bool written = write(open_price().get(), 90, hold.fencing_token());
    std::cout << "the first holder: " << (written ? "written\n" : "refused\n");
    co_await zk.close();
}

int main(int argc, char** argv) {
    const auto sql = "DROP TABLE IF EXISTS price;" // a new ensemble begins with small tokens again
                     "CREATE TABLE price (cents INTEGER, token INTEGER);"
                     "INSERT INTO price VALUES (100, 0)";
    const database db = open_price();
    need(db.get(), sqlite3_exec(db.get(), sql, nullptr, nullptr, nullptr));
    asio::io_context io;
    auto done =
        co_spawn(io, paused_holder(argc > 1 ? argv[1] : "localhost:2181"), asio::use_future);
    io.run();
    done.get();
}
