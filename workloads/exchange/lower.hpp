// From an operation between GPUs to the exchange that a library runs on a box: algorithm, protocol, numbers.
// Ignores: the library's own table of times; it is taken to choose the fastest by these laws, except where
// its data say that it leaves the fast protocols early.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/system.hpp"
#include "model/kernel/description.hpp"
#include "workloads/exchange/shape.hpp"
#include "workloads/libraries/library.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace warptime::workloads::exchange {

struct Problem {
    Op op = Op::all_reduce;
    std::int64_t gpus = 2;
    std::int64_t bytes = 0;
    std::int64_t boxes = 0;          ///< that hold the GPUs, evenly; 0: as few as can be
    bool summed_in_switches = true;  ///< the switches can add elements of this type
    std::optional<libraries::ExchangeAlgorithm> algorithm;  ///< none: the fastest
    std::string implementation = "nccl";                    ///< of sends to peers
    std::string protocol;  ///< of rings and trees, by the library's name; empty: the fastest that it takes
};

[[nodiscard]] std::string_view name_of(Op op);
[[nodiscard]] std::string_view name_of(libraries::ExchangeAlgorithm algorithm);

/// NVLink SHARP adds floating-point numbers of 16 and 32 bits, and integers of 32 (NVIDIA's user guide,
/// NCCL_NVLS_ENABLE). Recorded: int8 runs by ring where fp16 does not.
[[nodiscard]] bool switches_add(hw::Dtype dtype);

/// Boxes that hold the GPUs. Throws Error for one GPU, for more than the system joins, and for a number that
/// leaves a box partly empty where there is more than one. A given number of boxes must share the GPUs
/// evenly.
[[nodiscard]] std::int64_t boxes_of(const Problem& problem, const hw::System& system);

/// Throws Error also for an algorithm that library or system does not have for the operation.
[[nodiscard]] model::kernel::Exchange lower(const Problem& problem, const libraries::Libraries& libraries,
                                            const hw::System& system);

}  // namespace warptime::workloads::exchange
