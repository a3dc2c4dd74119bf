// Limits of one streaming multiprocessor that decide its resident CTAs, as plain integers.
// Ignores: everything that does not limit residency (rates, latencies, caches).
// Source: CUDA Programming Guide 13, table "Technical Specifications per Compute Capability".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

inline constexpr std::size_t max_carveouts = 16;

/// Sizes in bytes, counts per SM unless said. limits_of fills them from a GPU's sheet, once per GPU.
struct SmLimits {
    int sm_count = 0;
    int sub_partitions = 0;
    int threads_per_warp = 32;
    int threads_per_cta = 0;
    int threads = 0;
    int ctas = 0;
    int registers = 0;
    int registers_per_thread = 0;      ///< largest number that a kernel may ask for
    int register_unit = 0;             ///< a warp gets registers in multiples of this
    int barriers = 0;                  ///< named barriers of all resident CTAs together; 0: no such limit
    std::int64_t shared_default = 0;   ///< per CTA, without opting in
    std::int64_t shared_optin = 0;     ///< per CTA, after opting in
    std::int64_t shared_reserved = 0;  ///< per CTA, taken by the driver beyond the kernel's request
    std::int64_t shared_unit = 0;      ///< allocation granularity
    /// Sizes of shared memory that the split with L1 can take, ascending; the last is the capacity.
    std::array<std::int64_t, max_carveouts> carveouts{};
    std::size_t carveout_count = 0;

    friend bool operator==(const SmLimits&, const SmLimits&) = default;
    [[nodiscard]] std::int64_t shared_capacity() const {
        return carveout_count == 0 ? 0 : carveouts[carveout_count - 1];
    }
};

/// Limits of a GPU. A fraction is cut off, since a limit is a whole number. Carveouts beyond max_carveouts
/// are left out.
[[nodiscard]] inline SmLimits limits_of(const hw::Gpu& gpu) {
    const auto whole = [](const auto& quantity) { return static_cast<int>(quantity.value()); };
    const auto bytes = [](const auto& quantity) { return static_cast<std::int64_t>(quantity.value()); };
    SmLimits limits;
    limits.sm_count = whole(gpu.sm.count);
    limits.sub_partitions = whole(gpu.sm.sub_partitions);
    limits.threads_per_cta = whole(gpu.cta.threads_max);
    limits.threads = whole(gpu.sm.threads_max);
    limits.ctas = whole(gpu.sm.ctas_max);
    limits.registers = whole(gpu.sm.registers);
    limits.registers_per_thread = whole(gpu.sm.registers_per_thread_max);
    limits.register_unit = whole(gpu.sm.register_allocation_unit);
    limits.barriers = whole(gpu.sm.named_barriers);
    limits.shared_default = bytes(gpu.shared.per_cta_default);
    limits.shared_optin = bytes(gpu.shared.per_cta_optin);
    limits.shared_reserved = bytes(gpu.shared.reserved_per_cta);
    limits.shared_unit = bytes(gpu.shared.allocation_granularity);
    for (const auto& carveout : gpu.shared.carveouts) {
        if (limits.carveout_count < max_carveouts) {
            limits.carveouts[limits.carveout_count++] = bytes(carveout);
        }
    }
    return limits;
}

}  // namespace warptime::model::machine
