// The GEMM kernels of a library in its data: tiles, clusters, and launch rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::libraries {

/// One GEMM tile of a family. m and n are as in row-major C[m, n]. `cooperative`: all consumer warpgroups
/// share one tile.
struct Tile {
    int m = 0, n = 0;
    bool cooperative = false;
    bool transposed = false;  ///< the instruction's M runs along n
    int k = 0;                ///< elements along K of a stage; 0: the family's bytes
    int stages = 0;           ///< 0: as many as the family's shared memory holds
    int registers = 0;        ///< 0: those of the family
    int k_least = 0;          ///< the shortest K that takes the tile; 0: any
};

struct ClusterShape {
    int m = 1, n = 1;
};

/// Kernels built the same way for one generation of GPUs.
struct GemmFamily {
    std::string name;
    std::vector<int> compute;  ///< compute capabilities that run its kernels, 10 times major plus minor
    std::vector<hw::Dtype> dtypes;
    int row_alignment = 16;  ///< bytes to which every row must be aligned, and the width of one lane's copy
    int copy_bytes = 0;      ///< of one lane, where less than the alignment; 0: the alignment
    /// Instructions on the integer unit by which a warp's trip finds the places of elements, beside those of
    /// matrices in memory: once, and for each copy of a lane. Loops of multiply-adds alone.
    double trip_places = 0.0, copy_places = 0.0;
    int mma_k = 0;                ///< K of one mma.sync in elements; 0: 32 bytes along K
    int ragged_n = 0;             ///< serves only N that this does not divide, before others; 0: any N
    bool split_searched = false;  ///< the number of splits is searched; it does not follow the wave rule
    /// wgmma, tcgen05, mma.sync, simt, dot (simt with whole columns of C) or streamed dot (the same, straight
    /// to registers)
    std::string instruction;
    bool pairs = false;    ///< two CTAs along N multiply together
    std::string pipeline;  ///< tma, cp.async or sync
    bool persistent = false;
    int k_bytes = 128;  ///< bytes of K per stage
    int stages_max = 0;
    std::int64_t shared_limit = 0;    ///< bytes that the stages may fill
    std::int64_t epilogue_bytes = 0;  ///< beside the stages: their barriers, and a buffer for stores
    int threads = 0;
    int registers = 0;
    double dynamic_above_waves = 0.0;  ///< more waves than this use a tile counter (and its memset); 0: never
    int cluster_above_one_wave = 0;    ///< cluster size of grids of several waves; 0: any
    /// In grids of several waves the consumers share the tiles, except for tiles with a side below 64.
    bool cooperative_above_one_wave = false;
    int split_min_iterations = 0;  ///< least k-iterations of a split
    int split_fills = 0;  ///< CTAs an SM that splits fill where there are fewer tiles; 0: no such rule
    int split_max = 1;
    int split_elements_max = 0;  ///< elements of the largest tile that is split; 0: any
    /// A separate kernel adds up partial tiles of a split block by block, up to this many bytes. With two
    /// splits it does so only up to blocks_of_pairs_up_to tiles. Beyond these limits the last CTA of each
    /// tile adds them up. 0: as plain sums.
    std::int64_t blocks_up_to_bytes = 0;
    int blocks_of_pairs_up_to = 0;
    int copy_conflicts = 0;        ///< passes by which bank conflicts of the stage lengthen a copy
    double split_waves_max = 0.0;  ///< more waves of whole tiles than this are not split; 0: any
    int split_work_min = 0;        ///< least product of K and splits; 0: any
    int channels_least = 0;        ///< of a convolution's group; fewer run other families; 0: any
    int rows_max = 0;              ///< the most rows of C that its kernels take; 0: any
    int rows_always = 0;           ///< products of up to this many rows run no other family
    int band_clusters = 0;         ///< clusters across a band; 0: no bands, shorter side of the grid first
    int band_tiles = 0;  ///< most tiles of a band along N (a power of two), launched whole as in CUTLASS 2;
                         ///< 0: see band_clusters
    std::vector<ClusterShape> clusters;
    std::vector<Tile> tiles;
    bool named = false;  ///< read off public kernel names; no launch of its kernels was recorded
    int numbers = 0;     ///< of its data, on which predictions of these kernels rest

    [[nodiscard]] bool runs_on(const hw::Gpu& gpu) const {
        return std::find(compute.begin(), compute.end(), 10 * gpu.compute_major + gpu.compute_minor) !=
               compute.end();
    }
};

}  // namespace warptime::workloads::libraries
