// Writes a sheet of one's own, which nothing overwrites and which can be read back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace warptime::cli {

/// Throws UsageError where `path` does not end in .toml or exists already.
void require_new_sheet(const std::string& path);

/// Writes the sheet and reads it back, so that no faulty one stays; says how to use it.
void write_new_sheet(const std::string& path, const std::string& text);

}  // namespace warptime::cli
