#include "redis/rules/attempt.hpp"

#include <algorithm>
#include <utility>

namespace paddock::redis::rules {

attempt::attempt(std::vector<bool> reachable, bool one_first, const lock_timing& timing,
                 boot_clock::duration least)
    : stages_(reachable.size(), stage::idle)
    , tokens_(reachable.size())
    , refusals_(reachable.size())
    , has_key_(reachable.size())
    , votes_(static_cast<int>(reachable.size()), timing)
    , least_(least)
    , one_first_(one_first) {
    for (std::size_t n = 0; n < reachable.size(); ++n)
        if (!reachable[n]) stages_[n] = stage::refused;
}

attempt::requests attempt::start() { return decide(); }

int attempt::count(stage which) const noexcept {
    return static_cast<int>(std::count(stages_.begin(), stages_.end(), which));
}

void attempt::refuse(int server, std::optional<answer> why) {
    const auto n = static_cast<std::size_t>(server);
    stages_[n] = stage::refused;
    refusals_[n] = std::move(why);
}

attempt::requests attempt::answered(int server, const answer& said, time_point sent,
                                    time_point now) {
    const auto n = static_cast<std::size_t>(server);
    if (state_ != state::pending) return {};
    if (stages_[n] == stage::asked && said.what == answer::kind::granted) {
        stages_[n] = stage::agreed;
        tokens_[n] = said.token;
        votes_.confirmed(server, sent);
    } else if (stages_[n] == stage::confirming && said.what == answer::kind::renewed) {
        stages_[n] = stage::confirmed;
        votes_.confirmed(server, sent);
    } else {
        // An error may have come after the key was set.
        has_key_[n] = said.what == answer::kind::refused || said.what == answer::kind::denied ||
                      said.what == answer::kind::spoilt || said.what == answer::kind::set;
        refuse(server, said);
        first_is_taken_ = one_first_ && count(stage::idle) > 0 && said.what == answer::kind::taken;
        if (first_is_taken_) return fail();
    }
    auto next = decide();
    if (state_ == state::granted && votes_.valid_until() - now < least_) return fail();
    return next;
}

attempt::requests attempt::unreachable(int server) {
    if (state_ != state::pending) return {};
    refuse(server, {});
    return decide();
}

attempt::requests attempt::reachable(int server) {
    const auto n = static_cast<std::size_t>(server);
    // A server that was asked before may still execute that request.
    const bool asked = stages_[n] != stage::refused || refusals_[n] || has_key_[n];
    if (state_ != state::pending || asked) return {};
    stages_[n] = stage::idle;
    return decide();
}

attempt::requests attempt::hurry() {
    if (state_ != state::pending) return {};
    one_first_ = false;
    return decide();
}

attempt::requests attempt::give_up() {
    if (state_ != state::pending) return {};
    return fail();
}

attempt::requests attempt::decide() {
    requests next;
    if (static_cast<int>(stages_.size()) - count(stage::refused) < quorum()) return fail();
    if (token_ == 0 && count(stage::agreed) >= quorum())
        token_ = *std::max_element(tokens_.begin(), tokens_.end());
    const bool alone = one_first_ && count(stage::agreed) == 0 && token_ == 0;
    for (std::size_t n = 0; n < stages_.size(); ++n) {
        const auto server = static_cast<int>(n);
        if (stages_[n] == stage::idle && !(alone && count(stage::asked) > 0)) {
            stages_[n] = stage::asked;
            has_key_[n] = true;
            next.acquire.push_back(server);
        } else if (stages_[n] == stage::agreed && tokens_[n] == token_) {
            stages_[n] = stage::confirmed;
        } else if (stages_[n] == stage::agreed && token_ != 0) {
            stages_[n] = stage::confirming;
            next.renew.push_back(server);
        }
    }
    if (count(stage::confirmed) >= quorum()) state_ = state::granted;
    return next;
}

/// Others wait for the release of these keys if they may have seen them on a quorum, or on the one
/// server that is asked first. A loser tells none of them: it would wake clients that can get no
/// more than it did.
attempt::requests attempt::fail() {
    state_ = state::failed;
    requests last;
    int seen = 0;
    for (std::size_t n = 0; n < stages_.size(); ++n) {
        if (!has_key_[n]) continue;
        last.release.push_back(static_cast<int>(n));
        if (!refusals_[n]) ++seen;
    }
    const bool alone = count(stage::idle) > 0 && !first_is_taken_;
    last.tells = seen > 0 && (seen >= quorum() || alone);
    return last;
}

} // namespace paddock::redis::rules
