// What an engine may do besides: predict one kernel under several groupings of its tiles, looking at its body
// once. Tuners try every tile with several; nothing but the traffic depends on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/prediction.hpp"

#include <cstdint>
#include <span>

namespace warptime::model::prediction {

/// An Engine that is also one of these (dynamic_cast tells) answers as its `evaluate` would, bit for bit.
class GroupsTiles {
  public:
    GroupsTiles() = default;
    GroupsTiles(const GroupsTiles&) = delete;
    GroupsTiles& operator=(const GroupsTiles&) = delete;
    virtual ~GroupsTiles() = default;

    /// The kernel with its schedule's group as each of `groups` in turn, which the last one stays. Both spans
    /// have the same length. Throws as evaluate does.
    virtual void evaluate_groups(kernel::Kernel& kernel, std::span<const std::int64_t> groups,
                                 const hw::Gpu<double>& gpu, const Conditions& conditions,
                                 std::span<Estimate<double>> estimates) const = 0;
};

}  // namespace warptime::model::prediction
