// Machine instructions around each op: in its outermost loop, or in the straight code of its role.
// Ignores: the few instructions that prepare addresses, which the description leaves out.
// Source: model/kernel/README.md; an op stands for `count` instructions in a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <cstddef>
#include <vector>

namespace warptime::model::kernel {

/// Instructions by op of the kernel; 0 for an op that no role has.
[[nodiscard]] inline std::vector<double> code_around(const Kernel& kernel, const hw::Gpu& gpu) {
    std::vector<double> around(kernel.ops.size(), 0.0);
    const auto text_of = [&](const Op& op) {
        return static_cast<double>(op.count) * gpu.instructions[op.cls].machine.value();
    };
    const auto each_op = [&](std::size_t first, std::size_t last, auto&& visit) {
        for (std::size_t n = first; n < last; ++n) {
            if (kernel.nodes[n].kind == NodeKind::op) visit(kernel.nodes[n].payload);
        }
    };
    for (const Role& role : kernel.roles) {
        double straight = 0.0;
        std::vector<std::size_t> outside;
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            const Node& node = kernel.nodes[n];
            if (node.kind == NodeKind::op) {
                straight += text_of(kernel.ops[node.payload]);
                outside.push_back(node.payload);
            } else if (node.kind == NodeKind::loop) {
                double loop = 0.0;
                each_op(n + 1, node.end, [&](std::size_t op) { loop += text_of(kernel.ops[op]); });
                each_op(n + 1, node.end, [&](std::size_t op) { around[op] = loop; });
                n = node.end - 1U;
            }
        }
        for (const std::size_t op : outside) around[op] = straight;
    }
    return around;
}

}  // namespace warptime::model::kernel
