// Names of a prediction's status.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/prediction.hpp"

namespace warptime::model::prediction {

std::string_view to_string(Status status) {
    switch (status) {
        case Status::calibrated:
            return "calibrated";
        case Status::what_if:
            return "what-if";
        case Status::extrapolated:
            break;
    }
    return "extrapolated";
}

}  // namespace warptime::model::prediction
