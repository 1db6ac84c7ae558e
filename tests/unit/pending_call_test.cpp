// The lifetime of an application's call, from its start to its one completion.

#include "session/session_call.hpp"
#include "support/session_stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <vector>

using namespace paddock;
using namespace paddock::test;

namespace {

using one_call = detail::session_call<int>;

/// A client, and the outcomes of its calls.
struct call_stage : session_stage {
    struct completion {
        error_code why;
        int result;
        friend bool operator==(const completion&, const completion&) = default;
    };

    auto note() {
        return [this](error_code why, int result) { said.push_back({why, result}); };
    }
    std::shared_ptr<one_call> call() {
        return detail::make_pending_call(core, detail::handler<void(error_code, int)>(note()));
    }
    std::shared_ptr<one_call> call(asio::cancellation_signal& stop) {
        return detail::make_pending_call(core,
                                         detail::handler<void(error_code, int)>(
                                             asio::bind_cancellation_slot(stop.slot(), note())));
    }
    /// Runs what was posted to the strand, and then what was posted to the user's executor.
    void run() {
        env->run();
        io.restart();
        io.poll();
    }

    std::vector<completion> said;
};

const auto aborted = error_code(asio::error::operation_aborted);
constexpr auto terminal = asio::cancellation_type::terminal;

} // namespace

TEST_CASE("a call does its work on the strand, and completes with its outcome once") {
    call_stage s;
    int worked = 0;
    const auto c = s.call();
    c->start([&] { ++worked; });
    CHECK(worked == 0);
    s.run();
    CHECK(worked == 1);
    CHECK(c->open());
    c->complete({}, 7);
    CHECK_FALSE(c->open());
    c->complete({}, 8);
    c->fail(errc::lock_lost);
    s.run();
    CHECK(s.said == std::vector<call_stage::completion>{{{}, 7}});
}

TEST_CASE("a cancellation completes a call on the strand, and a later outcome is dropped") {
    call_stage s;
    asio::cancellation_signal stop;
    const auto c = s.call(stop);
    c->start([] {});
    s.run();
    stop.emit(terminal);
    CHECK(c->open());
    s.run();
    CHECK(s.said == std::vector<call_stage::completion>{{aborted, 0}});
    c->complete({}, 7);
    s.run();
    CHECK(s.said.size() == 1);
}

TEST_CASE("a cancellation after the outcome has no effect") {
    call_stage s;
    asio::cancellation_signal stop;
    const auto c = s.call(stop);
    c->start([&] { c->complete({}, 7); });
    stop.emit(terminal); // its task waits behind the work
    s.run();
    stop.emit(terminal);
    s.run();
    CHECK(s.said == std::vector<call_stage::completion>{{{}, 7}});
}

TEST_CASE("a partial cancellation has no effect") {
    call_stage s;
    asio::cancellation_signal stop;
    const auto c = s.call(stop);
    c->start([] {});
    stop.emit(asio::cancellation_type::partial);
    s.run();
    CHECK(c->open());
    c->complete({}, 7);
    s.run();
}

TEST_CASE("work whose call was cancelled before it is destroyed and not done") {
    call_stage s;
    bool worked = false;
    auto held = std::make_shared<int>();
    const std::weak_ptr<int> watched = held;
    const auto c = s.call();
    c->cancel(); // on another thread it may come to the strand first
    c->start([&worked, held = std::move(held)] { worked = true; });
    s.run();
    CHECK_FALSE(worked);
    CHECK(watched.expired());
    CHECK(s.said == std::vector<call_stage::completion>{{aborted, 0}});
}

TEST_CASE("a cancellation slot keeps neither the call nor its client alive") {
    asio::cancellation_signal stop; // lives longer than all
    std::weak_ptr<one_call> call;
    std::weak_ptr<detail::core> client;
    {
        call_stage s;
        client = s.core;
        auto c = s.call(stop);
        call = c;
        c->start([] {});
        s.run();
        c.reset(); // no object that could complete it is left
        CHECK(call.expired());
        stop.emit(terminal);
        s.run();
        CHECK(s.said.empty());
    }
    CHECK(client.expired());
    stop.emit(terminal);
}

TEST_CASE("a call that needs an open client fails with the reason why the client is closed") {
    call_stage s;
    bool worked = false;
    auto c = s.call();
    c->start_open([&] { worked = true; });
    s.run();
    CHECK(std::exchange(worked, false));
    c->complete({}, 7);
    s.core->close(errc::closed);
    c = s.call();
    c->start_open([&] { worked = true; });
    s.run();
    CHECK_FALSE(worked);
    CHECK(s.said == std::vector<call_stage::completion>{{{}, 7}, {errc::closed, 0}});
}

TEST_CASE("a task that the world refuses may post another when it is destroyed") {
    struct poster {
        explicit poster(std::shared_ptr<detail::core> to) : client(std::move(to)) {}
        ~poster() {
            client->post([] { FAIL_CHECK("ran"); });
        }
        std::shared_ptr<detail::core> client;
    };
    call_stage s;
    s.env->refuses_tasks = true;
    s.core->post([last = std::make_unique<poster>(s.core)] { FAIL_CHECK("ran"); });
    s.env->refuses_tasks = false;
    s.run();
}

TEST_CASE("a derived call decides what its cancellation does, as long as it waits") {
    struct stubborn final : detail::session_call<int> {
        using pending_call::pending_call;
        void cancelled() override { ++heard; }
        int heard = 0;
    };
    call_stage s;
    asio::cancellation_signal stop;
    const auto c = std::make_shared<stubborn>(
        s.core, detail::handler<void(error_code, int)>(
                    asio::bind_cancellation_slot(stop.slot(), s.note())));
    c->start([] {});
    stop.emit(terminal);
    s.run();
    CHECK(c->heard == 1);
    c->complete({}, 7);
    s.run();
    stop.emit(terminal);
    s.run();
    CHECK(c->heard == 1);
    CHECK(s.said == std::vector<call_stage::completion>{{{}, 7}});
}
