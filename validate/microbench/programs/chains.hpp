// Loops in which chains of instructions run side by side, as the probes of arithmetic time them.
// Ignores: the code around the loop, which the difference of two programs takes out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/description.hpp"
#include "validate/microbench/programs/probe.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::validate::microbench {

/// `run` steps in a row, dealt out to `chains` in turn. A step is its ops one after another. The first op
/// waits for the last step of the same chain.
struct Part {
    std::vector<model::kernel::Op> step;
    std::int64_t chains = 1;
    std::int64_t run = 1;
};

struct ChainLoop {
    std::int64_t trips = 1;
    std::int64_t turns = 1;  ///< times that the parts follow each other in the body
    std::vector<Part> parts;
    std::int64_t warps = 4;  ///< of a CTA
    std::int64_t ctas = 1;
    std::int64_t registers = 32;
    std::int64_t control = 0;  ///< slots of the loop's own instructions beyond three
    /// The compiler has put half of the chains of the second part beside the first part. Three steps of the
    /// second part go with each step of the first. The other half of the chains follows behind both.
    bool halves = false;
};

/// The body includes the loop's own instructions: counter, comparison and branch.
void add_chain_loop(model::kernel::Program& program, const ChainLoop& loop);

/// A loop of twice the trips against one of the trips. `units` counts the units of `trips` trips.
[[nodiscard]] Probe chain_probe(ChainLoop loop, double units);

/// One step of an instruction, named as in the rows of instruction_*, as instruction classes. Throws Error
/// for a name that no probe has.
[[nodiscard]] std::vector<model::kernel::Op> step_of(std::string_view instruction);

[[nodiscard]] model::kernel::Op op_of(model::kernel::InstructionClass cls);

}  // namespace warptime::validate::microbench
