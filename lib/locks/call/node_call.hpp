#pragma once

#include "client/lock_call.hpp"
#include "locks/call/missing_rights.hpp"
#include "session/core.hpp"

#include <paddock/error.hpp>

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

    void complete(error_code why, Result result) override {
        if (why == zk_errc::no_auth) tell_missing_rights();
        lock_call<core, Result>::complete(why, std::move(result));
    }
    /// Which rights the call needs, and where.
    virtual std::string rights() const { return rights_in(this->lock_path()); }
    void tell_missing_rights() const {
        const std::string path(this->lock_path());
        if (!path.empty()) detail::tell_missing_rights(*this->client(), path, rights());
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
