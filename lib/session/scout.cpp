#include "session/scout.hpp"

#include <utility>

namespace paddock::detail {

scout::scout(environment& env, std::unique_ptr<native::calls> table, native::pump_options options,
             unique_function<void(bool)> served)
    : env_(env)
    , served_(std::make_shared<unique_function<void(bool)>>(std::move(served)))
    , pump_(std::make_shared<native::pump>(env, std::move(table), std::move(options),
                                           static_cast<native::pump_user&>(*this))) {
    pump_->start();
}

scout::~scout() { pump_->close(); }

void scout::end(unique_function<void()> ended) {
    if (!std::exchange(served_, {})) return;
    const auto keep = pump_; // the call may destroy this
    keep->end_session(std::move(ended));
}

void scout::tell(bool serves) noexcept {
    env_.post([weak = std::weak_ptr(served_), serves] {
        const auto call = weak.lock(); // it may end the scout
        if (call) (*call)(serves);
    });
}

} // namespace paddock::detail
