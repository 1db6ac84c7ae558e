#include "scripted_calls.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <variant>

namespace paddock::test {

namespace code = native::code;
namespace event = native::event;
namespace state = native::state;

void script::send(std::function<void()> packet) {
    inbound.push_back(std::move(packet));
    set_readable();
}

void script::answer(int rc, int refused_step) {
    send([this, rc, refused_step] {
        REQUIRE_FALSE(requests.empty());
        const auto reply_to = std::move(requests.front());
        requests.pop_front();
        reply_to->complete(native::reply{.rc = rc, .refused_step = refused_step});
    });
}

void script::answer_names(std::vector<std::string> names) {
    send([this, names = std::move(names)] {
        REQUIRE_FALSE(requests.empty());
        const auto reply_to = std::move(requests.front());
        requests.pop_front();
        std::vector<const char*> pointers;
        for (const auto& name : names)
            pointers.push_back(name.c_str());
        native::reply reply;
        reply.names = pointers;
        reply_to->complete(reply);
    });
}

void script::answer_multi(std::vector<operation_result> results) {
    send([this, results = std::move(results)] {
        REQUIRE_FALSE(requests.empty());
        const auto reply_to = std::move(requests.front());
        requests.pop_front();
        reply_to->complete(native::reply{.results = results});
    });
}

void script::hang_up() {
    unusable = true;
    set_readable();
}

void script::set_readable() {
    const auto& at = connection.valid() ? connection : parting;
    if (at.valid())
        env.set_ready(at.identity, (!inbound.empty() || unusable || stuck ? event::readable : 0U) |
                                       (accepts || refuses || unusable ? event::writable : 0U));
}

void script::complete_all(int rc) {
    for (auto& reply_to : std::exchange(heartbeats, {}))
        reply_to->complete(native::reply{.rc = rc});
    for (auto& reply_to : std::exchange(requests, {}))
        reply_to->complete(native::reply{.rc = rc});
}

void script::answer_heartbeat(native::calls::done reply_to, int rc) {
    ++beats;
    heartbeats.push_back(std::move(reply_to));
    send([this, rc] {
        const auto oldest = std::move(heartbeats.front());
        heartbeats.pop_front();
        oldest->complete(native::reply{.rc = rc});
    });
}

std::vector<std::string> entries_of(const std::string& list) {
    std::vector<std::string> entries(1);
    for (const char c : list) {
        if (c == ',')
            entries.emplace_back();
        else
            entries.back() += c;
    }
    return entries;
}

void script::use(const std::string& list_of_servers) {
    servers.push_back(list_of_servers);
    list = entries_of(list_of_servers);
    place = 0;
    rests = false;
}

void script::lose(int rc) {
    place = (place + 1) % list.size();
    rests = place == 0;
    const bool told = state == state::connected;
    connection = {};
    inbound.clear();
    unsent = 0;
    if (told) observer->on_session_event(state::connecting);
    complete_all(rc);
    state = 0;
}

namespace {

class scripted_calls final : public native::calls {
public:
    explicit scripted_calls(std::shared_ptr<script> of) : s_(std::move(of)) {}
    ~scripted_calls() override { close(); }

    void encrypt(native::encryption how) override { s_->encryption.emplace(std::move(how)); }
    bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
              native::observer& events) override {
        ++s_->opened;
        s_->use(servers);
        s_->session_timeout = session_timeout;
        s_->observer = &events;
        return true;
    }

    native::interest_result end_session() noexcept override {
        if (s_->observer != nullptr) {
            const auto at = s_->connection;
            const bool can_tell = s_->state == state::connected && at.valid() && !s_->unusable;
            if (can_tell && s_->unwritten > 0) {
                --s_->unwritten;
                return {.connection = at, .events = event::writable};
            }
            if (can_tell) ++s_->asked_to_end;
            close();
            if (can_tell && s_->lingers) s_->parting = at;
        }
        if (s_->unusable) s_->parting = {};
        return {.connection = s_->parting, .events = event::readable};
    }

    void close() noexcept override {
        s_->parting = {};
        if (std::exchange(s_->observer, nullptr) == nullptr) return;
        ++s_->closed;
        s_->connection = {};
        s_->complete_all(code::closing);
        s_->state = state::not_connected;
    }

    native::interest_result interest() override {
        ++s_->interests;
        native::interest_result wanted;
        wanted.rc = next_code();
        if (wanted.rc != code::ok) return wanted;
        if (!s_->connection.valid() && std::exchange(s_->rests, false)) {
            wanted.timeout = s_->session_timeout / 60;
            return wanted;
        }
        if (!s_->connection.valid()) connect();
        wanted.connection = s_->connection;
        wanted.events = event::readable | (s_->state == state::connecting ? event::writable : 0U);
        const auto silent =
            std::chrono::floor<std::chrono::milliseconds>(s_->env.now() - s_->last_heard);
        wanted.timeout = std::min(s_->session_timeout / 3, s_->session_timeout * 2 / 3 - silent);
        return wanted;
    }

    int process(unsigned events) override {
        ++s_->processed;
        s_->events.push_back(events);
        if (s_->state < 0 || !s_->connection.valid()) return code::invalid_state;
        if ((events & event::writable) != 0 && s_->state == state::connecting) return handshake();
        if ((events & event::readable) == 0) return code::ok;
        if (s_->inbound.empty()) {
            if (s_->unusable) return lose(code::connection_loss);
            return code::nothing;
        }
        auto packet = std::move(s_->inbound.front());
        s_->inbound.pop_front();
        s_->last_heard = s_->env.now();
        packet();
        s_->set_readable();
        return code::ok;
    }

