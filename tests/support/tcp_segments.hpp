#pragma once

namespace paddock::test {

/// Segments with data that the kernel has sent on a connection; throws if it does not say.
unsigned data_segments_out(int socket);

} // namespace paddock::test
