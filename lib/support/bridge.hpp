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
#include <tuple>
#include <utility>

namespace paddock::detail {

/// Carries one outcome from the client's strand to the user's completion handler: posted, never run
/// from within, on the handler's executor, which is kept from running out of work meanwhile. The
/// only place where the library leaves its strand.
template <typename... Args>
class bridge {
public:
    bridge() = default;
    bridge(asio::any_io_executor io, handler<void(Args...)>&& h)
        : far_side_(std::make_unique<far_side>(std::move(io), std::move(h))) {}

    explicit operator bool() const noexcept { return far_side_ != nullptr; }

    /// Calls `cancel` on the thread that emits a total or terminal cancellation, as long as the
    /// handler was not called. For the initiating function only.
    template <typename Cancel>
    void on_cancel(Cancel cancel) {
        auto slot = asio::get_associated_cancellation_slot(far_side_->user);
        if (!slot.is_connected()) return;
        slot.assign([cancel = std::move(cancel)](asio::cancellation_type type) mutable {
            constexpr auto heard =
                asio::cancellation_type::total | asio::cancellation_type::terminal;
            if ((type & heard) != asio::cancellation_type::none) cancel();
        });
    }

    /// Once; the bridge is empty afterwards.
    void complete(Args... args) {
        auto io = far_side_->io;
        asio::post(io, [far = std::move(far_side_),
                        outcome = std::tuple<Args...>(std::move(args)...)]() mutable {
            auto executor = far->executor;
            asio::dispatch(executor,
                           [far = std::move(far), outcome = std::move(outcome)]() mutable {
                               far->call(std::move(outcome));
                           });
        });
    }

private:
    struct far_side {
        far_side(asio::any_io_executor e, handler<void(Args...)>&& h)
            : io(std::move(e))
            , executor(asio::prefer(asio::get_associated_executor(h, io),
                                    asio::execution::outstanding_work.tracked))
            , user(std::move(h)) {}

        void call(std::tuple<Args...>&& outcome) {
            if (auto slot = asio::get_associated_cancellation_slot(user); slot.is_connected())
                slot.clear();
            // Freed first, so that what the handler starts can use the memory, and the work ends.
            auto h = std::move(user);
            auto work = std::move(executor);
            std::apply(std::move(h), std::move(outcome));
        }

        asio::any_io_executor io;
        asio::any_completion_executor executor;
        handler<void(Args...)> user;
    };

    std::unique_ptr<far_side> far_side_;
};

} // namespace paddock::detail
