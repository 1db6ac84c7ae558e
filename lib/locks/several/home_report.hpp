#pragma once

#include "client/client_base.hpp"
#include "support/function.hpp"

#include <paddock/error.hpp>

#include <memory>
#include <utility>

namespace paddock::detail {

/// A handler for an operation of another client: reports the result on the strand of `home`. If it
/// is destroyed without a call, because the execution context of the other client has ended, it
/// reports errc::closed.
template <typename... Result>
class home_report {
public:
    home_report(std::shared_ptr<client_base> home,
                unique_function<void(error_code, Result...)> report)
        : home_(std::move(home)), report_(std::move(report)) {}
    home_report(home_report&& other) noexcept
        : home_(std::move(other.home_)), report_(std::move(other.report_)) {}
    home_report& operator=(home_report&&) = delete;
    ~home_report() {
        if (report_) send(errc::closed, Result()...);
    }

    void operator()(error_code why, Result... result) { send(why, std::move(result)...); }

private:
    void send(error_code why, Result... result) {
        home_->post([report = std::move(report_), why, ... all = std::move(result)]() mutable {
            report(why, std::move(all)...);
        });
    }

    std::shared_ptr<client_base> home_;
    unique_function<void(error_code, Result...)> report_; ///< empty once called
};

} // namespace paddock::detail
