// When the stores of a CTA have arrived: a fence waits for plain ones, the end of a group for bulk ones.
// Ignores: stores of other CTAs of the SM, and which warp's stores are the last. Source: recorded tiles
// stored by one to all SMs with a wait after each (microbench_epilogue tile_store): a tile takes its transfer
// through the SM's port and then what does not depend on its size (keys latency.store, latency.bulk_store).
// Where all SMs store, fences wait at the L2's rate, behind everybody's stores, and groups for their own
// stores alone. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// How much longer a store's transfer takes than through its own port when `sms` SMs send at the same time.
template <class S>
[[nodiscard]] S store_slowdown(std::int64_t sms, const hw::Gpu<S>& gpu) {
    const S sending = S(static_cast<double>(sms)) / gpu.sm.count.value();
    return hw::max(S(1.0), sending * gpu.l2.write_bandwidth.value() / gpu.l2.ingest_bandwidth.value());
}

/// SMs that store at the same time.
template <class S>
[[nodiscard]] std::int64_t storing_sms(const kernel::Kernel& kernel, const hw::Gpu<S>& gpu) {
    return std::min<std::int64_t>(kernel.grid.volume(),
                                  static_cast<std::int64_t>(hw::value_of(gpu.sm.count)));
}

/// Whether a token tells of bulk stores that have arrived.
[[nodiscard]] inline bool ends_bulk_stores(const kernel::Kernel& kernel, kernel::Id token) {
    return std::any_of(kernel.ops.begin(), kernel.ops.end(), [&](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::cp_async_bulk_store && op.completes == token;
    });
}

/// Stores of one CTA that nobody has waited for yet.
template <class S>
class StoreDrain {
  public:
    explicit StoreDrain(const S& slowdown) : slowdown_(slowdown) {}
    [[nodiscard]] const S& slowdown() const { return slowdown_; }

    /// Stores whose first instruction issues at `start` and which take `sent` of the SM's port.
    void add(const hw::Cycles<S>& start, const hw::Cycles<S>& sent, bool bulk) {
        begin_ = here_ ? begin_ : start;
        here_ = true;
        sent_ += bulk ? sent : sent * slowdown_;
        (bulk ? bulk_ : plain_) = true;
    }
    /// Code that is left takes its clock with it; what it has stored may still be under way.
    void leave() {
        here_ = false;
        sent_ = hw::Cycles<S>{};
    }
    /// When those stores have arrived, for a wait that begins at `now`; nothing is under way afterwards.
    [[nodiscard]] hw::Cycles<S> arrived(const hw::Cycles<S>& now, const hw::Gpu<S>& gpu) {
        hw::Cycles<S> end = here_ ? hw::max(now, hw::Cycles<S>(begin_ + sent_)) : now;
        if (plain_) end += gpu.latency.store;
        if (bulk_ && !plain_) end += gpu.latency.bulk_store;
        plain_ = bulk_ = false;
        leave();
        return end;
    }

  private:
    S slowdown_;
    bool here_ = false;  ///< some of them belong to the code that runs now
    bool plain_ = false, bulk_ = false;
    hw::Cycles<S> begin_{}, sent_{};
};

}  // namespace warptime::model::analytical
