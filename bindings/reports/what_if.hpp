// An answer about changed numbers: it says which, and that nobody has measured such a GPU or kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/setting.hpp"
#include "model/prediction/prediction.hpp"

#include <span>

namespace warptime::reports {

/// Adds settings of scope kernel to what the reports say; those of the GPU are there already.
void add_kernel_settings(std::span<const hw::Setting> settings, ReportContext& context);

/// With settings the status is what-if, and the band is that of the GPU without the changes.
void mark_what_if(const ReportContext& context, model::prediction::Prediction& prediction);

}  // namespace warptime::reports
