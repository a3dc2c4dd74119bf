// Which ops work on loaded data, and which only compute addresses and conditions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <vector>

namespace warptime::advice {

/// Arithmetic of numbers; addresses are integers.
[[nodiscard]] bool is_floating(hw::InstructionClass cls);

/// For each op, whether it reads or writes memory by the lanes' own data or depends on such a read: work that
/// grows with the elements of a thread. Floating-point arithmetic counts always. Reads of constants and of
/// one address for all lanes do not count.
[[nodiscard]] std::vector<bool> works_on_data(const model::kernel::Kernel& kernel);

}  // namespace warptime::advice
