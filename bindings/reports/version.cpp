// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/version.hpp"

namespace warptime::reports {

std::string_view program_version() {
    return WARPTIME_VERSION;
}

}  // namespace warptime::reports
