#include "native/c_error_line.hpp"

#include <utility>

namespace paddock::native {

void c_error_line::write(const char* line) noexcept {
    if (current_ == nullptr || line == nullptr || !current_->line_.empty()) return;
    try {
        current_->line_ = line;
    } catch (...) {
        // No memory for the line: C code must not see an exception.
    }
}

/// Strips time, process and function off the line: `…:ZOO_ERROR@function@line: text`.
std::string c_error_line::take() {
    auto line = std::exchange(line_, {});
    const auto level = line.find("ZOO_ERROR@");
    const auto text = line.find(": ", level == std::string::npos ? 0 : level);
    if (level != std::string::npos && text != std::string::npos) line.erase(0, text + 2);
    return line;
}

} // namespace paddock::native
