// Scans and sums of segments, whole numbers only: scans that flags start anew, with carries between CTAs;
// sums by offsets with a thread, a warp or a CTA a segment; compaction of pairs by a second key; and runs
// encoded.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int block = 256, each = 4, part = block * each;

/// A value with whether a segment starts in it: b after a.
struct Flagged {
    int sum, flag;
};
__device__ inline Flagged after(Flagged a, Flagged b) {
    return {b.flag ? b.sum : a.sum + b.sum, a.flag | b.flag};
}

/// Exclusive over the CTA in the order of threads; the last of `sums` is the whole.
__device__ Flagged scan_block(Flagged own, Flagged* sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Flagged through = own;
    for (int step = 1; step < 32; step *= 2) {
        const Flagged before = {__shfl_up_sync(0xffffffffU, through.sum, step),
                                __shfl_up_sync(0xffffffffU, through.flag, step)};
        if (lane >= step) through = after(before, through);
    }
    if (lane == 31) sums[warp] = through;
    Flagged result = {__shfl_up_sync(0xffffffffU, through.sum, 1),
                      __shfl_up_sync(0xffffffffU, through.flag, 1)};
    if (lane == 0) result = {0, 0};
    __syncthreads();
    Flagged base = {0, 0};
    for (int w = 0; w < warp; ++w) base = after(base, sums[w]);
    return after(base, result);
}

/// Scans parts of 1024 values; each CTA leaves its whole in `wholes`.
__global__ void scan_parts(const int4* values, const uchar4* flags, int4* out, Flagged* wholes) {
    __shared__ Flagged sums[block / 32];
    const int i = blockIdx.x * block + threadIdx.x;
    const int4 v = values[i];
    const uchar4 f = flags[i];
    Flagged own[each] = {{v.x, f.x}, {v.y, f.y}, {v.z, f.z}, {v.w, f.w}};
    for (int k = 1; k < each; ++k) own[k] = after(own[k - 1], own[k]);
    const Flagged base = scan_block(own[each - 1], sums);
    for (auto& one : own) one = after(base, one);
    out[i] = {own[0].sum, own[1].sum, own[2].sum, own[3].sum};
    if (threadIdx.x == block - 1) wholes[blockIdx.x] = own[each - 1];
}

/// One CTA turns wholes into what comes before each part.
__global__ void scan_wholes(Flagged* wholes, int parts) {
    __shared__ Flagged sums[block / 32];
    __shared__ Flagged last;
    Flagged base = {0, 0};
    for (int first = 0; first < parts; first += block) {
        const int i = first + threadIdx.x;
        const Flagged own = i < parts ? wholes[i] : Flagged{0, 0};
        const Flagged before = after(base, scan_block(own, sums));
        if (i < parts) wholes[i] = before;
        if (threadIdx.x == block - 1) last = after(before, own);
        __syncthreads();
        base = last;
    }
}

/// Carries are added up to the first flag of a part.
__global__ void add_carries(const unsigned char* flags, int* out, const Flagged* before) {
    __shared__ int first;
    if (threadIdx.x == 0) first = part;
    __syncthreads();
    const int start = blockIdx.x * part, carry = before[blockIdx.x].sum;
    for (int k = 0; k < each; ++k)
        if (flags[start + k * block + threadIdx.x])
            atomicMin(&first, k * block + static_cast<int>(threadIdx.x));
    __syncthreads();
    for (int i = threadIdx.x; i < first; i += block) out[start + i] += carry;
}

/// `lanes` threads a segment: 1, 32, or the CTA.
template <int lanes>
__global__ void sum_segments(const int* values, const int* offsets, int* sums, int segments) {
    __shared__ int shared;
    const int segment = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (segment >= segments) return;  // whole warps and whole CTAs where they are used
    int sum = 0;
    for (int i = offsets[segment] + lane; i < offsets[segment + 1]; i += lanes) sum += values[i];
    if constexpr (lanes >= 32) sum = __reduce_add_sync(0xffffffffU, sum);
    if constexpr (lanes > 32) {
        if (threadIdx.x == 0) shared = 0;
        __syncthreads();
        if (threadIdx.x % 32 == 0) atomicAdd(&shared, sum);
        __syncthreads();
        sum = shared;
    }
    if (lane == 0) sums[segment] = sum;
}

/// Pairs whose key is below a limit and whose second key is odd: counted, then kept in order.
template <bool write>
__global__ void keep_pairs(const unsigned* keys, const unsigned* seconds, Flagged* wholes, unsigned* out_keys,
                           unsigned* out_seconds, int count, unsigned limit) {
    __shared__ Flagged sums[block / 32];
    const int first = (blockIdx.x * block + threadIdx.x) * each;
    unsigned kept = 0;
    for (int k = 0; k < each; ++k)
        if (first + k < count && keys[first + k] < limit && (seconds[first + k] & 1U) != 0) kept |= 1U << k;
    const Flagged own = {__popc(kept), 0}, before = scan_block(own, sums);
    if constexpr (write) {
        int at = wholes[blockIdx.x].sum + before.sum;
        for (int k = 0; k < each; ++k) {
            if ((kept >> k & 1U) != 0) {
                out_keys[at] = keys[first + k];
                out_seconds[at++] = seconds[first + k];
            }
        }
    } else if (threadIdx.x == block - 1) {
        wholes[blockIdx.x] = after(before, own);
    }
}

