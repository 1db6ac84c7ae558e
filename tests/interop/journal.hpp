#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What contenders in several processes and languages write into one file, and who may judge from it
// whether they kept out of each other's way. A line is one of
//
//     in WHO WEIGHT SEQUENCE    has been granted; the sequence of its node, or - if it cannot know
//     out WHO                   is about to give it back, or to take less of it
//     gave-up WHO               was not granted in time, or was cancelled
//     done PROCESS              has ended in good order
//     dead PROCESS              was killed: whatever it held is over
//
// WHO is PROCESS.NUMBER. Every line is padded to 64 bytes and appended by one write, so lines are
// in the order in which they were written, and none is torn when its writer is killed: it never
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

/// What one process has done.
struct tally {
    int granted = 0;
    int gave_up = 0;
    bool done = false;
};

struct verdict {
    /// What must not have happened.
    std::vector<std::string> complaints{};
    std::map<std::string, tally> processes{};
    /// Who is inside at the end.
    std::map<std::string, int> inside{};
    /// How many were inside at one time, at most.
    std::size_t together = 0;

    int granted() const;
};

/// At most `limit` may be inside, weights added up. Who takes all of it must come after everybody
/// that was granted before, and others after everybody that took all of it, by sequence numbers:
/// the order of a mutex, and of readers and writers.
verdict judge(const std::vector<entry>& entries, int limit);

} // namespace paddock::test
