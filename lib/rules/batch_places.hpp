#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::rules {

/// What is known of directories in which nodes are created and deleted: whether a multi of several
/// nodes, which is executed as a whole or not at all, should have one of them there.
class batch_places {
public:
    /// Directories that are known; beyond it the table begins anew, and a few batches are refused
    /// or stay small. A trade against the memory, some 100 bytes and a path for each.
    static constexpr std::size_t limit = 10'000;

    /// A node was created in the directory.
    void created(std::string_view directory);
    /// A create or a delete in the directory was refused with this code.
    void refused(std::string_view directory, int code);

    bool suits_create(std::string_view directory) const;
    bool suits_remove(std::string_view directory) const;

    void clear() { places_.clear(); }
    std::size_t size() const noexcept { return places_.size(); }

private:
    enum class place { exists, unsuitable };
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    void remember(std::string_view directory, place what);

    std::unordered_map<std::string, place, hash, std::equal_to<>> places_;
};

/// How many nodes a batch should have whose steps the ensemble often refuses: one refusal spoils
/// the whole batch, so the more frequent they are, the smaller it should be.
class batch_size {
public:
    explicit batch_size(std::size_t most) : most_(most), now_(most) {}

    std::size_t now() const noexcept { return now_; }
    // A refusal halves it, about three successes double it.
    void executed() noexcept { now_ = std::min(most_, now_ + now_ / 4 + 1); }
    void refused() noexcept { now_ = std::max<std::size_t>(1, now_ / 2); }

private:
    std::size_t most_;
    std::size_t now_;
};

} // namespace paddock::rules
