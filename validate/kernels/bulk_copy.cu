// Copies an array by the bulk copy engine, one instruction for a whole tile: in, out and both, with one to
// three stages, each guarded by a barrier that counts the bytes that have arrived.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"
#include "transaction_barriers.cuh"

using namespace textbook;

constexpr int threads = 128, words = 2048;  // 8 KiB a tile

/// Barriers that one thread arrives at, once for each tile.
__device__ void start_barriers(std::uint64_t* barriers, int count) {
    for (int i = 0; i < count; ++i) {
        start_barrier(barriers + i, 1);
    }
    // The copy engine must see them too.
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Arrives at the barrier and tells it how many bytes are still to come, then asks for them.
__device__ void load_tile(unsigned* tile, const unsigned* from, int bytes, std::uint64_t* barrier) {
    expect_bytes(barrier, bytes);
    bulk_load(tile, from, bytes, barrier);
}

__device__ void bulk_store(unsigned* to, const unsigned* tile, int bytes) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
        "r"(shared_address(tile)), "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Until all but `left` of the thread's stores have read their tiles.
template <int left>
__device__ void wait_until_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}
/// Until all of the thread's stores have been done.
__device__ void wait_until_stored() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ int words_of_tile(int tile, int count) {
    return min(words, count - tile * words);
}

