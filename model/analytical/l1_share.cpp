// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/l1_share.hpp"

#include "hw/dual.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/op_kind.hpp"
#include "model/memory/l1_residence.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::analytical {

template <class S>
double l1_room(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    const occupancy::SmLimits limits = occupancy::limits_of(gpu);
    const occupancy::Occupancy resident = occupancy::residency(kernel, limits);
    const auto sms = static_cast<std::int64_t>(hw::value_of(gpu.sm.count));
    const int ctas = static_cast<int>(std::clamp<std::int64_t>((kernel.grid.volume() + sms - 1) / sms, 1,
                                                               std::max(1, resident.ctas_per_sm)));
    // The carveout holds what all resident CTAs need, or what the kernel wishes; it never falls below the
    // system's part of as many CTAs as an SM can hold (recorded sets stay up to the same size at a wish for
    // 0 % and without a wish).
    const std::int64_t needed = std::max(
        kernel.carveout >= 0 ? resident.shared_per_sm : resident.shared_per_cta * resident.ctas_per_sm,
        limits.shared_reserved * limits.ctas);
    std::int64_t shared = 0;
    for (std::size_t i = limits.carveout_count; i-- > 0;) {
        if (limits.carveouts[i] >= needed) shared = limits.carveouts[i];
    }
    return (hw::value_of(gpu.l1.capacity) - hw::value_of(gpu.l1.reserved) - static_cast<double>(shared)) /
           ctas;
}

template double l1_room(const kernel::Kernel&, const hw::Gpu<double>&);
template double l1_room(const kernel::Kernel&, const hw::Gpu<hw::Dual<4>>&);

bool comes_back(const kernel::Kernel& kernel, const kernel::Access& access) {
    if (access.pattern == kernel::PatternKind::chase ||
        (access.pattern == kernel::PatternKind::random && access.origin[0].is_constant())) {
        return true;
    }
    if (access.pattern == kernel::PatternKind::collective) {
        return false;
    }
    for (std::size_t t = access.origin[0].first;
         t < access.origin[0].first + std::size_t{access.origin[0].count}; ++t) {
        if (kernel.terms[t].modulus > 0) {
            return true;
        }
    }
    return false;
}

double span_bytes(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access,
                  const kernel::Freedom& free, double line_bytes) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    if (access.pattern == kernel::PatternKind::chase) {
        const double step = std::max(1.0, static_cast<double>(access.step)) * size;
        const double lines = static_cast<double>(access.window) * size / step;
        return lines * std::min(step, line_bytes);
    }
    if (access.pattern == kernel::PatternKind::random) {
        return static_cast<double>(access.distinct) * size;
    }
    // The instructions of one op read side by side, within the buffer.
    return std::min(static_cast<double>(buffer.elements()) * size,
                    kernel::span_of(kernel, access.origin[0], free) * size +
                        static_cast<double>(op.count) * access_bytes(kernel, access).full);
}

bool may_hit_l1(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.cls != hw::InstructionClass::ld_global || op.access_count != 1) {
        return false;
    }
    const kernel::Access& access = kernel.accesses[op.first_access];
    return access.cache == kernel::CachePolicy::ca && is_global(kernel, access) && comes_back(kernel, access);
}

double l1_hit_share(const kernel::Kernel& kernel, const kernel::Op& op, const L1Reader& reader,
                    double lines) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    double trips = 1.0;
    for (const double others : reader.free.loop) {
        trips *= others + 1.0;
    }
    const double read = trips * static_cast<double>(op.count) * reader.warps * op.active * reader.lanes *
                        access_bytes(kernel, access).full;
    const double span = span_bytes(kernel, op, access, reader.free, reader.line_bytes);
    if (span >= read) {
        return 0.0;
    }
    const double kept = access.pattern == kernel::PatternKind::random
                            ? std::min(1.0, reader.room / span)
                            : 1.0 - memory::missed_in_turn(span, reader.room, reader.ways);
    // What has never been read before misses in all its lines together.
    return std::pow(kept, lines) * (1.0 - span / read);
}

}  // namespace warptime::model::analytical
