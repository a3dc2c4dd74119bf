// Resident CTAs of a kernel on one SM, the resource that limits them, and the next one.
// Ignores: registers that warps give back (setmaxnreg), MIG and MPS shares, and virtual resources of compute
// capability 10 and later.
// Source: the rules of cuda_occupancy.h (CUDA 13.0); tests compare case by case.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/sm_limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace warptime::model::machine {

/// Resources of one CTA. Shared memory in bytes, as the kernel asks for it (no reserve, no rounding).
struct CtaResources {
    int threads = 0;
    int registers_per_thread = 0;
    std::int64_t static_shared = 0;
    std::int64_t dynamic_shared = 0;
    /// Preferred shared memory per SM, rounded up to an available size; -1: the driver's choice (the
    /// largest). A CTA that exceeds the preference raises it to the next size that fits.
    std::int64_t carveout_bytes = -1;
    int named_barriers = 0;
};

enum class Limit : std::uint8_t { threads, ctas, registers, shared, barriers, none };
inline constexpr std::size_t limit_count = 5;

/// CTAs allowed by a resource that the kernel does not use.
inline constexpr int unlimited = std::numeric_limits<int>::max();

struct Occupancy {
    int ctas_per_sm = 0;
    int warps_per_sm = 0;
    Limit limit = Limit::none;       ///< the resource that binds; the first in the enumeration among equals
    Limit next_limit = Limit::none;  ///< the resource that would bind if `limit` were lifted
    std::array<int, limit_count> ctas_by_limit{};  ///< CTAs that each resource alone allows, by Limit
    std::int64_t shared_per_cta = 0;               ///< bytes allocated, with reserve and rounding
    std::int64_t shared_per_sm = 0;                ///< bytes of the carveout in effect; L1 has the rest

    [[nodiscard]] int ctas_by(Limit which) const {
        return which == Limit::none ? unlimited : ctas_by_limit[static_cast<std::size_t>(which)];
    }
};

[[nodiscard]] std::string_view to_string(Limit limit);

/// Resident CTAs; 0 means that the kernel cannot be launched, and check() says why. Never throws, never
/// allocates.
[[nodiscard]] Occupancy occupancy(const CtaResources& cta, const SmLimits& limits) noexcept;

/// True if at least one CTA is resident; cheaper than counting.
[[nodiscard]] bool fits(const CtaResources& cta, const SmLimits& limits) noexcept;

/// Throws Error for a negative value, and when not even one CTA fits, naming the resource, need and limit.
void check(const CtaResources& cta, const SmLimits& limits);

/// Bytes of a preference in percent of the largest carveout, rounded up to an available size
/// (cudaFuncAttributePreferredSharedMemoryCarveout). Percent outside 0..100: -1, the driver's choice.
[[nodiscard]] std::int64_t carveout_of_percent(int percent, const SmLimits& limits) noexcept;

}  // namespace warptime::model::machine
