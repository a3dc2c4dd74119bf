// Limiters of a kernel's time, and the five classes that group them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warptime::model::prediction {

enum class Limiter : std::uint8_t {
    tensor_core,
    fp32,
    fp64,
    integer,
    sfu,
    issue,
    shared,
    l1,
    l2,
    crossbar,
    dram,
    tma,
    chain_latency,
    bytes_in_flight,
    launch,
    tail,
    atomic,
    count
};
inline constexpr std::size_t limiter_count = static_cast<std::size_t>(Limiter::count);

enum class KernelClass : std::uint8_t { compute, memory, latency, occupancy, launch };

/// Names as in the JSON contract; `integer` reads "int".
[[nodiscard]] std::string_view to_string(Limiter limiter);
[[nodiscard]] std::string_view to_string(KernelClass kernel_class);

/// compute: an execution unit binds; memory: a cache, port or DRAM; latency: a chain or too few bytes in
/// flight; occupancy: the tail; launch: the floor.
[[nodiscard]] KernelClass class_of(Limiter limiter);

}  // namespace warptime::model::prediction
