// Prefix sums and what is built of them: look-back by a whole warp, three passes, a sweep up and down, rows
// by warps and by threads, columns, kept elements by ballots and by blocks, and run-length encoding.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline unsigned warp_inclusive(unsigned value) {
    const int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffffU, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

/// Sum of the threads before this one; `shared` holds 33 values, whose last becomes the sum of all.
__device__ inline unsigned block_exclusive(unsigned value, unsigned* shared) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const unsigned inclusive = warp_inclusive(value);
    __syncthreads();
    if (lane == 31) shared[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const unsigned part = lane < warps ? shared[lane] : 0, sum = warp_inclusive(part);
        shared[lane] = sum - part;
        if (lane == 31) shared[32] = sum;
    }
    __syncthreads();
    return shared[warp] + inclusive - value;
}

/// Two vectors of four a thread.
__device__ inline void load_eight(const unsigned* from, unsigned (&to)[8]) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    *reinterpret_cast<uint4*>(to + 4) = *reinterpret_cast<const uint4*>(from + 4);
}

/// One pass; state and sum of a tile in one word of 64 bits, 32 tiles before looked at together.
__global__ void __launch_bounds__(256)
    look_back(const unsigned* in, unsigned* out, unsigned long long* states, unsigned* next) {
    __shared__ unsigned shared[33], tile_shared, before_shared;
    if (threadIdx.x == 0) tile_shared = atomicAdd(next, 1U);
    __syncthreads();
    const int tile = static_cast<int>(tile_shared);
    const std::size_t start = static_cast<std::size_t>(tile) * 2048 + threadIdx.x * 8;
    __align__(16) unsigned own[8];
    load_eight(in + start, own);
    for (int k = 1; k < 8; ++k) own[k] += own[k - 1];
    const unsigned exclusive = block_exclusive(own[7], shared), total = shared[32];
    if (threadIdx.x < 32) {
        constexpr unsigned long long has_sum = 1ULL << 32, has_all = 2ULL << 32;
        volatile unsigned long long* all = states;
        unsigned before = 0;
        if (threadIdx.x == 0) all[tile] = (tile == 0 ? has_all : has_sum) | total;
        for (int back = tile - 1 - static_cast<int>(threadIdx.x); tile > 0; back -= 32) {
            unsigned long long state = has_all;
            if (back >= 0) do {
                    state = all[back];
                } while (state == 0);
            const unsigned done = __ballot_sync(0xffffffffU, (state & has_all) != 0);
            const int first = done == 0 ? 31 : __ffs(static_cast<int>(done)) - 1;
            before += __reduce_add_sync(
                0xffffffffU, static_cast<int>(threadIdx.x) <= first ? static_cast<unsigned>(state) : 0U);
            if (done != 0) break;
        }
        if (threadIdx.x == 0) {
            all[tile] = has_all | (before + total);
            before_shared = before;
        }
    }
    __syncthreads();
    const unsigned base = before_shared + exclusive;
    for (int k = 0; k < 8; ++k) own[k] += base;
    *reinterpret_cast<uint4*>(out + start) = *reinterpret_cast<uint4*>(own);
    *reinterpret_cast<uint4*>(out + start + 4) = *reinterpret_cast<uint4*>(own + 4);
}

/// Three passes: sums of blocks, their prefix by one block, and every block again.
__global__ void block_sums(const unsigned* in, unsigned* sums) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    __align__(16) unsigned own[8];
    load_eight(in + static_cast<std::size_t>(blockIdx.x) * 2048 + threadIdx.x * 8, own);
    unsigned part = 0;
    for (int k = 0; k < 8; ++k) part += own[k];
    part = __reduce_add_sync(0xffffffffU, part);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, part);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(1024) scan_sums(unsigned* sums, unsigned* total, int count) {
    __shared__ unsigned shared[33];
    unsigned carry = 0;
    for (int first = 0; first < count; first += 1024) {
        const int i = first + threadIdx.x;
        const unsigned value = i < count ? sums[i] : 0;
        const unsigned exclusive = block_exclusive(value, shared);
        if (i < count) sums[i] = carry + exclusive;
        carry += shared[32];
    }
    if (threadIdx.x == 0) *total = carry;
}
__global__ void add_sums(const unsigned* in, const unsigned* sums, unsigned* out) {
    __shared__ unsigned shared[33];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * 2048 + threadIdx.x * 8;
    __align__(16) unsigned own[8];
    load_eight(in + start, own);
    for (int k = 1; k < 8; ++k) own[k] += own[k - 1];
    const unsigned base = sums[blockIdx.x] + block_exclusive(own[7], shared);
    for (int k = 0; k < 8; ++k) out[start + k] = own[k] + base;
}

