// The GEMM kernels of a library as its data describes them: tiles, clusters, and the rules by which it
// launches them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"

#include <cstdint>
#include <string>
#include <vector>

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

/// Kernels built the same way for one generation of GPUs.
struct GemmFamily {
    std::string name;
    int compute_major = 0;
    int compute_minor_min = 0;
    std::vector<hw::Dtype> dtypes;
    int row_alignment = 16;  ///< bytes that every row must be aligned to, and the width of one lane's copy
    int copy_bytes = 0;      ///< of one lane, where less than the alignment; 0: the alignment
    int mma_k = 0;           ///< K of mma.sync; 0: 32 bytes of it
    int ragged_n = 0;        ///< taken only, and before others, where this does not divide N; 0: always
    bool split_searched = false;  ///< the number of splits is tried out instead of following the wave rule
    /// wgmma, mma.sync, simt, dot (simt, columns of C whole) or streamed dot (the same, straight to
    /// registers)
    std::string instruction;
    std::string pipeline;  ///< tma, cp.async or sync
    bool persistent = false;
    int k_bytes = 128;  ///< bytes of K per stage
    int stages_max = 0;
    std::int64_t shared_limit = 0;  ///< bytes that the stages may fill
    int threads = 0;
    int registers = 0;
    double dynamic_above_waves = 0.0;  ///< a tile counter (and its memset) beyond this many waves; 0: never
    int cluster_above_one_wave =
        0;  ///< the one size of cluster that grids of several waves are given; 0: any
    /// Grids of several waves are given tiles that the consumers share, but for those with a side below 64.
    bool cooperative_above_one_wave = false;
    int split_min_iterations = 0;  ///< least k-iterations of a split
    int split_fills = 0;  ///< CTAs an SM that tiles are split to fill, where they are fewer; 0: no such rule
    int split_max = 1;
    int split_elements_max = 0;  ///< elements of the largest tile that is split; 0: any
    /// Partial tiles of a split are added up block by block in a kernel of its own, up to so many bytes of
    /// them and, of two splits, so many tiles; beyond that by the last CTA of each tile. 0: as plain sums.
    std::int64_t blocks_up_to_bytes = 0;
    int blocks_of_pairs_up_to = 0;
    int copy_conflicts = 0;        ///< passes that lanes of a copy wait for one another at banks of the stage
    double split_waves_max = 0.0;  ///< no more waves of whole tiles than this are split; 0: any
    int split_work_min = 0;        ///< K times splits is no less; 0: any
    int rows_max = 0;              ///< rows of C that its kernels take at most; 0: any
    int rows_always = 0;           ///< products of up to so many rows run no other family
    int band_clusters = 0;  ///< that follow one another across their longer side before the next line of them
                            ///< begins; 0: no bands, along the shorter side of the grid
    int band_tiles = 0;     ///< along N in a band at most (a power of two; fewer where there are few), and
                            ///< every band is launched whole, as by CUTLASS 2; 0: as band_clusters says
    std::vector<ClusterShape> clusters;
    std::vector<Tile> tiles;
    int numbers = 0;  ///< of its data: what predictions of these kernels rest on
};

}  // namespace warptime::workloads::libraries