    void flush() noexcept override { s_->held_back = 0; }

    void break_connection() noexcept override {
        ++s_->broken;
        s_->hang_up();
    }

    int state() const noexcept override { return s_->state; }
    int phase() const noexcept override {
        return s_->secures && s_->state == state::connecting ? state::securing : s_->state;
    }
    std::int64_t session_id() const noexcept override { return s_->session; }
    std::chrono::milliseconds session_timeout() const noexcept override {
        return s_->session_timeout;
    }
    std::string server() const override {
        return s_->list.empty() ? std::string() : s_->list[s_->place];
    }
    int set_servers(const std::string& servers) override {
        CHECK_FALSE(s_->connection.valid());
        s_->use(servers);
        return code::ok;
    }
    int add_auth(const std::string& scheme, const std::string& credentials, done) override {
        s_->credentials.push_back(scheme + ' ' + credentials);
        return code::ok;
    }

    int create(const std::string& path, std::string_view, const create_options&,
               done reply_to) override {
        return request("create " + path, std::move(reply_to));
    }
    int get(const std::string& path, bool, done reply_to) override {
        return request("get " + path, std::move(reply_to));
    }
    int exists(const std::string& path, bool, done reply_to) override {
        if (answers_at_once(path)) return heartbeat(std::move(reply_to), code::ok);
        return request("exists " + path, std::move(reply_to));
    }
    int children(const std::string& path, bool, done reply_to) override {
        return request("children " + path, std::move(reply_to));
    }
    int set(const std::string& path, std::string_view, std::int32_t, done reply_to) override {
        return request("set " + path, std::move(reply_to));
    }
    int remove(const std::string& path, std::int32_t, done reply_to) override {
        return request("remove " + path, std::move(reply_to));
    }
    int sync(const std::string& path, done reply_to) override {
        if (answers_at_once(path)) return heartbeat(std::move(reply_to), code::ok);
        return request("sync " + path, std::move(reply_to));
    }
    int get_acl(const std::string& path, done reply_to) override {
        return request("get_acl " + path, std::move(reply_to));
    }
    int set_acl(const std::string& path, const acl&, std::int32_t, done reply_to) override {
        return request("set_acl " + path, std::move(reply_to));
    }
    int multi(std::span<const operation> steps, done reply_to) override {
        std::string paths;
        for (const auto& step : steps)
            paths += ' ' + std::visit([](const auto& one) { return one.path; }, step);
        if (steps.size() == 1 && answers_at_once(paths.substr(1)))
            return heartbeat(std::move(reply_to), s_->heartbeat_code);
        return request("multi" + paths, std::move(reply_to));
    }
    int remove_watches(const std::string& path, done reply_to) override {
        return request("remove_watches " + path, std::move(reply_to));
    }

private:
    int next_code() {
        if (s_->state < 0) return code::invalid_state;
        if (s_->state == state::connected && std::exchange(s_->ping_fails, false))
            return code::connection_loss;
        const bool silent = s_->env.now() - s_->last_heard >= s_->session_timeout * 2 / 3;
        if (s_->connection.valid() && silent) return lose(code::operation_timeout);
        if (s_->interest_codes.empty()) return code::ok;
        const int rc = s_->interest_codes.front();
        s_->interest_codes.pop_front();
        return rc;
    }

    void connect() {
        s_->connection = {5, ++s_->last_identity}; // the number never changes
        s_->state = state::connecting;
        s_->unusable = s_->refuses;
        s_->last_heard = s_->env.now();
        s_->set_readable();
    }

    int handshake() {
        if (s_->unusable) return lose(code::connection_loss);
        s_->state = state::associating;
        if (s_->refuses_sessions)
            s_->hang_up();
        else if (s_->answers)
            s_->send([this] { end_handshake(); });
        return code::ok;
    }

    void end_handshake() {
        s_->executed += static_cast<int>(std::exchange(s_->unsent, 0)); // ghosts
        s_->state = s_->next_session_state;
        s_->observer->on_session_event(s_->state);
        if (s_->state < 0) s_->complete_all(s_->state);
    }

    bool answers_at_once(const std::string& path) const {
        return s_->answers_heartbeats && path == "/zookeeper" && s_->state == state::connected &&
               !s_->unusable && !s_->next_send_fails;
    }
    int heartbeat(done reply_to, int rc) {
        s_->answer_heartbeat(std::move(reply_to), rc);
        return code::ok;
    }

    int lose(int rc) {
        s_->lose(rc);
        return rc;
    }

    int request(std::string what, done reply_to) {
        if (s_->state < 0) return code::invalid_state;
        if (s_->refused > 0) return --s_->refused, code::invalid_state;
        s_->log.push_back(std::move(what));
        s_->requests.push_back(std::move(reply_to));
        if (s_->state == state::connected) ++s_->held_back;
        if (s_->state == state::connected && (s_->next_send_fails || s_->unusable)) {
            s_->next_send_fails = false;
            s_->unsent = s_->requests.size();
            s_->connection = {};
            s_->inbound.clear();
            s_->state = state::not_connected;
        }
        return code::ok;
    }

    std::shared_ptr<script> s_;
};

} // namespace

std::unique_ptr<native::calls> make_scripted_calls(std::shared_ptr<script> of) {
    return std::make_unique<scripted_calls>(std::move(of));
}

} // namespace paddock::test
