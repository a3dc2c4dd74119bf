// Tasks of uneven length: blocks or warps that stay and take the next from a counter, against tasks handed
// out beforehand. A task sums up what it reads in order, what it computes, or what it reads from place to
// place.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Task {
    int start;
    int length;
    int kind;
    int rounds;
};

/// One item of a task.
__host__ __device__ inline unsigned item(const Task& task, const unsigned* data, int i, unsigned mask) {
    unsigned value = data[(task.start + i) & mask];
    if (task.kind == 1) {
        for (int k = 0; k < task.rounds; ++k) {
            value ^= value << 13;
            value ^= value >> 17;
            value ^= value << 5;
        }
    } else if (task.kind == 2) {
        for (int k = task.rounds; k > 0; k -= 8) value = data[(value * 2654435761U >> 7) & mask] + k;
    }
    return value;
}

/// Sum over a block; right in thread 0.
template <int threads>
__device__ unsigned block_sum(unsigned value, unsigned* sums) {
    value = __reduce_add_sync(0xffffffffU, value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    unsigned total = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < threads / 32; ++w) total += sums[w];
    return total;
}

/// Blocks that stay: thread 0 takes a task and tells the others.
template <int threads>
__global__ void __launch_bounds__(threads)
    block_queue(const Task* tasks, const unsigned* data, unsigned* results, int* counter, int count,
                unsigned mask) {
    __shared__ int taken;
    __shared__ unsigned sums[threads / 32];
    while (true) {
        if (threadIdx.x == 0) taken = atomicAdd(counter, 1);
        __syncthreads();
        const int t = taken;
        if (t >= count) break;
        const Task task = tasks[t];
        unsigned sum = 0;
        for (int i = threadIdx.x; i < task.length; i += threads) sum += item(task, data, i, mask);
        sum = block_sum<threads>(sum, sums);
        if (threadIdx.x == 0) results[t] = sum;
    }
}

/// Warps that stay: lane 0 takes `several` tasks at a time.
__global__ void warp_queue(const Task* tasks, const unsigned* __restrict__ data, unsigned* results,
                           int* counter, int count, int several, unsigned mask) {
    const int lane = threadIdx.x & 31;
    while (true) {
        int first = 0;
        if (lane == 0) first = atomicAdd(counter, several);
        first = __shfl_sync(0xffffffffU, first, 0);
        if (first >= count) return;
        const int end = min(first + several, count);
        for (int t = first; t < end; ++t) {
            const Task task = tasks[t];
            unsigned sum = 0;
            for (int i = lane; i < task.length; i += 32) sum += item(task, data, i, mask);
            for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffU, sum, step);
            if (lane == 0) results[t] = sum;
        }
    }
}

/// The same by blocks that know their tasks: every so many, one after the other.
template <int threads>
__global__ void static_blocks(const Task* tasks, const unsigned* data, unsigned* results, int count,
                              unsigned mask) {
    __shared__ unsigned sums[threads / 32];
    for (int t = blockIdx.x; t < count; t += gridDim.x) {
        const Task task = tasks[t];
        unsigned sum = 0;
        for (int i = threadIdx.x; i < task.length; i += threads) sum += item(task, data, i, mask);
        sum = block_sum<threads>(sum, sums);
        if (threadIdx.x == 0) results[t] = sum;
        __syncthreads();
    }
}

/// A warp a task, as many warps as tasks.
__global__ void static_warps(const Task* tasks, const unsigned* __restrict__ data, unsigned* results,
                             int count, unsigned mask) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (t >= count) return;
    const Task task = tasks[t];
    unsigned sum = 0;
    for (int i = lane; i < task.length; i += 32) sum += item(task, data, i, mask);
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (lane == 0) results[t] = sum;
}

std::vector<Task> make(int count, int size) {
    std::vector<Task> tasks(count);
    for (int i = 0; i < count; ++i) {
        const unsigned bits = random_bits(1, i);
        const int length = 40 << bits % 8;
        tasks[i] = {static_cast<int>(random_bits(2, i) % size), length + static_cast<int>(bits >> 8) % length,
                    static_cast<int>(bits >> 28) % 3, 4 + static_cast<int>(bits >> 20 & 15U)};
    }
    return tasks;
}

void body() {
    constexpr int count = 9000, size = 1 << 24;
    constexpr unsigned mask = size - 1;
    const auto values = random_values<unsigned>(size, 3);
    auto list = make(count, size);
    const Array<unsigned> data(values);
    Array<unsigned> results(count);
    Array<int> counter(1);
    Array<Task> tasks(list);
    const auto right = [&](const char* name) {
        const auto got = results.values();
        for (int t = 0; t < count; t += 37) {
            unsigned sum = 0;
            for (int i = 0; i < list[t].length; ++i) sum += item(list[t], values.data(), i, mask);
            check(got[t] == sum, name);
        }
        output(name, results);
        results.zero();
        counter.zero();
    };
    prepare();
    block_queue<256>
        <<<132 * 4, 256>>>(tasks.data(), data.data(), results.data(), counter.data(), count, mask);
    finish("block queue");
    right("block_queue_256");
    prepare();
    block_queue<96><<<132 * 8, 96>>>(tasks.data(), data.data(), results.data(), counter.data(), count, mask);
    finish("block queue of 96");
    right("block_queue_96");
    prepare();
    warp_queue<<<132 * 8, 128>>>(tasks.data(), data.data(), results.data(), counter.data(), count, 1, mask);
    finish("warp queue");
    right("warp_queue_1");
    prepare();
    warp_queue<<<132 * 2, 512>>>(tasks.data(), data.data(), results.data(), counter.data(), count, 4, mask);
    finish("warp queue by fours");
    right("warp_queue_4");
    prepare();
    static_blocks<256><<<132 * 4, 256>>>(tasks.data(), data.data(), results.data(), count, mask);
    finish("static blocks");
    right("static_blocks");
    prepare();
    static_warps<<<(count + 3) / 4, 128>>>(tasks.data(), data.data(), results.data(), count, mask);
    finish("static warps");
    right("static_warps");

    // The longest first.
    std::stable_sort(list.begin(), list.end(),
                     [](const Task& a, const Task& b) { return a.length > b.length; });
    tasks.copy_from(list);
    prepare();
    block_queue<128>
        <<<132 * 8, 128>>>(tasks.data(), data.data(), results.data(), counter.data(), count, mask);
    finish("longest first");
    right("longest_first_blocks");
    prepare();
    warp_queue<<<132 * 4, 256>>>(tasks.data(), data.data(), results.data(), counter.data(), count, 1, mask);
    finish("longest first by warps");
    right("longest_first_warps");
}

int main() {
    return run(body);
}