/// Up and down a tree over 1024 elements in shared memory, for each block alone.
__global__ void __launch_bounds__(512) tree_sweeps(const float* in, float* out) {
    __shared__ float tree[1024 + 32];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * 1024;
    const auto at = [](int i) { return i + i / 32; };
    const int thread = threadIdx.x;
    tree[at(thread)] = in[start + thread];
    tree[at(thread + 512)] = in[start + thread + 512];
    int offset = 1;
    for (int active = 512; active > 0; active /= 2, offset *= 2) {
        __syncthreads();
        if (thread < active)
            tree[at(offset * (2 * thread + 2) - 1)] += tree[at(offset * (2 * thread + 1) - 1)];
    }
    if (thread == 0) tree[at(1023)] = 0.0F;
    for (int active = 1; active <= 512; active *= 2) {
        offset /= 2;
        __syncthreads();
        if (thread < active) {
            const int low = at(offset * (2 * thread + 1) - 1), high = at(offset * (2 * thread + 2) - 1);
            const float left = tree[low];
            tree[low] = tree[high];
            tree[high] += left;
        }
    }
    __syncthreads();
    out[start + thread] = tree[at(thread)];
    out[start + thread + 512] = tree[at(thread + 512)];
}

/// A warp a row, 32 elements a step and a carry.
__global__ void rows_by_warps(const float* in, float* out, int rows, int width) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const std::size_t start = static_cast<std::size_t>(row) * width;
    float carry = 0.0F;
    for (int first = 0; first < width; first += 32) {
        float value = first + lane < width ? in[start + first + lane] : 0.0F;
        for (int step = 1; step < 32; step *= 2) {
            const float before = __shfl_up_sync(0xffffffffU, value, step);
            if (lane >= step) value += before;
        }
        value += carry;
        if (first + lane < width) out[start + first + lane] = value;
        carry = __shfl_sync(0xffffffffU, value, 31);
    }
}
__global__ void rows_by_threads(const float* in, float* out, int rows, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0F;
    for (int i = 0; i < width; ++i) {
        sum += in[static_cast<std::size_t>(row) * width + i];
        out[static_cast<std::size_t>(row) * width + i] = sum;
    }
}
/// Down the columns: loads of a warp in a row, four rows ahead.
__global__ void down_columns(const float* in, float* out, int rows, int width) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    float sum = 0.0F;
#pragma unroll 4
    for (int r = 0; r < rows; ++r) {
        sum += in[static_cast<std::size_t>(r) * width + column];
        out[static_cast<std::size_t>(r) * width + column] = sum;
    }
}

/// Kept elements: one atomic a warp; the order of warps is free.
__global__ void keep_by_ballots(const unsigned* in, unsigned* out, unsigned* kept, int count,
                                unsigned limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const unsigned value = i < count ? in[i] : limit;
    const unsigned voted = __ballot_sync(0xffffffffU, value < limit);
    unsigned base = 0;
    if (lane == 0 && voted != 0) base = atomicAdd(kept, static_cast<unsigned>(__popc(voted)));
    base = __shfl_sync(0xffffffffU, base, 0);
    if (value < limit) out[base + __popc(voted & ((1U << lane) - 1))] = value;
}
/// One atomic a block of 2048 elements, kept ones gathered in shared memory first.
__global__ void __launch_bounds__(256)
    keep_by_blocks(const unsigned* in, unsigned* out, unsigned* kept, unsigned limit) {
    __shared__ unsigned shared[33], gathered[2048], base;
    __align__(16) unsigned own[8];
    load_eight(in + static_cast<std::size_t>(blockIdx.x) * 2048 + threadIdx.x * 8, own);
    unsigned mine = 0;
    for (int k = 0; k < 8; ++k) mine += own[k] < limit ? 1 : 0;
    unsigned place = block_exclusive(mine, shared);
    const unsigned total = shared[32];
    for (int k = 0; k < 8; ++k)
        if (own[k] < limit) gathered[place++] = own[k];
    if (threadIdx.x == 0) base = atomicAdd(kept, total);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < total; i += blockDim.x) out[base + i] = gathered[i];
}

/// Runs of equal bytes: heads counted a block, then their places and values stored, then lengths.
__device__ inline unsigned head_bits(const unsigned char* in, int start) {
    const uint2 words = *reinterpret_cast<const uint2*>(in + start);
    unsigned before = start == 0 ? 256U : in[start - 1], bits = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const unsigned byte = ((k < 4 ? words.x : words.y) >> (8 * (k % 4))) & 255U;
        if (byte != before) bits |= 1U << k;
        before = byte;
    }
    return bits;
}
__global__ void count_heads(const unsigned char* in, unsigned* counts) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int mine = __popc(head_bits(in, (blockIdx.x * blockDim.x + threadIdx.x) * 8));
    const int part = __reduce_add_sync(0xffffffffU, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, static_cast<unsigned>(part));
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}
__global__ void store_heads(const unsigned char* in, const unsigned* bases, int* places,
                            unsigned char* bytes) {
    __shared__ unsigned shared[33];
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    unsigned bits = head_bits(in, start);
    unsigned run = bases[blockIdx.x] + block_exclusive(static_cast<unsigned>(__popc(bits)), shared);
    for (; bits != 0; bits &= bits - 1) {
        const int i = start + __ffs(static_cast<int>(bits)) - 1;
        places[run] = i;
        bytes[run++] = in[i];
    }
}
__global__ void run_lengths(const int* places, const unsigned* runs, int* lengths, int count) {
    const unsigned total = *runs;
    for (unsigned r = blockIdx.x * blockDim.x + threadIdx.x; r < total; r += gridDim.x * blockDim.x)
        lengths[r] = (r + 1 < total ? places[r + 1] : count) - places[r];
}

