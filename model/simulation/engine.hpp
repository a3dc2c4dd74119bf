// Discrete-event engine: runs the description of a kernel, event by event, on the servers of the chip.
// Ignores: whatever the heads of run.hpp, chip.hpp and memory_path.hpp list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "model/simulation/kernel_time.hpp"
#include "model/simulation/memory_step.hpp"
#include "model/simulation/trace.hpp"

#include <memory>

namespace warptime::model::simulation {

/// Makes the engine. Unlike the analytical one it allocates in every call of `evaluate`.
[[nodiscard]] std::unique_ptr<prediction::Engine> make_engine();

/// Runs one kernel at the clock that its power leaves. `trace`: null, or the record of the answer's own run,
/// with details of as many SMs as have `most_rows` ops.
[[nodiscard]] KernelTime simulate(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                  const prediction::Conditions& conditions, Trace* trace = nullptr,
                                  double most_rows = 0.0);
/// A memory set or copy.
[[nodiscard]] MemoryStep simulate(const kernel::Program& program, const kernel::Step& step,
                                  const hw::Gpu& gpu, const prediction::Conditions& conditions);

}  // namespace warptime::model::simulation
