// The unit test of a function that works under a lock: no ensemble, no server.
//     unit_test
#include <paddock/paddock.hpp>
#include <paddock/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;

//[tested
/// Writes the total where only the holder of the lock may write.
asio::awaitable<bool> save(paddock::guard& held, std::string total) {
    const std::vector<paddock::operation> steps{
        paddock::op::set{"/totals/today", total, paddock::any_version}};
    if (!held.valid()) co_return false;
    co_await held.transaction(steps);
    co_return true;
}
//]

//[test
bool saved(paddock::testing::guard_in_hand& hand, asio::io_context& io) {
    bool done = false;
    asio::co_spawn(io, save(hand.get(), "12.50"), [&](auto, bool result) { done = result; });
    io.run();
    io.restart();
    return done;
}

int main() {
    asio::io_context io;
    paddock::testing::guard_in_hand hand(io.get_executor());
    const bool while_held = saved(hand, io) && hand.steps().size() == 1;
    hand.lose(paddock::errc::session_expired);
    const bool after_loss = saved(hand, io) || hand.steps().size() != 1;
    std::cout << (while_held && !after_loss ? "saves only under the lock\n" : "FAILED\n");
    return while_held && !after_loss ? 0 : 1;
}
//]
