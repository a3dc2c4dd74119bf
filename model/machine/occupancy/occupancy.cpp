// Resident CTAs by threads, CTA slots, registers, shared memory and named barriers. Ignores and source: see
// the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/occupancy.hpp"

#include "hw/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace warptime::model::machine {

namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return unit <= 1 ? value : (value + unit - 1) / unit * unit;
}

int quotient(std::int64_t available, std::int64_t need) noexcept {
    return need <= 0 ? unlimited : static_cast<int>(std::min<std::int64_t>(available / need, unlimited));
}

/// Smallest carveout that holds `bytes`; -1 if none does.
std::int64_t carveout_holding(std::int64_t bytes, const SmLimits& limits) noexcept {
    for (std::size_t i = 0; i < limits.carveout_count; ++i) {
        if (limits.carveouts[i] >= bytes) {
            return limits.carveouts[i];
        }
    }
    return -1;
}

int warps_of(const CtaResources& cta, const SmLimits& limits) noexcept {
    return (cta.threads + limits.threads_per_warp - 1) / limits.threads_per_warp;
}

std::int64_t registers_per_warp(const CtaResources& cta, const SmLimits& limits) noexcept {
    return round_up(std::int64_t{cta.registers_per_thread} * limits.threads_per_warp, limits.register_unit);
}

/// Registers that the launch check assumes: as if every sub-partition held the same number of warps.
std::int64_t registers_checked(const CtaResources& cta, const SmLimits& limits) noexcept {
    return registers_per_warp(cta, limits) * round_up(warps_of(cta, limits), limits.sub_partitions);
}

int ctas_by_threads(const CtaResources& cta, const SmLimits& limits) noexcept {
    if (cta.threads > limits.threads_per_cta) {
        return 0;
    }
    return limits.threads / limits.threads_per_warp / warps_of(cta, limits);
}

int ctas_by_registers(const CtaResources& cta, const SmLimits& limits) noexcept {
    if (cta.registers_per_thread > limits.registers_per_thread ||
        registers_checked(cta, limits) > limits.registers) {
        return 0;
    }
    const std::int64_t per_warp = registers_per_warp(cta, limits);
    if (per_warp == 0 || limits.sub_partitions == 0) {
        return unlimited;
    }
    const std::int64_t warps_per_sub_partition = limits.registers / limits.sub_partitions / per_warp;
    return quotient(warps_per_sub_partition * limits.sub_partitions, warps_of(cta, limits));
}

std::int64_t shared_allocated(const CtaResources& cta, const SmLimits& limits) noexcept {
    return round_up(cta.static_shared + cta.dynamic_shared + limits.shared_reserved, limits.shared_unit);
}

/// A kernel that needs more than the default per CTA counts as opted in, since its launch would fail
/// otherwise.
std::int64_t shared_per_cta_limit(const CtaResources& cta, const SmLimits& limits) noexcept {
    const std::int64_t asked = cta.static_shared + cta.dynamic_shared + limits.shared_reserved;
    return (asked > limits.shared_default ? limits.shared_optin : limits.shared_default) +
           limits.shared_reserved;
}

std::int64_t carveout_in_effect(const CtaResources& cta, const SmLimits& limits) noexcept {
    std::int64_t preferred = limits.shared_capacity();
    if (cta.carveout_bytes >= 0) {
        preferred = carveout_holding(cta.carveout_bytes, limits);
    }
    const std::int64_t needed = shared_allocated(cta, limits);
    return preferred >= needed ? preferred : carveout_holding(needed, limits);
}

int ctas_by_shared(const CtaResources& cta, const SmLimits& limits, std::int64_t carveout) noexcept {
    const std::int64_t allocated = shared_allocated(cta, limits);
    if (allocated > shared_per_cta_limit(cta, limits) || carveout < allocated) {
        return 0;
    }
    return quotient(carveout, allocated);
}

bool sensible(const CtaResources& cta) noexcept {
    return cta.threads > 0 && cta.registers_per_thread >= 0 && cta.static_shared >= 0 &&
           cta.dynamic_shared >= 0 && cta.named_barriers >= 0;
}

[[noreturn]] void refuse(const char* parameter, std::int64_t value, const std::string& expected) {
    throw Error(std::string("kernel ") + parameter, std::to_string(value), expected);
}

}  // namespace

