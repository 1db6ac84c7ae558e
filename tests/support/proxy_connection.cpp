#include "proxy_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

proxy_connection::proxy_connection(tcp::socket client, tcp::endpoint upstream, std::size_t number,
                                   framing how, proxy_orders& orders, frame_journal& journal)
    : client_(std::move(client))
    , server_(client_.get_executor())
    , upstream_(upstream)
    , framing_(how)
    , orders_(orders)
    , journal_(journal)
    , reader_(number)
    , lanes_{{direction::up, client_, server_}, {direction::down, server_, client_}} {}

void proxy_connection::start() {
    error_code ignored;
    client_.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(
        client_.get_executor(), [self = shared_from_this()] { return self->read(self->lanes_[0]); },
        asio::detached);
    go_on();
}

void proxy_connection::go_on() {
    if (!orders_.black_hole && !std::exchange(connecting_, true)) {
        asio::co_spawn(
            client_.get_executor(),
            [self = shared_from_this()] { return self->connect_upstream(); }, asio::detached);
    }
    for (auto& each : lanes_) {
        pump(each);
    }
}

void proxy_connection::release(direction way) {
    lanes_[static_cast<int>(way)].held = false;
    go_on();
}

std::size_t proxy_connection::waiting(direction way) const {
    return lanes_[static_cast<int>(way)].queue.size();
}

asio::awaitable<void> proxy_connection::connect_upstream() {
    error_code error;
    co_await server_.async_connect(upstream_, asio::redirect_error(asio::use_awaitable, error));
    if (error) {
        close(cut::rst, side::both);
        co_return;
    }
    server_.set_option(tcp::no_delay(true), error);
    connected_ = true;
    go_on();
    co_await read(lanes_[1]);
}

asio::awaitable<void> proxy_connection::read(lane& from) {
    error_code error;
    if (framing_ == framing::zookeeper) {
        error = co_await read_frames(from);
    } else {
        error = co_await read_pieces(from);
    }
    from.source_ended = true;
    from.source_broke = error != asio::error::eof && error != asio::error::operation_aborted;
    pump(from);
}

asio::awaitable<error_code> proxy_connection::read_pieces(lane& from) {
    error_code error;
    for (;;) {
        std::vector<std::uint8_t> bytes(16 * 1024);
        const auto size = co_await from.from.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        if (error) {
            co_return error;
        }
        bytes.resize(size);
        enqueue(from, std::move(bytes));
    }
}

asio::awaitable<error_code> proxy_connection::read_frames(lane& from) {
    constexpr std::size_t absurd = 64U << 20; // not ZooKeeper's protocol
    error_code error;
    while (!error) {
        std::vector<std::uint8_t> bytes(4);
        co_await asio::async_read(from.from, asio::buffer(bytes),
                                  asio::redirect_error(asio::use_awaitable, error));
        if (error) {
            break;
        }
        const auto size =
            static_cast<std::size_t>(static_cast<std::uint32_t>(jute_reader(bytes).int32()));
        if (size > absurd) {
            close(cut::rst, side::both);
            co_return asio::error::operation_aborted;
        }
        bytes.resize(4 + size);
        co_await asio::async_read(from.from, asio::buffer(bytes.data() + 4, size),
                                  asio::redirect_error(asio::use_awaitable, error));
        if (!error) {
            enqueue(from, std::move(bytes));
        }
    }
    co_return error;
}

void proxy_connection::enqueue(lane& to, std::vector<std::uint8_t> bytes) {
    parcel next;
    try {
        next.info = framing_ == framing::zookeeper ? reader_.read(to.way, bytes)
                                                   : reader_.unread(to.way, bytes);
    } catch (const std::out_of_range&) {
        close(cut::rst, side::both);
        return;
    }
    if (next.info.opcode == opcode::create_session && reader_.session().session_id != 0) {
        journal_.session(reader_.session());
    }
    next.entry = journal_.add(next.info);
    next.bytes = std::move(bytes);
    next.due = next.info.when + orders_.of(to.way).delay;
    to.queue.push_back(std::move(next));
    pump(to);
}

