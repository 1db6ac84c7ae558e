// A lock that is one node at a known path: the client that creates it holds it, the waiters watch
// it.
//     simple_mutex [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;

/// One client for each, as if they were processes of their own.
asio::awaitable<void> migrate(std::string servers, std::string name) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client zk(executor, servers);
    paddock::simple_mutex lock(zk, "/app/migration", {.label = name});

    if (const auto other = co_await lock.holder(); other)
        std::cout << name << " sees that " << other->label << " holds " << other->path << '\n';
    paddock::guard guard = co_await lock.lock();
    std::cout << name << " migrates, token " << guard.fencing_token() << '\n';

    // Executed only while the lock's node and its marker exist.
    std::vector<paddock::operation> steps{paddock::op::create{"/app/migrated-by-" + name}};
    const auto [failed, results] =
        co_await guard.transaction(steps, asio::as_tuple(asio::use_awaitable));
    if (failed && failed != paddock::zk_errc::node_exists) throw paddock::system_error(failed);
    std::cout << name << (failed ? " finds it done before\n" : " is done\n");
    co_await guard.unlock();
    co_await zk.close();
}

int main(int argc, char** argv) {
    const std::string servers = argc > 1 ? argv[1] : "localhost:2181";
    asio::io_context io;
    for (const std::string name : {"left", "middle", "right"})
        asio::co_spawn(io, migrate(servers, name), [](std::exception_ptr failed) {
            if (failed) std::rethrow_exception(failed);
        });
    io.run();
}
