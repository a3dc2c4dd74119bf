// Loops in which chains of instructions run side by side: what the probes of arithmetic time.
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

/// `run` steps in a row, dealt out to `chains` in turn. A step is its ops one after another; the first waits
/// for the last step of its chain.
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
    /// The compiler has put half of the chains of the second part beside the first, three steps to each of
    /// its, and the other half behind both.
    bool halves = false;
};

/// The loop's own instructions, counter, comparison and branch, are in the body.
void add_chain_loop(model::kernel::Program& program, const ChainLoop& loop);

/// A loop of twice the trips and one of the trips; `units` are those of `trips` trips.
[[nodiscard]] Probe chain_probe(ChainLoop loop, double units);

/// What one step of an instruction is called in the rows of instruction_* is as classes. Throws Error for a
/// name that no probe has.
[[nodiscard]] std::vector<model::kernel::Op> step_of(std::string_view instruction);

[[nodiscard]] model::kernel::Op op_of(model::kernel::InstructionClass cls);

}  // namespace warptime::validate::microbench
