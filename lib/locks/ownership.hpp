#pragma once

#include "line/line.hpp"
#include "locks/asking.hpp"
#include "locks/hold.hpp"
#include "locks/line_lock.hpp"

#include <paddock/recursive_mutex.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::detail {

class ownership;

/// A recursive_mutex and its copies.
struct recursive_lock {
    std::shared_ptr<const line_lock> terms;
    std::map<owner, std::shared_ptr<ownership>> owners{}; ///< who hold it or wait. On the strand
};

/// One call of a recursive_mutex.
class recursive_asking final : public asking<guard> {
public:
    recursive_asking(std::shared_ptr<recursive_lock> what, owner who,
                     handler<void(error_code, guard)>&& h, kind how);

private:
    void begin() override;
    void abandoned() override;

    std::shared_ptr<recursive_lock> lock_;
    owner who_;
    std::shared_ptr<ownership> mine_;
};

/// What one owner has of a recursive mutex, or waits for: one place in the line, which all its
/// calls and guards share. Strand only.
class ownership final : public entrant,
                        public tenure,
                        public std::enable_shared_from_this<ownership> {
public:
    using caller = std::shared_ptr<recursive_asking>;

    ownership(std::shared_ptr<recursive_lock> of, owner who);

    /// One more call: granted at once under a hold.
    void join(caller who);
    /// Nobody waits for this call's outcome any more.
    void leave(const recursive_asking& who);

    void granted(const std::string& path, std::int64_t czxid) override;
    void given_up() override { refused({}); }
    void failed(error_code why) override { refused(why); }
    void lost(error_code why) override;
    void asked_back() override;

    void release() override;
    void when_gone(unique_function<void(error_code)> gone) override;
    void ended(error_code why) override;

private:
    void begin();
    void enter();
    void refused(error_code why);
    void give_another(const caller& who);
    void forget();

    std::shared_ptr<recursive_lock> lock_;
    owner who_;
    std::shared_ptr<line> line_;
    rules::contender_key key_ = 0; ///< 0: not in the line
    std::vector<caller> callers_;  ///< who wait
    bool only_if_free_ = false;    ///< the attempt under way
    bool granted_ = false;
    bool over_ = false; ///< who comes later begins anew
    bool asked_back_ = false;
    std::string path_;
    std::int64_t czxid_ = 0;
    std::size_t guards_ = 0;                 ///< that have not been given back
    std::vector<std::weak_ptr<hold>> holds_; ///< theirs
};

} // namespace paddock::detail
