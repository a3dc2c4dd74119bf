// What the warps of one role execute: their instructions as a tree of loops, each with how often it ran.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/frontends/machine/interpreter/run.hpp"
#include "workloads/frontends/machine/lowering/loops.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Executions of an instruction by a warp of the role, on average.
struct Frequency {
    double times = 0.0;
    double lanes = 32.0;                    ///< active ones
    model::kernel::SlowestWarps slowest{};  ///< executions by the slowest warps
};

struct BodyLoop {
    int loop = -1;                            ///< of the loops; -1: the whole body
    double entries = 1.0;                     ///< by a warp, on average
    double rounds = 1.0;                      ///< all of them together
    std::vector<std::uint32_t> instructions;  ///< own ones, ascending
    std::vector<BodyLoop> inner;              ///< ascending headers
};

struct RoleBody {
    std::vector<int> warps;  ///< of the CTA, ascending
    std::map<std::uint32_t, Frequency> frequency;
    BodyLoop body;
};

struct RoleBodies {
    std::vector<CodeLoop> loops;
    std::vector<RoleBody> roles;
};

/// Roles of the launch. With a single one the counts of the whole launch give the frequencies, otherwise
/// those of the traced CTAs do.
[[nodiscard]] RoleBodies role_bodies(const Code& code, const LaunchCounts& counts,
                                     const TraceRecorder& trace);

}  // namespace warptime::workloads::frontends::machine
