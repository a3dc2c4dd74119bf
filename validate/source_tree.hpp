// Where the sources are: probes, recorders, recorded rows, calibrations and what describes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace warptime::validate {

/// The root of the source tree: `asked`, otherwise the working directory, otherwise the tree of this
/// program's build. Throws Error naming the places when none has validate/record/suites.toml.
[[nodiscard]] std::filesystem::path find_sources(const std::filesystem::path& asked);

}  // namespace warptime::validate
