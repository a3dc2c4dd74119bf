// GEMM problems as CUTLASS lists them for its heuristics: the same file, read as operations.
// Ignores: the order of C (the model writes rows), alignments beyond those of the extents, and alpha. Also
// use_fast_acc, which only changes how fp8 sums are rounded and promoted.
// Source of the format: get_gemm_configs in CUTLASS 4's python/cutlass_library/heuristics.py, and
// media/docs/cpp/heuristics.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "workloads/registry/registry.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::choice::tiles {

/// One problem of the list, or the reason why the model cannot take it.
struct ListedProblem {
    std::optional<Operation> operation;
    std::optional<Error> refusal;
};

/// Reads a JSON list of objects with m, n, k, layout, dtype_a, dtype_b and dtype_d. The layout is three of t
/// (row-major) and n (column-major), for A, B and D. Optional are batch_count, dtype_acc, beta and the rest
/// of CUTLASS's names. Operand f32 means tf32, as CUTLASS's tensor kernels multiply it. A problem that the
/// model cannot take becomes a refusal (beta other than 0, an unknown type). The same holds for a problem
/// that is not understood. Throws Error for an unreadable file or one that is no such list, naming `path` and
/// the problem's number.
[[nodiscard]] std::vector<ListedProblem> read_problem_file(const std::string& path);

/// Does the same from text; `name` stands for the file in errors.
[[nodiscard]] std::vector<ListedProblem> parse_problem_list(std::string_view text, const std::string& name);

}  // namespace warptime::workloads::choice::tiles
