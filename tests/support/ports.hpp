#pragma once

#include <cstdint>

namespace paddock::test {

/// An unused TCP port of the loopback interface. No other process of the tests chooses it while
/// this object lives, even while no socket listens on it. It lies outside the range from which the
/// kernel picks ports for outgoing connections.
class reserved_port {
public:
    reserved_port();
    reserved_port(const reserved_port&) = delete;
    reserved_port& operator=(const reserved_port&) = delete;
    ~reserved_port();

    std::uint16_t number() const { return number_; }

private:
    int claim_ = -1;
    std::uint16_t number_ = 0;
};

} // namespace paddock::test
