#pragma once

#include <cstdint>

namespace paddock::test {

/// A TCP port of the loopback interface that nobody uses, and that no other process of the tests
/// will choose while this object lives, even while nobody listens on it. It lies outside the range
/// from which the kernel picks ports for outgoing connections.
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
