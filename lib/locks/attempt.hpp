#pragma once

#include "line/line.hpp"
#include "locks/hold.hpp"
#include "locks/line_lock.hpp"
#include "support/bridge.hpp"

#include <paddock/guard.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace paddock::detail {

/// One call of lock(), try_lock() or try_lock_for(), from its start to its completion, and then
/// what connects the line with the hold. Whoever comes first (grant, failure, cancellation, time
/// limit) completes it; all of them come on the strand.
class attempt final : public entrant, public tenure, public std::enable_shared_from_this<attempt> {
public:
    enum class kind { wait, only_if_free };

    attempt(std::shared_ptr<const line_lock> what, handler<void(error_code, guard)>&& h, kind how,
            rules::role as = rules::role::exclusive);

    /// Any thread, once.
    void launch(std::optional<std::chrono::nanoseconds> limit);

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override { finish({}, {}); }
    void failed(error_code why) override;
    void lost(error_code why) override;
    void asked_back() override;
    void downgraded(const std::string& path) override;

    void release() override { line_->release(key_); }
    void downgrade() override;
    void when_gone(unique_function<void(error_code)> gone) override;

private:
    void begin(std::optional<std::chrono::nanoseconds> limit);
    void look_first();
    void looked(int code, const std::vector<std::string>& names);
    void enter();
    void abandon(error_code why);
    void finish(error_code why, guard result);

    std::shared_ptr<const line_lock> lock_;
    bridge<error_code, guard> user_;
    kind kind_;
    rules::role as_;
    bool limited_ = false;
    std::shared_ptr<line> line_;
    rules::contender_key key_ = 0; ///< 0: not in the line
    std::unique_ptr<timer> deadline_;
    std::weak_ptr<hold> hold_;
};

} // namespace paddock::detail
