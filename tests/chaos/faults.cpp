#include "faults.hpp"

#include <paddock/boot_clock.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::test {

using namespace std::chrono_literals;

std::size_t faults::any(std::size_t less_than) {
    return std::uniform_int_distribution<std::size_t>(0, less_than - 1)(random_);
}

faults::milliseconds faults::between(int least, int most) {
    return milliseconds(std::uniform_int_distribution<int>(least, most)(random_));
}

faults::milliseconds faults::percent(int least, int most) {
    const auto lease = static_cast<int>(lease_.count());
    return between(lease / 100 * least, lease / 100 * most);
}

faults::milliseconds faults::some_time() {
    return any(2) == 0 ? percent(5, 90) : percent(100, 300);
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

} // namespace paddock::test
