// Names of a prediction's status.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/prediction.hpp"

namespace warptime::model::prediction {

std::string_view to_string(Status status) {
    return status == Status::calibrated ? "calibrated" : "extrapolated";
}

}  // namespace warptime::model::prediction
