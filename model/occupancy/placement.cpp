// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy/placement.hpp"

namespace warptime::model::occupancy {

CtaResources resources_of(const kernel::Kernel& kernel) {
    CtaResources cta;
    cta.threads = static_cast<int>(kernel.cta.volume());
    cta.registers_per_thread = kernel.registers_per_thread;
    cta.static_shared = kernel.static_shared;
    cta.dynamic_shared = kernel.dynamic_shared;
    cta.carveout_bytes = kernel.carveout;
    cta.named_barriers = kernel.named_barriers;
    return cta;
}

Occupancy residency(const kernel::Kernel& kernel, const SmLimits& limits) {
    const CtaResources cta = resources_of(kernel);
    const Occupancy result = occupancy(cta, limits);
    if (result.ctas_per_sm == 0) {
        check(cta, limits);
    }
    return result;
}

}  // namespace warptime::model::occupancy
