// Features of an architecture beyond its instruction classes, from hw/isa/*.toml.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::hw {

struct ArchitectureFeatures {
    bool tensor_memory = false;           ///< tensor cores multiply from it (tcgen05)
    bool cluster_launch_control = false;  ///< a running cluster takes over the tile of one yet to be launched
};

/// Features of the instruction table with the name `isa`, such as "sm_90" (Gpu::isa). Throws Error for a
/// table that does not exist.
[[nodiscard]] const ArchitectureFeatures& features_of(std::string_view isa);

/// Reads the [features] of a table's text; `file` names it in errors. Throws Error for a feature that is
/// missing, unknown or without a source.
[[nodiscard]] ArchitectureFeatures parse_features(std::string_view text, std::string_view file);

}  // namespace warptime::hw
