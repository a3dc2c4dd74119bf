// What a recorded row asks of a model: operation, conditions and the key that decides its split.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "validate/recorded_rows.hpp"
#include "validate/split.hpp"
#include "workloads/registry/registry.hpp"

#include <string>
#include <string_view>

namespace warptime::validate {

/// Whether workloads knows this operator (a microbenchmark's is none).
[[nodiscard]] bool is_operator(std::string_view op);

/// Parameters that choose a kernel (registry's part_of_key) go to `configuration`, all others to `shape`, in
/// canonical spelling. Of an operator that the registry does not know, everything is shape. `params` is
/// sorted text as recorded. Throws Error for parameters that the operator refuses.
[[nodiscard]] CaseKey case_key(std::string_view op, std::string_view params);

/// The row's parameters with its implementation, where the operator has such a parameter. Throws Error for
/// what the registry refuses.
[[nodiscard]] workloads::Operation operation_of(const RecordedRow& row);

/// The same, told what the compiler gave the kernel where the operator takes it and the row's steps and
/// parameters do not say otherwise; else as above.
[[nodiscard]] workloads::Operation operation_as_compiled(const RecordedRow& row);

/// Empty cells are the defaults.
[[nodiscard]] model::prediction::Conditions conditions_of(const RecordedRow& row);

inline constexpr std::string_view microbenchmark_prefix = "microbench_";
[[nodiscard]] bool is_microbenchmark(const RecordedRow& row);

/// The microbenchmark whose program a row of counters was read from; empty for an operator's counters.
[[nodiscard]] std::string profiled_probe(const RecordedRow& row);

/// Whether the scoreboard predicts this row: a device duration of a known operator, or any quantity of a
/// microbenchmark that is also written as a program.
[[nodiscard]] bool is_predictable(const RecordedRow& row);

}  // namespace warptime::validate
