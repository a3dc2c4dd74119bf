// Where the warps of a CTA meet, and what the slowest of them executes from one meeting to the next.
// Slowest is who takes longest by pace.hpp. Ignores: barriers of some warps, which count as meetings of all
// that go through them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/interpreter/pace.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Instructions at which the warps of a CTA meet, ascending.
[[nodiscard]] std::vector<std::uint32_t> meetings(const Code& code);

/// Executions by instruction of the warp that takes longest between each two meetings, over a CTA's life.
/// Empty where the warps never meet, do not all meet equally often, or were not traced to their ends.
[[nodiscard]] std::map<std::uint32_t, double> slowest_between_meetings(
    const CtaTrace& cta, const std::vector<int>& warps, const std::vector<std::uint32_t>& meetings,
    const PaceOfCode& pace);

}  // namespace warptime::workloads::frontends::machine
