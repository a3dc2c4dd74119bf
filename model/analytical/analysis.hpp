// Everything the analytical engine works out about one kernel; `evaluate` reads its time, `explain` all of
// it. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/traffic.hpp"
#include "model/occupancy/occupancy.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/kept_bodies.hpp"
#include "model/prediction/limiter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace warptime::model::analytical {

/// SM cycles of the busiest SM, by cause; they add up to `makespan`.
template <class S>
struct Exposure {
    hw::Cycles<S> prologue{};  ///< first loads, straight code before the loop
    hw::Cycles<S> main_loop{};
    hw::Cycles<S> epilogue{};
    hw::Cycles<S> tail{};  ///< what the last, partly filled wave costs beyond its share
    [[nodiscard]] hw::Cycles<S> makespan() const { return prologue + main_loop + epilogue + tail; }
};

template <class S>
struct Analysis {
    occupancy::Occupancy occupancy{};
    std::int64_t items = 0;
    std::int64_t ctas = 0;
    std::int64_t slots = 0;  ///< CTAs that run at a time
    std::int64_t sms = 0;    ///< SMs that have work
    std::int64_t fullest_sm =
        0;  ///< items on the SM that gets most, where not every CTA has one and all fit; or 0
    double fullest_group = 1.0;  ///< SMs at work in the graphics processing cluster that has most of them
    double waves = 0.0;
    bool persistent = false;
    ItemDemand<S> item;
    Traffic<S> traffic{};
    hw::Cycles<S> loop_chain{};   ///< least period of one CTA's loop by its dependences
    hw::Cycles<S> loop_period{};  ///< at full residency, of a loop that waits for its loads; 0 of others
    hw::Cycles<S> turnaround{};   ///< of a CTA slot, between two CTAs
    hw::Cycles<S> first_text{};   ///< of the first pass through the code, beyond later ones
    hw::Cycles<S> alone{};        ///< of one item of a CTA that has its SM to itself
    hw::Cycles<S> apart{};        ///< before the first bytes arrive and after the last have
    Exposure<S> exposure{};
    hw::Frequency<S> clock{};
    hw::Frequency<S> free_clock{};  ///< without the power limit
    hw::Seconds<S> floor{};
    hw::Seconds<S> sm_time{};
    hw::Seconds<S> dram_time{};
    hw::Seconds<S> l2_time{};
    hw::Seconds<S> atomic_time{};
    hw::Seconds<S> launch_time{};
    hw::Seconds<S> time{};
    S tensor_utilization{};
    prediction::Limiter limiter = prediction::Limiter::launch;

    /// Work items under way at a time.
    [[nodiscard]] std::int64_t concurrent() const { return persistent ? ctas : std::min(items, slots); }
    /// CTAs that the busiest SM has at a time: a grid that does not fill the card leaves room.
    [[nodiscard]] std::int64_t resident() const {
        const std::int64_t at_work = std::max<std::int64_t>(1, sms);
        return std::clamp<std::int64_t>((std::min(ctas, items) + at_work - 1) / at_work, 1,
                                        std::max(1, occupancy.ctas_per_sm));
    }
};

class KeptItems;

/// What is known of kernels before; null or unknown where nothing is.
struct Known {
    RecentSharedReads* reads = nullptr;  ///< as `traffic` takes it
    KeptItems* items = nullptr;
    prediction::BodyNumber body = prediction::unknown_body;  ///< of the kernel at hand
};

/// Throws Error when the kernel cannot run on the GPU. No allocation otherwise.
template <class S>
[[nodiscard]] Analysis<S> analyse(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu,
                                  const prediction::Conditions& conditions, const Known& known = {});

/// Makes `a`, the analysis of a kernel on that GPU under those conditions, that of the same kernel with
/// another group in its schedule, which changes what CTAs find in L2 and nothing of what one does.
void regroup(const kernel::Kernel& kernel, const hw::Gpu<double>& gpu,
             const prediction::Conditions& conditions, Analysis<double>& a,
             RecentSharedReads* recent = nullptr);

}  // namespace warptime::model::analytical
