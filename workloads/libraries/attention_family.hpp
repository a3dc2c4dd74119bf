// The attention kernels of a library in its data: tiles by size of a head, warps, registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::libraries {

/// Kernel for heads of up to `head` elements: `m` queries and `n` keys at a time. `warps` counts those that
/// multiply.
struct AttentionTile {
    int m = 0, n = 0;
    int head = 0;
    int warps = 0;
    int registers = 0;
    int stages = 0;             ///< blocks of K, and of V, in shared memory
    int shared = 0;             ///< bytes of shared memory; 0: those of its blocks
    int aside = 0;              ///< instructions of a trip for addresses, moves and spilled registers
    int rows_registers = 0;     ///< backward: of the kernel before the gradients
    int convert_registers = 0;  ///< backward: of the kernel behind them
    bool v_in_registers = false,
         one_stage = false;  ///< backward: V is not kept in shared memory; one block of Q
    bool causal = false;     ///< only with a causal mask
    bool full = false;       ///< only without a mask
    int shared_least = 0;    ///< bytes that a CTA must be able to have; 0: any GPU
    int shared_of_sm = 0;    ///< takes GPUs whose SM has fewer bytes than this; 0: any GPU
    int compute_least = 0;   ///< compute capability, as 90
    int compute_most = 0;    ///< 0: any
};

/// Kernels of one pass of a library.
struct AttentionFamily {
    std::string implementation;  ///< flash2, flash3 or cudnn
    std::string pass;            ///< forward, split (of the keys), backward
    int compute_least = 0, compute_most = 0;
    bool persistent = false;     ///< CTAs take one block of queries after another
    bool longest_first = false;  ///< they take the longest of a causal mask first
    bool cleared = false;        ///< a memset comes before the kernel
    std::vector<AttentionTile> tiles;
    int numbers = 0;
};

}  // namespace warptime::workloads::libraries