void body() {
    const int tiles = 4096, count = tiles * 2048;
    const std::vector<unsigned> values = random_values<unsigned>(count, 1);
    std::vector<unsigned> expected(count);
    for (int i = 0; i < count; ++i) expected[i] = values[i] + (i == 0 ? 0 : expected[i - 1]);
    const Array<unsigned> in(values);
    Array<unsigned> out(count), next(1), sums(tiles), total(1), kept(2);
    Array<unsigned long long> states(tiles);
    prepare();
    look_back<<<tiles, 256>>>(in.data(), out.data(), states.data(), next.data());
    finish("look back");
    check(out.values() == expected, "look back");
    output("look_back", out);
    prepare();
    block_sums<<<tiles, 256>>>(in.data(), sums.data());
    finish("sums");
    prepare();
    scan_sums<<<1, 1024>>>(sums.data(), total.data(), tiles);
    finish("scan");
    output("sums", sums);
    prepare();
    add_sums<<<tiles, 256>>>(in.data(), sums.data(), out.data());
    finish("add");
    check(out.values() == expected, "three passes");
    const std::vector<float> numbers = random_values<float>(12 << 20, 2);
    const Array<float> floats(numbers);
    Array<float> scanned(12 << 20);
    prepare();
    tree_sweeps<<<12 << 10, 512>>>(floats.data(), scanned.data());
    finish("sweeps");
    output("sweeps", scanned);
    prepare();
    rows_by_warps<<<(6200 + 3) / 4, 128>>>(floats.data(), scanned.data(), 6200, 2017);
    finish("warps");
    output("rows_warps", scanned);
    prepare();
    rows_by_threads<<<(150000 + 127) / 128, 128>>>(floats.data(), scanned.data(), 150000, 24);
    finish("threads");
    output("rows_threads", scanned);
    prepare();
    down_columns<<<(50000 + 127) / 128, 128>>>(floats.data(), scanned.data(), 160, 50000);
    finish("columns");
    output("columns", scanned);
    const unsigned limit = 1U << 30;
    prepare();
    keep_by_ballots<<<count / 2 / 256, 256>>>(in.data(), out.data(), kept.data(), count / 2, limit);
    finish("ballots");
    std::vector<unsigned> some = out.values();
    some.resize(kept.values()[0]);
    output("ballots", some, true);
    prepare();
    keep_by_blocks<<<tiles, 256>>>(in.data(), out.data(), kept.data() + 1, limit);
    finish("blocks");
    some = out.values();
    some.resize(kept.values()[1]);
    check(some.size() == static_cast<std::size_t>(std::count_if(values.begin(), values.end(),
                                                                [&](unsigned v) { return v < limit; })),
          "blocks");
    output("blocks", some, true);
    const int bytes = 16 << 20;
    std::vector<unsigned char> text(bytes);
    for (int i = 0, run = 0; i < bytes; ++run)
        for (unsigned left = 1 + random_bits(3, run) % 12; left > 0 && i < bytes; --left, ++i)
            text[i] = static_cast<unsigned char>(random_bits(4, run));
    const Array<unsigned char> raw(text);
    Array<unsigned char> run_bytes(bytes);
    Array<unsigned> counts(bytes / 2048), runs(1);
    Array<int> places(bytes), lengths(bytes);
    prepare();
    count_heads<<<bytes / 2048, 256>>>(raw.data(), counts.data());
    finish("heads");
    prepare();
    scan_sums<<<1, 1024>>>(counts.data(), runs.data(), bytes / 2048);
    finish("scan");
    prepare();
    store_heads<<<bytes / 2048, 256>>>(raw.data(), counts.data(), places.data(), run_bytes.data());
    finish("store");
    prepare();
    run_lengths<<<132 * 4, 256>>>(places.data(), runs.data(), lengths.data(), bytes);
    finish("lengths");
    const std::vector<int> each = lengths.values();
    long long sum = 0;
    for (const int length : each) sum += length;
    check(sum == bytes, "lengths");
    output("lengths", each);
}

int main() {
    return run(body);
}
