// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/collective.hpp"

#include <cstddef>

namespace warptime::model::kernel {

WarpDependence warp_dependence(const Kernel& kernel, const Index& index) {
    WarpDependence result;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const Term& term = kernel.terms[t];
        switch (term.variable) {
            case Variable::warp:
            case Variable::thread_x:
            case Variable::thread_y:
            case Variable::thread_z:
                result.on_warp = true;
                break;
            case Variable::instance:
                result.on_instance = true;
                break;
            case Variable::nested: {
                const WarpDependence inner = warp_dependence(kernel, kernel.nested[term.position]);
                result.on_warp = result.on_warp || inner.on_warp;
                result.on_instance = result.on_instance || inner.on_instance;
                break;
            }
            default:
                break;
        }
    }
    return result;
}

bool is_elected(const Kernel& kernel, const Op& op) {
    if (!op.when.active) {
        return false;
    }
    const WarpDependence when = warp_dependence(kernel, op.when.value);
    return when.on_warp || when.on_instance;
}

BoxShare box_share(const Kernel& kernel, const Role& role, const Op& op, const Access& access) {
    BoxShare share;
    if (access.pattern != PatternKind::collective || op.cls == InstructionClass::wgmma ||
        kernel.buffers[static_cast<std::size_t>(access.buffer)].space != Space::global ||
        is_elected(kernel, op)) {
        return share;
    }
    share.together = true;
    share.each_instance = role.alternate;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const WarpDependence origin = warp_dependence(kernel, access.origin[d]);
        share.together = share.together && !origin.on_warp;
        share.each_instance = share.each_instance || origin.on_instance;
    }
    return share;
}

}  // namespace warptime::model::kernel
