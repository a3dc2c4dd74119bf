// How long does the store of a 128 x 256 bf16 tile from every SM take, by way of storing?
// way=tensor: four tensor stores of 64 columns from shared memory. way=rows: 16 bytes a lane, whole rows.
// way=pairs: 4 bytes a lane in the layout of wgmma accumulators.
// The value is the cycles from the first store until all stores are visible.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "harness.cuh"

namespace {

constexpr int tile_rows = 128;
constexpr int tile_columns = 256;

enum class Way { tensor, rows, pairs };

__device__ std::uint32_t value_of(int tile, int row, int pair) {
    return static_cast<std::uint32_t>(tile) * 2654435761U ^
           static_cast<std::uint32_t>(row * 128 + pair) * 40503U;
}

// Stores `tiles` tiles a CTA one after another. `threads` is 128 or 256.
template <Way way>
__global__ void __launch_bounds__(256) store(std::uint32_t* out, const __grid_constant__ CUtensorMap map,
                                             int columns, int tiles, bool wait_each, long long* cycles) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto* words = reinterpret_cast<std::uint32_t*>(shared);
    const int across = columns / tile_columns;
    const int pitch = columns / 2;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    if constexpr (way == Way::tensor) {
        for (int i = static_cast<int>(threadIdx.x); i < tile_rows * tile_columns / 2;
             i += static_cast<int>(blockDim.x)) {
            words[i] = probe::hash(static_cast<std::uint32_t>(i));
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int turn = 0; turn < tiles; ++turn) {
        const int tile = turn * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
        const int row0 = tile / across * tile_rows;
        const int column0 = tile % across * tile_columns;
        if constexpr (way == Way::tensor) {
            if (threadIdx.x == 0) {
                for (int i = 0; i < 4; ++i) {
                    probe::tensor_store(&map, column0 + 64 * i, row0, shared + i * 64 * 2 * tile_rows);
                }
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                if (wait_each) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
            }
        } else if constexpr (way == Way::rows) {
            for (int row = warp; row < tile_rows; row += warps) {
                const int pair = lane * 4;
                const uint4 four = make_uint4(value_of(tile, row, pair), value_of(tile, row, pair + 1),
                                              value_of(tile, row, pair + 2), value_of(tile, row, pair + 3));
                *reinterpret_cast<uint4*>(
                    out + static_cast<std::size_t>(row0 + row) * static_cast<std::size_t>(pitch) +
                    column0 / 2 + pair) = four;
            }
        } else {
            // A warp owns 16 rows. In each 8 columns, lane l holds columns 2 (l % 4) and the next. Its rows
            // are l / 4 and l / 4 + 8.
            for (int band = warp; band < tile_rows / 16; band += warps) {
                for (int eight = 0; eight < tile_columns / 8; ++eight) {
                    const int pair = eight * 4 + lane % 4;
                    for (int half = 0; half < 2; ++half) {
                        const int row = band * 16 + lane / 4 + 8 * half;
                        out[static_cast<std::size_t>(row0 + row) * static_cast<std::size_t>(pitch) +
                            column0 / 2 + pair] = value_of(tile, row, pair);
                    }
                }
            }
        }
        if constexpr (way != Way::tensor) {
            if (wait_each) __threadfence();
        }
        if (wait_each) __syncthreads();
    }
    if constexpr (way == Way::tensor) {
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    } else {
        __threadfence();
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

template <Way way>
void store_case(probe::Flush& flush, probe::Buffer<std::uint32_t>& out, const std::string& name, int ctas,
                int columns, int tiles, int threads, bool wait_each, bool dirty) {
    const std::size_t rows = out.size() / static_cast<std::size_t>(columns / 2);
    const int across = columns / tile_columns;
    const int last_row = (ctas * tiles + across - 1) / across * tile_rows;
    if (static_cast<std::size_t>(last_row) > rows) return;
    probe::Params params;
    params.set("way", name).set("ctas", ctas).set("columns", columns).set("tiles", tiles);
    params.set("threads", threads).set("wait", wait_each ? "each" : "end");
    probe::Conditions with;
    with.cache = dirty ? "flushed" : "cold";
    if (!probe::wanted("tile_store", params, with)) return;
    const CUtensorMap map = probe::tensor_map(out.data(), rows, tile_rows, static_cast<std::size_t>(columns));
    const int shared = way == Way::tensor ? tile_rows * tile_columns * 2 : 0;
    const auto kernel = store<way>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    probe::Buffer<long long> cycles(static_cast<std::size_t>(ctas));
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        dirty ? flush.dirty() : flush.clean();
        kernel<<<ctas, threads, shared>>>(out.data(), map, columns, tiles, wait_each, cycles.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> all = cycles.host();
        const std::vector<double> each(all.begin(), all.end());
        if (turn > 0) found.push_back(probe::median(each) / tiles);
    }
    probe::row("tile_store", params, "region_cycles", "cycle", found, with);
}

// The sum of all words written equals the sum of what every tile should hold.
template <Way way>
void check(probe::Buffer<std::uint32_t>& out) {
    const int columns = 1024;
    const int ctas = 16;
    const std::size_t used = static_cast<std::size_t>(ctas) * tile_rows * tile_columns / 2;
    out.zero();
    const std::size_t rows = out.size() / (columns / 2);
    const CUtensorMap map = probe::tensor_map(out.data(), rows, tile_rows, columns);
    probe::Buffer<long long> cycles(ctas);
    const int shared = way == Way::tensor ? tile_rows * tile_columns * 2 : 0;
    PROBE_CHECK(cudaFuncSetAttribute(store<way>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    store<way><<<ctas, 128, shared>>>(out.data(), map, columns, 1, true, cycles.data());
    PROBE_CHECK(cudaGetLastError());
    std::vector<std::uint32_t> found(used + 1);
    PROBE_CHECK(cudaMemcpy(found.data(), out.data(), found.size() * 4, cudaMemcpyDeviceToHost));
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < used; ++i) sum += found[i];
    std::uint32_t expected = 0;
    for (int tile = 0; tile < ctas; ++tile) {
        for (int row = 0; row < tile_rows; ++row) {
            for (int pair = 0; pair < tile_columns / 2; ++pair) {
                expected += way == Way::tensor ? probe::hash(static_cast<std::uint32_t>(row * 128 + pair))
                                               : (static_cast<std::uint32_t>(tile) * 2654435761U) ^
                                                     (static_cast<std::uint32_t>(row * 128 + pair) * 40503U);
            }
        }
    }
    probe::require(sum == expected && found[used] == 0, "tile store");
}

}  // namespace

int main() {
    probe::begin("epilogue");
    probe::Buffer<std::uint32_t> out(std::size_t{64} << 20);
    probe::Flush flush;
    check<Way::tensor>(out);
    check<Way::rows>(out);
    check<Way::pairs>(out);
    const int sms = probe::device().sms;
    for (const int columns : {4096, 8192, 1024}) {
        for (const int ctas : {sms, sms / 2, 16, 1}) {
            for (const int tiles : {1, 2, 4}) {
                for (const bool dirty : {true, false}) {
                    for (const bool wait : {true, false}) {
                        if (tiles == 1 && !wait) continue;
                        store_case<Way::tensor>(flush, out, "tensor", ctas, columns, tiles, 128, wait, dirty);
                        store_case<Way::rows>(flush, out, "rows", ctas, columns, tiles, 256, wait, dirty);
                        store_case<Way::pairs>(flush, out, "pairs", ctas, columns, tiles, 256, wait, dirty);
                    }
                }
            }
        }
    }
    return 0;
}
