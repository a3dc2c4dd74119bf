// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/item_demand.hpp"
#include "model/memory/lane_touch.hpp"

#include <algorithm>
#include <numeric>

namespace warptime::model::analytical {

namespace {

/// Elements that the tiles of the schedule cover along an origin that steps with one tile coordinate; tiles
/// padded to whole clusters reach beyond the buffer. 0 for other origins.
double tiled_extent(const kernel::Kernel& kernel, const kernel::Index& origin) {
    for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile && term.position < kernel.schedule.tiles.size()) {
            return static_cast<double>(term.coefficient * kernel.schedule.tiles[term.position]);
        }
    }
    return 0.0;
}

bool has_tile(const kernel::Kernel& kernel, const kernel::Index& index) {
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile && term.coefficient != 0) return true;
    }
    return false;
}

}  // namespace

AccessBytes access_bytes(const kernel::Kernel& kernel, const kernel::Access& access) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    AccessBytes result;
    if (access.pattern == kernel::PatternKind::collective) {
        result.full = size;
        result.inside = size;
        for (std::uint8_t d = 0; d < access.rank; ++d) {
            const auto box = static_cast<double>(access.box[d]);
            const auto extent = static_cast<double>(buffer.extent[d]);
            // Whole boxes, rounded up without a call to the library.
            double whole = static_cast<double>(static_cast<std::int64_t>(extent / box)) * box;
            whole += whole < extent ? box : 0.0;
            const double covered = std::max(whole, tiled_extent(kernel, access.origin[d]));
            result.full *= box;
            result.inside *= covered > extent ? box * (extent / covered) : box;
            if (d > 0) {
                result.rows *= box;
            }
        }
        result.row_bytes = static_cast<double>(access.box[0]) * size;
        result.pitch_bytes = buffer.stride[1] * hw::bytes_of(buffer.dtype);
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

void note_dependence(const kernel::Kernel& kernel, const kernel::Access& access, BufferTraffic& traffic) {
    for (std::uint8_t d = 0; d < access.rank; ++d) {
        const kernel::Index& origin = access.origin[d];
        for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
            const kernel::Term& term = kernel.terms[t];
            if (term.variable == kernel::Variable::tile) {
                if (term.position == 0) {
                    traffic.along_m = true;
                }
                if (term.position == 1) {
                    traffic.along_n = true;
                }
                if (term.position >= 2) {
                    traffic.along_batch = true;
                }
            } else if (term.variable == kernel::Variable::item_begin) {
                traffic.along_split = true;
            } else if (term.variable == kernel::Variable::nested && term.modulus > 0) {
                const kernel::Index& inside = kernel.nested[term.position];
                traffic.shifted = traffic.shifted || has_tile(kernel, inside);
                if (inside.count == 1 && kernel.terms[inside.first].variable == kernel::Variable::tile) {
                    const std::int64_t step = std::max<std::int64_t>(
                        1, static_cast<std::int64_t>(kernel.terms[inside.first].coefficient));
                    traffic.repeat =
                        static_cast<double>(term.modulus / std::gcd<std::int64_t>(step, term.modulus));
                }
            }
        }
    }
}

}  // namespace warptime::model::analytical
