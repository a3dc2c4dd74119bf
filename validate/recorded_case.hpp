// What a recorded row asks of a model: operation, conditions and the key that decides the row's split.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "validate/recorded_rows.hpp"
#include "validate/split.hpp"
#include "workloads/registry/registry.hpp"

#include <string>
#include <string_view>

namespace warptime::validate {

/// Whether workloads knows this operator. A microbenchmark's operator is unknown there.
[[nodiscard]] bool is_operator(std::string_view op);

/// Parameters that choose a kernel (the registry's part_of_key) go to `configuration`. All other parameters
/// go to `shape`, in canonical spelling. For an operator that the registry does not know, all parameters go
/// to `shape`. A step's shape is its model alone. `params` is sorted text as recorded. Throws Error for
/// parameters that the operator refuses.
[[nodiscard]] CaseKey case_key(std::string_view op, std::string_view params);

/// The row's parameters with its implementation, where the operator has such a parameter. Throws Error for
/// parameters that the registry refuses.
[[nodiscard]] workloads::Operation operation_of(const RecordedRow& row);

/// As operation_of, with the compiler's registers and shared memory added. These are added where the operator
/// takes them and the row's steps and parameters do not say otherwise.
[[nodiscard]] workloads::Operation operation_as_compiled(const RecordedRow& row);

/// The conditions of the row. Empty cells are the defaults.
[[nodiscard]] model::prediction::Conditions conditions_of(const RecordedRow& row);

/// Device duration of an operation.
inline constexpr std::string_view kernel_quantity = "kernel_us";
/// Time from one start to the next of an operation that is launched again and again: its own and the gap.
inline constexpr std::string_view interval_quantity = "interval_us";
/// Time of the host for one of many steps of a model back to back.
inline constexpr std::string_view wall_quantity = "wall_us";
/// Whether a quantity is a time in microseconds that the scoreboard can predict.
[[nodiscard]] bool is_timed(std::string_view quantity);

/// The operator's name of a whole step of a model, whose parameters are model, kind, batch and length.
inline constexpr std::string_view step_op = "step";
/// What the names of their suites begin with.
inline constexpr std::string_view step_suites = "steps";
/// The name of a step's capture in validate/steps/captures: "gpt-768-train-4x1024". Throws Error naming a
/// parameter that is missing.
[[nodiscard]] std::string step_name(std::string_view params);

inline constexpr std::string_view microbenchmark_prefix = "microbench_";
[[nodiscard]] bool is_microbenchmark(const RecordedRow& row);

/// The microbenchmark that a row of counters comes from; empty for an operator's counters.
[[nodiscard]] std::string profiled_probe(const RecordedRow& row);

/// Whether the scoreboard predicts this row. Predicted rows are device durations of a known operator, sums
/// and wall times of a step, and any quantity of a microbenchmark that has a program.
[[nodiscard]] bool is_predictable(const RecordedRow& row);

}  // namespace warptime::validate
