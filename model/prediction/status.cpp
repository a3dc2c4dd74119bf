// Decides a prediction's status from the origin of its constants, the launch conditions and the evidence.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/status.hpp"

#include <algorithm>

namespace warptime::model::prediction {

Status status_of(const hw::Gpu& gpu, const Conditions& conditions, kernel::Evidence evidence) {
    if (std::any_of(gpu.provenance.begin(), gpu.provenance.end(),
                    [](const hw::Provenance& key) { return key.origin == hw::Origin::set; })) {
        return Status::what_if;
    }
    const bool recorded = conditions.clock_hz == 0.0 && conditions.available_sms == 0;
    return status_of(gpu.calibrated && recorded ? Status::calibrated : Status::extrapolated, evidence);
}

}  // namespace warptime::model::prediction
