// Arrival of a CTA's stores in L2: a fence waits for plain stores, the end of a group for bulk stores.
// A tile takes its transfer through the SM's port, then a latency that does not depend on its size. Where all
// SMs store, fences wait behind all stores at the L2's rate; groups wait for their own stores alone.
// Ignores: stores of the SM's other CTAs, and which warp stores last.
// Source: microbench_epilogue tile_store (keys latency.store, latency.bulk_store).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// Ratio of a store's transfer to that through its own port when `sms` SMs send at the same time.
[[nodiscard]] inline double store_slowdown(std::int64_t sms, const hw::Gpu& gpu) {
    const double sending = static_cast<double>(sms) / gpu.sm.count.value();
    return std::max(1.0, sending * gpu.l2.write_bandwidth.value() / gpu.l2.ingest_bandwidth.value());
}

/// SMs that store at the same time.
[[nodiscard]] inline std::int64_t storing_sms(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    return std::min<std::int64_t>(kernel.grid.volume(), static_cast<std::int64_t>(gpu.sm.count.value()));
}

/// True if a token signals the arrival of bulk stores.
[[nodiscard]] inline bool ends_bulk_stores(const kernel::Kernel& kernel, kernel::Id token) {
    return std::any_of(kernel.ops.begin(), kernel.ops.end(), [&](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::cp_async_bulk_store && op.completes == token;
    });
}

/// Stores of one CTA that are not yet awaited.
class StoreDrain {
  public:
    explicit StoreDrain(double slowdown) : slowdown_(slowdown) {}
    [[nodiscard]] double slowdown() const { return slowdown_; }

    /// Adds stores whose first instruction issues at `start`; they take `sent` of the SM's port.
    /// `kept`: to words that CTAs hand to each other, whose lines the L2 has.
    void add(const hw::Cycles& start, const hw::Cycles& sent, bool bulk, bool kept = false) {
        begin_ = here_ ? begin_ : start;
        here_ = true;
        sent_ += bulk ? sent : sent * slowdown_;
        (bulk ? bulk_ : kept ? kept_ : plain_) = true;
    }
    /// Ends a piece of code with its clock; its stores may still be under way.
    void leave() {
        here_ = false;
        sent_ = hw::Cycles{};
    }
    /// Arrival of the stores for a wait that begins at `now`; nothing is under way afterwards.
    [[nodiscard]] hw::Cycles arrived(const hw::Cycles& now, const hw::Gpu& gpu) {
        hw::Cycles end = here_ ? std::max(now, hw::Cycles(begin_ + sent_)) : now;
        if (plain_) end += gpu.latency.store;
        if (bulk_ && !plain_) end += gpu.latency.bulk_store;
        if (kept_ && !plain_ && !bulk_) end += gpu.latency.l2_far;
        plain_ = bulk_ = kept_ = false;
        leave();
        return end;
    }

  private:
    double slowdown_;
    bool here_ = false;  ///< some stores belong to the code that runs now
    bool plain_ = false, bulk_ = false, kept_ = false;
    hw::Cycles begin_{}, sent_{};
};

}  // namespace warptime::model::machine
