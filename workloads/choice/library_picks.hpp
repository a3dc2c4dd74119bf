// The kernels that a library launched for products like one: asks the trees of workloads/libraries/picks.hpp.
// Ignores: where the trees are wrong (docs/mechanisms/libraries.md says how often). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <array>
#include <span>

namespace warptime::workloads::choice {

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
[[nodiscard]] std::array<double, feature_count> features_of(const gemm::Problem& problem, int sms);

/// Numbers of picks, some more than once.
struct LikelyPicks {
    std::span<const int> likely;  ///< to choose from; none where nothing is recorded for such a GPU or type
    std::span<const int> around;  ///< those and others of products a little less alike, where times decide
};

/// `families`: those that the picks name.
[[nodiscard]] LikelyPicks picks_of(const gemm::Problem& problem, const libraries::PickTable& table,
                                   const std::vector<libraries::GemmFamily>& families, const hw::Gpu& gpu);

/// The library takes none of the likely kernels where the fastest of them takes so many times as long as one
/// of those around: products between what was recorded (trees that had not seen the rows' shapes:
/// gemm_bf16_second 4.1 to 3.8 %, gemm_fp16_second 9.9 to 8.5 %, the others stay; fit and development rows).
inline constexpr double too_slow_to_be_picked = 1.2;

/// The kernel of a pick for this problem.
[[nodiscard]] gemm::Config config_of_pick(const gemm::Problem& problem, const libraries::KernelPick& pick,
                                          const libraries::PickTable& table,
                                          const libraries::GemmFamily& family, const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice
