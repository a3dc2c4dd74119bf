// Banks by hashed address, and batches of writes. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/dram_banks.hpp"

#include "model/simulation/warp_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warptime::model::simulation {

DramBanks::DramBanks(const hw::Gpu& gpu, double byte, double share)
    : piece_bytes_(gpu.dram.access_bytes.value()) {
    for (std::size_t i = 0; i < draws; ++i) {
        draw_[i] = -std::log(1.0 - (static_cast<double>(i) + 0.5) / static_cast<double>(draws));
    }
    const double sum = std::accumulate(draw_.begin(), draw_.end(), 0.0);
    for (double& draw : draw_) draw *= static_cast<double>(draws) / sum;
    const double whole_channels = std::max(1.0, gpu.l2.slices.value() * gpu.sm.count.value());
    if (!(gpu.dram.queue.value() > 0.0)) return;
    // Each piece holds its bank for the mean wait at half load.
    const double whole_banks = gpu.dram.queue.value() / (piece_bytes_ * byte);
    const auto channels = std::max<std::int64_t>(1, std::llround(whole_channels * share));
    const auto of_channel = std::max<std::int64_t>(1, std::llround(whole_banks / whole_channels));
    banks_.resize(static_cast<std::size_t>(channels * of_channel));
    pending_.resize(static_cast<std::size_t>(channels));
    of_bank_ = static_cast<double>(banks_.size()) / share;
    of_channel_ = static_cast<double>(channels) / share;
    batch_ = gpu.dram.write_wait.value();
    mean_ = ticks_of(piece_bytes_ * byte * of_bank_);
}

void DramBanks::serve(std::uint64_t piece, double cycles, double first, Ticks now, Ticks& last) {
    // Banks follow one another, from a place on that no other range of pieces shares.
    const std::uint64_t count = banks_.size();
    const std::uint64_t range = piece / count;
    std::uint64_t bank = piece - range * count + (((scattered(range) >> 32) * count) >> 32);
    bank -= bank < count ? 0 : count;
    const std::size_t draw = scattered(piece) % draws;
    const Ticks time = ticks_of(cycles * draw_[draw]);
    const Ticks held = first < 1.0 ? ticks_of(cycles * draw_[draw] * first) : time;
    last = std::max(last, banks_[bank].serve(now, held) + time - held);
}

Ticks DramBanks::read(const Place& place, double bytes, double byte, Ticks now, double first) {
    if (banks_.empty()) return now;
    Ticks last = now;
    const double cycles = byte * of_bank_;
    const double row = place.row > 0.0 ? place.row : bytes;
    std::uint64_t begin = place.first;
    double left = bytes;
    while (left > 0.0) {
        auto piece = static_cast<std::uint64_t>(static_cast<double>(begin) / piece_bytes_);
        double in_row = std::min(left, row);
        while (in_row > 0.0) {
            serve(piece++, std::min(in_row, piece_bytes_) * cycles, first, now, last);
            in_row -= piece_bytes_;
        }
        left -= row;
        begin += place.pitch;
    }
    return last;
}

void DramBanks::write(double bytes, double byte, Ticks now) {
    if (banks_.empty()) return;
    const std::size_t of_channel = banks_.size() / pending_.size();
    double left = bytes;
    while (left > 0.0) {
        const std::size_t channel = next_++ % pending_.size();
        pending_[channel] += std::min(left, piece_bytes_) * byte * of_channel_;
        left -= piece_bytes_;
        if (pending_[channel] < batch_) continue;
        const Ticks time = ticks_of(pending_[channel]);
        for (std::size_t i = 0; i < of_channel; ++i) banks_[channel * of_channel + i].serve(now, time);
        pending_[channel] = 0.0;
    }
}

}  // namespace warptime::model::simulation
