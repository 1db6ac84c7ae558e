#pragma once

#include "client/lock_call.hpp"
#include "session/core.hpp"

#include <paddock/error.hpp>
#include <paddock/log.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace paddock::detail {

/// A lock call of a client of ZooKeeper.
template <typename Result>
class node_call : public lock_call<core, Result> {
protected:
    using lock_call<core, Result>::lock_call;

    /// Whether another contender blocks this one, according to the latest information.
    virtual bool known_blocked() const = 0;
    /// Empty if calls of other locks are its parts.
    virtual std::string_view lock_path() const = 0;

    void complete(error_code why, Result result) override {
        if (why == zk_errc::no_auth) tell_missing_rights();
        lock_call<core, Result>::complete(why, std::move(result));
    }
    void tell_missing_rights() const {
        const std::string path(lock_path());
        if (path.empty()) return;
        this->client()->trouble(
            log_code::not_permitted,
            "the ensemble does not authorise this client to use the lock " + path +
                ": it needs CREATE, DELETE and READ there, and CREATE above if the directory is "
                "missing. Check the access control lists (in zkCli: getAcl) and "
                "client_options::auth",
            path);
    }

private:
    /// While not connected the client knows that the lock is taken only if it learned it before,
    /// and the lease is alive.
    error_code why_not_in_time() const override {
        auto& client = *this->client();
        if (client.state() == client_state::connected) return {};
        const bool taken = client.lease().term()->alive() && known_blocked();
        return taken ? error_code() : errc::not_connected;
    }
};

} // namespace paddock::detail
