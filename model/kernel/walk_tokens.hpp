// Which phase of a token a wait needs and an arrival fills, counted functionally for one CTA.
// Ignores: time. Source: the rules at the top of walk.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warptime::model::kernel::detail {

/// The part of a warp's identity that phase numbers depend on.
struct TokenUser {
    std::size_t warp = 0;        ///< within the CTA
    std::int64_t instance = 0;   ///< of its role
    std::int64_t instances = 1;  ///< that have turns of their own: 1 for a role that alternates
};

class WalkTokens {
  public:
    WalkTokens(const Kernel& kernel, std::size_t warps);

    /// A first pass over the body counts the arrivals of each warp; `performed` is false for the items that
    /// an alternating instance passes over.
    void count_arrival(const TokenUser& user, Id token, bool performed);
    void end_of_counting(std::span<const TokenUser> users);

    /// What the first pass found: arrivals that complete a phase, how many of them each phase gets from this
    /// warp (0: none), and whether every warp gives each phase the same number.
    [[nodiscard]] std::int64_t need(Id token) const { return states_[static_cast<std::size_t>(token)].need; }
    [[nodiscard]] std::int64_t share(const TokenUser& user, Id token) const { return use(user, token).share; }
    [[nodiscard]] bool exact(Id token) const { return states_[static_cast<std::size_t>(token)].exact; }

    /// The phase that the next wait of this warp needs (may be negative: passes).
    [[nodiscard]] std::int64_t needed_phase(const TokenUser& user, Id token, std::int32_t lag) const;
    [[nodiscard]] bool complete(const TokenUser& user, Id token, std::int64_t phase) const;
    void pass_wait(const TokenUser& user, Id token) { ++use(user, token).waits; }
    /// Returns the phase that the arrival belongs to; it is recorded only when performed.
    std::int64_t arrive(const TokenUser& user, Id token, bool performed);

  private:
    struct Use {
        std::int64_t waits = 0;
        std::int64_t arrivals = 0;  ///< with those passed over
        std::int64_t counted = 0;   ///< arrivals with those passed over, of the whole walk
        std::int64_t share = 0;     ///< arrivals of this warp to each phase it takes part in; 0: unknown
    };
    struct State {
        std::int64_t need = 1;     ///< arrivals that complete a phase
        std::int64_t counted = 0;  ///< arrivals performed in the whole walk
        std::int64_t arrived = 0;
        std::vector<std::int32_t> phases;  ///< arrivals by phase, when every share is known
        bool exact = true;
    };
    [[nodiscard]] Use& use(const TokenUser& user, Id token) {
        return uses_[user.warp * kernel_.tokens.size() + static_cast<std::size_t>(token)];
    }
    [[nodiscard]] const Use& use(const TokenUser& user, Id token) const {
        return uses_[user.warp * kernel_.tokens.size() + static_cast<std::size_t>(token)];
    }
    [[nodiscard]] bool has_turns(const TokenUser& user, const Token& token) const {
        return token.key == TokenKey::tile && user.instances > 1;
    }

    const Kernel& kernel_;
    std::vector<Use> uses_;
    std::vector<State> states_;
};

}  // namespace warptime::model::kernel::detail
