// Writes a file as a whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace warptime::validate {

/// Writes a file beside `path` and renames that file. Throws Error naming the path on failure; the old file
/// then stays.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace warptime::validate
