#include "proxy.hpp"

#include "ports.hpp"
#include "proxy_connection.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace paddock::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Everything here but the journal belongs to the proxy's thread.
class fault_proxy::engine {
public:
    engine(std::uint16_t upstream, framing how)
        : framing_(how), upstream_(asio::ip::address_v4::loopback(), upstream), acceptor_(io_) {
        listen();
        thread_ = std::thread([this] { io_.run(); });
    }

    ~engine() {
        run([this] {
            acceptor_.close();
            for (const auto& each : connections_) {
                each->close(cut::rst, side::both);
            }
            work_.reset();
        });
        thread_.join();
    }

    /// Runs the function on the proxy's thread and waits for it.
    template <class Function>
    std::invoke_result_t<Function&> run(Function function) {
        using task = std::packaged_task<std::invoke_result_t<Function&>()>;
        // Shared, because the future is ready a moment before the task is done with itself.
        const auto work = std::make_shared<task>(std::move(function));
        auto result = work->get_future();
        asio::post(io_, [work] { (*work)(); });
        return result.get();
    }

    void listen() {
        const tcp::endpoint local(asio::ip::address_v4::loopback(), port_.number());
        acceptor_ = tcp::acceptor(io_, local, true);
        accept();
    }

    void refuse(bool on) {
        if (on) {
            acceptor_.close();
        } else if (!acceptor_.is_open()) {
            listen();
        }
    }

    /// Calls the function for each connection, then drops the ended ones.
    template <class Function>
    void for_each(Function function) {
        const auto all = connections_; // functions may end connections
        for (const auto& each : all) {
            function(*each);
        }
        std::erase_if(connections_, [](const auto& each) { return each->finished(); });
    }

    void go_on() {
        for_each([](proxy_connection& each) { each.go_on(); });
    }

    std::uint16_t port() const { return port_.number(); }
    proxy_orders& orders() { return orders_; }
    frame_journal& journal() { return journal_; }

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket client) {
            if (error) {
                return;
            } // the listener was closed
            for_each([](proxy_connection&) {});
            journal_.accepted();
            connections_.push_back(std::make_shared<proxy_connection>(
                std::move(client), upstream_, ++numbers_, framing_, orders_, journal_));
            connections_.back()->start();
            accept();
        });
    }

    frame_journal journal_;
    proxy_orders orders_;
    framing framing_;
    reserved_port port_;
    tcp::endpoint upstream_;
    asio::io_context io_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{
        asio::make_work_guard(io_)};
    tcp::acceptor acceptor_;
    std::vector<std::shared_ptr<proxy_connection>> connections_;
    std::size_t numbers_ = 0;
    std::thread thread_;
};

fault_proxy::fault_proxy(std::uint16_t upstream_port, framing how)
    : engine_(std::make_unique<engine>(upstream_port, how)) {}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const { return engine_->port(); }

std::string fault_proxy::address() const { return "127.0.0.1:" + std::to_string(port()); }

void fault_proxy::cut_all(cut how, side which) {
    engine_->run([&] {
        engine_->for_each([&](proxy_connection& each) {
            engine_->journal().cut();
            each.close(how, which);
        });
    });
}

void fault_proxy::cut_at(direction way, std::size_t n, std::ptrdiff_t bytes, cut how) {
    engine_->run([&] { engine_->orders().of(way).plan = proxy_orders::cut_plan{n, bytes, how}; });
}

void fault_proxy::forget_plans() {
    engine_->run([&] {
        for (auto& each : engine_->orders().ways) {
            each.plan.reset();
            each.hold_from.reset();
        }
    });
}

void fault_proxy::black_hole(bool on) {
    engine_->run([&] {
        engine_->orders().black_hole = on;
        engine_->go_on();
    });
}

void fault_proxy::refuse(bool on) {
    engine_->run([&] { engine_->refuse(on); });
}

void fault_proxy::hold(direction way) {
    engine_->run([&] { engine_->orders().of(way).hold = true; });
}

void fault_proxy::hold_from(direction way, std::int32_t opcode, std::string path) {
    engine_->run([&] { engine_->orders().of(way).hold_from = {opcode, std::move(path)}; });
}

void fault_proxy::release(direction way) {
    engine_->run([&] {
        auto& orders = engine_->orders().of(way);
        orders.hold = false;
        orders.hold_from.reset();
        engine_->for_each([&](proxy_connection& each) { each.release(way); });
    });
}

void fault_proxy::delay(direction way, std::chrono::milliseconds amount) {
    engine_->run([&] { engine_->orders().of(way).delay = amount; });
}

proxy_snapshot fault_proxy::snapshot() const {
    return engine_->journal().look([](const proxy_snapshot& now) { return now; });
}

std::size_t fault_proxy::count(direction way) const {
    return engine_->journal().look([&](const proxy_snapshot& now) { return now.count(way); });
}

std::size_t fault_proxy::count(direction way, std::int32_t operation) const {
    return engine_->journal().look(
        [&](const proxy_snapshot& now) { return now.count(way, operation); });
}

std::size_t fault_proxy::accepted() const {
    return engine_->journal().look([](const proxy_snapshot& now) { return now.accepted; });
}

std::size_t fault_proxy::open() const {
    return engine_->journal().look([](const proxy_snapshot& now) { return now.open; });
}

std::size_t fault_proxy::cuts() const {
    return engine_->journal().look([](const proxy_snapshot& now) { return now.cuts; });
}

std::size_t fault_proxy::waiting(direction way) const {
    return engine_->run([&] {
        std::size_t total = 0;
        engine_->for_each([&](const proxy_connection& each) { total += each.waiting(way); });
        return total;
    });
}

bool fault_proxy::wait_for(const std::function<bool(const proxy_snapshot&)>& predicate,
                           std::chrono::milliseconds limit) const {
    return engine_->journal().wait_for(predicate, limit);
}

void fault_proxy::forget_frames() { engine_->journal().forget_frames(); }

credentials fault_proxy::last_credentials() const { return engine_->journal().last_credentials(); }

} // namespace paddock::test
