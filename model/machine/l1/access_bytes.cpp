// Bytes and rows of an access, from its origin and the buffer's extents. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/access_bytes.hpp"

#include "model/machine/l1/row_sectors.hpp"

#include <algorithm>
#include <numeric>

namespace warptime::model::machine {

namespace {

/// Elements of which all values of an index are multiples.
std::int64_t step_of(const kernel::Kernel& kernel, const kernel::Index& index) {
    std::int64_t step = index.constant;
    for (std::size_t i = 0; i < index.count; ++i) {
        step = std::gcd(step, kernel.terms[index.first + i].coefficient);
    }
    return step;
}

}  // namespace

AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access) {
    return access_bytes(kernel, access, kernel::origin_of(kernel, access));
}

AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access,
                         const kernel::AccessOrigin& origin) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    AccessBytes result;
    if (access.pattern == kernel::PatternKind::collective) {
        result.full = size;
        result.inside = size;
        for (std::uint8_t d = 0; d < access.rank; ++d) {
            const auto box = static_cast<double>(access.box[d]);
            const auto extent = static_cast<double>(buffer.extent[d]);
            if (box == 1.0 && origin.tiled[d] <= extent) continue;
            // Whole boxes, rounded up without a library call.
            double whole = static_cast<double>(static_cast<std::int64_t>(extent / box)) * box;
            whole += whole < extent ? box : 0.0;
            const double covered = std::max(whole, origin.tiled[d]);
            result.full *= box;
            result.inside *= covered > extent ? box * (extent / covered) : box;
            if (d > 0) {
                result.rows *= box;
            }
        }
        result.row_bytes = static_cast<double>(access.box[0]) * size;
        // Rows of a matrix start a pitch apart; without rows, boxes start where their origins say.
        result.pitch_bytes = (buffer.rank > 1 ? buffer.stride[1] : step_of(kernel, access.origin[0])) *
                             hw::bytes_of(buffer.dtype);
        result.continued = access.rank > 1 && origin.goes_on;
        return result;
    }
    switch (access.pattern) {
        case kernel::PatternKind::broadcast:
            result.full = access.bytes;
            break;
        case kernel::PatternKind::random:
        case kernel::PatternKind::chase:
            result.full = 32.0 * 32.0;
            break;
        case kernel::PatternKind::stride: {
            // Sectors of a strided row: side by side up to a sector apart, then one sector a lane.
            const double step = std::min(
                32.0, std::max(static_cast<double>(access.bytes), static_cast<double>(access.inner) * size));
            result.full = 32.0 * step;
            break;
        }
        default:
            result.full = 32.0 * access.bytes;
            break;
    }
    result.inside = result.full;
    return result;
}

AccessBytes AccessBytes::on_sectors(double sector) const {
    AccessBytes result = *this;
    const double times = rows_on_sectors(row_bytes, pitch_bytes, sector);
    result.rows *= times;
    if (times > 1.0) result.pitch_bytes = static_cast<std::int64_t>(sector);
    return result;
}

}  // namespace warptime::model::machine
