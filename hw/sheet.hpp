// Loads a GPU by sheet id or from a user's file, and lists the embedded sheets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/setting.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

/// The id of the sheet that `name` means. `name` is the whole id in any letter case, or enough words of the
/// id in order. Examples: "H200", "rtx4090", "a100-pcie-40gb". Where several ids have the words ("a100"),
/// throws Error listing the ids. Where no id has the words, throws Error naming the nearest id.
[[nodiscard]] std::string sheet_id_of(std::string_view name);

/// `id_or_path`: the name of a sheet (sheet_id_of), or the path of a TOML sheet. A path contains '/' or ends
/// in ".toml". A user's sheet may say inherits = "<id>" in its [sheet], and then needs only the values that
/// differ. The sheet's facts are checked (checks.hpp), then the settings of scope gpu are applied. Throws
/// Error for an unknown id (naming the nearest), a file that cannot be read, and any fault of
/// parse_sheet_file. Also throws for a key without a value, naming sheet and key.
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
