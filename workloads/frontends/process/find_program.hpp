// Where a program is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace warptime::workloads::frontends::process {

/// Whether this user can run the file.
[[nodiscard]] bool is_program(const std::filesystem::path& path);

/// Path of a program on PATH, or the name itself when it holds a slash. Empty when the program cannot be run.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace warptime::workloads::frontends::process
