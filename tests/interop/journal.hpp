#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The journal that contenders in several processes and languages write, and its check for exclusion
// and order. A line is one of
//
//     in CONTENDER WEIGHT SEQUENCE    has been granted; its node's sequence, or - if unknown
//     out CONTENDER                   is about to release, or to downgrade
//     gave-up CONTENDER               was not granted in time, or was cancelled
//     done PROCESS                    has ended in good order
//     dead PROCESS                    was killed: its holds have ended
//
// CONTENDER is PROCESS.NUMBER. Every line is padded to 64 bytes and appended by one write, so lines
// are in the order in which they were written, and none is torn when its writer is killed: it never
// crosses a page.

namespace paddock::test {

struct entry {
    std::string what{};
    std::string contender{};
    int weight = 0;
    std::optional<int> sequence{};

    std::string process() const { return contender.substr(0, contender.find('.')); }
};

/// Appends to a journal. Throws when it cannot.
class journal_writer {
public:
    explicit journal_writer(const std::filesystem::path& file);
    journal_writer(const journal_writer&) = delete;
    journal_writer& operator=(const journal_writer&) = delete;
    ~journal_writer();

    void in(std::string_view contender, int weight, std::string_view node_path);
    void note(std::string_view what, std::string_view contender);

private:
    void append(std::string line);

    int file_ = -1;
};

/// No file is an empty journal.
std::vector<entry> read_journal(const std::filesystem::path& file);

/// The counts of one process.
struct tally {
    int granted = 0;
    int gave_up = 0;
    bool done = false;
};

struct verdict {
    /// Violations of exclusion or order.
    std::vector<std::string> complaints{};
    std::map<std::string, tally> processes{};
    /// The holders at the end.
    std::map<std::string, int> inside{};
    /// The greatest number of holders at one time.
    std::size_t together = 0;

    int granted() const;
};

/// The weights of all holders may add up to `limit` at most. By sequence number, a hold of the
/// whole limit must come after all holds granted before, and any other hold after all of those: the
/// order of a mutex, and of readers and writers. But a process whose name begins with `sticky` may
/// pass a hold on to its next contender, with the same number.
verdict judge(const std::vector<entry>& entries, int limit);

} // namespace paddock::test
