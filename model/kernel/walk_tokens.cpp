// Phases by number of arrivals, exact when every warp gives each phase the same number. Ignores and source:
// see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/walk_tokens.hpp"

#include <algorithm>

namespace warptime::model::kernel::detail {

WalkTokens::WalkTokens(const Kernel& kernel, std::size_t warps)
    : kernel_(kernel), uses_(warps * kernel.tokens.size()), states_(kernel.tokens.size()) {
    for (std::size_t t = 0; t < states_.size(); ++t) {
        const Token& token = kernel.tokens[t];
        // CTAs of a cluster act alike, so this CTA's share of the arrivals stands for all.
        const std::int64_t ctas = token.scope == Scope::cluster ? kernel.cluster.volume() : 1;
        states_[t].need = (token.arrivals + ctas - 1) / ctas;
    }
}

void WalkTokens::count_arrival(const TokenUser& user, Id token, bool performed) {
    ++use(user, token).counted;
    states_[static_cast<std::size_t>(token)].counted += performed ? 1 : 0;
}

void WalkTokens::end_of_counting(std::span<const TokenUser> users) {
    for (std::size_t t = 0; t < states_.size(); ++t) {
        State& state = states_[t];
        const Token& token = kernel_.tokens[t];
        const std::int64_t phases = state.counted / state.need;
        state.exact = phases > 0 && state.counted % state.need == 0 && phases <= (std::int64_t{1} << 24);
        for (const TokenUser& user : users) {
            Use& its = use(user, static_cast<Id>(t));
            if (its.counted == 0 || !state.exact) {
                continue;
            }
            const std::int64_t turns = has_turns(user, token) ? user.instances : 1;
            state.exact = its.counted * turns % phases == 0;
            its.share = its.counted * turns / phases;
        }
        if (state.exact && token.scope != Scope::warp) {
            state.phases.assign(static_cast<std::size_t>(phases), 0);
        }
    }
}

std::int64_t WalkTokens::needed_phase(const TokenUser& user, Id token, std::int32_t lag) const {
    const std::int64_t waits = use(user, token).waits;
    const bool turns = has_turns(user, kernel_.tokens[static_cast<std::size_t>(token)]);
    return (turns ? waits * user.instances + user.instance : waits) - lag;
}

bool WalkTokens::complete(const TokenUser& user, Id token, std::int64_t phase) const {
    const Token& record = kernel_.tokens[static_cast<std::size_t>(token)];
    const State& state = states_[static_cast<std::size_t>(token)];
    const std::int64_t filled = phase - record.initial;
    if (filled < 0 || record.kind == TokenKind::async_group || record.scope == Scope::grid) {
        return true;
    }
    if (record.scope == Scope::warp) {
        return use(user, token).arrivals >= (filled + 1) * state.need;
    }
    if (!state.exact) {
        return state.arrived >= (filled + 1) * state.need;
    }
    return filled < static_cast<std::int64_t>(state.phases.size()) &&
           state.phases[static_cast<std::size_t>(filled)] >= state.need;
}

std::int64_t WalkTokens::arrive(const TokenUser& user, Id token, bool performed) {
    const Token& record = kernel_.tokens[static_cast<std::size_t>(token)];
    State& state = states_[static_cast<std::size_t>(token)];
    Use& its = use(user, token);
    const std::int64_t before = its.arrivals++;
    const std::int64_t total = state.arrived;
    state.arrived += performed ? 1 : 0;
    if (record.scope == Scope::warp) {
        return record.initial + before / state.need;
    }
    if (!state.exact) {
        return record.initial + total / state.need;
    }
    const std::int64_t turn = before / its.share;
    const std::int64_t filled = has_turns(user, record) ? turn * user.instances + user.instance : turn;
    if (performed && filled < static_cast<std::int64_t>(state.phases.size())) {
        ++state.phases[static_cast<std::size_t>(filled)];
    }
    return record.initial + filled;
}

}  // namespace warptime::model::kernel::detail
