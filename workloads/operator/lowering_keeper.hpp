// Keeps lowerings from one request to the next.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "workloads/operator/request_interface.hpp"

namespace warptime::workloads {

/// Keeps lowerings for operators whose requests share bodies.
class LoweringKeeper {
  public:
    struct Lowered {
        model::kernel::Program& program;                                       ///< until the next call
        model::prediction::BodyNumber body = model::prediction::unknown_body;  ///< of its first kernel
    };

    LoweringKeeper() = default;
    LoweringKeeper(const LoweringKeeper&) = delete;
    LoweringKeeper& operator=(const LoweringKeeper&) = delete;
    virtual ~LoweringKeeper() = default;

    /// The program that `request.lower` makes, bit for bit; the request must not be open. Throws Error as it
    /// does.
    [[nodiscard]] virtual Lowered lower(const Request& request) = 0;
};

}  // namespace warptime::workloads
