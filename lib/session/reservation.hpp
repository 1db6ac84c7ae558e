#pragma once

#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>

#include <cstddef>
#include <memory>

namespace paddock::detail {

/// Room for several nodes in the budget of one client, asked for in one go: who has room for some
/// of them, and waits for more, would make others wait who could give something back. On that
/// client's strand.
class reservation final : public session_listener,
                          public std::enable_shared_from_this<reservation> {
public:
    /// Whether the bytes are there; if not, why.
    using told = unique_function<void(error_code, bool there)>;
    /// When there is no room now: waits for it, is told that there is none, or fails. What will
    /// never fit fails in any case.
    enum class wish { wait, give_up, fail };

    explicit reservation(std::shared_ptr<core> client) : core_(std::move(client)) {}

    /// Once. `done` is called once, perhaps from within; not after give_back().
    void ask(std::size_t bytes, wish how, told done);
    /// Takes a part out, which is given back by other means. Whether there was so much.
    bool spend(std::size_t bytes) noexcept;
    /// What is left, or is waited for, is not needed any more.
    void give_back();

    const std::shared_ptr<core>& client() const noexcept { return core_; } ///< any thread

    void on_connected() override {}
    void on_suspended() override {}
    void on_expired() override {}
    void on_closed(error_code why) override;

private:
    void tell(error_code why, bool there = false);

    const std::shared_ptr<core> core_;
    std::size_t bytes_ = 0;    ///< that it has
    budget::turn waiting_ = 0; ///< for the budget
    told done_;
};

} // namespace paddock::detail
