// What the name of a node says about the lock to which it belongs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cli {

enum class lock_kind {
    none, ///< no contender shows it
    mutex,
    shared_mutex,
    semaphore,
    election,
    simple_mutex,
    family,    ///< a directory whose children are locks
    redis,     ///< a key
    directory, ///< of something else
};
std::string name_of(lock_kind kind);

/// The name of a node that the ensemble has numbered for a contender.
struct contender_name {
    lock_kind kind{};
    std::string lock{"lock"}; ///< of a mutex: mutex_options::name
    bool has_id = false;      ///< no other program makes names of this form
};
std::optional<contender_name> read_contender_name(std::string_view node);

} // namespace cli
