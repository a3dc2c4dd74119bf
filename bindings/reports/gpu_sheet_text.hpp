// The TOML of a sheet of one's own: a known GPU by inheritance, and the numbers that were set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <string>

namespace warptime::reports {

/// `gpu` with its settings applied; `like` is the sheet that it was loaded from. Every key that a setting
/// changed or made follow is written, with its source; empty: the settings.
[[nodiscard]] std::string sheet_text(const hw::Gpu& gpu, const std::string& like, const std::string& name,
                                     const std::string& source = {});

}  // namespace warptime::reports
