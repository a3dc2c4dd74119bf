// Divisions and remainders of integers by numbers known at run time and at compile time, and high halves of
// products.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

enum class Way { by_number, by_ten, wide_by_number, high_half, wide_product };

template <Way way>
__device__ unsigned step(unsigned value, unsigned number) {
    if constexpr (way == Way::by_number) {
        return value % number * 3U + value / number;
    } else if constexpr (way == Way::by_ten) {
        return value % 10U * 429496729U + value / 10U;
    } else if constexpr (way == Way::wide_by_number) {
        const unsigned long long wide = (static_cast<unsigned long long>(value) << 20) + number;
        return static_cast<unsigned>(wide % (number * 1048583ULL)) + 1U;
    } else if constexpr (way == Way::high_half) {
        return __umulhi(value, number) + value;
    } else {
        const unsigned long long wide = static_cast<unsigned long long>(value) * number;
        return static_cast<unsigned>(wide >> 13) ^ value;
    }
}

template <Way way>
__global__ void chains(unsigned* results, unsigned number, int trips) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned first = thread * 2654435761U, second = first ^ 0x9e3779b9U;
    for (int trip = 0; trip < trips; ++trip) {
        first = step<way>(first, number);
        second = step<way>(second, number + 1U);
    }
    results[thread] = first + second;
}

template <Way way>
void launch(const char* what) {
    for (const int blocks : {132, 528, 1056}) {
        Array<unsigned> results(static_cast<std::size_t>(blocks) * 128);
        prepare();
        chains<way><<<blocks, 128>>>(results.data(), 1000003U, 256);
        finish(what);
        output(what, results);
    }
}

void body() {
    launch<Way::by_number>("by_number");
    launch<Way::by_ten>("by_ten");
    launch<Way::wide_by_number>("wide_by_number");
    launch<Way::high_half>("high_half");
    launch<Way::wide_product>("wide_product");
}

int main() {
    return run(body);
}
