// The statistics of a client as text for Prometheus. https://prometheus.io/docs/instrumenting/
//     metrics [host:port,…]
#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <ostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;

//[metrics
/// The value of a label: a path, a group or an error's text may have any character.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text)
        out += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    return out + '"';
}

std::string labels(const paddock::lock_statistics& one) {
    return "lock=" + quoted(one.group) + ",kind=" + quoted(name_of(one.kind));
}

void write(std::ostream& to, const std::string& name, const std::string& labels,
           const paddock::histogram& times) {
    using seconds = std::chrono::duration<double>;
    std::uint64_t so_far = 0;
    for (std::size_t n = 0; n < times.counts.size(); ++n) {
        to << name << "_bucket{" << labels << (labels.empty() ? "" : ",") << "le=\"";
        n < times.bounds.size() ? to << seconds(times.bounds[n]).count() : to << "+Inf";
        to << "\"} " << (so_far += times.counts[n]) << '\n';
    }
    to << name << "_sum{" << labels << "} " << seconds(times.sum).count() << '\n'
       << name << "_count{" << labels << "} " << so_far << '\n';
}

void write_metrics(std::ostream& to, const paddock::client_statistics& all) {
    using paddock::wait_outcome;
    to << "# TYPE paddock_lock_wait_seconds histogram\n";
    for (const auto& one : all.locks)
        for (const auto how : {wait_outcome::granted, wait_outcome::busy, wait_outcome::timeout,
                               wait_outcome::cancelled, wait_outcome::error})
            write(to, "paddock_lock_wait_seconds", labels(one) + ",outcome=" + quoted(name_of(how)),
                  one.waited_until(how));
    to << "# TYPE paddock_locks_held gauge\n";
    for (const auto& one : all.locks)
        to << "paddock_locks_held{" << labels(one) << "} " << one.holds << '\n';
    to << "# TYPE paddock_leader gauge\n";
    for (const auto& one : all.locks)
        if (one.kind == paddock::lock_kind::election)
            to << "paddock_leader{lock=" << quoted(one.group) << "} " << one.holds << '\n';
    to << "# TYPE paddock_lock_lost_total counter\n";
    for (const auto& one : all.locks)
        for (const auto& loss : one.losses)
            to << "paddock_lock_lost_total{" << labels(one) << ",reason=" << quoted(loss.name)
               << "} " << loss.count << '\n';
    to << "# TYPE paddock_loop_delay_seconds histogram\n";
    write(to, "paddock_loop_delay_seconds", "", all.loop_delay);
    to << "# TYPE paddock_lease_remaining_seconds gauge\npaddock_lease_remaining_seconds "
       << std::chrono::duration<double>(all.lease_remaining).count() << '\n';
}
//]

asio::awaitable<void> work(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    const paddock::lock_family carts(zk, "/locks/carts");
    const paddock::election leader(zk, "/locks/\"leader\"");
    for (int cart = 0; cart < 10; ++cart) {
        paddock::guard held = co_await carts.lock(std::to_string(cart));
        co_await held.unlock();
    }
    write_metrics(std::cout, zk.statistics()); // what `GET /metrics` answers
    co_await zk.close();
}

int main(int argc, char** argv) {
    asio::io_context io;
    asio::co_spawn(io, work(argc > 1 ? argv[1] : "localhost:2181"), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    io.run();
}