void proxy_connection::pump(lane& on) {
    if (on.writing || on.done || orders_.black_hole || orders_.of(on.way).hold || on.held) {
        return;
    }
    if (!connected_) {
        return; // the frames so far are forwarded once the server is connected
    }
    if (!on.to.is_open()) {
        on.queue.clear(); // there is no receiver any more
    }
    auto next = take_what_is_due(on);
    if (!next.bytes.empty()) {
        write(on, std::move(next));
    } else if (next.then_cut) {
        journal_.cut();
        close(*next.then_cut, side::both);
    } else if (on.queue.empty() && on.source_ended) {
        finish(on);
    }
}

proxy_connection::batch proxy_connection::take_what_is_due(lane& from) {
    batch result;
    auto& orders = orders_.of(from.way);
    while (!from.queue.empty() && !result.then_cut) {
        auto& next = from.queue.front();
        if (next.due > steady_clock::now()) {
            from.clock.expires_at(next.due);
            from.clock.async_wait([self = shared_from_this(), &from](error_code error) {
                if (!error) {
                    self->pump(from);
                }
            });
            break;
        }
        const auto& first = orders.hold_from;
        if (first && next.info.opcode == first->opcode && next.info.path.starts_with(first->path)) {
            orders.hold_from.reset();
            from.held = true;
            break;
        }
        std::size_t length = next.bytes.size();
        if (orders.plan && next.info.counts() && orders.plan->n-- == 0) {
            if (orders.plan->bytes >= 0) {
                length = std::min(length, static_cast<std::size_t>(orders.plan->bytes));
            }
            result.then_cut = orders.plan->how;
            orders.plan.reset();
        }
        result.bytes.insert(result.bytes.end(), next.bytes.begin(),
                            next.bytes.begin() + static_cast<std::ptrdiff_t>(length));
        result.entries.emplace_back(next.entry, length);
        from.queue.pop_front();
    }
    return result;
}

void proxy_connection::write(lane& on, batch what) {
    on.writing = true;
    const auto owned = std::make_shared<batch>(std::move(what));
    asio::async_write(on.to, asio::buffer(owned->bytes),
                      [self = shared_from_this(), &on, owned](error_code error, std::size_t) {
                          on.writing = false;
                          if (error) {
                              self->close(cut::rst, side::both);
                              return;
                          }
                          for (const auto& [entry, bytes] : owned->entries) {
                              self->journal_.forwarded(entry, bytes);
                          }
                          if (!owned->then_cut) {
                              self->pump(on);
                              return;
                          }
                          self->journal_.cut();
                          self->close(*owned->then_cut, side::both);
                      });
}

// The end of the stream is passed on as it came, after everything that was sent before it.
void proxy_connection::finish(lane& on) {
    on.done = true;
    if (on.source_broke || (lanes_[0].done && lanes_[1].done)) {
        close(on.source_broke ? cut::rst : cut::fin, side::both);
        return;
    }
    error_code ignored;
    on.to.shutdown(tcp::socket::shutdown_send, ignored);
}

void proxy_connection::close(cut how, side which) {
    if (which != side::server) {
        shut(client_, how);
    }
    if (which != side::client) {
        shut(server_, how);
    }
    if (which == side::both) {
        for (auto& each : lanes_) {
            each.done = true;
            each.queue.clear();
            each.clock.cancel();
        }
    }
    if (finished() && !std::exchange(reported_, true)) {
        journal_.closed();
    }
}

void proxy_connection::shut(tcp::socket& socket, cut how) {
    error_code ignored;
    if (how == cut::rst) {
        socket.set_option(tcp::socket::linger(true, 0), ignored);
    } else {
        socket.shutdown(tcp::socket::shutdown_send, ignored);
    }
    socket.close(ignored);
}

} // namespace paddock::test
