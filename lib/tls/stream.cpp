#include "tls/stream.hpp"

#include "tls/engine.hpp"
#include "tls/state.hpp"

#include <paddock/detail/access.hpp>

#include <boost/asio/error.hpp>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace paddock {

namespace {

using outcome = tls_engine::outcome;
using boost::system::error_code;

class tls_stream final : public stream {
public:
    tls_stream(environment& env, std::unique_ptr<stream> below, tls_engine engine, done secured)
        : env_(env)
        , below_(std::move(below))
        , engine_(std::move(engine))
        , secured_(std::move(secured)) {
        shake_hands();
    }
    ~tls_stream() override { close(); }

    void read_some(received call) override {
        if (!open_) return;
        read_ = std::move(call);
        if (has_plain())
            later([this] { hand_over(); });
        else
            receive();
    }

    bool write(std::string bytes, done written) override {
        if (!open_) return false;
        unwritten_ = std::move(bytes);
        const auto now = put();
        if (now == outcome::done && send()) return true;
        written_ = std::move(written);
        if (now == outcome::failed) tell_written(engine_.error());
        return false;
    }

    /// The last word is not waited for: a server that does not take it now never gets it.
    void close() noexcept override {
        if (!std::exchange(open_, false)) return;
        try {
            engine_.end();
            if (!sending_) below_->write(engine_.output(), [](error_code) {});
        } catch (const std::exception&) { // no memory for it
        }
        below_->close();
    }
    void abort() noexcept override {
        open_ = false;
        below_->abort();
    }

private:
    void shake_hands() {
        const auto now = engine_.shake_hands();
        send();
        if (now == outcome::wants_input) return receive();
        later([this, now] {
            auto call = std::exchange(secured_, {});
            call(now == outcome::done ? error_code() : end_of(now));
        });
    }

    void receive() {
        below_->read_some([this](error_code error, std::string_view bytes) {
            if (error) return failed(error);
            engine_.feed(bytes);
            if (secured_) return shake_hands();
            if (has_plain()) return hand_over();
            receive();
        });
    }

    /// Of the handshake, or of what is read.
    void failed(error_code error) {
        if (secured_) return std::exchange(secured_, {})(error);
        end_ = error;
        hand_over();
    }

    /// Whether there are bytes for the reader, or the end.
    bool has_plain() {
        if (end_) return true;
        const auto now = engine_.read(plain_);
        if (now != outcome::wants_input) end_ = end_of(now);
        const bool waited = !unwritten_.empty();
        const auto put_now = waited ? put() : outcome::done;
        const bool sent = send(); // the protocol's own answers, too
        if (waited && (put_now == outcome::failed || (put_now == outcome::done && sent)))
            tell_written(put_now == outcome::failed ? engine_.error() : error_code());
        return !plain_.empty() || end_;
    }

    /// In the middle of a message of the protocol OpenSSL takes nothing: then the bytes wait for
    /// the rest of that.
    outcome put() {
        const auto now = unwritten_.empty() ? outcome::done : engine_.write(unwritten_);
        if (now != outcome::wants_input) unwritten_.clear();
        return now;
    }

    void tell_written(error_code error) {
        later([call = std::exchange(written_, {}), error]() mutable { call(error); });
    }

    error_code end_of(outcome how) const {
        return how == outcome::ended ? error_code(boost::asio::error::eof) : engine_.error();
    }

    void hand_over() {
        auto call = std::exchange(read_, {});
        const auto bytes = std::exchange(plain_, {}); // the call may destroy this
        if (!bytes.empty()) return call({}, bytes);
        call(*end_, {});
    }

    /// True: all output is written.
    bool send() {
        if (sending_) return false;
        auto bytes = engine_.output();
        if (bytes.empty()) return true;
        sending_ = !below_->write(std::move(bytes), [this](error_code error) {
            sending_ = false;
            if (!error && !send()) return;
            if (written_ && unwritten_.empty()) std::exchange(written_, {})(error);
        });
        return !sending_;
    }

    void later(unique_function<void()> task) {
        env_.post([this, alive = std::weak_ptr(alive_), task = std::move(task)]() mutable {
            if (!alive.expired() && open_) task();
        });
    }

    environment& env_;
    std::unique_ptr<stream> below_;
    tls_engine engine_;
    done secured_; ///< until the end of the handshake
    received read_;
    done written_;
    std::string unwritten_;         ///< that OpenSSL has not taken yet
    std::string plain_;             ///< that the reader has not got yet
    std::optional<error_code> end_; ///< that follows it
    bool sending_ = false;
    bool open_ = true;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace

std::unique_ptr<stream> make_tls_stream(environment& env, std::unique_ptr<stream> connected,
                                        const tls& how, const std::string& host,
                                        stream::done secured) {
    const auto& state = *detail::access::state_of(how);
    return std::make_unique<tls_stream>(env, std::move(connected),
                                        tls_engine(state.context(), state.name_of(host)),
                                        std::move(secured));
}

const std::string& verified_name(const tls& how, const std::string& host) noexcept {
    return detail::access::state_of(how)->name_of(host);
}

} // namespace paddock
