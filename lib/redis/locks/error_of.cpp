#include "redis/locks/error_of.hpp"

namespace paddock::redis::detail {

error_code error_of(rules::obstacle what) noexcept {
    switch (what) {
    case rules::obstacle::mismatch:
        return errc::options_mismatch;
    case rules::obstacle::denied:
        return errc::auth_failed;
    case rules::obstacle::unsuitable:
        return errc::unsuitable_server;
    default:
        return {};
    }
}

error_code error_of(const rules::answer& said) noexcept {
    using kind = rules::answer::kind;
    switch (said.what) {
    case kind::denied:
        return errc::auth_failed;
    case kind::mismatch:
        return errc::options_mismatch;
    case kind::replica:
    case kind::spoilt:
    case kind::refused:
    case kind::unknown_script:
        return errc::unsuitable_server;
    default:
        return {};
    }
}

} // namespace paddock::redis::detail
