#pragma once

#include "client/lock_call.hpp"
#include "redis/locks/core.hpp"
#include "redis/locks/lock_line.hpp"

#include <paddock/guard.hpp>

#include <memory>
#include <string>
#include <utility>

namespace paddock::redis::detail {

/// One call of lock() or a similar operation.
class line_call final : public lock_call<core, guard> {
public:
    line_call(std::shared_ptr<core> client, std::string name, const hold_limit& limit,
              handler<void(error_code, guard)>&& h, kind how)
        : lock_call(std::move(client), std::move(h), how), name_(std::move(name)), limit_(limit) {}

    const hold_limit& limit() const noexcept { return limit_; }

    error_code why_not_in_time() const override {
        return line_ && line_->known_taken() ? error_code() : errc::not_connected;
    }

private:
    void join() override {
        line_ = client()->line_of(name_);
        line_->join(std::static_pointer_cast<line_call>(shared_from_this()));
    }
    void abandoned() override {
        if (line_) line_->leave();
    }

    const std::string name_;
    const hold_limit limit_;
    std::shared_ptr<lock_line> line_;
};

} // namespace paddock::redis::detail
