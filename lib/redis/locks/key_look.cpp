#include "redis/locks/key_look.hpp"

#include "client/metadata.hpp"
#include "client/pending_call.hpp"
#include "redis/locks/error_of.hpp"
#include "redis/rules/held_key.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace paddock::redis::detail {

namespace {

using answers = std::vector<std::optional<rules::answer>>;

/// One script for all servers, once a quorum is connected; `read` makes a result of their answers.
template <typename Result>
class all_servers_call final : public pending_call<core, Result> {
public:
    using read = std::function<std::pair<error_code, Result>(const answers&)>;

    all_servers_call(std::shared_ptr<core> client, handler<void(error_code, Result)>&& h)
        : pending_call<core, Result>(std::move(client), std::move(h)) {}

    void ask(rules::script which, rules::call_words words, read how) {
        read_ = std::move(how);
        this->start_open([this, which, words = std::move(words)] {
            waiter_ = this->client()->when_connected([self = self(), which, words](error_code why) {
                if (why) return self->finish(why, {});
                self->send(which, words);
            });
        });
    }

private:
    std::shared_ptr<all_servers_call> self() {
        return std::static_pointer_cast<all_servers_call>(this->shared_from_this());
    }

    void send(rules::script which, const rules::call_words& words) {
        auto& servers = *this->client();
        said_.resize(static_cast<std::size_t>(servers.size()));
        unanswered_ = said_.size();
        closing_ = servers.when_closed([self = self()](error_code why) { self->finish(why, {}); });
        for (int server = 0; server < servers.size(); ++server)
            servers.call(
                server, which, words, [self = self()] { return self->open(); },
                [self = self(), server](const auto& said, auto) {
                    self->said_[static_cast<std::size_t>(server)] = said;
                    if (--self->unanswered_ == 0) self->answered();
                });
    }

    void answered() {
        auto [why, result] = read_(said_);
        if (why == errc::not_connected)
            if (const auto refused = error_of(this->client()->obstacle_in(said_))) why = refused;
        finish(why, std::move(result));
    }

    void cancelled() override { finish(asio::error::operation_aborted, {}); }

    void finish(error_code why, Result result) {
        const auto alive = self();
        this->client()->stop_waiting(waiter_);
        this->client()->stop_waiting_for_close(closing_);
        this->complete(why, std::move(result));
    }

    read read_;
    answers said_;
    std::size_t unanswered_ = 0;
    std::uint64_t waiter_ = 0, closing_ = 0;
};

held_key described(const rules::seen_hold& seen) {
    contender as;
    read_metadata(rules::description_in(seen.value), as);
    held_key out;
    out.value = seen.value;
    out.left = seen.left;
    out.servers = seen.servers;
    out.kicked = seen.kicked;
    out.host = std::move(as.host);
    out.pid = as.pid;
    out.label = std::move(as.label);
    out.since = as.since;
    return out;
}

} // namespace

void find_holder(const line_lock& lock, std::string_view name,
                 handler<void(error_code, std::optional<held_key>)> h) {
    using found = std::optional<held_key>;
    std::make_shared<all_servers_call<found>>(lock.client, std::move(h))
        ->ask(rules::script::look, rules::look_words(rules::lock_keys(name)),
              [](const answers& said) -> std::pair<error_code, found> {
                  if (!rules::is_known(said)) return {errc::not_connected, {}};
                  const auto seen = rules::hold_in(said);
                  return {{}, seen ? found(described(*seen)) : found()};
              });
}

void kick(const line_lock& lock, std::string_view name, const held_key& target,
          handler<void(error_code, bool)> h) {
    std::make_shared<all_servers_call<bool>>(lock.client, std::move(h))
        ->ask(rules::script::kick, rules::kick_words(rules::lock_keys(name), target.value),
              [](const answers& said) -> std::pair<error_code, bool> {
                  const auto result = rules::kicked_by(said);
                  if (result == rules::kick_result::unknown) return {errc::not_connected, false};
                  return {{}, result == rules::kick_result::done};
              });
}

} // namespace paddock::redis::detail
