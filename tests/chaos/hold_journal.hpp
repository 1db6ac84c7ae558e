#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/fencing_token.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The records of holds in several processes. Each process has a file of its own, with one line per
// hold, which is overwritten while the hold lasts: whenever its process stops, or is killed, the
// line has its last knowledge.

namespace paddock::test {

enum class share { exclusive, shared, permits };
enum class fate { held, released, lost };

/// All times are those of the boot clock, in nanoseconds, so that those of all processes compare.
struct hold_record {
    std::string lock{};
    std::string contender{};
    share kind = share::exclusive;
    int weight = 1;            ///< permits
    std::int64_t from = 0;     ///< the guard existed, and was valid
    std::int64_t until = 0;    ///< the last moment before valid() said so
    std::int64_t promise = 0;  ///< valid_until() at that moment
    std::int64_t released = 0; ///< just before it was released; 0: it was not
    fencing_token token{};
    fate end = fate::held;
};

class hold_journal {
public:
    explicit hold_journal(const std::filesystem::path& file);
    hold_journal(const hold_journal&) = delete;
    hold_journal& operator=(const hold_journal&) = delete;
    ~hold_journal();

    /// Returns the position of the line.
    std::size_t add(const hold_record& hold);
    void write_over(std::size_t place, const hold_record& hold);

private:
    int file_ = -1;
    std::size_t queues_ = 0;
};

/// No file is an empty journal. `newest`: at most so many from its end.
std::vector<hold_record> read_holds(const std::filesystem::path& file,
                                    std::size_t newest = static_cast<std::size_t>(-1));
/// Of all journals (`*.holds`) of a folder.
std::vector<hold_record> read_all_holds(const std::filesystem::path& folder);

} // namespace paddock::test
