// Every microbenchmark that is also written as a program, by the suite and operator of its rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/microbench/programs/probe.hpp"

#include <span>
#include <string_view>

namespace warptime::validate::microbench {

struct Family {
    std::string_view suite;  ///< "microbench_" and the name of its CUDA source
    std::string_view op;
    Probe (*make)(const Parameters& parameters, const hw::Gpu& gpu);
};

// One list for each file of programs.
[[nodiscard]] std::span<const Family> copy_families();
[[nodiscard]] std::span<const Family> lane_access_families();
[[nodiscard]] std::span<const Family> chase_families();
[[nodiscard]] std::span<const Family> code_families();
[[nodiscard]] std::span<const Family> kernel_chain_families();
[[nodiscard]] std::span<const Family> stream_families();
[[nodiscard]] std::span<const Family> arithmetic_families();
[[nodiscard]] std::span<const Family> barrier_families();
[[nodiscard]] std::span<const Family> matrix_families();
[[nodiscard]] std::span<const Family> launch_families();
[[nodiscard]] std::span<const Family> load_families();
[[nodiscard]] std::span<const Family> memory_step_families();
[[nodiscard]] std::span<const Family> shared_chase_families();
[[nodiscard]] std::span<const Family> atomic_families();
[[nodiscard]] std::span<const Family> divergence_families();
[[nodiscard]] std::span<const Family> dsmem_families();
[[nodiscard]] std::span<const Family> handshake_families();
[[nodiscard]] std::span<const Family> loaded_chase_families();
[[nodiscard]] std::span<const Family> local_memory_families();
[[nodiscard]] std::span<const Family> spill_families();
[[nodiscard]] std::span<const Family> tile_store_families();
[[nodiscard]] std::span<const Family> request_merging_families();
[[nodiscard]] std::span<const Family> tensor_box_families();

/// Nothing for a microbenchmark that is not written as a program.
[[nodiscard]] const Family* find_family(std::string_view suite, std::string_view op);

/// The probe of a recorded row. The rows of its suite are the evidence for its kernels.
[[nodiscard]] Probe probe_of(const Family& family, const Parameters& parameters, const hw::Gpu& gpu);

}  // namespace warptime::validate::microbench
