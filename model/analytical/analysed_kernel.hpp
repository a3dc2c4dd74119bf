// What the analytical engine has worked out about one kernel. `evaluate` reads the time, `explain` reads all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/analytical/item.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "model/prediction/limiter.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// SM cycles of the busiest SM, by cause; they add up to `makespan`.
struct Exposure {
    hw::Cycles prologue{};  ///< first loads, straight code before the loop
    hw::Cycles main_loop{};
    hw::Cycles epilogue{};
    hw::Cycles tail{};  ///< what the last, partly filled wave costs beyond its share
    [[nodiscard]] hw::Cycles makespan() const { return prologue + main_loop + epilogue + tail; }
    /// Changes all but the tail alike.
    void scale(double factor) {
        prologue = prologue * factor;
        main_loop = main_loop * factor;
        epilogue = epilogue * factor;
    }
};

/// Seconds that a kernel would save if one part of its time went twice as fast.
struct Saved {
    hw::Seconds launch{}, sms{}, dram{}, l2{}, atomics{};
    hw::Seconds latency{};  ///< before the first bytes arrive and after the last have arrived
};

struct Analysis {
    machine::Occupancy occupancy{};
    std::int64_t items = 0;
    std::int64_t ctas = 0;
    std::int64_t slots = 0;  ///< CTAs that run at a time
    std::int64_t sms = 0;    ///< SMs that have work
    /// Items on the SM that gets most, where some CTAs have no item and all fit; otherwise 0.
    std::int64_t fullest_sm = 0;
    double fullest_group = 1.0;  ///< SMs at work in the busiest graphics processing cluster
    double waves = 0.0;
    bool persistent = false;
    ItemDemand item;
    Traffic traffic{};
    hw::Cycles loop_chain{};   ///< least period of one CTA's loop by its dependences
    hw::Cycles loop_period{};  ///< at full residency, of a loop that waits for its loads; 0 for other loops
    hw::Cycles turnaround{};   ///< of a CTA slot, between two CTAs
    hw::Cycles first_text{};   ///< of the first pass through the code, beyond later passes
    hw::Cycles alone{};        ///< of one item on an SM with a single CTA
    hw::Cycles apart{};        ///< before the first bytes arrive and after the last have arrived
    Exposure exposure{};
    hw::Frequency clock{};
    hw::Frequency free_clock{};  ///< without the power limit
    hw::Seconds floor{};
    hw::Seconds sm_time{};
    hw::Seconds dram_time{};
    hw::Seconds l2_time{};
    hw::Seconds atomic_time{};
    hw::Seconds launch_time{};
    hw::Seconds time{};
    double tensor_utilization = 0.0;
    double exponent = 1.0;  ///< of the norm in which the times above overlap
    Saved saved{};
    prediction::Limiter limiter = prediction::Limiter::launch;

    /// Work items under way at a time.
    [[nodiscard]] std::int64_t concurrent() const { return persistent ? ctas : std::min(items, slots); }
    /// CTAs that the busiest SM has at a time. A grid that does not fill the GPU leaves room.
    [[nodiscard]] std::int64_t resident() const {
        const std::int64_t at_work = std::max<std::int64_t>(1, sms);
        return std::clamp<std::int64_t>((std::min(ctas, items) + at_work - 1) / at_work, 1,
                                        std::max(1, occupancy.ctas_per_sm));
    }
};

}  // namespace warptime::model::analytical
