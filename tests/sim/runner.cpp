#include "sim/runner.hpp"

#include "sim/history.hpp"

#include <chrono>
#include <exception>

namespace paddock::test::sim {

wishes& asked() {
    static wishes all;
    return all;
}

std::string run_history(std::uint64_t seed, std::string* story) {
    std::function<void(const std::string&)> note;
    if (story) note = [story](const std::string& what) { *story += what + '\n'; };
    history one(seed, std::move(note));
    try {
        one.run();
    } catch (const std::exception& fault) {
        return fault.what();
    }
    return {};
}

finding search(std::uint64_t first, std::uint64_t count) {
    const auto begin = std::chrono::steady_clock::now();
    finding out;
    while (out.fault.empty() && out.histories < count) {
        out.seed = first + out.histories++;
        out.fault = run_history(out.seed);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

} // namespace paddock::test::sim
