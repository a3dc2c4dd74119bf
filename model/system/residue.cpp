// SPDX-License-Identifier: Apache-2.0
#include "model/system/residue.hpp"

#include <algorithm>

namespace warptime::model::system {

void Residue::take(double touched, double written) {
    last_.push_back({touched, std::min(written, touched)});
    held_ += touched;
    while (!last_.empty() && held_ - last_.front().touched >= capacity_) {
        held_ -= last_.front().touched;
        last_.pop_front();
    }
}

double Residue::dirty_share() const {
    double written = 0.0;
    for (const Operation& operation : last_) written += operation.written;
    return std::min(1.0, written / capacity_);
}

}  // namespace warptime::model::system
