// A lock as people and programs read it.
#pragma once

#include "lock_at.hpp"

#include <chrono>
#include <string>

namespace cli {

/// As a table; with the ages that they have at `now`.
std::string to_table(const lock_view& view, std::chrono::system_clock::time_point now);

/// On one line:
///     {"path": …, "kind": "mutex", "note": …, "contenders": [
///         {"place": 1, "id": "3", "holder": true, "shared": false, "label": …, "host": …,
///          "pid": 4711, "since": "2026-11-28T03:40:12Z", "session": "0x1000…",
///          "revoke_requested": null, "token": …, "path": …, "data": …}],
///      "keys": [{"key": …, "complete": true, "path": …, "contenders": 2}]}
/// What is not known is null. `keys` is for kind `family` and `directory` only. Text that is no
/// UTF-8 has U+FFFD instead. On Redis `left_ms` says until when the key lives.
std::string to_json(const lock_view& view);

} // namespace cli
