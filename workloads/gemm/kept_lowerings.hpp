// Keeps lowered tilings, so that another problem of the same types only has its sizes set.
// The sizes are schedule, grid, and extents and strides of the matrices.
// Ignores: tilings whose lanes copy or store less than 16 bytes. Their bodies depend on the pitches, so such
// tilings are lowered each time.
// Source: the members of Problem that the files of this folder read; kept_lowerings_test compares results.
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

/// All of a problem except its sizes.
struct OperandTypes {
    Dtype a{}, b{}, accumulator{}, out{};
    Major a_major{}, b_major{};
    friend bool operator==(const OperandTypes&, const OperandTypes&) = default;
};

[[nodiscard]] OperandTypes types_of(const Problem& problem);

/// Whether no lane's share of a copy or store depends on the pitches.
[[nodiscard]] bool in_whole_lanes(const Config& config);

class KeptLowerings {
  public:
    struct Lowered {
        model::kernel::Program& program;                                       ///< until the next call
        model::prediction::BodyNumber body = model::prediction::unknown_body;  ///< of its first kernel
    };

    /// `gpu` must outlive this object and must not change.
    explicit KeptLowerings(const hw::Gpu& gpu);
    /// Gives the same program as `lower` on an empty program, bit for bit. Throws Error as `lower` does.
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
    std::vector<std::unique_ptr<Place>> places_;  ///< tilings with the same place replace one another
    model::kernel::Program other_;                ///< a tiling that is lowered each time
};

}  // namespace warptime::workloads::gemm
