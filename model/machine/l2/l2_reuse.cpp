// DRAM reads of shared operands in closed form: number and LRU distance of each slice's repeated touches.
// A slice is touched again in the next wave, after a gap (a column or band), or after a plane. Each kind has
// a count and a stack distance in bytes of room; l2_places.hpp turns the distance into misses. Counts come
// from the tiles that runs of items touch, at all boundaries between waves or at four.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_reuse.hpp"

#include "hw/small_vector.hpp"
#include "model/machine/l2/l2_places.hpp"

#include <algorithm>
#include <span>

namespace warptime::model::machine {

namespace {

constexpr int boundary_samples = 4;

struct ReuseTally {
    double slice_bytes = 0.0;
    double room = 0.0;      ///< bytes of capacity that a slice takes
    double in_plane = 0.0;  ///< slices of one plane
    double first = 0.0;     ///< slices in all
    double touches = 0.0;   ///< slices of each wave, added over the waves
    double adjacent = 0.0;  ///< touches whose slice the wave before touched as well
    double adjacent_missed = 0.0;
    double sum = 0.0;   ///< distinct slices of the two waves at a boundary, added up
    double both = 0.0;  ///< and of both waves together
    Dependence dependence;
};

/// Share of the touches at a distance that miss.
double missed_at(double distance, const ReuseCase& reuse) noexcept {
    return lost_in_turn(distance, reuse.capacity_bytes, reuse.ways);
}

/// Rounds a number >= 0 down; cheaper than std::floor.
double whole(double x) noexcept {
    return static_cast<double>(static_cast<std::int64_t>(x));
}

using Tallies = std::span<ReuseTally>;

/// Counts distinct slices around a boundary.
void count_at(const TileRuns& runs, double start, double wave, Tallies tallies) noexcept {
    const double plane = runs.plane_of(start);
    if (plane == runs.plane_of(start + 2.0 * wave - 1.0)) {
        const double offset = start - plane * runs.plane_items();
        const auto first = runs.place(offset);
        const auto last = runs.place(offset + wave - 1.0);
        const auto next_first = runs.place(offset + wave);
        const auto next_last = runs.place(offset + 2.0 * wave - 1.0);
        const auto before = runs.between(first, last);
        const auto after = runs.between(next_first, next_last);
        const auto both = runs.between(first, next_last);
        for (ReuseTally& tally : tallies) {
            tally.sum = before.of(tally.dependence) + after.of(tally.dependence);
            tally.both = both.of(tally.dependence);
        }
        return;
    }
    const auto before = runs.touched(start, wave);
    const auto after = runs.touched(start + wave, wave);
    const auto both = runs.touched(start, 2.0 * wave);
    for (ReuseTally& tally : tallies) {
        tally.sum = before.distinct(tally.dependence) + after.distinct(tally.dependence);
        tally.both = both.distinct(tally.dependence);
    }
}

/// Adds the boundary between the waves at `start` and `start + wave` with a weight. Returns the bytes between
/// equal points of both sweeps: half of what each wave touches.
double add_boundary(const TileRuns& runs, double start, double wave, double streamed, const ReuseCase& reuse,
                    double weight, Tallies tallies) noexcept {
    count_at(runs, start, wave, tallies);
    double footprint = wave * streamed;
    for (ReuseTally& tally : tallies) {
        footprint += 0.5 * tally.sum * tally.room;
        tally.touches += 0.5 * tally.sum * weight;
    }
    const double missed = weight * missed_at(footprint, reuse);
    for (ReuseTally& tally : tallies) {
        const double shared = tally.sum - tally.both;
        tally.adjacent += shared * weight;
        tally.adjacent_missed += shared * missed;
    }
    return footprint;
}

}  // namespace

void l2_reuse(const ReuseCase& reuse, std::span<const Operand> operands, std::span<OperandTraffic> traffic) {
    const TileOrder& order = reuse.order;
    const TileRuns runs(order);
    const bool along_n = order.raster == Raster::along_n;
    const auto items = static_cast<double>(order.items());
    const std::int64_t order_wave = std::min(reuse.concurrent, order.items());
    const auto wave = static_cast<double>(order_wave);
    const std::int64_t order_waves = (order.items() + order_wave - 1) / order_wave;
    const auto waves = static_cast<double>(order_waves);
    const auto minor = static_cast<double>(order.minor());
    const auto major = static_cast<double>(order.major());
    const auto height = static_cast<double>(order.band());
    const auto batch = static_cast<double>(order.batch);
    const auto split = static_cast<double>(order.split);
    const double streamed = reuse.streamed_bytes_per_item;
    const std::size_t count = operands.size();

    hw::SmallVector<ReuseTally, usual_operands> room(count);
    const Tallies tallies(room.begin(), count);
    double column_distance = std::max(wave, height) * streamed;
    double band_distance = std::max(wave, height * major) * streamed;
    double plane_distance = minor * major * streamed;
    double batches_distance = plane_distance * batch;
    for (std::size_t i = 0; i < count; ++i) {
        const Operand& operand = operands[i];
        ReuseTally& tally = tallies[i];
        tally.dependence = {operand.along_m, operand.along_n, operand.along_batch, operand.along_split};
        const bool by_minor = along_n ? operand.along_m : operand.along_n;
        const bool by_major = along_n ? operand.along_n : operand.along_m;
        tally.in_plane = (by_minor ? minor : 1.0) * (by_major ? major : 1.0);
        tally.first =
            tally.in_plane * (operand.along_batch ? batch : 1.0) * (operand.along_split ? split : 1.0);
        tally.slice_bytes =
            operand.total_bytes > 0.0 ? operand.total_bytes / tally.first : operand.slice_bytes;
        tally.room = tally.slice_bytes * operand.room;
        column_distance += tally.room * (by_minor ? height : 1.0);
        band_distance += tally.room * (by_minor ? 2.0 * height : 1.0) * (by_major ? major : 1.0);
        plane_distance += tally.room * tally.in_plane;
        batches_distance += tally.room * tally.in_plane * (operand.along_batch ? batch : 1.0);
    }

    double footprint = 0.0;  // mean room of the slices that a wave touches
    if (waves <= 1.0) {
        for (std::size_t i = 0; i < count; ++i) {
            tallies[i].touches = tallies[i].first;
        }
    } else if (waves - 1.0 <= boundary_samples) {
        for (std::int64_t b = 0; b + 1 < order_waves; ++b) {
            const double begin = static_cast<double>(b) * wave;
            footprint += add_boundary(runs, begin, wave, streamed, reuse, 1.0, tallies);
        }
        footprint /= waves - 1.0;
        const auto head = runs.touched(0.0, wave);
        const auto tail = runs.touched((waves - 1.0) * wave, wave);
        for (std::size_t i = 0; i < count; ++i) {  // the first and last wave have one boundary each
            tallies[i].touches +=
                0.5 * (head.distinct(tallies[i].dependence) + tail.distinct(tallies[i].dependence));
        }
    } else {
        const double boundaries = whole(items / wave) - 1.0;  // boundaries between full waves
        const double weight = (waves - 1.0) / boundary_samples;
        for (int sample = 0; sample < boundary_samples; ++sample) {
            const double b = whole((sample + 0.5) / boundary_samples * boundaries);
            footprint += add_boundary(runs, b * wave, wave, streamed, reuse, weight, tallies);
        }
        footprint /= boundary_samples;
        for (std::size_t i = 0; i < count; ++i) {
            tallies[i].touches *= items / wave / (waves - 1.0);
        }
    }

    for (std::size_t i = 0; i < count; ++i) {
        const Operand& operand = operands[i];
        const ReuseTally& tally = tallies[i];
        const bool by_minor = along_n ? operand.along_m : operand.along_n;
        const double touches = std::max(tally.touches, tally.first);
        const double gapped = std::max(0.0, touches - tally.first - tally.adjacent);
        const double planes = tally.first / tally.in_plane;
        const double by_plane = std::min(gapped, tally.in_plane * (batch * split - planes));
        const double gap_distance = std::max(footprint, by_minor ? column_distance : band_distance);
        const double again_distance = std::max(
            footprint, operand.along_batch && !operand.along_split ? batches_distance : plane_distance);
        const double reads = tally.first + tally.adjacent_missed +
                             missed_at(gap_distance, reuse) * (gapped - by_plane) +
                             missed_at(again_distance, reuse) * by_plane;
        traffic[i] = {items * tally.slice_bytes, touches * tally.slice_bytes, tally.first * tally.slice_bytes,
                      std::min(reads, touches) * tally.slice_bytes};
    }
}

}  // namespace warptime::model::machine
