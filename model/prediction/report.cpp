// The version that every report carries.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/report.hpp"

namespace warptime::model::prediction {

std::string_view program_version() {
    return WARPTIME_VERSION;
}

}  // namespace warptime::model::prediction
