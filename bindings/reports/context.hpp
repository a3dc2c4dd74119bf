// The data of a report besides the prediction: operation with parameters, GPU, conditions, engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"
#include "workloads/registry/registry.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::reports {

/// A parameter in a report. `number`: the text is a whole number, which JSON shows without quotes.
/// `is_default`: the user did not ask for it, and terminal reports omit it. dtype always counts as asked for.
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

/// Adds a change. The entry of a key that was changed before still shows the earlier value.
void add_setting(const std::string& key, const std::string& value, ReportContext& context);

/// Makes the context with the settings of the GPU. Parameters that the lowering works out (a missing tile)
/// are omitted.
[[nodiscard]] ReportContext make_report_context(const workloads::Operation& operation, const hw::Gpu& gpu,
                                                const model::prediction::Conditions& conditions,
                                                std::string_view engine);

}  // namespace warptime::reports
