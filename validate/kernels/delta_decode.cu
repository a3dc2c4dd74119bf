// Columns of numbers packed as differences: fields of a fixed width of bits unpacked, differences summed
// within blocks, numbers of one to five bytes found by their last bytes, and runs of equal values spread out.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline unsigned field_of(const unsigned* words, unsigned long long bit, int width) {
    const unsigned long long word = bit / 32;
    const unsigned low = words[word], high = words[word + 1];
    return __funnelshift_r(low, high, bit % 32) & ((1U << width) - 1U);
}

/// A CTA a block of 1024 values: four in a row for each thread.
__global__ void unpack_blocks(const unsigned* words, const int* firsts, int* values, int width) {
    __shared__ int sums[8];
    const unsigned long long first = 1024ULL * blockIdx.x + 4 * threadIdx.x;
    int own[4], sum = 0;
    for (int k = 0; k < 4; ++k) {
        const unsigned field = field_of(words, (first + k) * width, width);
        sum += static_cast<int>(field >> 1) ^ -static_cast<int>(field & 1U);
        own[k] = sum;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int before = sum;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, before, step);
        if (lane >= step) before += other;
    }
    if (lane == 31) sums[warp] = before;
    __syncthreads();
    int base = firsts[blockIdx.x] + before - sum;
    for (int w = 0; w < warp; ++w) base += sums[w];
    *reinterpret_cast<int4*>(values + first) = {base + own[0], base + own[1], base + own[2], base + own[3]};
}

/// The fields staged in shared memory first.
__global__ void unpack_staged(const unsigned* words, const int* firsts, int* values, int width) {
    __shared__ unsigned staged[1024 + 2];
    __shared__ int sums[8];
    const int count = 32 * width;  // words of 1024 fields
    const unsigned long long from = static_cast<unsigned long long>(blockIdx.x) * count;
    for (int i = threadIdx.x; i <= count; i += blockDim.x) staged[i] = words[from + i];
    __syncthreads();
    int own[4], sum = 0;
    for (int k = 0; k < 4; ++k) {
        const unsigned field =
            field_of(staged, static_cast<unsigned long long>(4 * threadIdx.x + k) * width, width);
        sum += static_cast<int>(field >> 1) ^ -static_cast<int>(field & 1U);
        own[k] = sum;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int before = sum;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, before, step);
        if (lane >= step) before += other;
    }
    if (lane == 31) sums[warp] = before;
    __syncthreads();
    int base = firsts[blockIdx.x] + before - sum;
    for (int w = 0; w < warp; ++w) base += sums[w];
    const unsigned long long first = 1024ULL * blockIdx.x + 4 * threadIdx.x;
    *reinterpret_cast<int4*>(values + first) = {base + own[0], base + own[1], base + own[2], base + own[3]};
}

/// How many numbers end within each part of 1024 bytes.
__global__ void count_ends(const unsigned char* bytes, int* counts, int size) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int at = blockIdx.x * 1024 + 4 * threadIdx.x;
    int own = 0;
    for (int k = 0; k < 4; ++k) own += at + k < size && bytes[at + k] < 128 ? 1 : 0;
    own = __reduce_add_sync(0xffffffffU, own);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

/// A thread a byte: the one at a number's end puts it together backwards.
__global__ void decode_bytes(const unsigned char* bytes, const int* before, unsigned* values, int size) {
    __shared__ int sums[32];
    const int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool end = i < size && bytes[i] < 128;
    const unsigned ends = __ballot_sync(0xffffffffU, end);
    if (lane == 0) sums[warp] = __popc(ends);
    __syncthreads();
    if (!end) return;
    int place = before[blockIdx.x] + __popc(ends & ((1U << lane) - 1U));
    for (int w = 0; w < warp; ++w) place += sums[w];
    unsigned value = bytes[i];
    for (int k = i - 1; k >= 0 && bytes[k] >= 128; --k) value = value << 7 | (bytes[k] & 127U);
    values[place] = value;
}

