// Completion times of the phases of one CTA's tokens, in simulated time.
// Ignores: arrivals from other CTAs of a cluster, which act as this CTA. Also ignored: tokens of grid scope,
// which are always complete.
// Source: model/kernel/walk.hpp, whose rules number phases and groups. An async_group does wait here
// (README.md of model/kernel, Tokens).
//
// All completion times are known when an operation issues, so an arrival is entered at once with its later
// time. A phase is complete at its latest arrival, and known as soon as the last arrival is entered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/walk_tokens.hpp"
#include "model/simulation/ticks.hpp"
#include "model/simulation/warp_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warptime::model::simulation {

using kernel::detail::TokenUser;

/// Rules for every CTA of a kernel, counted once on one work item.
class TokenRules {
  public:
    /// `choice`: trips that are run; null: all.
    TokenRules(const kernel::Kernel& kernel, const kernel::WorkItem& item,
               const WarpChoice* choice = nullptr);

    struct Use {
        std::int64_t share = 0;  ///< arrivals of the warp to each phase
        bool commits = false;    ///< an async_group that the warp's role signals
    };
    [[nodiscard]] const Use& use(std::size_t warp, kernel::Id token) const {
        return uses_[warp * tokens_ + static_cast<std::size_t>(token)];
    }
    struct Rule {
        std::int64_t need = 1;
        bool exact = false;
    };
    [[nodiscard]] const Rule& rule(kernel::Id token) const { return rules_[static_cast<std::size_t>(token)]; }
    [[nodiscard]] std::size_t warps() const { return warps_; }
    /// False for a token that no warp ever signals.
    [[nodiscard]] bool arrives(kernel::Id token) const { return arrives_[static_cast<std::size_t>(token)]; }

  private:
    std::size_t tokens_ = 0;
    std::size_t warps_ = 0;
    std::vector<Use> uses_;
    std::vector<Rule> rules_;
    std::vector<bool> arrives_;  ///< by token
};

/// A warp that stands at a wait; the owner chooses the meaning of `warp`.
struct Waiter {
    std::int64_t phase = 0;
    std::uint32_t warp = 0;
};

class Tokens {
  public:
    Tokens(const kernel::Kernel& kernel, const TokenRules& rules);
    /// Restarts for a CTA that has just become resident; keeps its memory.
    void restart();

    /// Time when the next wait of this warp passes; nothing while an arrival is missing.
    [[nodiscard]] std::optional<Ticks> passes_at(const TokenUser& user, const kernel::Wait& wait) const;
    void pass(const TokenUser& user, kernel::Id token) { ++use(user, token).waits; }
    /// Enters the warp to be woken when its wait can pass.
    void await(const TokenUser& user, const kernel::Wait& wait, std::uint32_t warp);

    /// Enters an arrival at `time`; it has no effect when not `performed` (an item of another instance).
    /// `signal`: from a Signal node, which commits a group, rather than from an op. Adds to `woken` the warps
    /// whose phase is now known to be complete.
    void arrive(const TokenUser& user, kernel::Id token, Ticks time, bool performed, bool signal,
                std::vector<std::uint32_t>& woken);

    /// Phase that the next wait needs, for messages.
    [[nodiscard]] std::int64_t needed_phase(const TokenUser& user, const kernel::Wait& wait) const;

  private:
    struct Phase {
        std::int64_t arrivals = 0;
        Ticks time = 0;
    };
    struct State {
        std::int64_t first = 0;  ///< number of phases[0]; all earlier phases are complete and in the past
        std::int64_t arrived = 0;
        std::vector<Phase> phases;
        std::vector<Waiter> waiters;
    };
    struct Use {
        std::int64_t waits = 0;
        std::int64_t arrivals = 0;
        // Of an async_group: completion times of its groups, first in first out, and the group still open.
        std::int64_t first_group = 0;
        std::vector<Ticks> groups;
        Ticks open = 0;
    };
    [[nodiscard]] Use& use(const TokenUser& user, kernel::Id token) {
        return uses_[user.warp * kernel_->tokens.size() + static_cast<std::size_t>(token)];
    }
    [[nodiscard]] const Use& use(const TokenUser& user, kernel::Id token) const {
        return uses_[user.warp * kernel_->tokens.size() + static_cast<std::size_t>(token)];
    }
    [[nodiscard]] std::size_t state_of(const TokenUser& user, kernel::Id token) const;
    void arrive_group(Use& its, Ticks time, bool signal, const TokenRules::Use& rule, std::int64_t need);

    const kernel::Kernel* kernel_;
    const TokenRules* rules_;
    std::vector<Use> uses_;      ///< by warp and token
    std::vector<State> states_;  ///< by token; then tokens of warp scope, by warp and token
};

}  // namespace warptime::model::simulation
