// Reading of a whole text file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace warptime::hw {

/// The bytes of the file at `path`. Throws Error when the file cannot be read. The error names the
/// `parameter` that gave the path, and the form `expected`.
[[nodiscard]] std::string read_text_file(const std::string& path, std::string_view parameter,
                                         std::string_view expected = "a file that can be read");

}  // namespace warptime::hw
