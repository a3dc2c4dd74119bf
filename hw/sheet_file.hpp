// One TOML file of a GPU, a sheet of vendor facts or a calibration, as values by key.
// Ignores: inheritance and missing keys, which sheet.hpp handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/key.hpp"
#include "hw/provenance.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

struct SheetValue {
    std::size_t key = 0;
    std::vector<double> values;  ///< base units; one element unless the key is a list
    Provenance provenance;
};

struct SheetFile {
    std::string id;
    std::string inherits;  ///< id of the sheet or calibration that gives what is missing here
    std::map<std::string, std::string>
        text;  ///< name, board, architecture, compute_capability, memory_type, isa
    std::vector<SheetValue> values;
    int rows = 0;  ///< most recorded rows behind any of its values, bands apart
};

/// vendor: [sheet] and vendor keys only. calibration: [calibration] and fitted keys only, each with interval,
/// rows, residual and date. user: [sheet] and both kinds.
enum class SheetKind : std::uint8_t { vendor, calibration, user };

/// Parses the text of one file. Errors name `id` and the key. Throws Error for invalid TOML, and for an
/// unknown table, key or field, with the nearest name. Also throws for a wrong dimension, a number without
/// source or confidence, and a fraction in place of a count.
[[nodiscard]] SheetFile parse_sheet_file(std::string_view text, const std::string& id, SheetKind kind);

}  // namespace warptime::hw
