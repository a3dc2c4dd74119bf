// A kernel written in the text form of the description (model/kernel/text.hpp), as a program of one step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <string>
#include <string_view>

namespace warptime::workloads::frontends {

/// Throws Error naming `origin`, line and column for a text that is no kernel, or none that passes the
/// checks.
[[nodiscard]] model::kernel::Program program_of_text(std::string_view text, std::string_view origin);

/// The same from a file. Throws Error for one that cannot be read.
[[nodiscard]] model::kernel::Program read_kernel_file(const std::string& path);

}  // namespace warptime::workloads::frontends
