// What paddock and the keeper of its command tell each other.
#pragma once

#include <paddock/boot_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cli {

using paddock::boot_clock;

/// The socket keeps messages apart.
struct message {
    enum class kind : std::int64_t {
        // To the keeper:
        run,       ///< start the command; `text` has variables of its environment, NAME=VALUE\0…;
                   ///< `value` are the ns between SIGTERM and SIGKILL
        lease,     ///< without another such message everything gets SIGTERM in time, and SIGKILL
                   ///< at `value`, in ns of the boot clock
        signal,    ///< pass the signal `value` on to the command
        key,       ///< as signal, which a terminal has sent to the group of paddock
        terminate, ///< SIGTERM to all processes; SIGKILL at `value`, in ns of the boot clock
        lost,      ///< as terminate, and the hold is lost
        // Of the keeper:
        cannot_run, ///< `value` is an errno
        exited,     ///< the command has, and others of its processes are left
        ended,      ///< all of them, and `value` is that of the command
        lapsed,     ///< no lease came in time, so everything is being ended
    };
    kind what{};
    std::int64_t value = 0;
    std::string text{};
};

/// A message with a longer text may not arrive.
inline constexpr std::size_t longest_text = 100'000;

inline constexpr auto never = boot_clock::time_point::max();

std::int64_t to_number(boot_clock::time_point time);

/// Both return false, and nothing, when the other side has gone; the first one also when it has
/// received nothing for very long.
bool send(int socket, const message& what);
std::optional<message> receive(int socket);
/// Whether the other side has received all that was sent.
bool all_is_read(int socket);

} // namespace cli