std::string_view to_string(Limit limit) {
    switch (limit) {
        case Limit::threads:
            return "threads";
        case Limit::ctas:
            return "ctas";
        case Limit::registers:
            return "registers";
        case Limit::shared:
            return "shared";
        case Limit::barriers:
            return "barriers";
        case Limit::none:
            break;
    }
    return "none";
}

Occupancy occupancy(const CtaResources& cta, const SmLimits& limits) noexcept {
    Occupancy result;
    if (!sensible(cta)) {
        return result;
    }
    result.shared_per_cta = shared_allocated(cta, limits);
    result.shared_per_sm = carveout_in_effect(cta, limits);
    result.ctas_by_limit = {ctas_by_threads(cta, limits), limits.ctas, ctas_by_registers(cta, limits),
                            ctas_by_shared(cta, limits, result.shared_per_sm),
                            limits.barriers > 0 ? quotient(limits.barriers, cta.named_barriers) : unlimited};
    const auto& counts = result.ctas_by_limit;
    std::size_t first = 0;
    for (std::size_t i = 1; i < limit_count; ++i) {
        first = counts[i] < counts[first] ? i : first;
    }
    std::size_t second = first == 0 ? 1 : 0;
    for (std::size_t i = second + 1; i < limit_count; ++i) {
        second = i != first && counts[i] < counts[second] ? i : second;
    }
    result.ctas_per_sm = counts[first];
    result.warps_per_sm = counts[first] * warps_of(cta, limits);
    result.limit = static_cast<Limit>(first);
    result.next_limit = static_cast<Limit>(second);
    return result;
}

bool fits(const CtaResources& cta, const SmLimits& limits) noexcept {
    if (!sensible(cta) || cta.threads > limits.threads_per_cta || limits.ctas < 1 ||
        (limits.barriers > 0 && cta.named_barriers > limits.barriers)) {
        return false;
    }
    const int warps = warps_of(cta, limits);
    if (warps > limits.threads / limits.threads_per_warp || ctas_by_registers(cta, limits) < 1) {
        return false;
    }
    const std::int64_t allocated = shared_allocated(cta, limits);
    // The carveout grows to a CTA's need as far as a carveout of that size exists.
    return allocated <= shared_per_cta_limit(cta, limits) && allocated <= limits.shared_capacity();
}

void check(const CtaResources& cta, const SmLimits& limits) {
    if (cta.threads <= 0 || cta.threads > limits.threads_per_cta) {
        refuse("threads", cta.threads, fmt::format("1 to {} threads per CTA", limits.threads_per_cta));
    }
    if (cta.registers_per_thread < 0 || cta.registers_per_thread > limits.registers_per_thread) {
        refuse("registers", cta.registers_per_thread,
               fmt::format("0 to {} registers per thread", limits.registers_per_thread));
    }
    if (cta.static_shared < 0) {
        refuse("static_shared", cta.static_shared, "at least 0 bytes");
    }
    if (cta.dynamic_shared < 0) {
        refuse("dynamic_shared", cta.dynamic_shared, "at least 0 bytes");
    }
    if (cta.named_barriers < 0 || (limits.barriers > 0 && cta.named_barriers > limits.barriers)) {
        refuse("named_barriers", cta.named_barriers, fmt::format("0 to {} barriers", limits.barriers));
    }
    if (cta.carveout_bytes > limits.shared_capacity()) {
        refuse("carveout", cta.carveout_bytes, fmt::format("at most {} bytes", limits.shared_capacity()));
    }
    if (fits(cta, limits)) {
        return;
    }
    if (ctas_by_registers(cta, limits) == 0) {
        refuse("registers", cta.registers_per_thread,
               fmt::format("a CTA of {} threads within the {} registers of an SM; it takes {}", cta.threads,
                           limits.registers, registers_checked(cta, limits)));
    }
    if (ctas_by_threads(cta, limits) == 0) {
        refuse("threads", cta.threads, fmt::format("at most the {} threads of an SM", limits.threads));
    }
    refuse("shared_bytes", cta.static_shared + cta.dynamic_shared,
           fmt::format("at most {} bytes of shared memory per CTA", limits.shared_optin));
}

std::int64_t carveout_of_percent(int percent, const SmLimits& limits) noexcept {
    if (percent < 0 || percent > 100) {
        return -1;
    }
    return carveout_holding(percent * limits.shared_capacity() / 100, limits);
}

}  // namespace warptime::model::machine