/// The engine loads; all threads store.
template <int stages>
__global__ void bulk_in(const unsigned* from, unsigned* to, int count) {
    __shared__ alignas(128) unsigned tiles[stages][words];
    __shared__ std::uint64_t arrived[stages];
    const int tile_count = (count + words - 1) / words;
    const auto load = [&](int tile, int stage) {
        if (threadIdx.x == 0 && tile < tile_count) {
            load_tile(tiles[stage], from + tile * words, words_of_tile(tile, count) * 4, &arrived[stage]);
        }
    };
    if (threadIdx.x == 0) {
        start_barriers(arrived, stages);
    }
    __syncthreads();
    for (int stage = 0; stage < stages; ++stage) {
        load(blockIdx.x + stage * gridDim.x, stage);
    }
    int stage = 0, parity = 0;
    for (int tile = blockIdx.x; tile < tile_count; tile += gridDim.x) {
        wait_for(&arrived[stage], parity);
        const int own_words = words_of_tile(tile, count);
        for (int i = threadIdx.x * 4; i < own_words; i += threads * 4) {
            *reinterpret_cast<uint4*>(to + tile * words + i) =
                *reinterpret_cast<const uint4*>(tiles[stage] + i);
        }
        __syncthreads();
        load(tile + stages * gridDim.x, stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
}

/// All threads load; the engine stores.
template <int stages>
__global__ void bulk_out(const unsigned* from, unsigned* to, int count) {
    __shared__ alignas(128) unsigned tiles[stages][words];
    int stage = 0;
    for (int tile = blockIdx.x; tile * words < count; tile += gridDim.x) {
        const int own_words = words_of_tile(tile, count);
        for (int i = threadIdx.x * 4; i < own_words; i += threads * 4) {
            *reinterpret_cast<uint4*>(tiles[stage] + i) =
                *reinterpret_cast<const uint4*>(from + tile * words + i);
        }
        // The engine must see what was stored by ordinary instructions.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_store(to + tile * words, tiles[stage], own_words * 4);
            wait_until_read<stages - 1>();
        }
        __syncthreads();
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
    if (threadIdx.x == 0) {
        wait_until_stored();
    }
}

/// The engine loads and stores: one thread is enough.
template <int stages>
__global__ void bulk_in_and_out(const unsigned* from, unsigned* to, int count) {
    __shared__ alignas(128) unsigned tiles[stages][words];
    __shared__ std::uint64_t arrived[stages];
    const int tile_count = (count + words - 1) / words;
    const auto load = [&](int tile, int stage) {
        if (tile < tile_count) {
            load_tile(tiles[stage], from + tile * words, words_of_tile(tile, count) * 4, &arrived[stage]);
        }
    };
    if (threadIdx.x > 0) {
        return;
    }
    start_barriers(arrived, stages);
    for (int stage = 0; stage < stages; ++stage) {
        load(blockIdx.x + stage * gridDim.x, stage);
    }
    int stage = 0, parity = 0;
    for (int tile = blockIdx.x; tile < tile_count; tile += gridDim.x) {
        wait_for(&arrived[stage], parity);
        bulk_store(to + tile * words, tiles[stage], words_of_tile(tile, count) * 4);
        wait_until_read<0>();
        load(tile + stages * gridDim.x, stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    wait_until_stored();
}

/// The engine loads and stores; between, all threads invert the tile's bits in place.
template <int stages>
__global__ void bulk_inverted(const unsigned* from, unsigned* to, int count) {
    __shared__ alignas(128) unsigned tiles[stages][words];
    __shared__ std::uint64_t arrived[stages];
    const int tile_count = (count + words - 1) / words;
    const auto load = [&](int tile, int stage) {
        if (tile < tile_count) {
            load_tile(tiles[stage], from + tile * words, words_of_tile(tile, count) * 4, &arrived[stage]);
        }
    };
    if (threadIdx.x == 0) {
        start_barriers(arrived, stages);
        // One stage is kept free: the tile stored last is still being read.
        for (int stage = 0; stage < stages - 1; ++stage) {
            load(blockIdx.x + stage * gridDim.x, stage);
        }
    }
    __syncthreads();
    int stage = 0, parity = 0;
    for (int tile = blockIdx.x; tile < tile_count; tile += gridDim.x) {
        wait_for(&arrived[stage], parity);
        const int own_words = words_of_tile(tile, count);
        for (int i = threadIdx.x * 4; i < own_words; i += threads * 4) {
            auto* place = reinterpret_cast<uint4*>(tiles[stage] + i);
            const uint4 word = *place;
            *place = make_uint4(~word.x, ~word.y, ~word.z, ~word.w);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_store(to + tile * words, tiles[stage], own_words * 4);
            wait_until_read<1>();
            load(tile + (stages - 1) * gridDim.x, (stage + stages - 1) % stages);
        }
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    if (threadIdx.x == 0) {
        wait_until_stored();
    }
}

void body() {
    for (const int count : {300012, (1 << 22) + 1204}) {
        const bool small = count < 1 << 20;
        const int blocks = small ? 33 : 528;
        const auto values = random_values<unsigned>(count, 1);
        std::vector<unsigned> inverted(count);
        for (int i = 0; i < count; ++i) {
            inverted[i] = ~values[i];
        }
        const Array<unsigned> from(values);
        Array<unsigned> to(count);
        const auto verify = [&](const char* what, const std::vector<unsigned>& expected) {
            finish(what);
            const auto copied = to.values();
            check(copied == expected, what);
            output(what, copied);
            to.zero();
        };
        prepare();
        bulk_in<1><<<blocks, threads>>>(from.data(), to.data(), count);
        verify("bulk_in_1", values);
        prepare();
        bulk_in<3><<<blocks, threads>>>(from.data(), to.data(), count);
        verify("bulk_in_3", values);
        prepare();
        bulk_out<1><<<blocks, threads>>>(from.data(), to.data(), count);
        verify("bulk_out_1", values);
        if (!small) {
            prepare();
            bulk_in<2><<<blocks, threads>>>(from.data(), to.data(), count);
            verify("bulk_in_2", values);
            prepare();
            bulk_out<2><<<blocks, threads>>>(from.data(), to.data(), count);
            verify("bulk_out_2", values);
            prepare();
            bulk_out<3><<<blocks, threads>>>(from.data(), to.data(), count);
            verify("bulk_out_3", values);
            prepare();
            bulk_in_and_out<1><<<blocks, 32>>>(from.data(), to.data(), count);
            verify("bulk_in_and_out_1", values);
            prepare();
            bulk_in_and_out<2><<<blocks, 32>>>(from.data(), to.data(), count);
            verify("bulk_in_and_out_2", values);
            prepare();
            bulk_inverted<2><<<blocks, threads>>>(from.data(), to.data(), count);
            verify("bulk_inverted_2", inverted);
        }
        prepare();
        bulk_in_and_out<3><<<blocks, 32>>>(from.data(), to.data(), count);
        verify("bulk_in_and_out_3", values);
        prepare();
        bulk_inverted<3><<<blocks, threads>>>(from.data(), to.data(), count);
        verify("bulk_inverted_3", inverted);
    }
}

int main() {
    return run(body);
}
