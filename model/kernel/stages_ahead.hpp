// Stages of a pipeline that may be under way at a time.
// Ignores: pipelines beside the deepest one.
// Source: README.md, Token.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

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

}  // namespace warptime::model::kernel
