// What one run leaves behind for a timeline: CTAs, what their warps do, and the busy spans of units.
// Ignores: when the results of an op come back piece by piece; an op is complete once.
// Source: model/kernel/README.md, Meaning 1 to 5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/simulation/server.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace warptime::model::simulation {

/// One execution of an op, in the order of issue.
struct TraceRow {
    Ticks start = 0, done = 0;
    std::int32_t sm = 0, cta = 0, warp = 0;
    kernel::Id op = kernel::no_id;
    std::int32_t place = 0;  ///< of the CTA on its SM
    Ticks ready = 0;         ///< its warp may go on
    friend bool operator==(const TraceRow&, const TraceRow&) = default;
};

/// A warp that waits for a token.
struct WaitRow {
    Ticks start = 0, end = 0;
    std::int32_t sm = 0, place = 0, warp = 0;
    kernel::Id token = kernel::no_id;
    friend bool operator==(const WaitRow&, const WaitRow&) = default;
};

/// A warp's work on one item.
struct ItemRow {
    Ticks start = 0, end = 0;
    std::int32_t sm = 0, place = 0, warp = 0;
    std::int64_t item = 0;
    friend bool operator==(const ItemRow&, const ItemRow&) = default;
};

struct CtaRow {
    Ticks start = 0, end = 0;
    std::int32_t sm = 0, place = 0;
    std::int64_t cta = 0;
    std::vector<std::int64_t> items;
    double stands_for = 1.0;  ///< CTAs of its SM
    friend bool operator==(const CtaRow&, const CtaRow&) = default;
};

/// A unit of an SM, or of the whole chip (`sm` < 0).
struct UnitTrack {
    std::string name;
    std::int32_t sm = 0;
    ServerLog log;
};

/// `detailed_sms`: of the first so many SMs ops, waits, items and units are kept; CTAs of all SMs are.
struct Trace {
    std::int64_t detailed_sms = std::numeric_limits<std::int64_t>::max();
    std::vector<TraceRow> ops;
    std::vector<WaitRow> waits;
    std::vector<ItemRow> items;
    std::vector<CtaRow> ctas;
    std::deque<UnitTrack> units;
    kernel::Id running = kernel::no_id;  ///< op on whose behalf units are asked now
    kernel::Id nothing = kernel::no_id;
};

}  // namespace warptime::model::simulation
