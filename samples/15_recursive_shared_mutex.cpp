// Reports that read, and bookings that write and then read, through functions that each take the
// lock that they need. The owner that they pass down identifies the caller.
//     recursive_shared_mutex [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

class ledger {
public:
    explicit ledger(const paddock::client& zk) : mutex_(zk, "/locks/ledger") {}

    asio::awaitable<void> report(std::string name, paddock::owner caller) {
        paddock::guard reading = co_await mutex_.lock_shared(caller);
        const int before = balance_;
        asio::steady_timer writes(co_await asio::this_coro::executor, 20ms);
        co_await writes.async_wait(asio::use_awaitable);
        std::cout << name << " reports " << balance_ << (balance_ == before ? "\n" : ", changed\n");
    }

    asio::awaitable<void> book(int amount, paddock::owner caller) {
        paddock::guard writing = co_await mutex_.lock(caller);
        balance_ += amount;
        co_await report("the booking", caller); // its owner writes, so it may read as well
        co_await writing.unlock();
    }

    // A reader that asks to write would wait for itself: it is refused at once.
    asio::awaitable<void> correct(paddock::owner caller) {
        paddock::guard reading = co_await mutex_.lock_shared(caller);
        try {
            paddock::guard writing = co_await mutex_.lock(caller);
        } catch (const paddock::system_error& error) {
            if (error.code() != paddock::errc::would_deadlock) throw;
            std::cout << "a reader cannot become a writer\n";
        }
    }

private:
    int balance_ = 100;
    paddock::recursive_shared_mutex mutex_;
};

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    ledger accounts(zk);
    const paddock::owner anna, bert, cleo;
    co_await (accounts.report("anna", anna) && accounts.report("bert", bert) &&
              accounts.book(10, cleo));
    co_await accounts.correct(anna);
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
