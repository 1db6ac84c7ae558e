#pragma once

#include "sim/ensemble.hpp"
#include "sim/event_loop.hpp"
#include "sim/socket.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test::sim {

/// One process and its connections to the ensemble.
class host final : public event_loop {
public:
    host(ensemble& all, std::string called);

    ensemble& servers() noexcept { return all_; }

    std::shared_ptr<socket> dial(int server);
    socket* find(std::uint64_t identity);
    void lose_connection();
    void hold_connection(duration how_long);
    void die() override;
    void recover() override;

    /// For descriptors of the system.
    std::uint64_t next_identity() noexcept { return ++last_identity_; }
    /// Calls `look` behind each task of this process, as long as it returns true: whether they are
    /// ready changes without a word.
    void watch(unique_function<bool()> look) { looks_.push_back(std::move(look)); }
    void ran() override;

    std::string fault; ///< of the bytes on its connections
    /// The last zxid of the server of the last answer on this connection.
    std::int64_t heard = 0;
    bool names_fail = false;

private:
    ensemble& all_;
    std::map<std::uint64_t, std::weak_ptr<socket>> sockets_;
    std::vector<unique_function<bool()>> looks_;
    std::uint64_t last_identity_ = 0;
};

/// Of the address 10.0.0.1, also with a port, the server 0, and so on.
int server_at(std::string_view address);

/// The environment of a client in this process.
std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in);

} // namespace paddock::test::sim
