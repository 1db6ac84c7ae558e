#include "session/scout.hpp"

#include <utility>

namespace paddock::detail {

scout::scout(environment& env, std::unique_ptr<native::calls> table, native::pump_options options,
             unique_function<void(scout_news)> hear)
    : env_(env)
    , hear_(std::make_shared<unique_function<void(scout_news)>>(std::move(hear)))
    , pump_(std::make_shared<native::pump>(env, std::move(table), std::move(options),
                                           static_cast<native::pump_user&>(*this))) {
    pump_->start();
}

scout::~scout() { pump_->close(); }

void scout::end(unique_function<void()> ended) {
    if (!std::exchange(hear_, {})) return;
    const auto keep = pump_; // the call may destroy this
    keep->end_session(std::move(ended));
}

void scout::tell(scout_news news) noexcept {
    env_.post([weak = std::weak_ptr(hear_), news] {
        const auto call = weak.lock(); // it may end the scout
        if (call) (*call)(news);
    });
}

} // namespace paddock::detail
