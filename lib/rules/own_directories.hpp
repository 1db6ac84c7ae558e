#pragma once

#include <paddock/boot_clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace paddock::rules {

/// The data of a directory that a lock made together with its node, and the version that it keeps
/// as long as nobody writes into it.
inline constexpr std::string_view own_directory_data = "paddock: the directory of a lock by key";
inline constexpr std::int32_t own_directory_version = 0;

/// Whether this client has made the directory that it leaves. Perhaps: it may also be another one
/// in its place.
enum class made_here { no, perhaps, yes };

/// What one client knows of the directories of keyed locks. Such a directory is made in the
/// transaction that creates its first node, and deleted in the one that deletes its last. While
/// other clients use it, too, neither is done: their requests would fail again and again. If it is
/// left behind, the client visits it later, and deletes it if it is empty and was made so. When it
/// closes it has no time to look, so it deletes only directories that it knows to be made so.
class own_directories {
public:
    using time = boot_clock::time_point;
    /// How long a directory is left alone after others were seen there. With it, Curator's clients
    /// got all of 2000 locks beside ours; 440 when every release deleted the directory (tried).
    static constexpr std::chrono::seconds quiet{10};
    /// A visit finds it in use: the pause doubles up to this. A trade between reads of directories
    /// in use and the time for which an empty one stays.
    static constexpr std::chrono::seconds longest_pause{40};
    /// Places that are known to refuse; beyond it the list begins anew, at a refused request each.
    static constexpr std::size_t most_refusals = 1000;

    /// Whether it may be made, or deleted, together with a node.
    bool free(std::string_view directory) const;
    /// Other clients use the directory.
    void shared(std::string_view directory, time now);
    /// The ensemble does not allow this client to create directories at its place.
    void refused(std::string_view directory);
    /// Who has made a directory. Asked: its data are being read.
    enum class origin { unknown, asked, locks, others };
    /// Whether its data should be read now, because its origin is unknown.
    bool ask(std::string_view directory);
    /// What its data say; unknown: there is no answer, or no directory.
    void answered(std::string_view directory, origin of);
    bool made_by_locks(std::string_view directory) const;
    /// The last contender of this client has left, and the directory remains. If this client has
    /// perhaps made it, the first visit is now, because the client may close soon; a contender that
    /// comes and leaves before does not put it off.
    void left(std::string_view directory, made_here made, time now);

    /// Whether others were seen there lately, so that it must not be deleted yet.
    bool lately_used(std::string_view directory, time now) const;
    enum class found { nothing, in_use, lately_used, foreign, no_answer };
    /// The directories to visit now, so many at most.
    std::vector<std::string> take_due(time now, std::size_t most);
    std::optional<time> next_visit() const;
    void visited(std::string_view directory, found what, time now);

    /// Access control lists may differ for the next session.
    void session_ended() { refusing_.clear(); }
    /// The directories that locks have made; forgets everything.
    std::vector<std::string> close();
    std::size_t size() const noexcept { return known_.size(); }

private:
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct directory {
        std::optional<time> visit{}; ///< empty: a contender is there, or a visit is under way
        boot_clock::duration pause = quiet;
        time in_use{}; ///< when others, or nodes, were last seen there
        origin of = origin::unknown;
    };
    using directories = std::unordered_map<std::string, directory, hash, std::equal_to<>>;

    void visit_at(directories::iterator where, time when);

    directories known_;
    std::set<std::pair<time, std::string>> visits_;
    std::set<std::string, std::less<>> refusing_; ///< parents
};

} // namespace paddock::rules
