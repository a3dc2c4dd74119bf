// Writes a file as a whole or not at all. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace warptime::validate {

/// Writes beside `path` and renames. Throws Error naming the path when that fails; the old file then stays.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace warptime::validate
