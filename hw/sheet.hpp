// Loading a GPU by sheet id or from a user's file, and listing the sheets there are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/setting.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

/// The id of the sheet that is meant: its own in any case, or the words of it that tell it from all others,
/// in their order ("H200", "rtx4090", "a100-pcie-40gb"). Throws Error listing the ids where several have the
/// words ("a100"), and naming the nearest where none has.
[[nodiscard]] std::string sheet_id_of(std::string_view name);

/// `id_or_path`: the name of a sheet (sheet_id_of), or a path (it contains '/' or ends in ".toml") to a TOML
/// sheet, which may say inherits = "<id>" in its [sheet] and then only needs what differs. The sheet's facts
/// are checked (checks.hpp), then the settings of scope gpu are applied. Throws Error for an unknown id
/// (naming the nearest), a file that cannot be read, any fault of parse_sheet_file, and a key that has no
/// value (naming sheet and key).
[[nodiscard]] Gpu load_gpu(std::string_view id_or_path, std::span<const Setting> settings = {});

struct SheetSummary {
    std::string id;
    std::string name;
    std::string architecture;
    bool calibrated = false;  ///< its calibration rests on recorded rows of its own
    std::string board = {};   ///< the board's name as its driver reports it; empty when unknown
};

/// The embedded sheets in order of their id.
[[nodiscard]] std::vector<SheetSummary> list_sheets();

}  // namespace warptime::hw
