// Bisects each resource, because a smaller resource never allows fewer CTAs.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/occupancy_hint.hpp"

namespace warptime::reports {

namespace {

using model::machine::CtaResources;
using model::machine::Limit;
using model::machine::SmLimits;

// The largest value in [low, high] at which `fits` holds; empty when it does not hold at `low`.
template <class Fits>
std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, const Fits& fits) {
    if (high < low || !fits(low)) {
        return std::nullopt;
    }
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (fits(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// Lowers one resource of `cta` until its limit allows `wanted` CTAs, if the resource limits them.
template <class Value>
void add_hint(std::vector<OccupancyHint>& hints, const char* name, Limit limit, int wanted, CtaResources& cta,
              Value CtaResources::*resource, std::int64_t smallest, const SmLimits& limits) {
    const auto allows = [&](std::int64_t value) {
        CtaResources changed = cta;
        changed.*resource = static_cast<Value>(value);
        return model::machine::occupancy(changed, limits).ctas_by(limit) >= wanted;
    };
    const std::int64_t given = cta.*resource;
    if (allows(given)) {
        return;
    }
    const std::optional<std::int64_t> largest = largest_that_fits(smallest, given - 1, allows);
    hints.push_back({name, given, largest});
    if (largest) {
        cta.*resource = static_cast<Value>(*largest);
    }
}

}  // namespace

std::vector<OccupancyHint> hints_for_one_more(const CtaResources& cta, const SmLimits& limits) {
    const int wanted = model::machine::occupancy(cta, limits).ctas_per_sm + 1;
    std::vector<OccupancyHint> hints;
    if (wanted > limits.ctas) {
        hints.push_back({"ctas", wanted, std::nullopt});
    }
    CtaResources changed = cta;
    add_hint(hints, "threads", Limit::threads, wanted, changed, &CtaResources::threads, 1, limits);
    add_hint(hints, "registers", Limit::registers, wanted, changed, &CtaResources::registers_per_thread, 1,
             limits);
    add_hint(hints, "shared_bytes", Limit::shared, wanted, changed, &CtaResources::dynamic_shared, 0, limits);
    add_hint(hints, "barriers", Limit::barriers, wanted, changed, &CtaResources::named_barriers, 0, limits);
    return hints;
}

}  // namespace warptime::reports