/// A thread a value looks for its run.
__global__ void spread_runs(const int* ends, const int* of_run, int* values, int runs, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int low = 0, high = runs;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] <= i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    values[i] = of_run[low];
}

/// A warp a run writes it.
__global__ void write_runs(const int* ends, const int* of_run, int* values, int runs) {
    const int run = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (run >= runs) return;
    const int value = of_run[run];
    for (int i = (run > 0 ? ends[run - 1] : 0) + lane; i < ends[run]; i += 32) values[i] = value;
}

void packed(int blocks, int width) {
    const std::size_t words = static_cast<std::size_t>(blocks) * 32 * width + 2;
    const Array<unsigned> word_array(random_values<unsigned>(words, 1));
    std::vector<int> firsts(blocks);
    for (int i = 0; i < blocks; ++i) firsts[i] = i * 17;
    const Array<int> first_array(firsts);
    Array<int> values(static_cast<std::size_t>(blocks) * 1024);
    const std::string name = std::to_string(blocks) + "x" + std::to_string(width);
    prepare();
    unpack_blocks<<<blocks, 256>>>(word_array.data(), first_array.data(), values.data(), width);
    finish("unpack");
    output(("unpacked_" + name).c_str(), values);
    values.zero();
    prepare();
    unpack_staged<<<blocks, 256>>>(word_array.data(), first_array.data(), values.data(), width);
    finish("staged");
    output(("staged_" + name).c_str(), values);
}

void by_bytes(int numbers) {
    std::vector<unsigned char> bytes;
    std::vector<unsigned> expected;
    for (int i = 0; i < numbers; ++i) {
        unsigned value = random_bits(2, i) >> random_bits(3, i) % 32;
        expected.push_back(value);
        for (; value >= 128; value >>= 7) bytes.push_back(static_cast<unsigned char>(value | 128U));
        bytes.push_back(static_cast<unsigned char>(value));
    }
    const int size = static_cast<int>(bytes.size()), parts = (size + 1023) / 1024;
    const Array<unsigned char> byte_array(bytes);
    Array<int> counts(parts);
    Array<unsigned> values(numbers);
    prepare();
    count_ends<<<parts, 256>>>(byte_array.data(), counts.data(), size);
    finish("ends");
    auto before = counts.values();
    for (int i = 0, sum = 0; i < parts; ++i) {
        const int own = before[i];
        before[i] = sum;
        sum += own;
    }
    counts.copy_from(before);
    prepare();
    decode_bytes<<<parts, 1024>>>(byte_array.data(), counts.data(), values.data(), size);
    finish("bytes");
    check(values.values() == expected, "bytes");
}

void of_runs(int runs, int most) {
    std::vector<int> ends, of_run;
    for (int i = 0, end = 0; i < runs; ++i) {
        end += 1 + static_cast<int>(random_bits(4, i) % static_cast<unsigned>(most));
        ends.push_back(end);
        of_run.push_back(static_cast<int>(random_bits(5, i)));
    }
    const int count = ends.back();
    const Array<int> end_array(ends), run_array(of_run);
    Array<int> values(count);
    const std::string name = std::to_string(runs);
    prepare();
    spread_runs<<<(count + 255) / 256, 256>>>(end_array.data(), run_array.data(), values.data(), runs, count);
    finish("spread");
    output(("spread_" + name).c_str(), values);
    values.zero();
    prepare();
    write_runs<<<(runs + 7) / 8, 256>>>(end_array.data(), run_array.data(), values.data(), runs);
    finish("write");
    output(("written_" + name).c_str(), values);
}

void body() {
    packed(8192, 17);
    packed(8192, 5);
    packed(600, 11);
    by_bytes(3000000);
    by_bytes(100000);
    of_runs(40000, 500);
    of_runs(500000, 20);
}

int main() {
    return run(body);
}
