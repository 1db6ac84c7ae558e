#include "links.hpp"

#include "link_connection.hpp"

#include <boost/asio/post.hpp>

#include <future>
#include <type_traits>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Runs the function on the room's thread and waits for it.
template <class Function>
auto tcp_link::run(Function function) {
    using task = std::packaged_task<std::invoke_result_t<Function&>()>;
    // Shared, because the future is ready a moment before the task is done with itself.
    const auto work = std::make_shared<task>(std::move(function));
    auto result = work->get_future();
    asio::post(io_, [work] { (*work)(); });
    return result.get();
}

tcp_link::tcp_link(asio::io_context& io, std::uint16_t upstream_port, renaming names)
    : io_(io)
    , upstream_(upstream_port)
    , names_(std::make_shared<const renaming>(std::move(names)))
    , acceptor_(io) {
    run([this] { listen(); });
}

tcp_link::~tcp_link() = default;

std::string tcp_link::address() const { return "127.0.0.1:" + std::to_string(port()); }

void tcp_link::listen() {
    const tcp::endpoint local(asio::ip::address_v4::loopback(), port_.number());
    acceptor_ = tcp::acceptor(io_, local, true);
    accept();
}

void tcp_link::accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket client) {
        if (error) return; // the listener was closed
        std::erase_if(connections_, [](const auto& each) { return each.expired(); });
        const auto next =
            std::make_shared<link_connection>(std::move(client), upstream_, orders_, names_);
        connections_.push_back(next);
        next->start();
        accept();
    });
}

void tcp_link::cut_all(cut how) {
    run([&] {
        for (const auto& each : connections_)
            if (const auto alive = each.lock()) alive->close(how);
    });
}

void tcp_link::half_open(side gone) {
    run([&] {
        for (const auto& each : connections_)
            if (const auto alive = each.lock()) alive->half_open(gone);
    });
}

void tcp_link::refuse(bool on) {
    run([&] {
        if (on)
            acceptor_.close();
        else if (!acceptor_.is_open())
            listen();
    });
}

void tcp_link::lead_to(std::uint16_t upstream_port) {
    run([&] { upstream_ = upstream_port; });
}

void tcp_link::black_hole(bool on) {
    run([&] { orders_->black_hole = on; });
}

void tcp_link::delay(std::chrono::milliseconds amount) {
    run([&] { orders_->delay = amount; });
}

void tcp_link::trickle(std::size_t bytes, std::chrono::milliseconds each) {
    run([&] {
        orders_->trickle = bytes;
        orders_->trickle_time = each;
    });
}

void tcp_link::cut_after(direction way, std::size_t bytes, cut how) {
    run([&] {
        orders_->cut_after[static_cast<int>(way)] = bytes;
        orders_->how = how;
    });
}

void tcp_link::heal() {
    refuse(false);
    run([&] {
        *orders_ = {};
        for (const auto& each : connections_)
            if (const auto alive = each.lock(); alive && alive->is_half()) alive->close(cut::rst);
    });
}

link_room::link_room() : work_(asio::make_work_guard(io_)), thread_([this] { io_.run(); }) {}

link_room::~link_room() {
    io_.stop();
    thread_.join();
}

tcp_link& link_room::add(std::uint16_t upstream_port, renaming names) {
    return *links_.emplace_back(std::make_unique<tcp_link>(io_, upstream_port, std::move(names)));
}

} // namespace paddock::test
