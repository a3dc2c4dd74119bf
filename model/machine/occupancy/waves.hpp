// A grid of CTAs in the resident slots of the chip: waves, the ragged tail and the makespan.
// Ignores: the launch interval between CTAs and the order in which SMs are filled (any free slot is equal).
// Source: list scheduling, Graham 1969, doi.org/10.1137/0117039; slots = SMs x resident CTAs per SM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warptime::model::machine {

/// `items` handed to `slots` places. ratio = items / slots (launch__waves_per_multiprocessor of Nsight
/// Compute).
struct Waves {
    std::int64_t items = 0;
    std::int64_t slots = 0;
    std::int64_t full_waves = 0;
    std::int64_t tail_items = 0;  ///< items after the last full wave, 0 to slots - 1
    double ratio = 0.0;

    [[nodiscard]] std::int64_t count() const { return full_waves + (tail_items > 0 ? 1 : 0); }
};

/// Throws Error if slots < 1 or items < 0.
[[nodiscard]] Waves waves_of(std::int64_t items, std::int64_t slots);

/// a / b rounded up, for a >= 0 and b > 0.
[[nodiscard]] constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

/// Resident CTAs on the fullest SM in the tail; the scheduler deals the remaining CTAs over all SMs.
[[nodiscard]] constexpr std::int64_t tail_residency(std::int64_t tail_items, std::int64_t sms) {
    return ceil_divide(tail_items, sms);
}

/// Time of the tail's CTAs; 0 without a tail. `duration(r)` is the time of one CTA while r CTAs share its SM.
template <class Duration>
[[nodiscard]] double tail_time(const Waves& waves, std::int64_t sms, Duration&& duration) {
    return waves.tail_items == 0 ? 0.0 : duration(tail_residency(waves.tail_items, sms));
}

/// Time of a grid of equal CTAs, `resident` on each of `sms` SMs. Full waves run at full residency; the
/// tail's CTAs run faster because fewer CTAs share an SM.
template <class Duration>
[[nodiscard]] double uniform_time(std::int64_t items, std::int64_t sms, std::int64_t resident,
                                  Duration&& duration) {
    const Waves waves = waves_of(items, sms * resident);
    const double tail = tail_time(waves, sms, duration);
    return waves.full_waves == 0 ? tail : duration(resident) * static_cast<double>(waves.full_waves) + tail;
}

/// Items of the busiest of `ctas` persistent CTAs.
[[nodiscard]] constexpr std::int64_t items_per_persistent_cta(std::int64_t items, std::int64_t ctas) {
    return ceil_divide(items, ctas);
}

/// Time at which the last item ends when each item goes, in order, to the slot that is free first. `free_at`
/// is working memory, reused without allocation once it has held `slots` entries. Throws Error if slots < 1.
[[nodiscard]] double greedy_makespan(std::span<const double> durations, std::int64_t slots,
                                     std::vector<double>& free_at);

/// Time of the last item when slot s takes items s, s + slots, s + 2 slots, ... (static stride of a
/// persistent kernel).
[[nodiscard]] double strided_makespan(std::span<const double> durations, std::int64_t slots);

}  // namespace warptime::model::machine
