// A program's time on one stream: the sum of its steps' device durations, and the span with the gaps between
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"

#include <cstdint>

namespace warptime::model::system {

/// Sum over the steps. The limiter is the longest step's; band edges add. The evidence is any where that of a
/// step is. `body`: of the first kernel.
[[nodiscard]] prediction::Estimate evaluate(const kernel::Program& program, prediction::Stages& stages,
                                            const prediction::Conditions& conditions,
                                            prediction::BodyNumber body = prediction::unknown_body);

/// A time that `evaluate` does not fall below, or a time of at least `limit`, in which case the program takes
/// no less than `limit`.
[[nodiscard]] double least_time(const kernel::Program& program, prediction::Stages& stages,
                                const prediction::Conditions& conditions, double limit,
                                prediction::BodyNumber body = prediction::unknown_body);

/// Succession of a program's steps: in a stream or along a graph, either by programmatic dependent launch or
/// not.
enum class Between : std::uint8_t { stream, graph, dependent, graph_dependent };

/// Time from the end of a step to the start of the next; below 0 where the next launch hides behind the end.
[[nodiscard]] double launch_gap(Between between, const hw::Gpu& gpu);

/// Time that the calling thread takes to launch all steps, with the device always behind it.
[[nodiscard]] double host_time(const kernel::Program& program, Between between, const hw::Gpu& gpu);

/// Explanation of the longest step with the times, counters and shares of all steps; its span includes the
/// gaps. Extrapolated where a step is.
[[nodiscard]] prediction::Prediction explain(const kernel::Program& program, const prediction::Engine& engine,
                                             const hw::Gpu& gpu, const prediction::Conditions& conditions,
                                             Between between = Between::stream);

}  // namespace warptime::model::system
