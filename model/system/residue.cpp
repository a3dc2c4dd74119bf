// SPDX-License-Identifier: Apache-2.0
#include "model/system/residue.hpp"

#include <algorithm>

namespace warptime::model::system {

double kept_share(double since, const hw::Gpu& gpu) {
    const double capacity = gpu.l2.capacity.value();
    const double surely = capacity * gpu.l2.usable.value() / gpu.l2.partitions.value();
    if (since <= surely) return 1.0;
    return std::clamp((capacity - since) / (capacity - surely), 0.0, 1.0);
}

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
