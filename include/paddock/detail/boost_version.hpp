#pragma once

#include <paddock/detail/cpp20.hpp>

#include <boost/version.hpp>

namespace paddock::detail {

/// Asio's classes are in the interface, and differ from Boost to Boost. The library defines this
/// function for the version that it was compiled with, and no other: where the linker or the loader
/// misses it, libpaddock or the program must be compiled anew, with the same Boost.
template <int Version>
[[gnu::visibility("default")]] void libpaddock_must_be_built_with_boost() noexcept;

namespace {

/// Every file of a program asks for it, so that none is linked that has seen another version.
[[gnu::used, gnu::retain]] void (*const same_boost)() noexcept =
    &libpaddock_must_be_built_with_boost<BOOST_VERSION>;

} // namespace

} // namespace paddock::detail
