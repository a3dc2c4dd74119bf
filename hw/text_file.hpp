// Reading of a whole file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warptime::hw {

/// The bytes of the file at `path`. Throws Error when the file cannot be read. The error names the
/// `parameter` that gave the path, and the form `expected`.
[[nodiscard]] std::string read_text_file(const std::string& path, std::string_view parameter,
                                         std::string_view expected = "a file that can be read");

/// The same where the file need not be there: nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> text_of_file(const std::string& path);

}  // namespace warptime::hw
