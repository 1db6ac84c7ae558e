#pragma once

#include <paddock/detail/initiate.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <memory>
#include <new>
#include <tuple>
#include <utility>

namespace paddock::detail {

/// Carries one result from the client's strand to the user's completion handler. It posts the
/// handler to its associated executor, never calls it from within, and keeps outstanding work on
/// that executor until then. The library leaves its strand only here. An empty executor means that
/// the client's execution context has ended: the bridge destroys the handler uncalled, and is
/// empty; so is a bridge without a handler.
template <typename... Args>
class handler_bridge {
public:
    handler_bridge() = default;
    handler_bridge(asio::any_io_executor io, handler<void(Args...)>&& h) {
        auto user = std::move(h);
        if (io && user) state_ = make_state(std::move(io), std::move(user));
    }

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Calls `cancel` on the thread that emits a total or terminal cancellation, until the handler
    /// is called. For the initiating function only.
    template <typename Cancel>
    void on_cancel(Cancel cancel) {
        if (!state_) return;
        auto slot = asio::get_associated_cancellation_slot(state_->user);
        if (!slot.is_connected()) return;
        slot.assign([cancel = std::move(cancel)](asio::cancellation_type type) mutable {
            constexpr auto handled =
                asio::cancellation_type::total | asio::cancellation_type::terminal;
            if ((type & handled) != asio::cancellation_type::none) cancel();
        });
    }

    /// Once; the bridge is empty afterwards.
    void complete(Args... args) {
        auto io = state_->io;
        asio::post(io, [state = std::move(state_),
                        outcome = std::tuple<Args...>(std::move(args)...)]() mutable {
            if (!state->elsewhere) return call(std::move(state), std::move(outcome));
            auto executor = *state->elsewhere;
            asio::dispatch(executor,
                           [state = std::move(state), outcome = std::move(outcome)]() mutable {
                               call(std::move(state), std::move(outcome));
                           });
        });
    }

private:
    struct handler_state {
        handler_state(asio::any_io_executor e, handler<void(Args...)>&& h)
            : elsewhere(other_executor(e, h))
            , io(elsewhere ? std::move(e) : with_work(e))
            , user(std::move(h)) {}

        std::unique_ptr<asio::any_completion_executor> elsewhere; ///< the handler's, if not `io`
        asio::any_io_executor io; ///< without work where it may outlive its context
        handler<void(Args...)> user;
    };

    static std::unique_ptr<asio::any_completion_executor>
    other_executor(const asio::any_io_executor& io, const handler<void(Args...)>& h) {
        const asio::any_completion_executor client = io;
        const auto executor = asio::get_associated_executor(h, client);
        if (executor == client) return {};
        return std::make_unique<asio::any_completion_executor>(with_work(executor));
    }
    template <typename Executor>
    static Executor with_work(const Executor& executor) {
        return asio::prefer(executor, asio::execution::outstanding_work.tracked);
    }

    /// The memory of the state comes from the handler's associated allocator.
    static auto allocator_of(const handler<void(Args...)>& h) {
        return typename std::allocator_traits<decltype(h.get_allocator())>::template rebind_alloc<
            handler_state>(h.get_allocator());
    }
    static void free(handler_state* state, const handler<void(Args...)>& h) noexcept {
        auto memory = allocator_of(h);
        std::destroy_at(state);
        memory.deallocate(state, 1);
    }
    struct free_with_handler {
        void operator()(handler_state* state) const noexcept {
            const auto h = std::move(state->user);
            free(state, h);
        }
    };
    using state_ptr = std::unique_ptr<handler_state, free_with_handler>;

    static state_ptr make_state(asio::any_io_executor io, handler<void(Args...)>&& h) {
        auto memory = allocator_of(h);
        auto* const state = memory.allocate(1);
        try {
            return state_ptr(::new (state) handler_state(std::move(io), std::move(h)));
        } catch (...) {
            memory.deallocate(state, 1);
            throw;
        }
    }

    static void call(state_ptr state, std::tuple<Args...>&& outcome) {
        if (auto slot = asio::get_associated_cancellation_slot(state->user); slot.is_connected())
            slot.clear();
        // All memory is free before the call, for the handler's next operation; the outstanding
        // work ends with the call.
        auto h = std::move(state->user);
        const auto work = std::pair(std::move(state->elsewhere), std::move(state->io));
        free(state.release(), h);
        std::apply(std::move(h), std::move(outcome));
    }

    state_ptr state_;
};

} // namespace paddock::detail
