// Token phases that waits need and arrivals fill, counted functionally for one CTA.
// Ignores: time.
// Source: the rules at the top of walk.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warptime::model::kernel::detail {

/// Part of a warp's identity on which phase numbers depend.
struct TokenUser {
    std::size_t warp = 0;        ///< within the CTA
    std::int64_t instance = 0;   ///< of its role
    std::int64_t instances = 1;  ///< instances with turns of their own; 1 for a role that alternates
};

class WalkTokens {
  public:
    WalkTokens(const Kernel& kernel, std::size_t warps);

    /// Counts the arrivals of each warp in a first pass over the body. `performed` is false for items that an
    /// alternating instance passes over.
    void count_arrival(const TokenUser& user, Id token, bool performed);
    void end_of_counting(std::span<const TokenUser> users);

    /// Results of the first pass. `need`: arrivals that complete a phase. `share`: arrivals of this warp in
    /// each phase; 0 for none. `exact`: every warp gives each phase the same number.
    [[nodiscard]] std::int64_t need(Id token) const { return states_[static_cast<std::size_t>(token)].need; }
    [[nodiscard]] std::int64_t share(const TokenUser& user, Id token) const { return use(user, token).share; }
    [[nodiscard]] bool exact(Id token) const { return states_[static_cast<std::size_t>(token)].exact; }

    /// Phase that the next wait of this warp needs; a negative phase passes.
    [[nodiscard]] std::int64_t needed_phase(const TokenUser& user, Id token, std::int32_t lag) const;
    [[nodiscard]] bool complete(const TokenUser& user, Id token, std::int64_t phase) const;
    void pass_wait(const TokenUser& user, Id token) { ++use(user, token).waits; }
    /// Returns the phase of the arrival, which is recorded only when performed.
    std::int64_t arrive(const TokenUser& user, Id token, bool performed);

  private:
    struct Use {
        std::int64_t waits = 0;
        std::int64_t arrivals = 0;  ///< arrivals, including those passed over
        std::int64_t counted = 0;   ///< arrivals of the whole walk, including those passed over
        std::int64_t share = 0;     ///< arrivals of this warp in each of its phases; 0: unknown
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
