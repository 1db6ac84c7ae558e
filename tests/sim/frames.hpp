#pragma once

#include "sim/dice.hpp"
#include "sim/messages.hpp"
#include "support/function.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::test::sim {

class socket;

/// One direction of a connection that carries bytes: a frame has come when all of its bytes have.
/// Each byte has its place, so that one that is lost, doubled or misplaced is noticed.
template <typename What>
class frames {
public:
    /// Returns the bytes to send for it: few, as a rule.
    std::string encode(What what, dice& chance) {
        const int most = chance.one_in(64) ? 40'000 : chance.one_in(8) ? 3'000 : 60;
        const auto size = static_cast<std::size_t>(1 + chance.below(most));
        std::string bytes;
        for (std::size_t n = 0; n < size; ++n)
            bytes.push_back(byte_of(encoded_, n));
        under_way_.push_back({encoded_++, size, std::move(what)});
        return bytes;
    }

    /// False if these are not the bytes that come next.
    template <typename Arrived>
    bool take(std::string_view bytes, Arrived arrived) {
        for (const char byte : bytes) {
            if (under_way_.empty() || byte != byte_of(under_way_.front().number, taken_))
                return false;
            if (++taken_ < under_way_.front().size) continue;
            taken_ = 0;
            auto what = std::move(under_way_.front().what);
            under_way_.pop_front();
            arrived(std::move(what));
        }
        return true;
    }

    /// How many bytes the next frame still needs.
    std::size_t rest() const noexcept {
        return under_way_.empty() ? 0 : under_way_.front().size - taken_;
    }

private:
    struct frame {
        std::uint64_t number;
        std::size_t size;
        What what;
    };

    static char byte_of(std::uint64_t number, std::size_t place) {
        return static_cast<char>((number * 31 + place * 7 + place / 256) & 0xff);
    }

    std::deque<frame> under_way_;
    std::uint64_t encoded_ = 0;
    std::size_t taken_ = 0; ///< bytes of the first
};

/// What an encrypted connection carries.
struct carried_frames {
    /// Does what the client asks for, at the socket that it comes to.
    frames<unique_function<void(socket&)>> up;
    frames<packet> down;
};

} // namespace paddock::test::sim
