#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

// Helpers for the fuzz targets. Each of them is one function that libFuzzer calls with bytes of its
// choice (clang: -Dfuzz=true); with any other compiler replay.cpp calls it with those of the
// corpus, and with what it makes of them.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace paddock::test {

/// Ends the program if it does not hold; the runner prints the input.
inline void expect(bool holds, const char* what, std::string_view about = {}) {
    if (holds) return;
    std::fprintf(stderr, "%s: '%s'\n", what, std::string(about).c_str());
    std::abort();
}

/// Takes values from the input, zeros when it is used up.
class source {
public:
    source(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    bool empty() const noexcept { return rest_.empty(); }
    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto first = rest_.front();
        rest_ = rest_.subspan(1);
        return first;
    }
    std::uint32_t number() {
        std::uint32_t value = 0;
        for (int n = 0; n < 4; ++n)
            value = value << 8 | byte();
        return value;
    }
    /// Up to the next line feed.
    std::string line() {
        const auto end = std::find(rest_.begin(), rest_.end(), '\n');
        std::string text(rest_.begin(), end);
        rest_ = rest_.subspan(std::min(text.size() + 1, rest_.size()));
        return text;
    }

private:
    std::span<const std::uint8_t> rest_;
};

} // namespace paddock::test
