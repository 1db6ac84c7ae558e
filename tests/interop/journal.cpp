#include "journal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <numeric>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace paddock::test {

namespace {

constexpr std::size_t line_length = 64;
constexpr std::size_t sequence_digits = 10;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// Goes through a journal, line by line.
struct judgement {
    const int limit;
    verdict result{};
    int highest = -1;      ///< of all sequences that were granted
    int highest_full = -1; ///< of those that took all there is
    std::string latest{};  ///< the process that was granted last

    void complain(const entry& about, const std::string& what) {
        std::string text = about.contender + ' ' + what;
        for (const auto& [contender, weight] : result.inside)
            text += ", inside: " + contender + " (" + std::to_string(weight) + ')';
        result.complaints.push_back(std::move(text));
    }

    void entered(const entry& e) {
        ++result.processes[e.process()].granted;
        const auto total =
            std::accumulate(result.inside.begin(), result.inside.end(), e.weight,
                            [](int sum, const auto& holder) { return sum + holder.second; });
        if (total > limit) complain(e, "entered a full room");
        if (!result.inside.emplace(e.contender, e.weight).second) complain(e, "entered twice");
        result.together = std::max(result.together, result.inside.size());
        if (!e.sequence) return;
        const bool full = e.weight == limit;
        // A writer that downgrades keeps its number.
        const bool passed_on = e.process() == latest && e.process().starts_with("sticky");
        const int oldest = passed_on ? highest : highest + 1;
        latest = e.process();
        if (full ? *e.sequence < oldest : *e.sequence < highest_full)
            complain(e, "was granted with the old number " + std::to_string(*e.sequence));
        highest = std::max(highest, *e.sequence);
        if (full) highest_full = std::max(highest_full, *e.sequence);
    }

    void read(const entry& e) {
        auto& process = result.processes[e.process()];
        if (e.what == "in") entered(e);
        if (e.what == "out" && result.inside.erase(e.contender) == 0) complain(e, "left twice");
        if (e.what == "gave-up") ++process.gave_up;
        if (e.what == "done") process.done = true;
        if (e.what == "dead")
            std::erase_if(result.inside, [&](const auto& holder) {
                return holder.first.starts_with(e.contender + '.');
            });
    }
};

} // namespace

journal_writer::journal_writer(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0) fail("open the journal");
}

journal_writer::~journal_writer() { ::close(file_); }

void journal_writer::in(std::string_view contender, int weight, std::string_view node_path) {
    const auto digits = node_path.substr(node_path.size() - sequence_digits);
    append("in " + std::string(contender) + ' ' + std::to_string(weight) + ' ' +
           std::string(digits));
}

void journal_writer::note(std::string_view what, std::string_view contender) {
    append(std::string(what) + ' ' + std::string(contender));
}

void journal_writer::append(std::string line) {
    line.resize(line_length - 1, ' ');
    line += '\n';
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        fail("write into the journal");
}

std::vector<entry> read_journal(const std::filesystem::path& file) {
    std::vector<entry> entries;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (stream.eof()) break; // the last line is being written just now
        entry e;
        std::string sequence;
        std::istringstream words(line);
        words >> e.what >> e.contender >> e.weight >> sequence;
        if (!sequence.empty() && sequence != "-") e.sequence = std::stoi(sequence);
        entries.push_back(std::move(e));
    }
    return entries;
}

int verdict::granted() const {
    return std::accumulate(processes.begin(), processes.end(), 0,
                           [](int sum, const auto& p) { return sum + p.second.granted; });
}

verdict judge(const std::vector<entry>& entries, int limit) {
    judgement j{limit};
    for (const auto& e : entries)
        j.read(e);
    return std::move(j.result);
}

} // namespace paddock::test
