// Counts numbers in bins by atomic additions to global memory: few and many bins, random and sorted numbers,
// with and without the old value.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void count_in_bins(const unsigned* numbers, unsigned* bins, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&bins[numbers[i]], 1U);
    }
}

__global__ void number_in_bins(const unsigned* numbers, unsigned* bins, unsigned* places, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        places[i] = atomicAdd(&bins[numbers[i]], 1U);
    }
}

void body() {
    for (const int count : {100000, 2000000}) {
        for (const unsigned most : {1U, 16U, 256U, 4096U, 1U << 20}) {
            std::vector<unsigned> numbers(count), expected(most);
            for (int i = 0; i < count; ++i) {
                numbers[i] = random_bits(7, i) % most;
                ++expected[numbers[i]];
            }
            for (const bool sorted : {false, true}) {
                if (sorted && most == 1) continue;
                if (sorted) {
                    std::sort(numbers.begin(), numbers.end());
                }
                const Array<unsigned> array(numbers);
                Array<unsigned> bins(most), places(count);
                prepare();
                count_in_bins<<<(count + 255) / 256, 256>>>(array.data(), bins.data(), count);
                finish("count");
                check(bins.values() == expected, "count");
                output("count", bins);
                if (sorted) continue;
                bins.zero();
                prepare();
                number_in_bins<<<(count + 255) / 256, 256>>>(array.data(), bins.data(), places.data(), count);
                finish("number");
                check(bins.values() == expected, "number");
                output("number", places, true);
            }
        }
    }
}

int main() {
    return run(body);
}