/// Where runs of equal bytes start: counted, then value and start of each run written.
template <bool write>
__global__ void find_runs(const unsigned char* values, Flagged* wholes, unsigned char* of_run, int* starts,
                          int count) {
    __shared__ Flagged sums[block / 32];
    const int i = blockIdx.x * block + threadIdx.x;
    const bool head = i < count && (i == 0 || values[i] != values[i - 1]);
    const Flagged own = {head ? 1 : 0, 0}, before = scan_block(own, sums);
    if constexpr (write) {
        if (!head) return;
        of_run[wholes[blockIdx.x].sum + before.sum] = values[i];
        starts[wholes[blockIdx.x].sum + before.sum] = i;
    } else if (threadIdx.x == block - 1) {
        wholes[blockIdx.x] = after(before, own);
    }
}

void segments_of(int parts, unsigned mean) {
    const int count = parts * part;
    std::vector<int> values(count), offsets, expected(count);
    std::vector<unsigned char> flags(count);
    for (int i = 0; i < count; ++i) {
        values[i] = static_cast<int>(random_bits(1, i) % 1000);
        flags[i] = i == 0 || random_bits(2, i) % mean == 0 ? 1 : 0;
        if (flags[i]) offsets.push_back(i);
        expected[i] = values[i] + (flags[i] ? 0 : expected[i - 1]);
    }
    const int segments = static_cast<int>(offsets.size());
    offsets.push_back(count);
    const Array<int> in(values), offset_array(offsets);
    const Array<unsigned char> flag_array(flags);
    Array<int> out(count), sums(segments);
    Flagged* wholes = nullptr;
    require(cudaMalloc(&wholes, parts * sizeof(Flagged)), "wholes");
    prepare();
    scan_parts<<<parts, block>>>(reinterpret_cast<const int4*>(in.data()),
                                 reinterpret_cast<const uchar4*>(flag_array.data()),
                                 reinterpret_cast<int4*>(out.data()), wholes);
    finish("parts");
    prepare();
    scan_wholes<<<1, block>>>(wholes, parts);
    finish("wholes");
    prepare();
    add_carries<<<parts, block>>>(flag_array.data(), out.data(), wholes);
    finish("carries");
    check(out.values() == expected, "scan");
    cudaFree(wholes);
    prepare();
    if (mean < 32) {
        sum_segments<1>
            <<<(segments + 127) / 128, 128>>>(in.data(), offset_array.data(), sums.data(), segments);
    } else if (mean < 512) {
        sum_segments<32><<<(segments + 7) / 8, 256>>>(in.data(), offset_array.data(), sums.data(), segments);
    } else {
        sum_segments<128><<<segments, 128>>>(in.data(), offset_array.data(), sums.data(), segments);
    }
    finish("sums");
    output(("sums_" + std::to_string(mean)).c_str(), sums);
}

void kept_and_runs(int count) {
    const int parts = (count + part - 1) / part, blocks = (count + block - 1) / block;
    std::vector<unsigned char> bytes(count);
    for (int i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(random_bits(5, i / 7) % 4);
    const Array<unsigned> keys(random_values<unsigned>(count, 3)), seconds(random_values<unsigned>(count, 4));
    const Array<unsigned char> values(bytes);
    Array<unsigned> out_keys(count), out_seconds(count);
    Array<unsigned char> of_run(count);
    Array<int> starts(count);
    Flagged* wholes = nullptr;
    require(cudaMalloc(&wholes, blocks * sizeof(Flagged)), "wholes");
    const auto scanned = [&](int pieces) {
        finish("counted");
        prepare();
        scan_wholes<<<1, block>>>(wholes, pieces);
        finish("scanned");
        prepare();
    };
    prepare();
    keep_pairs<false>
        <<<parts, block>>>(keys.data(), seconds.data(), wholes, nullptr, nullptr, count, 3U << 30);
    scanned(parts);
    keep_pairs<true><<<parts, block>>>(keys.data(), seconds.data(), wholes, out_keys.data(),
                                       out_seconds.data(), count, 3U << 30);
    finish("kept");
    output("kept", out_seconds);
    prepare();
    find_runs<false><<<blocks, block>>>(values.data(), wholes, nullptr, nullptr, count);
    scanned(blocks);
    find_runs<true><<<blocks, block>>>(values.data(), wholes, of_run.data(), starts.data(), count);
    finish("runs");
    output("starts", starts);
    cudaFree(wholes);
}

void body() {
    segments_of(4096, 8);
    segments_of(6000, 100);
    segments_of(4000, 3000);
    kept_and_runs(5000000);
}

int main() {
    return run(body);
}
