#include <paddock/detail/boost_version.hpp>

namespace paddock::detail {

template <int Version>
void libpaddock_must_be_built_with_boost() noexcept {}

template void libpaddock_must_be_built_with_boost<BOOST_VERSION>() noexcept;

} // namespace paddock::detail
