// Registers and shared memory of the kernel that was recorded, as its compiler gave them, for predictions
// that are told them instead of estimating. Ignores: spills. Source: the column `steps` of recorded rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warptime::validate {

struct CompiledResources {
    std::int64_t registers = 0;     ///< of a thread
    std::int64_t shared_bytes = 0;  ///< of a CTA
};

/// Of the last step of `steps`, "name grid=8x1x1 block=256x1x1 registers=220 shared=147456 us=8.9 | ...":
/// the product, which comes behind what clears its sums. Empty where the step does not name both.
[[nodiscard]] std::optional<CompiledResources> compiled_resources(std::string_view steps);

}  // namespace warptime::validate
