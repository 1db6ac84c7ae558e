#include "observation/log_writer.hpp"

#include <iostream>
#include <string>
#include <syncstream>

namespace paddock::detail {

namespace {

/// Writes the line in one piece, whatever other threads write, and flushes it.
void write_line(const log_record& line) noexcept {
    try {
        std::osyncstream(std::clog)
            << "paddock: " + std::string(line.text) + " [" + std::string(name_of(line.code)) + "]\n"
            << std::flush;
    } catch (...) {
        // There is no other place to report it.
    }
}

} // namespace

void log_writer::on_trouble(const log_record& line) {
    if (!log_) return write_line(line);
    try {
        log_(line);
    } catch (...) {
        write_line(line);
    }
}

} // namespace paddock::detail
