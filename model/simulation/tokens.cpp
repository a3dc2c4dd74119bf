// Phases and groups of tokens, with their waiters. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/tokens.hpp"

#include "model/kernel/body_cursor.hpp"
#include "model/simulation/warps.hpp"

#include <algorithm>

namespace warptime::model::simulation {

using kernel::Id;
using kernel::NodeKind;
using kernel::Scope;
using kernel::TokenKind;

namespace {

/// Phases and groups kept for late waiters; a warp is never further behind than the stages of a pipeline.
constexpr std::size_t kept = 2048;

template <class T>
void forget_old(std::vector<T>& list, std::int64_t& first) {
    if (list.size() >= 2 * kept) {
        list.erase(list.begin(), list.begin() + kept);
        first += static_cast<std::int64_t>(kept);
    }
}

}  // namespace

TokenRules::TokenRules(const kernel::Kernel& kernel, const kernel::WorkItem& item, const WarpChoice* choice)
    : tokens_(kernel.tokens.size()), rules_(kernel.tokens.size()), arrives_(kernel.tokens.size()) {
    const std::vector<WarpPlace> places = warp_places(kernel);
    warps_ = places.size();
    uses_.resize(warps_ * tokens_);
    kernel::detail::WalkTokens counted(kernel, warps_);
    std::vector<TokenUser> users;
    for (const WarpPlace& place : places) {
        users.push_back(place.user);
        const kernel::Role& role = kernel.roles[place.role];
        kernel::Coordinates at = coordinates_at(kernel, place, item, 0);
        kernel::BodyCursor cursor(role.first_node, role.last_node);
        while (choice != nullptr ? cursor.advance(kernel, at, *choice) : cursor.advance(kernel, at)) {
            const kernel::Node& node = kernel.nodes[cursor.place().node];
            const bool signal = node.kind == NodeKind::signal;
            const Id token = arrival_at(kernel, cursor, at);
            if (token != kernel::no_id) {
                arrives_[static_cast<std::size_t>(token)] = true;
                counted.count_arrival(place.user, token, performs(role, place.instance, 0));
                Use& its = uses_[place.user.warp * tokens_ + static_cast<std::size_t>(token)];
                its.commits = its.commits || signal;
            }
        }
    }
    counted.end_of_counting(users);
    for (std::size_t t = 0; t < tokens_; ++t) {
        const auto id = static_cast<Id>(t);
        rules_[t] = {counted.need(id), counted.exact(id)};
        for (const TokenUser& user : users) {
            uses_[user.warp * tokens_ + t].share = counted.share(user, id);
        }
    }
}

Tokens::Tokens(const kernel::Kernel& kernel, const TokenRules& rules)
    : kernel_(&kernel),
      rules_(&rules),
      uses_(rules.warps() * kernel.tokens.size()),
      states_((1 + rules.warps()) * kernel.tokens.size()) {}

void Tokens::restart() {
    for (Use& its : uses_) {
        its.waits = its.arrivals = its.first_group = 0;
        its.groups.clear();
        its.open = 0;
    }
    for (State& state : states_) {
        state.first = state.arrived = 0;
        state.phases.clear();
        state.waiters.clear();
    }
}

std::size_t Tokens::state_of(const TokenUser& user, Id token) const {
    const auto t = static_cast<std::size_t>(token);
    return kernel_->tokens[t].scope == Scope::warp ? (1 + user.warp) * kernel_->tokens.size() + t : t;
}

std::int64_t Tokens::needed_phase(const TokenUser& user, const kernel::Wait& wait) const {
    const kernel::Token& token = kernel_->tokens[static_cast<std::size_t>(wait.token)];
    const Use& its = use(user, wait.token);
    if (token.kind == TokenKind::async_group) {
        return its.first_group + static_cast<std::int64_t>(its.groups.size()) - 1 - wait.lag;
    }
    const bool turns = token.key == kernel::TokenKey::tile && user.instances > 1;
    return (turns ? its.waits * user.instances + user.instance : its.waits) - wait.lag;
}

std::optional<Ticks> Tokens::passes_at(const TokenUser& user, const kernel::Wait& wait) const {
    const kernel::Token& token = kernel_->tokens[static_cast<std::size_t>(wait.token)];
    const std::int64_t phase = needed_phase(user, wait);
    if (token.kind == TokenKind::async_group) {
        const Use& its = use(user, wait.token);
        return phase < its.first_group ? Ticks{0}
                                       : its.groups[static_cast<std::size_t>(phase - its.first_group)];
    }
    const State& state = states_[state_of(user, wait.token)];
    const std::int64_t filled = phase - token.initial;
    if (filled < state.first || token.scope == Scope::grid) {
        return Ticks{0};
    }
    const auto at = static_cast<std::size_t>(filled - state.first);
    if (at >= state.phases.size() || state.phases[at].arrivals < rules_->rule(wait.token).need) {
        return std::nullopt;
    }
    return state.phases[at].time;
}

void Tokens::await(const TokenUser& user, const kernel::Wait& wait, std::uint32_t warp) {
    const kernel::Token& token = kernel_->tokens[static_cast<std::size_t>(wait.token)];
    states_[state_of(user, wait.token)].waiters.push_back({needed_phase(user, wait) - token.initial, warp});
}

void Tokens::arrive_group(Use& its, Ticks time, bool signal, const TokenRules::Use& rule, std::int64_t need) {
    its.open = std::max(its.open, time);
    ++its.arrivals;
    if (rule.commits ? signal : its.arrivals % need == 0) {
        // `open` is not lowered: a group is complete no earlier than the previous ones.
        its.groups.push_back(its.open);
        forget_old(its.groups, its.first_group);
    }
}

void Tokens::arrive(const TokenUser& user, Id token, Ticks time, bool performed, bool signal,
                    std::vector<std::uint32_t>& woken) {
    const kernel::Token& record = kernel_->tokens[static_cast<std::size_t>(token)];
    const TokenRules::Rule& rule = rules_->rule(token);
    const TokenRules::Use& shares = rules_->use(user.warp, token);
    Use& its = use(user, token);
    if (record.kind == TokenKind::async_group) {
        if (performed) {
            arrive_group(its, time, signal, shares, rule.need);
        }
        return;
    }
    State& state = states_[state_of(user, token)];
    const std::int64_t before = its.arrivals++;
    const std::int64_t total = state.arrived;
    state.arrived += performed ? 1 : 0;
    std::int64_t filled = 0;
    if (record.scope == Scope::warp) {
        filled = before / rule.need;
    } else if (!rule.exact || shares.share == 0) {
        filled = total / rule.need;
    } else {
        const std::int64_t turn = before / shares.share;
        const bool turns = record.key == kernel::TokenKey::tile && user.instances > 1;
        filled = turns ? turn * user.instances + user.instance : turn;
    }
    if (!performed || filled < state.first) {
        return;
    }
    const auto at = static_cast<std::size_t>(filled - state.first);
    if (at >= state.phases.size()) {
        state.phases.resize(at + 1);
    }
    Phase& phase = state.phases[at];
    phase.time = std::max(phase.time, time);
    if (++phase.arrivals != rule.need) {
        return;
    }
    const auto ready = [filled](const Waiter& waiter) { return waiter.phase == filled; };
    for (const Waiter& waiter : state.waiters) {
        if (ready(waiter)) {
            woken.push_back(waiter.warp);
        }
    }
    state.waiters.erase(std::remove_if(state.waiters.begin(), state.waiters.end(), ready),
                        state.waiters.end());
    forget_old(state.phases, state.first);
}

}  // namespace warptime::model::simulation
