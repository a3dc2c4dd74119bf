// SM limits of the compute capabilities that the occupancy tests cover, and random cases.
// Ignores: chips of one compute capability with other SM counts, which residency per SM does not see.
// Source: CUDA Programming Guide 13, technical specifications; cuda_occupancy.h of CUDA 13.0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/occupancy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace warptime::model::machine::test {

struct Chip {
    int major = 0, minor = 0;
    SmLimits limits;
};

inline Chip chip(int major, int minor, int threads, int ctas, int shared_unit, int optin_kib,
                 int reserved_kib, int barriers, std::initializer_list<int> carveouts_kib) {
    SmLimits limits;
    limits.sm_count = 100;
    limits.sub_partitions = 4;
    limits.threads_per_cta = 1024;
    limits.threads = threads;
    limits.ctas = ctas;
    limits.registers = 65536;
    limits.registers_per_thread = 256;  // limit of cuda_occupancy.h; compilers stop at 255
    limits.register_unit = 256;
    limits.barriers = barriers;
    limits.shared_default = 48 * 1024;
    limits.shared_optin = std::int64_t{optin_kib} * 1024;
    limits.shared_reserved = std::int64_t{reserved_kib} * 1024;
    limits.shared_unit = shared_unit;
    for (const int kib : carveouts_kib) {
        limits.carveouts[limits.carveout_count++] = std::int64_t{kib} * 1024;
    }
    return {major, minor, limits};
}

inline std::array<Chip, 8> chips() {
    return {chip(7, 0, 2048, 32, 256, 96, 0, 0, {0, 8, 16, 32, 64, 96}),
            chip(7, 5, 1024, 16, 256, 64, 0, 0, {32, 64}),
            chip(8, 0, 2048, 32, 128, 163, 1, 0, {0, 8, 16, 32, 64, 100, 132, 164}),
            chip(8, 6, 1536, 16, 128, 99, 1, 0, {0, 8, 16, 32, 64, 100}),
            chip(8, 9, 1536, 24, 128, 99, 1, 0, {0, 8, 16, 32, 64, 100}),
            chip(9, 0, 2048, 32, 128, 227, 1, 64, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}),
            chip(10, 0, 2048, 32, 128, 227, 1, 64, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}),
            chip(12, 0, 1536, 24, 128, 99, 1, 24, {0, 8, 16, 32, 64, 100})};
}

/// One kernel on one chip. `carveout_percent` -1: no preference.
struct Case {
    std::size_t chip = 0;
    int carveout_percent = -1;
    CtaResources cta;
};

/// Random case, equal on every platform: whole-number arithmetic on a standard generator only.
inline Case random_case(std::mt19937_64& random, const std::array<Chip, 8>& all) {
    const auto below = [&random](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    Case result;
    result.chip = static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())));
    const SmLimits& limits = all[result.chip].limits;
    CtaResources& cta = result.cta;
    // Mostly multiples of a warp, as in real kernels; some just above the limit of 1024.
    cta.threads = static_cast<int>(below(4) != 0 ? 32 * (1 + below(33)) : 1 + below(1100));
    cta.registers_per_thread = static_cast<int>(below(3) != 0 ? 8 * below(33) : below(260));
    cta.static_shared = below(3) == 0 ? below(48 * 1024) : 0;
    cta.dynamic_shared = below(3) != 0 ? below(limits.shared_optin + 2048) >> below(6) : 0;
    cta.named_barriers = static_cast<int>(below(17));
    result.carveout_percent = static_cast<int>(below(2) != 0 ? below(101) : -1);
    cta.carveout_bytes = carveout_of_percent(result.carveout_percent, limits);
    return result;
}

}  // namespace warptime::model::machine::test
