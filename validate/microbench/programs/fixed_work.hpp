// CTAs of dependent FMA, as fixed_work.cuh writes them.
// The probes of launch, waves and clusters use this work.
// Ignores: the order of the few instructions around the chain. Source: machine code of fixed_work.cuh
// (sm_90).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/microbench/programs/probe.hpp"

#include <cstdint>

namespace warptime::validate::microbench {

struct FixedWork {
    std::int64_t ctas = 1;
    std::int64_t threads = 32;
    std::int64_t shared = 0;   ///< dynamic bytes
    std::int64_t fma = 0;      ///< in series, by each thread; 0: the kernel ends at once
    std::int64_t cluster = 1;  ///< CTAs, along x
    bool stores = true;        ///< each thread stores its result
};

/// Appends one launch of fixed work.
void add_fixed_work(model::kernel::Program& program, const FixedWork& work);

/// ctas, threads, shared and fma of a row.
[[nodiscard]] FixedWork fixed_work_of(const Parameters& parameters);

}  // namespace warptime::validate::microbench
