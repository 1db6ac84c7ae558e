#pragma once

#include "sim/ensemble.hpp"
#include "sim/event_loop.hpp"
#include "sim/socket.hpp"

#include <map>
#include <memory>
#include <string>

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

    /// The last zxid of the server of the last answer on this connection.
    std::int64_t heard = 0;
    bool names_fail = false;

private:
    ensemble& all_;
    std::map<std::uint64_t, std::weak_ptr<socket>> sockets_;
};

/// The environment of a client in this process.
std::unique_ptr<environment> make_environment(const std::shared_ptr<host>& in);

} // namespace paddock::test::sim
