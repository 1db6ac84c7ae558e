// A shared object that uses paddock as well as the program that loads it; see
// installed_program.cpp.

#include <paddock/error.hpp>

extern "C" [[gnu::visibility("default")]] void fail() {
    throw paddock::system_error(paddock::errc::lock_lost);
}
