#pragma once

#include "line/line.hpp"
#include "locks/asking.hpp"
#include "locks/hold.hpp"
#include "locks/line_lock.hpp"

#include <paddock/guard.hpp>

#include <memory>

namespace paddock::detail {

/// One call of lock(), try_lock() or try_lock_for(), and then what connects the line with the hold.
class attempt final : public entrant, public tenure, public asking<guard> {
public:
    attempt(std::shared_ptr<const line_lock> what, handler<void(error_code, guard)>&& h, kind how,
            rules::role as = rules::role::exclusive);

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override { finish({}, {}); }
    void failed(error_code why) override { fail(why, lock_->on_over_budget); }
    void lost(error_code why) override;
    void asked_back() override;
    void downgraded(const std::string& path) override;

    void release() override { line_->release(key_); }
    void downgrade() override;
    void when_gone(unique_function<void(error_code)> gone) override;

private:
    std::shared_ptr<attempt> self() {
        return std::static_pointer_cast<attempt>(shared_from_this());
    }
    void begin() override;
    void enter();
    void abandoned() override;

    std::shared_ptr<const line_lock> lock_;
    rules::role as_;
    std::shared_ptr<line> line_;
    rules::contender_key key_ = 0; ///< 0: not in the line
    std::weak_ptr<hold> hold_;
};

} // namespace paddock::detail
