#pragma once

#include "support/fake_environment.hpp"

#include <boost/asio/error.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// The streams of a fake_environment. Their far end is the test.
class fake_network {
public:
    using error_code = boost::system::error_code;

    /// One stream, which the test may look at when it is gone.
    struct link {
        std::string address;
        std::uint16_t port = 0;
        bool open = true;
        bool aborted = false;
        std::string written;             ///< until the test takes it
        std::vector<std::size_t> writes; ///< their sizes
        bool takes_bytes = true;         ///< writes end at once
        stream::done connected, write_ended;
        stream::received read;
        std::string inbound;
        error_code broken;
    };

    explicit fake_network(fake_environment& env) : env_(env) {
        env_.streams = [this] {
            links.push_back(std::make_shared<link>());
            return std::make_unique<fake_stream>(*this, links.back());
        };
    }

    link& last() { return *links.at(links.size() - 1); }

    void accept(error_code error = {}) { later(links.back(), &link::connected, error); }
    void say(std::string_view bytes) { say(bytes, links.size() - 1); }
    void say(std::string_view bytes, std::size_t to) {
        links.at(to)->inbound += bytes;
        look(links[to]);
    }
    void break_off(error_code error = boost::asio::error::eof) {
        last().broken = error;
        look(links.back());
    }
    void let_write_end(error_code error = {}) { later(links.back(), &link::write_ended, error); }
    /// What the client has written since the last look.
    std::string taken() { return std::exchange(last().written, {}); }

    std::vector<std::shared_ptr<link>> links;

private:
    using shared_link = std::shared_ptr<link>;

    class fake_stream final : public tcp_stream {
    public:
        fake_stream(fake_network& in, shared_link of) : network_(in), link_(std::move(of)) {}
        ~fake_stream() override { close(); }

        void connect(const std::string& address, std::uint16_t port, done connected) override {
            link_->address = address;
            link_->port = port;
            link_->connected = std::move(connected);
        }
        void read_some(received call) override {
            CHECK_FALSE(link_->read);
            link_->read = std::move(call);
            network_.look(link_);
        }
        bool write(std::string bytes, done written) override {
            CHECK_FALSE(link_->write_ended);
            link_->written += bytes;
            link_->writes.push_back(bytes.size());
            link_->write_ended = std::move(written);
            if (link_->takes_bytes) network_.later(link_, &link::write_ended, {});
            return false;
        }
        void close() noexcept override { link_->open = false; }
        void abort() noexcept override {
            link_->aborted = true;
            close();
        }

    private:
        fake_network& network_;
        shared_link link_;
    };

    void later(const shared_link& of, stream::done link::*which, error_code error) {
        REQUIRE((*of).*which);
        env_.post([of, call = std::exchange((*of).*which, {}), error]() mutable {
            if (of->open) call(error);
        });
    }
    void look(const shared_link& of) {
        if (!of->read || (of->inbound.empty() && !of->broken)) return;
        env_.post([of, call = std::exchange(of->read, {})]() mutable {
            if (!of->open) return;
            const auto bytes = std::exchange(of->inbound, {});
            call(bytes.empty() ? of->broken : error_code(), bytes);
        });
    }

    fake_environment& env_;
};

} // namespace paddock::test
