#pragma once

#include <paddock/detail/access.hpp>
#include <paddock/detail/initiate.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lockable.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace paddock {

class mutex;

namespace detail {
class any_lock;
}

class [[gnu::visibility("default")]] any_mutex;

/// A mutex of any system: what code takes that does not care which system has the lock. A
/// redis::mutex is one; a paddock::mutex converts to one.
///
/// What differs:
///
///                      paddock::mutex                   redis::mutex
///     order            of arrival, over all processes   of arrival within one client only
///     a dead holder    session timeout                  the time to live of its key
///     guard::valid()   while the session's lease lasts  while a quorum certainly has the key
///     what keeps it    a quorum of the ensemble, also   one server, or more than half of several
///                      when servers fail                masters; not through a failover to a
///                                                       replica, and only while clocks run evenly
///     fencing tokens   grow for as long as the          grow while no server loses its data; after
///                      ensemble keeps its data          that, as long as their clocks agree
///     transaction()    yes                              errc::not_supported
///     name             a path                           a key: any bytes
///
/// **Operations**: lock(), try_lock(), try_lock_for(), try_lock_until(), with(), try_with(),
/// try_with_for() and try_with_until(), all of which lockable describes. Errors of lock(): those of
/// the mutex's own class.
class any_mutex : public lockable<any_mutex> {
public:
    any_mutex(const mutex& lock);

    using executor_type = asio::any_io_executor;
    /// The client's executor. Never throws; an object that was moved from has none.
    executor_type get_executor() const noexcept;

protected:
    using impl_ptr = std::shared_ptr<const detail::any_lock>;

    explicit any_mutex(impl_ptr impl) noexcept;

private:
    friend struct detail::access;

    static void start_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock(detail::handler<void(error_code, guard)>, impl_ptr);
    static void start_try_lock_for(detail::handler<void(error_code, guard)>, impl_ptr,
                                   std::chrono::nanoseconds);

    impl_ptr impl_;
};

} // namespace paddock
