#include "client_faults.hpp"

#include <string>
#include <vector>

namespace paddock::test {

using namespace std::chrono_literals;

client_faults::client_faults(faults& all, crew& workers)
    : all_(all)
    , workers_(workers)
    , link_busy_(std::make_unique<bool[]>(workers.size()))
    , worker_busy_(std::make_unique<bool[]>(workers.size())) {}

/// Prefers holders, which have more to lose.
std::size_t client_faults::any_client() {
    const auto holders = workers_.holders();
    if (holders.empty() || all_.any(3) == 0) return all_.any(workers_.size());
    return holders[all_.any(holders.size())];
}

void client_faults::disturb_link() {
    const auto post = any_client();
    if (link_busy_[post]) return;
    auto links = workers_.links(post);
    const auto one = all_.any(links.size() * 2);
    if (one < links.size()) links = {links[one]};
    const auto victim = "client " + std::to_string(post) +
                        (links.size() == 1 ? " to server " + std::to_string(one) : "");
    const auto each = [links](auto what) {
        for (auto* link : links)
            what(*link);
    };
    const auto over = [each] { each([](tcp_link& link) { link.heal(); }); };
    const auto start = [&](const char* kind, faults::milliseconds lasts, auto what) {
        each(what);
        all_.begin(kind, victim, link_busy_[post], lasts, over);
    };
    switch (all_.any(6)) {
    case 0:
        return start("link reset", 0ms, [](tcp_link& l) { l.cut_all(cut::rst); });
    case 1:
        return start("link closed", 0ms, [](tcp_link& l) { l.cut_all(cut::fin); });
    case 2:
        return start("link half-open", all_.some_time(), [gone = all_.any(2)](tcp_link& l) {
            l.half_open(gone == 0 ? side::client : side::server);
        });
    case 3:
        return start("link black hole", all_.some_time(), [](tcp_link& l) { l.black_hole(true); });
    case 4:
        return start("link delayed", all_.percent(10, 100),
                     [by = all_.between(5, 300)](tcp_link& l) { l.delay(by); });
    default:
        return start("link slow", all_.percent(10, 100),
                     [lot = 1 + all_.any(10)](tcp_link& l) { l.trickle(lot); });
    }
}

void client_faults::disturb_worker() {
    const auto post = any_client();
    if (worker_busy_[post]) return;
    const auto victim = "process " + std::to_string(post);
    if (all_.any(3) == 0) {
        workers_.replace(post);
        all_.begin("process killed", victim, worker_busy_[post], 0ms, [] {});
        return;
    }
    workers_.pause(post);
    all_.begin("process stopped", victim, worker_busy_[post], all_.some_time(),
               [this, post] { workers_.resume(post); });
}

} // namespace paddock::test
