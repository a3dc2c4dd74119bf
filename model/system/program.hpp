// A program's time on one stream: the sum of its steps' device durations, and the span with the gaps between
// them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "model/prediction/kept_bodies.hpp"

#include <cstdint>

namespace warptime::model::system {

/// Sum over the steps. The limiter is the longest step's; band edges add.
[[nodiscard]] prediction::Estimate<double> evaluate(const kernel::Program& program,
                                                    const prediction::Engine& engine,
                                                    const hw::Gpu<double>& gpu,
                                                    const prediction::Conditions& conditions,
                                                    prediction::Scratch& scratch);

/// The same, bit for bit, of a program whose first kernel has a body with this number, with what `bodies` has
/// kept in `keeping`.
[[nodiscard]] prediction::Estimate<double> evaluate_kept(
    const kernel::Program& program, prediction::BodyNumber body, const prediction::Engine& engine,
    const prediction::KeepsBodies& bodies, const hw::Gpu<double>& gpu,
    const prediction::Conditions& conditions, prediction::Scratch& keeping);

/// How the steps of a program follow one another: in a stream or along a graph, either by programmatic
/// dependent launch or not.
enum class Between : std::uint8_t { stream, graph, dependent, graph_dependent };

/// From the end of a step to the start of the next; below 0 where the launch of the next hides behind the
/// end.
[[nodiscard]] double launch_gap(Between between, const hw::Gpu<double>& gpu);

/// Time that the calling thread takes to launch all steps, with the device always behind it.
[[nodiscard]] double host_time(const kernel::Program& program, Between between, const hw::Gpu<double>& gpu);

/// The longest step's explanation with the times, counters and shares of all steps; its span has the gaps.
[[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const prediction::Engine& engine,
                                             const hw::Gpu<double>& gpu,
                                             const prediction::Conditions& conditions,
                                             Between between = Between::stream);

}  // namespace warptime::model::system
