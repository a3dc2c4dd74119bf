// The kernels that a library launched for similar products, found by trees (workloads/libraries/picks.hpp).
// Ignores: cases in which the trees are wrong (docs/mechanisms/libraries.md says how often).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/gemm/problem.hpp"
#include "workloads/libraries/library.hpp"

#include <array>
#include <span>

namespace warptime::workloads::choice {

/// Tile sizes for the questions of the trees: how many tiles, and how many in the last wave.
/// scripts/learn_picks.py has the same sizes.
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

/// The numbers that the trees may ask for, in their order.
[[nodiscard]] std::array<double, feature_count> features_of(const gemm::Problem& problem, int sms);

/// Numbers of picks; one number may come more than once.
struct LikelyPicks {
    std::span<const int> likely;  ///< candidates; empty where nothing is recorded for the GPU or type
    std::span<const int> around;  ///< where times decide: the candidates and picks of less similar products
};

[[nodiscard]] LikelyPicks picks_of(const gemm::Problem& problem, const libraries::PickTable& table,
                                   const hw::Gpu& gpu);

/// If the fastest likely pick takes this many times as long as a pick around, the pick around is taken. This
/// happens for products between recorded products. Trees that had not seen the rows' shapes: gemm_bf16_second
/// went from 4.1 to 3.8 %, gemm_fp16_second from 9.9 to 8.5 %, the others stayed (fit and development rows).
inline constexpr double too_slow_to_be_picked = 1.2;

/// The configuration of a pick for this problem.
[[nodiscard]] gemm::Config config_of_pick(const gemm::Problem& problem, const libraries::KernelPick& pick,
                                          const libraries::PickTable& table,
                                          const libraries::GemmFamily& family, const hw::Gpu& gpu);

}  // namespace warptime::workloads::choice
