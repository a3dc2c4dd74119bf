// A kernel, or a program of several steps, written in the text form of the description
// (model/kernel/text.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <string>
#include <string_view>

namespace warptime::workloads::frontends {

/// Reads a program from text; a text that begins with a kernel is a program of one step. Throws Error naming
/// `origin`, line and column for a text that is neither or fails the checks.
[[nodiscard]] model::kernel::Program program_of_text(std::string_view text, std::string_view origin);

/// Reads the same from a file. Throws Error for an unreadable file.
[[nodiscard]] model::kernel::Program read_kernel_file(const std::string& path);

}  // namespace warptime::workloads::frontends
