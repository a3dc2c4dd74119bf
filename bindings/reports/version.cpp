// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/version.hpp"

#include "model_hash.hpp"

namespace warptime::reports {

std::string_view program_version() {
    return WARPTIME_VERSION;
}

std::string_view model_version() {
    return WARPTIME_VERSION "+" WARPTIME_MODEL_HASH;
}

}  // namespace warptime::reports
