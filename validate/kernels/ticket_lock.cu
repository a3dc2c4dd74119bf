// Locks between blocks: tickets served in order, a lock that compare-and-swap takes, and a result that blocks
// append in the order of their numbers; short and longer critical sections.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 128, bins = 128;

struct Lock {
    unsigned next, pad[31], serving;
};

__device__ unsigned own_digest(const unsigned* values, int items) {
    unsigned sum = 0;
    for (int k = 0; k < items; ++k) {
        sum += values[(blockIdx.x * items + k) * threads + threadIdx.x] >> (k % 7);
    }
    return sum;
}

/// Takes a ticket and waits until it is served; then the whole block adds to a shared table.
__global__ void by_ticket(const unsigned* values, int items, Lock* lock, unsigned* table) {
    const unsigned sum = own_digest(values, items);
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {
        ticket = atomicAdd(&lock->next, 1U);
        while (*const_cast<volatile unsigned*>(&lock->serving) != ticket) {
        }
        __threadfence();
    }
    __syncthreads();
    __stcg(table + threadIdx.x, __ldcg(table + threadIdx.x) + sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *const_cast<volatile unsigned*>(&lock->serving) = ticket + 1;
    }
}

/// Whoever swaps first enters.
__global__ void by_swap(const unsigned* values, int items, Lock* lock, unsigned* table) {
    const unsigned sum = own_digest(values, items);
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock->next, 0U, 1U) != 0) {
        }
        __threadfence();
    }
    __syncthreads();
    __stcg(table + threadIdx.x, __ldcg(table + threadIdx.x) + sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&lock->next, 0U);
    }
}

/// Blocks in the order of their numbers: each adds its sum to a running checksum.
__global__ void in_order(const unsigned* values, int items, Lock* lock, unsigned* table) {
    const unsigned sum = own_digest(values, items);
    if (threadIdx.x == 0) {
        while (*const_cast<volatile unsigned*>(&lock->serving) != blockIdx.x) {
        }
        __threadfence();
    }
    __syncthreads();
    __stcg(table + threadIdx.x, __ldcg(table + threadIdx.x) * 31U + sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *const_cast<volatile unsigned*>(&lock->serving) = blockIdx.x + 1;
    }
}

void body() {
    Array<Lock> lock(1);
    for (const int blocks : {20, 132, 600}) {
        for (const int items : {1, 64}) {
            if (blocks == 132 && items == 1) {
                continue;
            }
            const auto numbers = random_values<unsigned>(blocks * items * threads, 9);
            const Array<unsigned> values(numbers);
            std::vector<unsigned> sums(bins), ordered(bins);
            for (int block = 0; block < blocks; ++block) {
                for (int t = 0; t < threads; ++t) {
                    unsigned sum = 0;
                    for (int k = 0; k < items; ++k) {
                        sum += numbers[(block * items + k) * threads + t] >> (k % 7);
                    }
                    sums[t] += sum;
                    ordered[t] = ordered[t] * 31U + sum;
                }
            }
            const auto one = [&](const char* what, void (*kernel)(const unsigned*, int, Lock*, unsigned*),
                                 const std::vector<unsigned>& expected) {
                lock.zero();
                Array<unsigned> table(bins);
                prepare();
                kernel<<<blocks, threads>>>(values.data(), items, lock.data(), table.data());
                finish(what);
                const auto result = table.values();
                check(result == expected, what);
                output(what, result);
            };
            one("by_ticket", by_ticket, sums);
            one("by_swap", by_swap, sums);
            one("in_order", in_order, ordered);
        }
    }
}

int main() {
    return run(body);
}
