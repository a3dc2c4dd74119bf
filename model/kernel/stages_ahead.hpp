// Stages of a pipeline that may be under way at a time.
// Ignores: pipelines beside the deepest one.
// Source: README.md, Token.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/body_nodes.hpp"
#include "model/kernel/description.hpp"
#include "model/kernel/typical_item.hpp"

#include <algorithm>

namespace warptime::model::kernel {

/// Stages by which copies run ahead: the depth of the kernel's deepest token, at least 1. In a ring of
/// mbarriers every stage may be in flight. With groups of asynchronous copies, one stage less may be in
/// flight. The multiplying warps issue a group only after their wait for the previous stage. So one stage is
/// always being read.
[[nodiscard]] inline int stages_ahead(const Kernel& kernel) {
    int depth = 1;
    for (const Token& token : kernel.tokens) {
        const bool group = token.kind == TokenKind::async_group;
        depth = std::max(depth, group ? token.depth - 1 : token.depth);
    }
    return depth;
}

/// Ring that copies by a role of their own fill: its stages, and those that the loop of most trips waits for
/// in a trip. Compilers unroll such loops, so that each of several tokens holds some of the stages.
struct CopyRing {
    double stages = 1.0, of_trip = 1.0;
};
[[nodiscard]] inline CopyRing copy_ring(const Kernel& kernel) {
    const auto filled = [&](Id token) {
        return token != no_id && std::any_of(kernel.ops.begin(), kernel.ops.end(), [&](const Op& op) {
                   return op.completes == token && (op.cls == hw::InstructionClass::cp_async_bulk ||
                                                    op.cls == hw::InstructionClass::cp_async_bulk_tensor);
               });
    };
    CopyRing ring;
    const Coordinates item = typical_item(kernel);
    double most = 0.0;
    for (const Role& role : kernel.roles) {
        const MainLoop main = main_loop(kernel, role, item);
        if (main.node >= role.last_node || main.trips < most) continue;
        double waits = 0.0;
        double stages = 0.0;
        for (std::size_t n = main.node + 1; n < kernel.nodes[main.node].end; ++n) {
            if (kernel.nodes[n].kind != NodeKind::wait) continue;
            const Id token = kernel.waits[kernel.nodes[n].payload].token;
            if (!filled(token)) continue;
            waits += 1.0;
            stages += kernel.tokens[static_cast<std::size_t>(token)].depth;
        }
        if (waits == 0.0) continue;
        most = main.trips;
        ring = {stages, waits};
    }
    return ring;
}

}  // namespace warptime::model::kernel
