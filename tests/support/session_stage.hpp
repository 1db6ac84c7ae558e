#pragma once

#include "fake_environment.hpp"
#include "scripted_calls.hpp"
#include "session/session_keeper.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// A client's inside in virtual time, above a C client whose server is the test.
struct session_stage {
    static constexpr std::chrono::seconds session_timeout{9};

    explicit session_stage(client_options options = {}, std::string root = "") {
        auto made = std::make_unique<fake_environment>();
        env = made.get();
        c = std::make_shared<script>(*env);
        options.log = [this](const log_record& line) {
            troubles.emplace_back(line.text);
            trouble_codes.push_back(line.code);
        };
        options.session_timeout = session_timeout;
        core = std::make_shared<detail::session_keeper>(
            io.get_executor(),
            detail::world{std::move(made), [this] { return make_scripted_calls(c); },
                          &fake_environment::latest_now},
            std::vector<native::server_address>{{"127.0.0.1", 1, true}}, std::move(root), options);
        core->start();
        env->run();
        REQUIRE(core->state() == client_state::connected);
    }
    ~session_stage() { core->close(errc::closed); }

    /// The requests since the last call, up to the end of the present turn of the event loop.
    std::vector<std::string> asked() {
        env->run();
        std::vector<std::string> news(c->log.begin() + static_cast<std::ptrdiff_t>(read_),
                                      c->log.end());
        read_ = c->log.size();
        return news;
    }
    void answer(int rc = native::code::ok, int refused_step = -1) {
        c->answer(rc, refused_step);
        env->run();
    }
    void answer_names(std::vector<std::string> names) {
        c->answer_names(std::move(names));
        env->run();
    }
    void answer_multi(std::vector<operation_result> results) {
        c->answer_multi(std::move(results));
        env->run();
    }
    void lose_connection() {
        c->accepts = false;
        c->hang_up();
        env->run();
        REQUIRE(core->state() == client_state::suspended);
    }
    void reconnect() {
        c->accepts = true;
        c->set_readable();
        env->advance(std::chrono::seconds(4));
        REQUIRE(core->state() == client_state::connected);
    }
    /// Lets time pass on a healthy connection.
    void live(std::chrono::milliseconds time) {
        while (time.count() > 0) {
            const auto step = std::min<std::chrono::milliseconds>(time, std::chrono::seconds(1));
            c->last_heard = env->now();
            env->advance(step);
            time -= step;
        }
        REQUIRE(core->state() == client_state::connected);
    }
    /// The next handshake reports that the session has expired; the one after it gives a new one.
    void expire() {
        lose_connection();
        c->next_session_state = native::state::expired;
        core->when_not(client_state::suspended, [this](client_state) {
            c->next_session_state = native::state::connected;
            ++c->session;
            return false;
        });
        reconnect();
    }

    asio::io_context io;
    fake_environment* env = nullptr;
    std::shared_ptr<script> c;
    std::vector<std::string> troubles; ///< the texts of the log
    std::vector<log_code> trouble_codes;
    std::shared_ptr<detail::core> core;

private:
    std::size_t read_ = 0;
};

} // namespace paddock::test
