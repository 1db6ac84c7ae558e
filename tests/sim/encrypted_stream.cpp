#include "sim/encrypted_stream.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

namespace errors = boost::asio::error;
using boost::system::error_code;

struct encrypted_stream::inside : std::enable_shared_from_this<inside> {
    explicit inside(std::shared_ptr<host> in) : here(std::move(in)) {}

    void complete(done& which, error_code outcome) {
        if (!which) return;
        here->happen([weak = weak_from_this(), call = std::exchange(which, {}), outcome]() mutable {
            if (const auto self = weak.lock(); self && self->open) call(outcome);
        });
    }

    void changed() {
        const bool broken = connection->broken();
        if (connection->established() || broken)
            complete(connected, broken ? error_code(errors::connection_refused) : error_code());
        for (auto& one : std::exchange(connection->inbound, {}))
            incoming += frames->down.encode(std::move(one), here->chance());
        if (broken) {
            complete(secured, error_code(errors::eof));
            complete(written, error_code(errors::connection_reset));
        }
        if (broken || !incoming.empty()) offer();
    }

    void offer() {
        if (!reading) return;
        here->happen([weak = weak_from_this(), call = std::exchange(reading, {})]() mutable {
            const auto self = weak.lock();
            if (!self || !self->open) return;
            if (self->incoming.empty()) return call(errors::eof, {});
            auto& chance = self->here->chance();
            const auto all = std::min<std::size_t>(self->incoming.size(), 16 * 1024);
            const auto size =
                chance.one_in(2) ? all : 1 + static_cast<std::size_t>(chance.next() % all);
            const auto piece = self->incoming.substr(0, size);
            self->incoming.erase(0, size);
            call({}, piece);
        });
    }

    void send_out() {
        const bool intact =
            frames->up.take(std::exchange(outgoing, {}), [this](auto does) { does(*connection); });
        if (!intact) here->fault = here->name + " has sent what its C client has not written";
    }

    std::shared_ptr<host> here;
    std::shared_ptr<socket> connection;
    std::shared_ptr<carried_frames> frames;
    done connected, secured, written;
    received reading;
    std::string incoming, outgoing;
    bool open = true;
};

encrypted_stream::encrypted_stream(std::shared_ptr<host> in)
    : inside_(std::make_shared<inside>(std::move(in))) {}

void encrypted_stream::connect(const std::string& address, std::uint16_t, done connected) {
    inside_->connected = std::move(connected);
    inside_->connection = inside_->here->dial(server_at(address));
    inside_->connection->changed = [weak = std::weak_ptr(inside_)] {
        if (const auto self = weak.lock()) self->changed();
    };
}

void encrypted_stream::shake_hands(std::shared_ptr<carried_frames> frames, done secured) {
    inside_->frames = std::move(frames);
    inside_->secured = std::move(secured);
    auto& servers = inside_->here->servers();
    const bool fails = servers.breaks_now();
    if (fails && inside_->here->chance().one_in(2)) return; // the server is silent
    inside_->here->time().after(
        4 * servers.client_latency(), [weak = std::weak_ptr(inside_), fails] {
            const auto self = weak.lock();
            if (!self) return;
            self->complete(self->secured, fails ? error_code(errors::eof) : error_code());
        });
    inside_->changed();
}

void encrypted_stream::read_some(received call) {
    inside_->reading = std::move(call);
    if (inside_->connection->broken() || !inside_->incoming.empty()) inside_->offer();
}

/// The system sends what it has taken, also while the process stands still.
bool encrypted_stream::write(std::string bytes, done written) {
    auto& s = *inside_;
    s.outgoing += bytes;
    auto& time = s.here->time();
    time.after(duration(0), [self = inside_] { self->send_out(); });
    const bool broken = s.connection->broken();
    if (!broken && s.here->chance().one_in(2)) return true;
    s.written = std::move(written);
    time.after(s.here->servers().client_latency(), [weak = std::weak_ptr(inside_)] {
        const auto self = weak.lock();
        if (!self) return;
        const bool lost = self->connection->broken();
        self->complete(self->written, lost ? error_code(errors::broken_pipe) : error_code());
    });
    return false;
}

void encrypted_stream::close() noexcept {
    if (!std::exchange(inside_->open, false) || !inside_->connection) return;
    inside_->here->time().after(duration(0), [self = inside_] { self->connection->close(); });
}

} // namespace paddock::test::sim
