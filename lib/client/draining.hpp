#pragma once

#include "support/environment.hpp"
#include "support/function.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace paddock::detail {

/// The end of a client's locks before the end of the client: turns those away that wait, and waits
/// for those that hold. Strand only.
class draining {
    using hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// A call that waits for a lock.
    class caller {
    public:
        virtual void turn_away() = 0;

    protected:
        ~caller() = default;

    private:
        friend draining;
        hook place_;
    };
    /// A hold whose guard is there.
    class holder {
        friend draining;
        hook place_;
    };

    explicit draining(environment& env) : env_(env) {}

    void add(caller& one) { callers_.push_back(one); }
    static void remove(caller& one) { one.place_.unlink(); }
    void add(holder& one) { holders_.push_back(one); }
    void remove(holder& one);
    /// Of an unlock(), until its caller knows that the lock is released.
    void release_begins() noexcept { ++releases_; }
    void release_ends();

    /// No caller is admitted any more. Any thread.
    bool begun() const noexcept { return begun_.load(std::memory_order_acquire); }
    /// Whether nobody holds a lock; after close(), whether nobody did then.
    bool nobody_holds() const noexcept { return closed_ ? *closed_ : empty(); }
    /// Calls back, not from within, when nobody holds a lock any more, or the time has come, or the
    /// client closes.
    void begin(boot_clock::time_point until, unique_function<void()> done);
    /// The client closes.
    void close() noexcept;

private:
    bool empty() const noexcept { return holders_.empty() && releases_ == 0; }
    void look() {
        if (empty()) finish();
    }
    void finish();

    template <typename Member>
    using list =
        boost::intrusive::list<Member, boost::intrusive::member_hook<Member, hook, &Member::place_>,
                               boost::intrusive::constant_time_size<false>>;

    environment& env_;
    list<caller> callers_;
    list<holder> holders_;
    int releases_ = 0;
    std::atomic<bool> begun_ = false;
    std::optional<bool> closed_; ///< and whether nobody held a lock
    boot_clock::time_point until_ = boot_clock::time_point::max();
    std::unique_ptr<timer> timer_;
    std::vector<unique_function<void()>> done_;
};

} // namespace paddock::detail
