#pragma once

#include <paddock/detail/cpp20.hpp>
#include <paddock/error.hpp>
#include <paddock/fencing_token.hpp>
#include <paddock/guard.hpp>
#include <paddock/znode.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

/// For the tests of programs that use the library. paddock.hpp does not include it.
namespace paddock::testing {

namespace detail {
class hand;
}

class [[gnu::visibility("default")]] guard_in_hand;

/// A guard without an ensemble, for the unit test of a function that takes one:
///
///     asio::io_context io;
///     paddock::testing::guard_in_hand hand(io.get_executor());
///     asio::co_spawn(io, save(hand.get()), asio::detached);
///     io.run();
///     CHECK(hand.steps().size() == 1);
///
/// The guard is valid until the test says lose(), or the guard is unlocked or destroyed. Its
/// operations do what they do with an ensemble that answers at once: unlock() completes, verify()
/// succeeds as long as the hold lasts, and transaction() only remembers its steps, see steps().
/// What ends with the ensemble's clock, the lease, does not end here, nor with the execution
/// context. A transaction's steps are not checked, and downgrade() is refused.
///
/// Lifetime: destroy it before or after the guard, and before or after the execution context. Of a
/// hand that was moved from, the guard is empty, nothing was seen, and the rest throws
/// `bad_argument_error`.
///
/// Thread safety: any thread may call any method but get(), whose guard is one object.
class guard_in_hand {
public:
    /// Operations complete on this executor, by default. `path` is what guard::path() returns: the
    /// path of the lock's node. A token of zero is that of a shared hold, or of permits.
    ///
    /// Throws `bad_argument_error` for an empty executor.
    explicit guard_in_hand(asio::any_io_executor executor,
                           std::string path = "/lock/lock-0000000000",
                           paddock::fencing_token token = {1, 0});
    ~guard_in_hand();
    guard_in_hand(guard_in_hand&&) noexcept;
    guard_in_hand& operator=(guard_in_hand&&) noexcept;

    /// The guard, for a function that takes a reference; for one that takes it by value,
    /// `std::move(hand.get())`.
    guard& get() noexcept { return guard_; }

    /// Ends the hold for this reason: from now on the guard is not valid; `guard::lost` and
    /// `guard::run` learn of it on the executor. No effect if the hold has ended.
    ///
    /// Throws `bad_argument_error` for no error, and for errc::released, which is no loss.
    void lose(error_code why = errc::session_expired);

    /// As if another client had asked for the lock: guard::revoke_requested. The hold goes on; that
    /// of a lock with the option `revocable` would end: lose(errc::revoked).
    void request_revoke();

    /// Whether the lock was released: by guard::unlock, the guard's destructor, or guard::run. The
    /// executor must have run since.
    bool release_seen() const noexcept;

    /// The steps of all guard::transaction calls of a valid guard, in their order. Each call
    /// completes with one result for each of its steps, with the path of a created node as it was
    /// given. (On Redis a guard has no transactions; this one has them.)
    std::vector<operation> steps() const;

private:
    std::shared_ptr<detail::hand> hand_;
    guard guard_;
};

} // namespace paddock::testing
