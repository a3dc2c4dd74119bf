// Data about vendor libraries: the tiles that cuBLAS ships, PyTorch's launch rules.
// This folder has one versioned TOML file for each library; the program embeds the files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/attention_family.hpp"
#include "workloads/libraries/exchange_rule.hpp"
#include "workloads/libraries/gemm_family.hpp"
#include "workloads/libraries/grouped_rule.hpp"
#include "workloads/libraries/kernel_rule.hpp"
#include "workloads/libraries/picks.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::libraries {

/// An elementwise kernel: fixed threads, a fixed number of elements per thread, vector accesses. `overhead`
/// counts a thread's warp-instructions beside loads, stores and the operation itself. Types below 32 bits are
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

/// The rule of cudaMemcpy within a device. A copy of more than `ragged_above` bytes takes a second pass if
/// `granule` does not divide its length.
struct DeviceCopyRule {
    std::int64_t granule = 1;
    std::int64_t ragged_above = 0;
    int numbers = 0;
};

/// The host of a framework: microseconds that it takes for an eager launch, with all that it does beside.
struct HostRule {
    std::string name;
    double launch_us = 0.0;
    int numbers = 0;
};

struct Libraries {
    DeviceCopyRule device_copy;
    std::vector<GemmFamily> gemm_families;
    std::vector<GemmFamily> convolution_families;  ///< implicit products of convolutions
    std::vector<PickTable> pick_tables;
    std::vector<ElementwiseRule> elementwise_rules;
    std::vector<AttentionFamily> attention_families;
    std::vector<KernelRule> kernel_rules;
    std::vector<GroupedRule> grouped_rules;
    std::vector<ProtocolRule> protocol_rules;
    std::vector<ExchangeRule> exchange_rules;
    std::vector<PeerRule> peer_rules;
    std::vector<HostRule> hosts;
};

/// Reads the embedded data files.
[[nodiscard]] Libraries load_libraries();
/// Reads data files given as text; errors name `origin` and the field.
void read_library(std::string_view text, std::string_view origin, Libraries& libraries);

}  // namespace warptime::workloads::libraries
