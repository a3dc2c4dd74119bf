// A grid of CTAs in the resident slots of the chip: waves and the ragged tail.
// Ignores: the launch interval between CTAs and the order in which SMs are filled (any free slot is equal).
// Source: slots = SMs x resident CTAs per SM (Nsight Compute, launch__waves_per_multiprocessor).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

/// Items of the busiest of `ctas` persistent CTAs.
[[nodiscard]] constexpr std::int64_t items_per_persistent_cta(std::int64_t items, std::int64_t ctas) {
    return ceil_divide(items, ctas);
}

}  // namespace warptime::model::machine
