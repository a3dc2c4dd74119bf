// Counts and sums into bins of global memory from 64 to a million: several numbers a thread, uniform and
// skewed, integers and floating point, with copies of the table for groups of blocks, and lanes of a warp
// that agree first.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void count_striding(const unsigned* numbers, unsigned* bins, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[numbers[i]], 1U);
    }
}

__global__ void count_four(const uint4* numbers, unsigned* bins, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count / 4) {
        const uint4 four = numbers[i];
        atomicAdd(&bins[four.x], 1U);
        atomicAdd(&bins[four.y], 1U);
        atomicAdd(&bins[four.z], 1U);
        atomicAdd(&bins[four.w], 1U);
    }
}

__global__ void sum_weights(const unsigned* numbers, const float* weights, float* bins, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&bins[numbers[i]], weights[i]);
}

__global__ void count_in_copies(const unsigned* numbers, unsigned* bins, int count, int most, int copies) {
    unsigned* mine = bins + (blockIdx.x % copies) * most;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[numbers[i]], 1U);
    }
}

__global__ void count_agreed(const unsigned* numbers, unsigned* bins, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned number = numbers[i];
        const unsigned same = __match_any_sync(__activemask(), number);
        if (static_cast<int>(threadIdx.x % 32) == __ffs(same) - 1) atomicAdd(&bins[number], __popc(same));
    }
}

__global__ void largest_of_bin(const unsigned* numbers, const unsigned* values, unsigned* bins, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicMax(&bins[numbers[i]], values[i]);
}

void body() {
    const int count = 1 << 20;
    const auto values = random_values<unsigned>(count, 3);
    const Array<unsigned> values_array(values);
    const std::vector<float> weights(count, 0.25F);
    const Array<float> weights_array(weights);
    for (const unsigned most : {64U, 1024U, 16384U, 262144U, 1U << 20}) {
        for (const bool skewed : {false, true}) {
            std::vector<unsigned> numbers(count), expected(most), largest(most);
            for (int i = 0; i < count; ++i) {
                const std::uint64_t first = random_bits(21, i), second = random_bits(22, i);
                const std::uint64_t both = skewed ? first * second >> 32 : first;
                const std::uint64_t third = skewed ? both * random_bits(23, i) >> 32 : both;
                numbers[i] = static_cast<unsigned>(third * most >> 32);
                ++expected[numbers[i]];
                largest[numbers[i]] = std::max(largest[numbers[i]], values[i]);
            }
            const Array<unsigned> array(numbers);
            Array<unsigned> bins(most);
            const auto verify = [&](const char* what, const std::vector<unsigned>& right) {
                finish(what);
                check(bins.values() == right, what);
                output(what, bins);
                bins.zero();
            };
            prepare();
            count_striding<<<1056, 256>>>(array.data(), bins.data(), count);
            verify("striding", expected);
            prepare();
            count_four<<<count / 1024, 256>>>(reinterpret_cast<const uint4*>(array.data()), bins.data(),
                                              count);
            verify("four", expected);
            prepare();
            largest_of_bin<<<count / 256, 256>>>(array.data(), values_array.data(), bins.data(), count);
            verify("largest", largest);
            if (most <= 16384U) {
                prepare();
                count_agreed<<<count / 256, 256>>>(array.data(), bins.data(), count);
                verify("agreed", expected);
            }
            if (!skewed) {
                Array<float> sums(most);
                prepare();
                sum_weights<<<count / 256, 256>>>(array.data(), weights_array.data(), sums.data(), count);
                finish("sums");
                std::vector<double> quarters(most);
                for (unsigned i = 0; i < most; ++i) quarters[i] = expected[i] * 0.25;
                check_close(sums.values(), quarters, 1e-4, "sums");
                output("sums", sums);
            }
            if (most == 64U || most == 1024U) {
                Array<unsigned> copies(most * 32);
                prepare();
                count_in_copies<<<1056, 256>>>(array.data(), copies.data(), count, most, 32);
                finish("copies");
                const auto parts = copies.values();
                std::vector<unsigned> whole(most);
                for (unsigned i = 0; i < most * 32; ++i) whole[i % most] += parts[i];
                check(whole == expected, "copies");
                output("copies", copies);
            }
        }
    }
}

int main() {
    return run(body);
}
