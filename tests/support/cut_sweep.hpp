#pragma once

#include "co_test.hpp"
#include "proxy.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace paddock::test {

/// Cuts a connection at every packet of one piece of work: the work is done again and again, each
/// time with a cut one packet later, until there was none. First for packets to the server, then
/// for packets from it. The C client connects again after a 60th of its session timeout: let that
/// be short.
///
///     cut_sweep sweep(test, proxy, cut_sweep::each_way);
///     while (sweep.next()) {
///         INFO(sweep.where());
///         ... // the work
///     }
class cut_sweep {
public:
    enum kind {
        each_way, ///< before every packet, in it, and behind it
        in_turns, ///< one of these for each packet
    };

    /// In a test's brief form packets are cut in turns, and only some of them.
    cut_sweep(co_context& test, fault_proxy& proxy, kind how)
        : test_(test)
        , proxy_(proxy)
        , series_(test.full_or_brief(how == each_way ? places.size() : 1, 1))
        , stride_(test.full_or_brief(1, how == each_way ? 2 : 10)) {}

    /// Plans the next cut, if there is one left.
    bool next() {
        if (begun_) {
            const auto next_series = (round_ / most + 1) * most;
            round_ = proxy_.cuts() > cuts_ ? round_ + stride_ : next_series;
        }
        begun_ = true;
        proxy_.forget_plans();
        if (!test_.begin_round(round_, 2 * series_ * most)) return false;
        cuts_ = proxy_.cuts();
        proxy_.cut_at(way(), packet(), bytes(), packet() % 2 == 0 ? cut::fin : cut::rst);
        return true;
    }

    std::string where() const {
        return "packet " + std::to_string(packet()) + (way() == direction::up ? " up" : " down") +
               ", after " + std::to_string(bytes()) + " bytes";
    }

private:
    static constexpr std::size_t most = 100; ///< packets in one piece of work
    static constexpr std::array<std::ptrdiff_t, 3> places{0, 9, -1}; ///< -1: behind it

    direction way() const { return round_ / most < series_ ? direction::up : direction::down; }
    std::size_t packet() const { return round_ % most; }
    std::ptrdiff_t bytes() const {
        return places[series_ == 1 ? packet() % places.size() : round_ / most % series_];
    }

    co_context& test_;
    fault_proxy& proxy_;
    std::size_t series_; ///< for each direction
    std::size_t stride_; ///< from one packet to the next that is cut
    std::size_t round_ = 0;
    std::size_t cuts_ = 0;
    bool begun_ = false;
};

} // namespace paddock::test
