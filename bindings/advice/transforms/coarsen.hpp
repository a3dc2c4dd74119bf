// Gives a thread several elements: wider accesses, or more loads before the first value is used.
// The elements come from neighbouring trips of the innermost loop that walks over them, or from neighbouring
// CTAs, of which there are then fewer. Work on data grows with the elements; addresses and conditions are
// computed once. Ignores: registers for the elements, and remainders of sizes that the number does not
// divide.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::advice {

/// Accesses of `bytes` a lane instead of narrower ones. False where lanes do not lie side by side in global
/// memory, or all accesses are as wide already.
[[nodiscard]] bool vectorize(model::kernel::Kernel& kernel, std::int32_t bytes = 16);

/// Every load of the loops that walk over global memory, or of the whole thread where there are none, `times`
/// times before the first value is used.
[[nodiscard]] bool unroll(model::kernel::Kernel& kernel, std::int64_t times);

/// The trips of the loop that walks over global memory shared out among `times` CTAs, which add what they
/// have by atomics. False where several loops walk, results leave within the loop, or the loop adds nothing
/// up.
[[nodiscard]] bool split_sums(model::kernel::Kernel& kernel, std::int64_t times);

}  // namespace warptime::advice
