#include "faults.hpp"

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <utility>

namespace paddock::test {

using namespace std::chrono_literals;

faults::faults(zk_ensemble& ensemble, crew& workers, std::uint32_t seed)
    : ensemble_(ensemble)
    , workers_(workers)
    , random_(seed)
    , link_busy_(std::make_unique<bool[]>(workers.size()))
    , worker_busy_(std::make_unique<bool[]>(workers.size())) {}

std::size_t faults::any(std::size_t less_than) {
    return std::uniform_int_distribution<std::size_t>(0, less_than - 1)(random_);
}

faults::milliseconds faults::between(int least, int most) {
    return milliseconds(std::uniform_int_distribution<int>(least, most)(random_));
}

faults::milliseconds faults::percent(int least, int most) {
    const auto session = static_cast<int>(workers_.terms().session.count());
    return between(session / 100 * least, session / 100 * most);
}

/// Short enough to be survived, or so long that a session expires.
faults::milliseconds faults::some_time() {
    return any(2) == 0 ? percent(5, 90) : percent(100, 300);
}

/// Prefers holders, which have more to lose.
std::size_t faults::any_client() {
    const auto holders = workers_.holders();
    if (holders.empty() || any(3) == 0) return any(workers_.size());
    return holders[any(holders.size())];
}

void faults::note(const std::string& text) {
    diary_.push_back(std::to_string(boot_clock::now().time_since_epoch().count()) + ' ' + text);
}

void faults::begin(const std::string& kind, const std::string& victim, bool& busy,
                   milliseconds lasts, std::function<void()> undo) {
    ++counts_[kind];
    note(kind + ", " + victim + ", for " + std::to_string(lasts.count()) + " ms");
    busy = true;
    under_way_.push_back({kind + ", " + victim, clock::now() + lasts, &busy, std::move(undo)});
}

void faults::inject() {
    // A stopped or killed holder stops the waiters behind it until its session ends.
    const auto what = any(20);
    if (what < 13)
        disturb_link();
    else if (what < 16)
        disturb_worker();
    else
        disturb_server();
}

void faults::take_back(bool all) {
    auto due = std::stable_partition(under_way_.begin(), under_way_.end(), [&](const fault& f) {
        return !all && clock::now() < f.until;
    });
    std::vector<fault> ending(std::make_move_iterator(due),
                              std::make_move_iterator(under_way_.end()));
    under_way_.erase(due, under_way_.end());
    for (const auto& f : ending) {
        f.undo();
        *f.busy = false;
        note("end of " + f.name);
    }
}

/// Of one process, to one server or to all.
void faults::disturb_link() {
    const auto post = any_client();
    if (link_busy_[post]) return;
    std::vector<tcp_link*> links;
    const auto one = any(zk_ensemble::size * 2);
    for (std::size_t i = 0; i < zk_ensemble::size; ++i)
        if (one >= zk_ensemble::size || one == i) links.push_back(&workers_.link(post, i));
    const auto victim = "client " + std::to_string(post) +
                        (links.size() == 1 ? " to server " + std::to_string(one) : "");
    const auto each = [links](auto what) {
        for (auto* link : links)
            what(*link);
    };
    const auto over = [each] { each([](tcp_link& link) { link.heal(); }); };
    const auto start = [&](const char* kind, milliseconds lasts, auto what) {
        each(what);
        begin(kind, victim, link_busy_[post], lasts, over);
    };
    switch (any(6)) {
    case 0:
        return start("link reset", 0ms, [](tcp_link& l) { l.cut_all(cut::rst); });
    case 1:
        return start("link closed", 0ms, [](tcp_link& l) { l.cut_all(cut::fin); });
    case 2:
        return start("link half-open", some_time(), [gone = any(2)](tcp_link& l) {
            l.half_open(gone == 0 ? side::client : side::server);
        });
    case 3:
        return start("link black hole", some_time(), [](tcp_link& l) { l.black_hole(true); });
    case 4:
        return start("link delayed", percent(10, 100),
                     [by = between(5, 300)](tcp_link& l) { l.delay(by); });
    default:
        return start("link slow", percent(10, 100),
                     [lot = 1 + any(10)](tcp_link& l) { l.trickle(lot); });
    }
}

void faults::disturb_worker() {
    const auto post = any_client();
    if (worker_busy_[post]) return;
    const auto victim = "process " + std::to_string(post);
    if (any(3) == 0) {
        workers_.replace(post);
        begin("process killed", victim, worker_busy_[post], 0ms, [] {});
        return;
    }
    workers_.pause(post);
    begin("process stopped", victim, worker_busy_[post], some_time(),
          [this, post] { workers_.resume(post); });
}

/// One at a time, and with a pause behind it: two of three must be able to work now and then.
void faults::disturb_server() {
    if (servers_busy_ || clock::now() < servers_rest_until_) return;
    const auto i = any(2) == 0 ? ensemble_.leader().value_or(0) : any(zk_ensemble::size);
    const bool leads = ensemble_.leads(i);
    const auto victim = "server " + std::to_string(i) + (leads ? " (leader)" : "");
    const auto rest = [this, most = between(0, 6000)] {
        servers_rest_until_ = clock::now() + most;
    };
    switch (any(4)) {
    case 0:
        ensemble_.server(i).kill();
        return begin("server killed", victim, servers_busy_, percent(5, 100), [this, i, rest] {
            ensemble_.server(i).start();
            rest();
        });
    case 1:
        ensemble_.pause(i);
        return begin("server stopped", victim, servers_busy_, percent(5, 150), [this, i, rest] {
            ensemble_.resume(i);
            rest();
        });
    default:
        static const std::pair<severance, const char*> ways[] = {
            {severance::reset, " cut off by resets"},
            {severance::silence, " cut off in silence"},
            {severance::half, " cut off unheard"}};
        const auto& [how, called] = ways[any(3)];
        const bool wholly = any(3) != 0;
        if (wholly)
            ensemble_.cut_off(i, how);
        else
            ensemble_.sever(i, (i + 1) % zk_ensemble::size, how);
        const std::string kind = std::string(leads ? "leader" : "follower") + called;
        return begin(kind, victim + (wholly ? "" : ", from one"), servers_busy_, percent(25, 300),
                     [this, rest] {
                         ensemble_.heal();
                         rest();
                     });
    }
}

} // namespace paddock::test
