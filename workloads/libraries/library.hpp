// What is known of vendor libraries as data: the tiles that cuBLAS ships, PyTorch's launch rules.
// One versioned TOML file a library in this folder; embedded in the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/gemm_family.hpp"
#include "workloads/libraries/picks.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::libraries {

/// An elementwise kernel: fixed threads, a fixed number of elements per thread, vector accesses. `overhead`:
/// warp- instructions of a thread beside loads, stores and the operation itself; types below 32 bits are
/// converted and back.
struct ElementwiseRule {
    std::string op;
    int threads = 0;
    int bytes_per_access = 0;
    int elements_per_thread = 0;
    int registers = 0;
    int registers_narrow = 0;
    int overhead = 0;
    int overhead_narrow = 0;
    int numbers = 0;
};

/// cudaMemcpy within a device: a copy of more than `ragged_above` bytes whose length is no multiple of
/// `granule` takes a second pass.
struct DeviceCopyRule {
    std::int64_t granule = 1;
    std::int64_t ragged_above = 0;
    int numbers = 0;
};

struct Libraries {
    DeviceCopyRule device_copy;
    std::vector<GemmFamily> gemm_families;
    std::vector<PickTable> pick_tables;
    std::vector<ElementwiseRule> elementwise_rules;
};

/// Reads the embedded data files.
[[nodiscard]] Libraries load_libraries();
/// Reads data files given as text; errors name `origin` and the field.
void read_library(std::string_view text, std::string_view origin, Libraries& libraries);

}  // namespace warptime::workloads::libraries
