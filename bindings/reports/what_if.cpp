// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/what_if.hpp"

#include <algorithm>

namespace warptime::reports {

void add_kernel_settings(std::span<const hw::Setting> settings, ReportContext& context) {
    for (const hw::Setting& setting : settings) {
        if (setting.scope == hw::Setting::Scope::kernel) {
            add_setting("kernel." + setting.key, setting.text, context);
        }
    }
}

void mark_what_if(const ReportContext& context, model::prediction::Prediction& prediction) {
    if (context.settings.empty()) {
        return;
    }
    prediction.status = model::prediction::Status::what_if;
    const bool of_gpu = std::any_of(context.settings.begin(), context.settings.end(),
                                    [](const auto& setting) { return setting.first.starts_with("gpu."); });
    if (of_gpu && prediction.band_source.starts_with("residuals")) {
        prediction.band_source += ", before the change";
    }
}

}  // namespace warptime::reports
