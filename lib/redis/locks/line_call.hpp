#pragma once

#include "client/lock_call.hpp"
#include "client/metadata.hpp"
#include "redis/locks/core.hpp"
#include "redis/locks/key_hold.hpp"
#include "redis/locks/lock_line.hpp"

#include <paddock/detail/access.hpp>
#include <paddock/guard.hpp>
#include <paddock/recursive_mutex.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::redis::detail {

/// What a call wants.
struct line_terms {
    std::string name; ///< of the lock
    hold_limit limit{};
    std::shared_ptr<const counted_lock> counted{};
    std::optional<owner> by{}; ///< who may have the lock already
    /// What the key's value says of the holder; null: nothing.
    std::shared_ptr<const metadata> about{};
};

/// One call of lock() or a similar operation.
class line_call final : public lock_call<core, guard> {
public:
    line_call(std::shared_ptr<core> client, line_terms terms, handler<void(error_code, guard)>&& h,
              kind how)
        : lock_call(std::move(client), std::move(h), how), terms_(std::move(terms)) {}

    std::uint64_t number = 0; ///< in its line

    const std::optional<owner>& by() const noexcept { return terms_.by; }
    const std::shared_ptr<const metadata>& about() const noexcept { return terms_.about; }
    /// The lock is held with these keys: makes the guard.
    void granted(const std::shared_ptr<key_holder>& keys) {
        client()->prepare_releases();
        finish({}, access::make<guard>(keys->add_hold(terms_.limit, terms_.counted)));
    }

    error_code why_not_in_time() const override {
        return line_ && line_->may_be_taken() ? error_code() : errc::not_connected;
    }

private:
    void join() override {
        line_ = client()->line_of(terms_.name);
        line_->join(std::static_pointer_cast<line_call>(shared_from_this()));
    }
    bool admitted_while_draining() const override {
        const auto line = client()->known_line_of(terms_.name);
        return line && terms_.by && line->held_by(*terms_.by);
    }
    std::string_view lock_path() const override { return terms_.name; }
    const counted_lock* counted() const noexcept override { return terms_.counted.get(); }
    void abandoned() override {
        if (line_) line_->leave(*this);
    }

    const line_terms terms_;
    std::shared_ptr<lock_line> line_;
};

} // namespace paddock::redis::detail
