// A job that every machine starts each night, and one of them does, once. It may take an hour: then
// it is cancelled, and does not keep the next night's job waiting.
//     nightly_job [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

void say(const std::string& night, const std::string& what) {
    std::cout << night << ": " << what << '\n';
}

asio::awaitable<void> sleep(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

//[job
asio::awaitable<void> nightly(paddock::client& zk, const paddock::mutex& lock, std::string night,
                              std::chrono::milliseconds work_time) {
    const std::string done = "/jobs/clean-up-done-" + night;
    const auto clean_up = [&](paddock::guard& held) -> asio::awaitable<void> {
        paddock::error_code missing;
        co_await zk.exists(done, asio::redirect_error(asio::use_awaitable, missing));
        if (!missing) co_return say(night, "another machine was faster");
        say(night, "cleans up");
        co_await sleep(work_time);
        // Not at the same time, says the lock; once, says this node, created only under the lock.
        const std::vector<paddock::operation> record{paddock::op::create{done}};
        co_await held.transaction(record);
        say(night, "is done");
    };
    try {
        if (!co_await lock.try_with(clean_up)) say(night, "another machine is at it");
    } catch (const paddock::lock_lost_error& lost) { // the work was cancelled
        say(night, lost.reason().message());
    }
}
//]

asio::awaitable<void> work(std::string servers) {
    const auto executor = co_await asio::this_coro::executor;
    paddock::client here(executor, servers), there(executor, servers);
    co_await (here.connect() && there.connect());
    paddock::mutex_options options;
    options.hold_limit.longest = 1s; // an hour, for a real job
    const paddock::mutex ours(here, "/jobs/clean-up", options);
    const paddock::mutex theirs(there, "/jobs/clean-up", options);

    co_await (nightly(here, ours, "monday", 400ms) && nightly(there, theirs, "monday", 400ms));
    co_await nightly(there, theirs, "monday", 400ms); // a machine that is late
    co_await nightly(there, theirs, "tuesday", 1h);   // it hangs
    co_await nightly(here, ours, "wednesday", 400ms);
    co_await (here.close() && there.close());
}

} // namespace

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
