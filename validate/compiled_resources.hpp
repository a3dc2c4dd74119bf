// Registers and shared memory of the recorded kernel, as its compiler gave them.
// For predictions that take these resources instead of estimates. Ignores: spills.
// Source: the column `steps` of recorded rows.
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

/// The resources of the last step of `steps`, "name grid=8x1x1 block=256x1x1 registers=220 shared=147456
/// us=8.9 | ...". The last step is the product, which comes behind the step that clears its sums. Empty where
/// the step does not name both.
[[nodiscard]] std::optional<CompiledResources> compiled_resources(std::string_view steps);

}  // namespace warptime::validate
