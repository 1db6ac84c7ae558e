#include <paddock/version.hpp>

#define PADDOCK_TEXT_OF(number) #number
#define PADDOCK_TEXT(major, minor, patch)                                                          \
    PADDOCK_TEXT_OF(major) "." PADDOCK_TEXT_OF(minor) "." PADDOCK_TEXT_OF(patch)

namespace paddock {

version_info version() noexcept {
    return {PADDOCK_VERSION,
            PADDOCK_TEXT(PADDOCK_VERSION_MAJOR, PADDOCK_VERSION_MINOR, PADDOCK_VERSION_PATCH)};
}

} // namespace paddock
