#pragma once

#include "native/calls.hpp"
#include "sim/relayed_end.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// The seam of the C client: native::calls with the behaviour of the real one. One packet per
/// process(); a failed send closes the connection silently, and unsent requests go out on the next
/// one; after a reconnect the watches are set in the order of the tables; after a pass over all
/// servers the next one begins with the second call of interest(); silence for two thirds of
/// the session timeout ends a connection.
class c_client final : public native::calls {
public:
    explicit c_client(std::shared_ptr<host> in) : here_(std::move(in)) {}
    ~c_client() override { close(); }

    void encrypt(native::encryption) override {
        throw std::logic_error("ensemble_options::encrypted decides");
    }
    bool open(const std::string& servers, std::chrono::milliseconds session_timeout,
              native::observer& events) override;
    native::interest_result end_session() noexcept override;
    void close() noexcept override;
    native::interest_result interest() override;
    int process(unsigned events) override;
    void flush() noexcept override {
        if (relayed_) relayed_->flush();
    }
    void break_connection() noexcept override;

    int state() const noexcept override { return state_; }
    int phase() const noexcept override;
    std::int64_t session_id() const noexcept override { return session_; }
    std::chrono::milliseconds session_timeout() const noexcept override { return timeout_; }
    std::string server() const override;
    int set_servers(const std::string& servers) override;
    int add_auth(const std::string&, const std::string&, done) override {
        return native::code::invalid_state; // no credentials here
    }

    int create(const std::string& path, std::string_view data, const create_options& how,
               done reply_to) override;
    int get(const std::string& path, bool watch, done reply_to) override;
    int exists(const std::string& path, bool watch, done reply_to) override;
    int children(const std::string& path, bool watch, done reply_to) override;
    int set(const std::string& path, std::string_view data, std::int32_t version,
            done reply_to) override;
    int remove(const std::string& path, std::int32_t version, done reply_to) override;
    int sync(const std::string& path, done reply_to) override;
    int get_acl(const std::string& path, done reply_to) override;
    int set_acl(const std::string& path, const acl& entries, std::int32_t version,
                done reply_to) override;
    int multi(std::span<const operation> steps, done reply_to) override;
    int remove_watches(const std::string& path, done reply_to) override;

private:
    struct pending {
        request what;
        done reply_to;
        bool sent = false;
    };
    using watched = std::set<std::string>;

    int submit(request r, done reply_to);
    bool transmit(request r);
    void close_silently();
    void free_handle() noexcept;
    void connect();
    int lose(int rc);
    void complete_all(int rc);
    int take(packet p);
    int take_session(const packet& p);
    int take_answer(const packet& p);
    void take_event(const packet& p);
    void arm(const request& r, int rc);
    void send_watches();
    std::vector<std::string> in_table_order(const watched& paths);
    bool usable() const noexcept { return state_ >= 0; }
    time_point now() const { return here_->time().now(); }

    std::shared_ptr<host> here_;
    native::observer* observer_ = nullptr;
    std::vector<int> servers_;
    std::size_t next_server_ = 0;
    std::size_t failures_ = 0; ///< in a row
    bool rests_ = false;       ///< the next interest() only says for how long
    std::shared_ptr<client_end> socket_;
    std::unique_ptr<environment> network_; ///< of the relay
    std::shared_ptr<relayed_end> relayed_; ///< the present connection, or the last one
    int state_ = native::state::not_connected;
    std::int64_t session_ = 0;
    std::chrono::milliseconds timeout_{0};
    std::int64_t seen_ = 0; ///< the last zxid of a server's answers
    int xid_ = 0;
    std::deque<pending> pending_;
    watched data_, exist_, child_;
    time_point last_received_{}, last_sent_{};
    std::uint64_t task_ = 0; ///< in which the last packet was taken
};

} // namespace paddock::test::sim
