#include "redis/rules/server_clock.hpp"

#include <algorithm>

namespace paddock::redis::rules {

namespace {
constexpr int fastest_slew = 10;                   ///< a tenth; chrony's fastest is 8.3 %
constexpr std::chrono::milliseconds resolution{1}; ///< of times to live: less changes none
} // namespace

bool server_clock::stepped(time_point sent, time_point answered, std::chrono::microseconds clock) {
    lead now{clock - answered.time_since_epoch(), clock - sent.time_since_epoch(), answered};
    bool set = false;
    if (lead_) {
        const auto slew = (answered - lead_->as_of) / fastest_slew + resolution;
        const auto least = lead_->least - slew;
        const auto most = lead_->most + slew;
        set = now.most < least || now.least > most;
        if (!set) {
            now.least = std::max(now.least, least);
            now.most = std::min(now.most, most);
        }
    }
    lead_ = now;
    return set;
}

} // namespace paddock::redis::rules
