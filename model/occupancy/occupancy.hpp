// How many CTAs of a kernel are resident on one SM, which resource limits it and which would limit it next.
// Ignores: the register pool of warps that give registers back at run time (setmaxnreg), MIG and MPS shares,
// the virtual resources of compute capability 10 and later.
// Source: the rules of cuda_occupancy.h (CUDA 13.0), with which the tests compare case by case.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/occupancy/sm_limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace warptime::model::occupancy {

/// What one CTA takes. Shared memory in bytes, as the kernel asks for it (no reserve, no rounding).
struct CtaResources {
    int threads = 0;
    int registers_per_thread = 0;
    std::int64_t static_shared = 0;
    std::int64_t dynamic_shared = 0;
    /// Preferred size of shared memory per SM, rounded up to a size that the SM has; -1: the driver's choice
    /// (the largest). A CTA that does not fit into the preference moves it up to the next size that it fits.
    std::int64_t carveout_bytes = -1;
    int named_barriers = 0;
};

enum class Limit : std::uint8_t { threads, ctas, registers, shared, barriers, none };
inline constexpr std::size_t limit_count = 5;

/// A resource that the kernel does not use allows this many CTAs.
inline constexpr int unlimited = std::numeric_limits<int>::max();

struct Occupancy {
    int ctas_per_sm = 0;
    int warps_per_sm = 0;
    Limit limit = Limit::none;       ///< the resource that binds; of equals the first in the enumeration
    Limit next_limit = Limit::none;  ///< the one that would bind if `limit` were lifted
    std::array<int, limit_count> ctas_by_limit{};  ///< CTAs that each resource alone allows, by Limit
    std::int64_t shared_per_cta = 0;               ///< bytes allocated, with reserve and rounding
    std::int64_t shared_per_sm = 0;                ///< bytes of the carveout in effect; L1 has the rest

    [[nodiscard]] int ctas_by(Limit which) const {
        return which == Limit::none ? unlimited : ctas_by_limit[static_cast<std::size_t>(which)];
    }
};

[[nodiscard]] std::string_view to_string(Limit limit);

/// Resident CTAs. 0 CTAs: the kernel cannot be launched; check() says why. Never throws, never allocates.
[[nodiscard]] Occupancy occupancy(const CtaResources& cta, const SmLimits& limits) noexcept;

/// Whether at least one CTA is resident, without counting how many.
[[nodiscard]] bool fits(const CtaResources& cta, const SmLimits& limits) noexcept;

/// Throws Error naming the resource, the need and the limit if not even one CTA fits, or if a value is
/// negative. Returns quietly otherwise.
void check(const CtaResources& cta, const SmLimits& limits);

/// Bytes that a preference in percent of the largest carveout asks for (cudaFuncAttributePreferredShared-
/// MemoryCarveout): rounded up to a size that the SM has. Percent outside 0..100: -1, the driver's choice.
[[nodiscard]] std::int64_t carveout_of_percent(int percent, const SmLimits& limits) noexcept;

/// Largest number of clusters of `ctas` CTAs resident on the whole chip with one CTA on each SM, as
/// cudaOccupancyMaxActiveClusters reports it: GPCs with an odd number of SMs leave some of them idle.
struct ClusterLimit {
    int ctas = 1;
    int clusters = 0;
};

/// Clusters resident on the chip when `ctas_per_sm` CTAs fit on an SM. `measured` ascends in cluster size;
/// a size between two entries is taken to reach the SMs that the next larger size reaches. Exact at one CTA
/// per SM and a measured size; with more CTAs per SM a lower bound (SMs idle at one CTA per SM stay idle).
/// Size 1 fills the chip. 0: no measured size is as large, or no CTA fits.
[[nodiscard]] int max_active_clusters(int ctas_per_sm, int cluster_size, int sm_count,
                                      std::span<const ClusterLimit> measured) noexcept;

}  // namespace warptime::model::occupancy
