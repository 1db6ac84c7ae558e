#pragma once

#include <paddock/detail/cpp20.hpp>

#include <string_view>

/// The version of these headers, which a program was compiled with.
#define PADDOCK_VERSION_MAJOR 0
#define PADDOCK_VERSION_MINOR 2
#define PADDOCK_VERSION_PATCH 0

/// The same as one number: `#if PADDOCK_VERSION >= 300` is true from 0.3.0 on.
#define PADDOCK_VERSION                                                                            \
    (PADDOCK_VERSION_MAJOR * 10000 + PADDOCK_VERSION_MINOR * 100 + PADDOCK_VERSION_PATCH)

namespace paddock {

struct version_info {
    /// Counts as `PADDOCK_VERSION` does.
    int number;
    /// "major.minor.patch". It lives as long as the library is loaded.
    std::string_view text;
};

/// The version of the library that the process has loaded, which is another one than the headers'
/// when the library was replaced after the program had been compiled.
///
/// The binary interface: libpaddock.so has a soname that says which programs it serves. Until 1.0
/// that is the minor version (`libpaddock.so.0.2`): every minor version may change the interface,
/// and programs are compiled anew; several such libraries can be installed beside each other. A
/// patch version only mends: it adds, removes and changes nothing that a program can see at compile
/// time, the members of the option structs included, so a program runs with every patch version of
/// its minor version. From 1.0 on the soname is the major version, and a minor version may add:
/// a program then needs the minor version that it was compiled with, or a later one.
///
/// Boost.Asio's classes are in the interface, and are different in each Boost: the program and the
/// library need the same version of Boost (else the linker, or the loader, misses
/// `libpaddock_must_be_built_with_boost<…>`), and the same standard library. g++ and clang may be
/// mixed.
///
/// Thread safety: any thread may call it at any time.
[[gnu::visibility("default")]] version_info version() noexcept;

} // namespace paddock
