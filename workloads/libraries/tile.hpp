// A GEMM kernel's tile and cluster as a library's data describes them. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace warptime::workloads::libraries {

/// One GEMM tile of a family. m and n as in row-major C[m, n]. `groups`: consumer warpgroups that share a
/// tile.
struct Tile {
    int m = 0, n = 0;
    bool cooperative = false;
    bool transposed = false;  ///< the instruction's M runs along n
    int k = 0;                ///< elements along K of a stage; 0: the family's bytes
    int stages = 0;           ///< 0: as many as the family's shared memory holds
    int registers = 0;        ///< 0: the family's
    int k_least = 0;          ///< taken for no shorter K; 0: any
};

struct ClusterShape {
    int m = 1, n = 1;
};

}  // namespace warptime::workloads::libraries
