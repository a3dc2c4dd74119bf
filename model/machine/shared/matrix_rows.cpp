// Passes of an ldmatrix or stmatrix, from the rows that its access describes. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/matrix_rows.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace warptime::model::machine {

MatrixRows matrix_rows(const kernel::Kernel& kernel, const kernel::Op& op, const BankGeometry& banks) {
    MatrixRows result;
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (access.pattern != kernel::PatternKind::stride || access.buffer == kernel::no_id) continue;
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const auto pitch =
            static_cast<std::int64_t>(static_cast<double>(access.inner) * hw::bytes_of(buffer.dtype));
        std::array<std::int64_t, 32> rows{};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = static_cast<std::int64_t>(i) * pitch;
        }
        const std::int64_t count = std::clamp<std::int64_t>(access.inner_extent, 8, 32);
        result.matrices = count / 8;
        result.passes =
            ldmatrix_passes(std::span(rows).first(static_cast<std::size_t>(result.matrices * 8)), banks);
    }
    return result;
}

}  // namespace warptime::model::machine
