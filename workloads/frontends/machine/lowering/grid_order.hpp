// Finds how a kernel makes tiles of the CTAs along x: row by row, or in bands of several rows.
// Ignores: orders along y and z, and rows of tiles that the CTAs along x do not fill.
// Source: the schedules of model/kernel/README.md; Triton's tutorial on matrix multiplication (grouped
// ordering) for what kernels do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/occupancy/tile_order.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Where one access of a CTA begins, in bytes.
struct CtaBase {
    std::array<std::int64_t, 3> cta{};
    std::int64_t address = 0;
};

/// m and n of the tile that the CTA of place x takes, then its y and z. Without an order: x, y, z and 0.
[[nodiscard]] std::array<std::int64_t, 4> coordinates_of(
    const std::array<std::int64_t, 3>& cta, const std::optional<model::machine::TileOrder>& order);

/// The order under which most accesses begin at an affine function of the tile. `accesses`: the bases of each
/// access in the traced CTAs. None where as many are affine in the CTA's own place.
[[nodiscard]] std::optional<model::machine::TileOrder> order_of_grid(
    std::int64_t ctas_along_x, std::span<const std::vector<CtaBase>> accesses);

}  // namespace warptime::workloads::frontends::machine
