// Lowered tilings that are kept, so that another problem of the same types only has its sizes set: schedule,
// grid, and extents and strides of the matrices. Ignores: tilings whose lanes copy or store less than 16
// bytes, whose bodies hang on the pitches; they are lowered each time.
// Source: what the files of this folder read of a Problem; kept_lowerings_test compares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "workloads/gemm/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warptime::workloads::gemm {

/// What a problem is beside its sizes.
struct OperandTypes {
    Dtype a{}, b{}, accumulator{}, out{};
    Major a_major{}, b_major{};
    friend bool operator==(const OperandTypes&, const OperandTypes&) = default;
};

class KeptLowerings {
  public:
    struct Lowered {
        model::kernel::Program& program;                                       ///< until the next call
        model::prediction::BodyNumber body = model::prediction::unknown_body;  ///< of its first kernel
    };

    /// `gpu` must outlive this and stay as it is.
    explicit KeptLowerings(const hw::Gpu& gpu);
    /// What `lower` makes of an empty program, bit for bit. Throws as it does.
    [[nodiscard]] Lowered lower(const Problem& problem, const Config& config);

  private:
    struct Place {
        model::prediction::BodyNumber body = model::prediction::unknown_body;
        OperandTypes types;
        Config config;                  ///< completed, without the order of its tiles
        std::int64_t k_iterations = 0;  ///< of splits
        std::int64_t most_ctas = 0;     ///< of a persistent grid
        model::kernel::Program program;
    };

    const hw::Gpu* gpu_;
    model::prediction::BodyNumber last_body_ = model::prediction::unknown_body;
    std::vector<std::unique_ptr<Place>> places_;  ///< tilings that share one push one another out
    model::kernel::Program other_;                ///< the one that is lowered each time
};

}  // namespace warptime::workloads::gemm
