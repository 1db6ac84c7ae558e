// Standard error, for which nothing waits: it may be a pipe that nobody reads, or a terminal that
// was stopped, and the lock must be kept, and released, all the same.
#pragma once

namespace cli {

/// From now on a thread writes what std::cerr gets, a line or what is flushed at once. It begins
/// with the first line; a process that forks does that before. What nobody reads is dropped.
void write_errors_in_background();

/// Waits until everything is written, but not for long. To be called before the process ends.
void finish_errors();

} // namespace cli
