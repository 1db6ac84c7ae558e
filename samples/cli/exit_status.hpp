// With what paddock itself exits; otherwise as its command has ended. The numbers are those of
// timeout(1), env(1) and the shell.
#pragma once

namespace cli::exit_status {

inline constexpr int refused = 1; ///< the answer is no, or the operator's (ls, kick, doctor)
inline constexpr int usage = 2;   ///< an option or argument is wrong
inline constexpr int lost = 123;  ///< the hold was lost, or too long, and the command was ended
inline constexpr int not_granted = 124; ///< not within the time limit
inline constexpr int failed = 125;      ///< no servers, or they refuse
inline constexpr int cannot_run = 126;  ///< the command is there, and cannot be run
inline constexpr int not_found = 127;   ///< there is no such command

} // namespace cli::exit_status
