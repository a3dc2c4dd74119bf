// What a report says besides the prediction: the operation with its parameters, the GPU, the conditions, the
// engine. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"
#include "workloads/registry/registry.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::reports {

/// `number`: the text is a whole number and is written without quotes in JSON. `is_default`: not asked for;
/// the reports for a terminal leave it out.
struct ReportParameter {
    std::string name;
    std::string text;
    bool number = false;
    bool is_default = false;
};

struct ReportContext {
    std::string gpu;  ///< sheet id
    std::string op;
    std::vector<ReportParameter> parameters;  ///< defaults filled in, in the registry's order
    model::prediction::Conditions conditions;
    std::string engine;
    std::vector<std::pair<std::string, std::string>> settings;  ///< key with prefix, value as given
};

/// One more change; a key that was changed before keeps the earlier value in sight.
void add_setting(const std::string& key, const std::string& value, ReportContext& context);

/// The settings are those of the GPU. Parameters that the lowering works out (a tile that was not given) are
/// left out.
[[nodiscard]] ReportContext make_report_context(const workloads::Operation& operation, const hw::Gpu& gpu,
                                                const model::prediction::Conditions& conditions,
                                                std::string_view engine);

}  // namespace warptime::reports
