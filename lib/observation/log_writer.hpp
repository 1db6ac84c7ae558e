#pragma once

#include <paddock/log.hpp>
#include <paddock/observer.hpp>

#include <utility>

namespace paddock::detail {

/// The log, as an observer: the user's function gets each line, or std::clog if there is none, or
/// it throws.
class log_writer final : public observer {
public:
    explicit log_writer(log_function log) : log_(std::move(log)) {}
    void on_trouble(const log_record& line) override;

private:
    log_function log_;
};

} // namespace paddock::detail
