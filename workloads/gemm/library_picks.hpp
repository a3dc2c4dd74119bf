// The kernels that a library launched for products like one: asks the trees of workloads/libraries/picks.hpp.
// Ignores: where the trees are wrong (validate/STORIES.md says how often). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <array>
#include <span>

namespace warptime::workloads::gemm {

/// Tiles whose number, and whose place in the last wave, the trees ask for; scripts/learn_picks.py has the
/// same.
inline constexpr std::array<std::pair<int, int>, 12> asked_tiles{{{16, 64},
                                                                  {64, 16},
                                                                  {32, 64},
                                                                  {64, 32},
                                                                  {64, 64},
                                                                  {128, 64},
                                                                  {64, 128},
                                                                  {128, 128},
                                                                  {256, 128},
                                                                  {128, 256},
                                                                  {192, 192},
                                                                  {128, 320}}};
inline constexpr std::size_t feature_count = 14 + 2 * asked_tiles.size();

/// What the trees may ask for, in the order of their numbers.
[[nodiscard]] std::array<double, feature_count> features_of(const Problem& problem, int sms);

/// Numbers of the picks to choose from; empty where nothing is recorded for such a GPU or type. `families`:
/// those that the picks name.
[[nodiscard]] std::span<const int> picks_of(const Problem& problem, const libraries::PickTable& table,
                                            const std::vector<libraries::GemmFamily>& families,
                                            const hw::Gpu<double>& gpu);

/// The kernel of a pick for this problem.
[[nodiscard]] Config config_of_pick(const Problem& problem, const libraries::KernelPick& pick,
                                    const libraries::PickTable& table, const libraries::GemmFamily& family,
                                    const hw::Gpu<double>& gpu);

}  // namespace warptime::workloads::gemm
