// Part of a long kernel that is run event by event, and what each executed piece stands for.
// A kernel of few events runs whole. Otherwise some SMs stand for all of them, some waves of CTAs for those
// between the first and the last, and some trips of a loop for those between its first and its last ones.
// Units that all SMs share take correspondingly longer for each request.
// Ignores: SMs, waves and trips that differ from those executed; state that still changes in the skipped
// part. Source: scale models of a chip, SM for SM (SeyyedAghaei et al., GPU Scale-Model Simulation, HPCA
// 2024); steady parts are stretched as in Principal Kernel Analysis (Avalos Baddouh et al., MICRO 2021). How
// far cut runs are from whole ones: docs/mechanisms/simulation.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/body_cursor.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::model::simulation {

/// Events that a run may have and still be whole, and those that a cut run aims at.
inline constexpr double most_whole_events = 1.5e6;
inline constexpr double most_cut_events = 3.0e5;

struct Cut {
    std::int64_t sms = 0;      ///< SMs that are run
    std::int64_t of_sms = 0;   ///< SMs that they stand for
    std::int64_t groups = 0;   ///< CTAs of each SM before the ragged rest: of the whole grid
    std::int64_t rest = 0;     ///< CTAs of the ragged rest that are run
    double rest_sms = 1.0;     ///< SMs for which each of these stands
    std::int64_t first = 0;    ///< groups before the steady ones
    std::int64_t steady = 0;   ///< groups that stand for the skipped ones, too; 0: none is skipped
    std::int64_t skipped = 0;  ///< groups behind the steady ones
    std::int64_t trips = 0;    ///< most trips of a loop that are run; 0: all

    [[nodiscard]] bool whole() const { return sms == of_sms && skipped == 0 && trips == 0; }
    /// CTAs that are run, the grid's linear id of each, and the number of its like that it stands for on its
    /// SM.
    [[nodiscard]] std::int64_t ctas() const { return (groups - skipped) * sms + rest; }
    [[nodiscard]] std::int64_t id(std::int64_t run) const;
    [[nodiscard]] double stands_for(std::int64_t run) const;
    /// SMs for which the CTA of this linear id stands.
    [[nodiscard]] double sms_of(std::int64_t cta) const {
        return cta / of_sms < groups ? static_cast<double>(of_sms) / static_cast<double>(sms) : rest_sms;
    }
    /// Trips of a loop that are run, whose guards repeat every `period` trips.
    [[nodiscard]] kernel::LoopPasses passes(std::int64_t of_loop, std::int64_t period) const;
};

/// Cut of a kernel on `sms` SMs, each with `resident` CTAs. `most`: events that may run whole; `aim`: events
/// of a cut run. `loops`: trips may be left out.
[[nodiscard]] Cut cut_of(const kernel::Kernel& kernel, std::int64_t sms, std::int64_t resident,
                         double most = most_whole_events, double aim = most_cut_events, bool loops = true);

}  // namespace warptime::model::simulation
