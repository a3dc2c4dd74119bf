// What the reports say about an operation: its parameters in the registry's order, with the defaults filled
// in. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/report.hpp"
#include "workloads/operation.hpp"

#include <string_view>

namespace warptime::workloads {

/// Parameters that the lowering works out (a tile that was not given) are left out.
[[nodiscard]] model::prediction::ReportContext make_report_context(
    const Operation& operation, std::string_view gpu, const model::prediction::Conditions& conditions,
    std::string_view engine);

}  // namespace warptime::workloads
