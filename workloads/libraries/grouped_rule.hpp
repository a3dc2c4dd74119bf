// The grouped product of a library in its data: tile, cluster and launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warptime::workloads::libraries {

/// A tile of a grouped product. It is taken where the rows of an expert, or its columns, are at most
/// `side_most`; 0: always. Rules are tried in order.
struct GroupedRule {
    int compute_major = 0;
    int side_most = 0;
    int m = 0, n = 0, k = 0;
    int cluster_m = 1, cluster_n = 1;
    int stages = 0, warps = 0, registers = 0, shared = 0;
    bool pingpong = false;
    int prepare_registers = 0;  ///< of the kernel that writes the list of problems
    int numbers = 0;
};

}  // namespace warptime::workloads::libraries
