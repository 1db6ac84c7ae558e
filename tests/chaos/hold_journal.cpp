#include "hold_journal.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace paddock::test {

namespace {

// A line never crosses a page, so none is torn when its writer is killed.
constexpr std::size_t line_length = 256;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::string line_of(const hold_record& h) {
    std::ostringstream text;
    text << h.lock << ' ' << h.contender << ' ' << static_cast<int>(h.kind) << ' ' << h.weight
         << ' ' << h.from << ' ' << h.until << ' ' << h.promise << ' ' << h.released << ' '
         << h.token << ' ' << static_cast<int>(h.end);
    auto line = text.str();
    if (line.size() >= line_length) throw std::runtime_error("too long for the journal: " + line);
    line.resize(line_length - 1, ' ');
    return line + '\n';
}

} // namespace

hold_journal::hold_journal(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (file_ < 0) fail("open the journal");
}

hold_journal::~hold_journal() { ::close(file_); }

std::size_t hold_journal::add(const hold_record& hold) {
    write_over(queues_, hold);
    return queues_++;
}

void hold_journal::write_over(std::size_t place, const hold_record& hold) {
    const auto line = line_of(hold);
    const auto at = static_cast<off_t>(place * line_length);
    if (::pwrite(file_, line.data(), line.size(), at) != static_cast<ssize_t>(line.size()))
        fail("write into the journal");
}

std::vector<hold_record> read_holds(const std::filesystem::path& file, std::size_t newest) {
    std::vector<hold_record> all;
    std::ifstream stream(file);
    std::error_code none;
    const auto lines = std::filesystem::file_size(file, none) / line_length;
    if (!none && lines > newest)
        stream.seekg(static_cast<std::streamoff>((lines - newest) * line_length));
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words(line);
        hold_record h;
        int kind = 0, end = 0;
        std::string token;
        words >> h.lock >> h.contender >> kind >> h.weight >> h.from >> h.until >> h.promise >>
            h.released >> token >> end;
        const auto parsed = parse_fencing_token(token);
        if (!words || !parsed) throw std::runtime_error("not a line of a journal: " + line);
        h.token = *parsed;
        h.kind = static_cast<share>(kind);
        h.end = static_cast<fate>(end);
        all.push_back(std::move(h));
    }
    return all;
}

std::vector<hold_record> read_all_holds(const std::filesystem::path& folder) {
    std::vector<hold_record> all;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        if (each.path().extension() != ".holds") continue;
        auto some = read_holds(each.path());
        all.insert(all.end(), std::make_move_iterator(some.begin()),
                   std::make_move_iterator(some.end()));
    }
    return all;
}

} // namespace paddock::test
