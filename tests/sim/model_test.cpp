// The model behaves like the original: the same random scripts get the same answers from the
// simulated C client and server as from the real ones.

#include "sim/model_script.hpp"
#include "support/zk_server.hpp"

#include <doctest/doctest.h>

#include <cstddef>

using namespace paddock::test;
using namespace paddock::test::sim;

TEST_CASE("the simulated server and C client answer as the real ones do") {
    constexpr std::uint64_t scripts = 60;
    for (std::uint64_t seed = 1; seed <= scripts; ++seed) {
        const auto root = "/script-" + std::to_string(seed);
        real_place real(shared_server().address());
        simulated_place simulated(seed);
        const auto expected = script(real, seed, root).run();
        const auto got = script(simulated, seed, root).run();
        REQUIRE(expected.size() > 10);
        std::size_t same = 0;
        while (same < expected.size() && same < got.size() && expected[same] == got[same])
            ++same;
        if (same == expected.size() && same == got.size()) continue;
        std::string before;
        for (std::size_t n = 0; n < same; ++n)
            before += "  " + expected[n] + '\n';
        FAIL("script " << seed << ":\n"
                       << before << "real:  " << (same < expected.size() ? expected[same] : "-")
                       << "\nmodel: " << (same < got.size() ? got[same] : "-"));
    }
}
