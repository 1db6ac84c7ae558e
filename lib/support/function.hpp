#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace paddock {

template <typename Signature>
class unique_function;

/// A callable that is moved, never copied: std::move_only_function, which C++20 does not have yet.
template <typename Result, typename... Args>
class unique_function<Result(Args...)> {
public:
    unique_function() noexcept = default;

    template <typename F>
    requires(!std::is_same_v<std::decay_t<F>, unique_function> &&
             std::is_invocable_r_v<Result, std::decay_t<F>&, Args...>) unique_function(F&& f)
        : callable_(std::make_unique<holder<std::decay_t<F>>>(std::forward<F>(f))) {}

    explicit operator bool() const noexcept { return callable_ != nullptr; }

    Result operator()(Args... args) { return callable_->call(std::forward<Args>(args)...); }

private:
    struct base {
        virtual ~base() = default;
        virtual Result call(Args... args) = 0;
    };

    template <typename F>
    struct holder final : base {
        explicit holder(F&& f) : f_(std::move(f)) {}
        explicit holder(const F& f) : f_(f) {}
        Result call(Args... args) override { return f_(std::forward<Args>(args)...); }
        F f_;
    };

    std::unique_ptr<base> callable_;
};

} // namespace paddock
