#pragma once

#include "native/pump.hpp"
#include "support/fake_environment.hpp"
#include "support/pump_harness.hpp"
#include "support/scripted_calls.hpp"

// A pump above a scripted C client, in virtual time.

namespace paddock::test {

struct pump_stage {
    explicit pump_stage(native::pump_options how = one_server()) {
        c->answers_heartbeats = false;
        pump = std::make_shared<native::pump>(env, make_scripted_calls(c), std::move(how), user);
        pump->start();
    }

    static native::pump_options one_server() { return {{literal_server(1)}, 9s, {}}; }
    static native::pump_options named(const std::vector<std::string>& names) {
        native::pump_options how{{}, 9s, {}};
        for (const auto& name : names)
            how.servers.push_back({name, 1, false});
        return how;
    }

    submitted ask() {
        auto result = std::make_shared<seen_reply>();
        const int rc = pump->submit(
            [&](native::calls& table) { return table.exists("/", false, into(result)); });
        if (rc != native::code::ok) result->rc = rc;
        return result;
    }

    fake_environment env;
    std::shared_ptr<script> c = std::make_shared<script>(env);
    recording_user user;
    std::shared_ptr<native::pump> pump;
};

struct server_list_stage : pump_stage {
    explicit server_list_stage(std::vector<native::server_address> servers,
                               std::chrono::milliseconds session_timeout = 9s)
        : pump_stage({std::move(servers), session_timeout, {}}) {}

    std::size_t troubles() const { return user.troubles.size(); }
};

struct connected_pump : pump_stage {
    explicit connected_pump(native::pump_options how = one_server()) : pump_stage(std::move(how)) {
        env.run();
        REQUIRE(user.up);
        REQUIRE(pump->ready());
        env.advance(1s); // a connection that was lost before is not made again at once
    }
};

} // namespace paddock::test
