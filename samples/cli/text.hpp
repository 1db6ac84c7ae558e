// What other programs have written, made fit for a terminal, a table and JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// With U+FFFD for each byte that is no part of valid UTF-8.
std::string valid_utf8(std::string_view text);
/// What another program has written, without what a terminal would obey: with `?` for control
/// characters, for those that turn the direction of text, and for what is no UTF-8.
std::string printable(std::string_view text);
/// The number of characters, not bytes.
std::size_t width(std::string_view text);
/// Rows of a table, their columns side by side.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// 2026-11-28T03:40:12Z; empty for the clock's epoch, which stands for a time that is not known.
std::string iso_time(std::chrono::system_clock::time_point time);
/// 0x100000a3b5d0001, as ZooKeeper's own tools have it.
std::string hex(std::int64_t number);

} // namespace cli
