#include "native/c_library.hpp"

#include "support/printable.hpp"

#include <paddock/error.hpp>

#include <zookeeper/zookeeper.h>

#include <dlfcn.h>
#include <string>

/// Only libzookeeper_mt has the synchronous calls, in one object file with all others.
extern "C" [[gnu::weak]] int zoo_create(zhandle_t*, const char*, const char*, int,
                                        const ACL_vector*, int, char*, int);

/// Only this library's own copy of the C client has this function, under this name, and asks
/// native/c_sockets for its sockets.
extern "C" [[gnu::weak]] void paddock_c_set_context();

namespace paddock::native {

namespace {

/// The program or shared object that has this function.
Dl_info home_of(void* function) noexcept {
    Dl_info found{};
    ::dladdr(function, &found);
    return found;
}

} // namespace

void require_single_threaded_c_client() {
    auto* const threaded_only_call = &zoo_create;
    if (threaded_only_call == nullptr) return;
    const Dl_info used = home_of(reinterpret_cast<void*>(&zookeeper_interest));
    const Dl_info threaded = home_of(reinterpret_cast<void*>(threaded_only_call));
    if (used.dli_fbase != threaded.dli_fbase) return;
    throw system_error(
        errc::wrong_c_client,
        std::string("paddock needs libzookeeper_st, but its calls go to the functions of "
                    "libzookeeper_mt in ") +
            printable(used.dli_fname != nullptr ? used.dli_fname : "this program") +
            ": link libpaddock.so, or name libzookeeper_st before it, and do not preload it");
}

bool c_client_can_be_encrypted() noexcept {
    auto* const only_in_our_copy = &paddock_c_set_context;
    return only_in_our_copy != nullptr;
}

} // namespace paddock::native
