#pragma once

#include "native/pump.hpp"

namespace paddock::native {

/// While a turn_scope exists the pump calls its user. A close() from within waits for its end.
class pump::turn_scope {
public:
    explicit turn_scope(pump& of) : pump_(of.shared_from_this()) { pump_->in_turn_ = true; }
    ~turn_scope() { // NOLINT(bugprone-exception-escape): without memory it terminates
        pump_->in_turn_ = false;
        if (pump_->on_ended_)
            pump_->begin_session_end();
        else if (pump_->closing_)
            pump_->finish_close();
        else
            pump_->calls_->flush();
    }
    turn_scope(const turn_scope&) = delete;
    turn_scope& operator=(const turn_scope&) = delete;

private:
    std::shared_ptr<pump> pump_;
};

} // namespace paddock::native
