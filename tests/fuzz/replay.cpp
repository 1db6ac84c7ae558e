// Runs a fuzz target without libFuzzer: over its corpus, and over inputs that are made of the
// corpus by chance. The seed is always the same; PADDOCK_FUZZ_RUNS says how many.

#include "fuzz/target.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>
#include <vector>

namespace {

using bytes = std::vector<std::uint8_t>;

bytes now; // what the target was called with last

void tell_input(int) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text = "the input was (hex): ";
    for (const auto b : now)
        text += {digits[b >> 4], digits[b & 15]};
    text += '\n';
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 1);
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

void run(bytes input) {
    now = std::move(input);
    LLVMFuzzerTestOneInput(now.data(), now.size());
}

bytes read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// What other programs' names and numbers are made of.
constexpr std::string_view words[] = {"_c_",
                                      "lock-",
                                      "__lock__",
                                      "__READ__",
                                      "__WRIT__",
                                      "latch-",
                                      "lease-",
                                      "-",
                                      "-marker",
                                      "\n",
                                      "0000000000",
                                      "0000000001",
                                      "2147483647",
                                      "-2147483648",
                                      "4294967296",
                                      "-000000001",
                                      "deadbeef-0000-4000-8000-000000000000",
                                      "10000000-0000-0001-0000-000000000001",
                                      "0123456789abcdef0123456789abcdef",
                                      "\xff\xfe",
                                      "{\"host\":\"",
                                      "\"pid\":",
                                      "__REVOKE__"};

class mutator {
public:
    explicit mutator(std::vector<bytes> corpus) : corpus_(std::move(corpus)) {}

    bytes next() {
        auto input = any();
        for (auto changes = below(8); changes > 0; --changes)
            change(input);
        if (input.size() > 4096) input.resize(4096);
        return input;
    }

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }
    const bytes& any() { return corpus_[below(corpus_.size())]; }

    void change(bytes& input) {
        const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
        const auto place = input.begin() + at;
        switch (below(5)) {
        case 0:
            if (place != input.end()) *place = static_cast<std::uint8_t>(random_());
            return;
        case 1:
            input.insert(place, static_cast<std::uint8_t>(random_()));
            return;
        case 2:
            input.erase(place, place + static_cast<std::ptrdiff_t>(below(
                                           static_cast<std::size_t>(input.end() - place) + 1)));
            return;
        case 3: {
            const auto word = words[below(std::size(words))];
            input.insert(place, word.begin(), word.end());
            return;
        }
        default: {
            const auto& other = any();
            input.insert(place, other.begin(),
                         other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)));
        }
        }
    }

    std::vector<bytes> corpus_;
    std::mt19937_64 random_{42};
};

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGABRT, tell_input);
    std::signal(SIGSEGV, tell_input);
    std::vector<bytes> corpus;
    for (int n = 1; n < argc; ++n)
        for (const auto& file : std::filesystem::directory_iterator(argv[n]))
            corpus.push_back(read(file));
    if (corpus.empty()) {
        std::fprintf(stderr, "usage: %s corpus…\n", argv[0]);
        return 2;
    }
    for (const auto& input : corpus)
        run(input);
    const char* const wanted = std::getenv("PADDOCK_FUZZ_RUNS");
    const auto runs = wanted ? std::stoul(wanted) : 200'000UL;
    mutator chance(corpus);
    for (auto n = runs; n > 0; --n)
        run(chance.next());
    std::printf("%zu inputs of the corpus and %lu made of them\n", corpus.size(), runs);
}
