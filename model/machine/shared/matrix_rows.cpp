// Passes of an ldmatrix or stmatrix, from the rows that its access describes. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/matrix_rows.hpp"

#include "model/machine/demand/listed_rows.hpp"

#include <algorithm>
#include <span>

namespace warptime::model::machine {

namespace {

constexpr std::size_t rows_of_matrix = 8;

/// Mean over the listed executions. Lanes whose rows the instruction does not take are off.
MatrixRows of_listed(const kernel::Kernel& kernel, const kernel::Access& access, const BankGeometry& banks) {
    const std::size_t count = listed_rows(access);
    MatrixRows result{0, 0.0};
    for (std::size_t i = 0; i < count; ++i) {
        const ListedRow listed = listed_row(kernel, access, i);
        std::int64_t matrices = 0;
        for (std::size_t first = 0; first < listed.at.size(); first += rows_of_matrix) {
            LaneAddresses rows{};
            std::size_t taken = 0;
            for (std::size_t lane = first; lane < first + rows_of_matrix; ++lane) {
                if (((listed.mask >> lane) & 1U) != 0) rows[taken++] = listed.at[lane];
            }
            matrices += taken > 0 ? 1 : 0;
            result.passes += static_cast<double>(ldmatrix_passes(std::span(rows).first(taken), banks));
        }
        result.matrices = std::max(result.matrices, matrices);
    }
    result.passes /= static_cast<double>(count);
    return result;
}

MatrixRows of_strided(const kernel::Kernel& kernel, const kernel::Access& access, const BankGeometry& banks) {
    const std::int64_t size = hw::bytes_of(kernel.buffers[static_cast<std::size_t>(access.buffer)].dtype);
    const std::int64_t group = std::max<std::int64_t>(1, access.inner_extent);
    LaneAddresses rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        rows[i] = (row % group * access.inner + row / group * access.outer) * size;
    }
    const std::int64_t count =
        access.outer != 0 ? lanes_per_warp
                          : std::clamp<std::int64_t>(group, std::int64_t{rows_of_matrix}, lanes_per_warp);
    MatrixRows result;
    result.matrices = count / static_cast<std::int64_t>(rows_of_matrix);
    const auto taken = static_cast<std::size_t>(result.matrices) * rows_of_matrix;
    result.passes = static_cast<double>(ldmatrix_passes(std::span(rows).first(taken), banks));
    return result;
}

}  // namespace

MatrixRows matrix_rows(const kernel::Kernel& kernel, const kernel::Op& op, const BankGeometry& banks) {
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (access.buffer == kernel::no_id) continue;
        if (access.pattern == kernel::PatternKind::stride) return of_strided(kernel, access, banks);
        if (access.pattern == kernel::PatternKind::listed && listed_rows(access) > 0) {
            return of_listed(kernel, access, banks);
        }
    }
    return {};
}

}  // namespace warptime::model::machine
