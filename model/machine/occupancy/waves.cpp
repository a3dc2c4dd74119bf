// Waves and makespans. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/waves.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

namespace warptime::model::machine {

namespace {

void require_slots(std::int64_t slots) {
    if (slots < 1) {
        throw Error("waves slots", std::to_string(slots), "at least 1 resident CTA");
    }
}

}  // namespace

Waves waves_of(std::int64_t items, std::int64_t slots) {
    require_slots(slots);
    if (items < 0) {
        throw Error("waves items", std::to_string(items), "at least 0");
    }
    return {items, slots, items / slots, items % slots,
            static_cast<double>(items) / static_cast<double>(slots)};
}

double greedy_makespan(std::span<const double> durations, std::int64_t slots, std::vector<double>& free_at) {
    require_slots(slots);
    // Slots beyond the number of items never receive one.
    const auto used = std::min(static_cast<std::size_t>(slots), durations.size());
    free_at.assign(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(used));
    double last = 0.0;
    for (const double end : free_at) {
        last = std::max(last, end);
    }
    const auto later = std::greater<>();  // the heap's front is the slot that is free first
    std::make_heap(free_at.begin(), free_at.end(), later);
    for (const double duration : durations.subspan(used)) {
        std::pop_heap(free_at.begin(), free_at.end(), later);
        free_at.back() += duration;
        last = std::max(last, free_at.back());
        std::push_heap(free_at.begin(), free_at.end(), later);
    }
    return last;
}

double strided_makespan(std::span<const double> durations, std::int64_t slots) {
    require_slots(slots);
    const auto stride = static_cast<std::size_t>(slots);
    double last = 0.0;
    for (std::size_t slot = 0; slot < std::min(stride, durations.size()); ++slot) {
        double end = 0.0;
        for (std::size_t item = slot; item < durations.size(); item += stride) {
            end += durations[item];
        }
        last = std::max(last, end);
    }
    return last;
}

}  // namespace warptime::model::machine
