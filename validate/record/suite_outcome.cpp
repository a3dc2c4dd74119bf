// Names of how a suite ended; the header explains the states.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/suite_outcome.hpp"

namespace warptime::validate::record {

const char* to_string(SuiteState state) {
    switch (state) {
        case SuiteState::complete:
            return "complete";
        case SuiteState::time_over:
            return "cases left";
        case SuiteState::missing:
            return "left out";
        case SuiteState::failed:
            return "failed";
    }
    return "";
}

}  // namespace warptime::validate::record
