#pragma once

#include "session/core.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace paddock::detail {

/// Looks, once in each session, whether the client's root exists, and creates it with
/// client_options::create_root. It holds up no request: where the root is missing, so is every
/// directory below it, and make_directory() asks found_missing(). Strand only.
class root_check final : public session_listener {
public:
    explicit root_check(core& client) : core_(client) {} ///< for core::use()

    /// Calls back once the root is known to exist, or with the error. A root that was missing is
    /// looked for again.
    void when_known(unique_function<void(error_code)> done);
    /// The ensemble has said so in answer to another request.
    void found_missing();

    void on_connected() override;
    void on_expired() override { at_ = stage::unknown; }
    void on_closed(error_code why) override {
        pause_.reset();
        finish(why);
    }

private:
    enum class stage : std::uint8_t { unknown, asked, exists, missing };

    void ask();
    void ask_later();
    void looked(std::uint64_t epoch, int code);
    void create();
    void created(std::uint64_t epoch, int code);
    bool lost(std::uint64_t epoch, int code);
    void finish(error_code result);

    core& core_;
    stage at_ = stage::unknown;
    std::uint64_t epoch_ = 0; ///< that it asks in
    std::unique_ptr<timer> pause_;
    std::vector<unique_function<void(error_code)>> waiters_;
};

} // namespace paddock::detail
