#include "sim/host.hpp"

#include "sim/violation.hpp"

#include <charconv>
#include <utility>

namespace paddock::test::sim {

int server_at(std::string_view address) {
    int number = 0;
    address.remove_prefix(address.rfind('.') + 1);
    std::from_chars(address.data(), address.data() + address.size(), number);
    return number - 1;
}

host::host(ensemble& all, std::string called)
    : event_loop(all.time(), all.chance(), std::move(called)), all_(all) {}

std::shared_ptr<socket> host::dial(int server) {
    auto made = all_.connect(server);
    std::erase_if(sockets_, [](const auto& one) { return one.second.expired(); });
    sockets_[made->identity] = made;
    if (!dead()) made->dial();
    return made;
}

socket* host::find(std::uint64_t identity) {
    const auto it = sockets_.find(identity);
    return it == sockets_.end() ? nullptr : it->second.lock().get();
}

void host::ran() {
    must(fault.empty(), fault);
    std::erase_if(looks_, [](auto& look) { return !look(); });
}

void host::lose_connection() {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->lose();
}

void host::hold_connection(duration how_long) {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->hold_until(time().now() + how_long);
}

void host::recover() {
    names_fail = false;
    event_loop::recover();
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->hold_until(time().now());
}

void host::die() {
    for (const auto& [identity, weak] : sockets_)
        if (const auto one = weak.lock()) one->close();
    event_loop::die();
}

} // namespace paddock::test::sim
