// What a report needs besides the prediction: which operation, on which GPU, under which conditions, by which
// engine. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "model/prediction/prediction.hpp"

#include <string>
#include <vector>

namespace warptime::model::prediction {

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
    Conditions conditions;
    std::string engine;
};

/// The version of the program, as CMake's project has it.
[[nodiscard]] std::string_view program_version();

}  // namespace warptime::model::prediction
