// What an engine may do besides: keep what it has found out about the body of a kernel, for other problems
// that run the same body. Batches and tuners ask for few tiles and many problems; what a CTA does in a trip
// of its loop hangs on the tile. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/engine.hpp"
#include "model/prediction/prediction.hpp"

#include <cstdint>
#include <memory>

namespace warptime::model::prediction {

/// Stands for the body of a kernel. Two kernels with one number, given to one scratch, differ in nothing but
/// the grid, what the schedule says beside its kind and its splits, and extents and strides of buffers.
/// Nothing is kept of `unknown_body`.
using BodyNumber = std::uint64_t;
inline constexpr BodyNumber unknown_body = 0;

/// An Engine that is also one of these (dynamic_cast tells) answers as its `evaluate` would, bit for bit.
class KeepsBodies {
  public:
    KeepsBodies() = default;
    KeepsBodies(const KeepsBodies&) = delete;
    KeepsBodies& operator=(const KeepsBodies&) = delete;
    virtual ~KeepsBodies() = default;

    /// Of bounded size; for one GPU, which stays as it is.
    [[nodiscard]] virtual std::unique_ptr<Scratch> make_keeping_scratch() const = 0;

    /// No allocation. `keeping`: from make_keeping_scratch. Throws as evaluate does.
    [[nodiscard]] virtual Estimate<double> evaluate_kept(const kernel::Kernel& kernel, BodyNumber body,
                                                         const hw::Gpu<double>& gpu,
                                                         const Conditions& conditions,
                                                         Scratch& keeping) const = 0;
};

}  // namespace warptime::model::prediction
