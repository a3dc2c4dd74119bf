// Slices by hashed address. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/l2_slices.hpp"

#include "model/simulation/warp_choice.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::simulation {

L2Slices::L2Slices(const hw::Gpu& gpu, double share)
    : partitions_(static_cast<std::uint64_t>(std::max(1.0, gpu.l2.partitions.value()))),
      line_(gpu.l1.line.value()) {
    const double whole = gpu.l2.slices.value() * gpu.sm.count.value();
    slices_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, std::llround(whole * share))));
    shared_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, std::llround(whole))));
    of_slice_ = static_cast<double>(slices_.size()) / share;
}

std::size_t L2Slices::slice_of(std::uint64_t line, std::uint64_t count) {
    const std::uint64_t range = line / count;
    const std::uint64_t slice = line - range * count + (((scattered(range) >> 32) * count) >> 32);
    return static_cast<std::size_t>(slice - (slice < count ? 0 : count));
}

/// Calls `visit` with the number of each line and the bytes asked of it.
template <class Visit>
void L2Slices::each_line(const Place& place, double bytes, Visit visit) const {
    const bool in_rows = 0.0 < place.row && place.row <= line_;
    const double step = in_rows ? place.row : line_;
    const std::uint64_t pitch = in_rows ? place.pitch : static_cast<std::uint64_t>(line_);
    std::uint64_t first = place.first;
    double left = bytes;
    while (left > 0.0) {
        visit(static_cast<std::uint64_t>(static_cast<double>(first) / line_), std::min(left, step));
        left -= step;
        first += pitch;
    }
}

L2Slices::Passed L2Slices::pass(const Place& place, double bytes, double byte, std::int32_t sm, Ticks now,
                                double times, double asking) {
    Passed passed{now, false};
    const double visits = 2.0 - 1.0 / static_cast<double>(partitions_);
    // Many lines fill all slices evenly.
    std::vector<Server>& slices = times > 1.0 ? shared_ : slices_;
    if (bytes > line_ * static_cast<double>(slices.size())) {
        return {spread(bytes * visits * asking, byte, now), partitions_ > 1};
    }
    const double cycles = byte * of_slice_ * times * asking;
    const std::uint64_t side = scattered(static_cast<std::uint64_t>(sm)) % partitions_;
    each_line(place, bytes, [&](std::uint64_t line, double asked) {
        const Ticks time = ticks_of(asked * cycles);
        passed.end = std::max(passed.end, slices[slice_of(line, slices.size())].serve(now, time));
        if (scattered(line) % partitions_ == side) return;
        passed.far = true;
        const std::uint64_t across = line + slices.size() / 2;
        passed.end = std::max(passed.end, slices[slice_of(across, slices.size())].serve(now, time));
    });
    return passed;
}

Ticks L2Slices::take_in(const Place& place, double bytes, double byte, Ticks now) {
    if (bytes > line_ * static_cast<double>(slices_.size())) return spread(bytes, byte, now);
    Ticks end = now;
    each_line(place, bytes, [&](std::uint64_t line, double asked) {
        end = std::max(
            end, slices_[slice_of(line, slices_.size())].serve(now, ticks_of(asked * byte * of_slice_)));
    });
    return end;
}

Ticks L2Slices::spread(double bytes, double byte, Ticks now) {
    const Ticks time = ticks_of(bytes / static_cast<double>(slices_.size()) * byte * of_slice_);
    Ticks end = now;
    for (Server& slice : slices_) end = std::max(end, slice.serve(now, time));
    return end;
}

}  // namespace warptime::model::simulation
