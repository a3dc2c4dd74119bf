// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/l1_share.hpp"

#include "hw/dual.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

template <class S>
double l1_room(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    const occupancy::SmLimits limits = occupancy::limits_of(gpu);
    const occupancy::Occupancy resident = occupancy::residency(kernel, limits);
    const auto sms = static_cast<std::int64_t>(hw::value_of(gpu.sm.count));
    const int ctas = static_cast<int>(std::clamp<std::int64_t>((kernel.grid.volume() + sms - 1) / sms, 1,
                                                               std::max(1, resident.ctas_per_sm)));
    std::int64_t shared = kernel.carveout >= 0 ? resident.shared_per_sm : 0;
    for (std::size_t i = limits.carveout_count; i-- > 0 && kernel.carveout < 0;) {
        if (limits.carveouts[i] >= resident.shared_per_cta * resident.ctas_per_sm) {
            shared = limits.carveouts[i];
        }
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
    // The instructions of one op read side by side.
    return kernel::span_of(kernel, access.origin[0], free) * size +
           static_cast<double>(op.count) * access_bytes(kernel, access).full;
}

}  // namespace warptime::model::analytical
