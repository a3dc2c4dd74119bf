// Marks an answer about changed numbers: it names them, and nobody has measured such a GPU or kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/setting.hpp"
#include "model/prediction/prediction.hpp"

#include <span>

namespace warptime::reports {

/// Adds settings of scope kernel to a report's context, which already has the settings of the GPU.
void add_kernel_settings(std::span<const hw::Setting> settings, ReportContext& context);

/// With settings the status becomes what-if, and the band is that of the unchanged GPU.
void mark_what_if(const ReportContext& context, model::prediction::Prediction& prediction);

}  // namespace warptime::reports
