// What do writes cost beside reads in DRAM, and what do dirty lines cost the next kernel?
// mix: of every eight accesses of 16 bytes a lane, `reads` are loads and the rest are stores.
// Loads and stores each walk once over their own data.
// read_after_write: `dirty` bytes of another buffer were written just before; all else in the L2 is clean.
// write_over: a kernel stores over lines that are already in the L2, dirty or clean.
// SPDX-License-Identifier: Apache-2.0
#include "vector.cuh"

namespace {

constexpr int slots = 8;
constexpr int threads = 512;
constexpr int ctas_per_sm = 2;

// Word i of the stored data, so that a check can compute the word again.
__device__ std::uint32_t stored_word(std::size_t i) {
    return static_cast<std::uint32_t>(i) * 2654435761U;
}

// The CTAs take blocks of threads x 8 accesses in turn. Block b loads `Reads` parts from block b of `from`,
// and stores the rest to block b of `to`.
template <int Reads>
__global__ void __launch_bounds__(threads, ctas_per_sm)
    mixed(const uint4* from, uint4* to, std::size_t blocks, std::uint32_t* folded) {
    std::uint32_t sum = 0;
#pragma unroll 1
    for (std::size_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        probe::Vector<16> word[Reads > 0 ? Reads : 1];
#pragma unroll
        for (int i = 0; i < Reads; ++i) {
            word[i] =
                probe::load_global<16, probe::Level::cg>(from + (block * Reads + i) * threads + threadIdx.x);
        }
#pragma unroll
        for (int i = 0; i < slots - Reads; ++i) {
            const std::size_t at = (block * (slots - Reads) + i) * threads + threadIdx.x;
            const std::uint32_t seed = stored_word(at);
            probe::store_global(to + at, probe::Vector<16>{{seed, seed, seed, seed}});
        }
#pragma unroll
        for (int i = 0; i < Reads; ++i) sum += probe::fold(word[i]);
    }
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x % 32 == 0 && Reads > 0) atomicAdd(folded, sum);
}

using Mixed = void (*)(const uint4*, uint4*, std::size_t, std::uint32_t*);

Mixed mixed_of(int reads) {
    const Mixed kernels[] = {mixed<0>, mixed<1>, mixed<2>, mixed<3>, mixed<4>,
                             mixed<5>, mixed<6>, mixed<7>, mixed<8>};
    return kernels[reads];
}

// The sum over the loaded words, and the number of stored words that are wrong.
__global__ void prepare_reference(const uint4* from, std::size_t loaded, const uint4* to, std::size_t stored,
                                  std::uint32_t* sums) {
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    std::uint32_t sum = 0;
    std::uint32_t wrong = 0;
    for (std::size_t i = first; i < loaded; i += step) sum += from[i].x + from[i].y + from[i].z + from[i].w;
    for (std::size_t i = first; i < stored; i += step) {
        wrong += to[i].x != stored_word(i) || to[i].w != stored_word(i) ? 1U : 0U;
    }
    atomicAdd(sums, sum);
    atomicAdd(sums + 1, wrong);
}

struct Data {
    Data() {
        for (auto* part : {from.data(), to.data(), other.data()}) probe::fill_random(part, bytes, 7);
    }
    static constexpr std::size_t bytes = std::size_t{512} << 20;
    probe::Buffer<uint4> from{bytes / 16}, to{bytes / 16}, other{bytes / 16};
    probe::Buffer<std::uint32_t> sums{3};
    probe::Flush flush;
    int grid = probe::device().sms * ctas_per_sm;

    void launch(int reads, std::size_t blocks, uint4* into) {
        mixed_of(reads)<<<grid, threads>>>(from.data(), into, blocks, sums.data() + 2);
        PROBE_CHECK(cudaGetLastError());
    }
};

// Bytes that one block of accesses moves.
constexpr std::size_t block_bytes = std::size_t{16} * threads * slots;

std::size_t blocks_of(double megabytes) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(megabytes * 1048576.0) / block_bytes);
}

void measure(Data& data, const std::string& op, probe::Params params, const std::string& cache, int reads,
             std::size_t blocks, const std::function<void()>& prepare) {
    const std::size_t bytes = blocks * block_bytes;
    params.set("bytes", static_cast<long long>(bytes)).set("reads", reads).set("slots", slots);
    params.set("threads", threads).set("ctas", data.grid);
    probe::Conditions with;
    with.cache = cache;
    if (!probe::wanted(op, params, with)) return;
    const auto found = probe::time_kernel(9, prepare, [&] { data.launch(reads, blocks, data.to.data()); });
    probe::row_of_bytes(op, params, found, static_cast<double>(bytes), cache);
}

void check(Data& data) {
    for (int reads = 0; reads <= slots; ++reads) {
        const std::size_t blocks = 300;
        data.sums.zero();
        data.launch(reads, blocks, data.to.data());
        const std::size_t part = blocks * threads;
        const auto loads = static_cast<std::size_t>(reads);
        prepare_reference<<<64, 256>>>(data.from.data(), part * loads, data.to.data(), part * (slots - loads),
                                       data.sums.data());
        const std::vector<std::uint32_t> sums = data.sums.host();
        probe::require(sums[0] == sums[2] && sums[1] == 0, "mixed reads and writes");
    }
}

}  // namespace

int main() {
    probe::begin("read_write_mix");
    Data data;
    check(data);
    for (const double megabytes : {256.0, 64.0, 16.0, 512.0, 128.0, 32.0}) {
        for (const int reads : {0, 8, 4, 6, 2, 7, 1, 5, 3}) {
            for (const bool dirty : {true, false}) {
                measure(data, "mix", {}, dirty ? "flushed" : "cold", reads, blocks_of(megabytes),
                        [&] { dirty ? data.flush.dirty() : data.flush.clean(); });
            }
        }
    }
    for (const double megabytes : {16.0, 64.0, 256.0}) {
        for (const int dirty : {0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128}) {
            const std::size_t dirty_blocks = dirty > 0 ? blocks_of(dirty) : 0;
            probe::Params params;
            params.set("dirty", static_cast<long long>(dirty_blocks * block_bytes));
            measure(data, "read_after_write", params, "cold", slots, blocks_of(megabytes), [&] {
                data.flush.clean();
                if (dirty > 0) probe::fill_random(data.other.data(), dirty_blocks * block_bytes, 9);
            });
        }
    }
    for (const double megabytes :
         {0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0}) {
        for (const bool dirty : {true, false}) {
            probe::Params params;
            const std::size_t blocks = blocks_of(megabytes);
            params.set("over", dirty ? "dirty" : "clean");
            measure(data, "write_over", params, "warm", 0, blocks, [&] {
                data.flush.clean();
                if (dirty) return probe::fill_random(data.to.data(), blocks * block_bytes, 9);
                if (!probe::only_read())
                    probe::prepare_read<<<264, 256>>>(data.to.data(), blocks * block_bytes / 16,
                                                      data.sums.data());
            });
        }
    }
    return 0;
}
