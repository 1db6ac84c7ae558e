#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace paddock {

class lock_family;

namespace detail {
class any_family;
}

class [[gnu::visibility("default")]] any_lock_family;

/// One mutex for each key, in any system: what code takes that does not care which system has the
/// locks. A redis::lock_family is one; a paddock::lock_family converts to one. any_mutex says what
/// differs, and lock_family what a key is.
///
/// **Operations**, each with the key as its first argument, such as `lock(key)`: those of
/// any_mutex, all of which lockable describes. Errors of lock(): those of the mutex, and
/// `errc::bad_argument` for a key that is empty or has more than 4096 bytes; then the client has
/// sent nothing.
class any_lock_family : public lockable<any_lock_family, std::string_view> {
public:
    any_lock_family(const lock_family& locks);

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

protected:
    using impl_ptr = std::shared_ptr<const detail::any_family>;

    explicit any_lock_family(impl_ptr impl) noexcept;

private:
    friend struct detail::access;
    using handler = detail::handler<void(error_code, guard)>;

    static void start_lock(handler, impl_ptr, std::string key);
    static void start_try_lock(handler, impl_ptr, std::string key);
    static void start_try_lock_for(handler, impl_ptr, std::string key, std::chrono::nanoseconds);

    impl_ptr impl_;
};

} // namespace paddock
