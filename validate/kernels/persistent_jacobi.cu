// Relaxation of a grid of points by resident blocks: every sweep ends with a barrier of the whole grid,
// written with a counter; rows are dealt to blocks in strips or in turn.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;

__device__ void wait_for_all(unsigned* counter, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1U);
        while (*const_cast<volatile unsigned*>(counter) < round * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

template <bool in_strips>
__global__ void relax(unsigned* from, unsigned* to, int rows, int columns, int sweeps, unsigned* counter) {
    const int strip = (rows + gridDim.x - 1) / gridDim.x;
    const int first = in_strips ? blockIdx.x * strip : blockIdx.x, step = in_strips ? 1 : gridDim.x;
    const int end = in_strips ? min(first + strip, rows) : rows;
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
        for (int row = first; row < end; row += step) {
            const unsigned* const above = from + (row + rows - 1) % rows * columns;
            const unsigned* const own = from + row * columns;
            const unsigned* const below = from + (row + 1) % rows * columns;
            for (int c = threadIdx.x; c < columns; c += threads) {
                to[row * columns + c] = __ldcg(above + c) + __ldcg(below + c) + 3U * __ldcg(own + c) +
                                        __ldcg(own + (c + 1) % columns);
            }
        }
        wait_for_all(counter, sweep);
        unsigned* const swapped = from;
        from = to;
        to = swapped;
    }
}

void body() {
    Array<unsigned> counter(1);
    for (const int rows : {132, 1056}) {
        const int columns = rows == 132 ? 256 : 1000, sweeps = 10;
        const auto numbers = random_values<unsigned>(rows * columns, 15);
        auto expected = numbers, next = numbers;
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            for (int r = 0; r < rows; ++r) {
                for (int c = 0; c < columns; ++c) {
                    next[r * columns + c] = expected[(r + rows - 1) % rows * columns + c] +
                                            expected[(r + 1) % rows * columns + c] +
                                            3U * expected[r * columns + c] +
                                            expected[r * columns + (c + 1) % columns];
                }
            }
            expected.swap(next);
        }
        const auto one = [&](const char* what, void (*kernel)(unsigned*, unsigned*, int, int, int, unsigned*),
                             int blocks) {
            counter.zero();
            Array<unsigned> from(numbers), to(rows * columns);
            prepare();
            kernel<<<blocks, threads>>>(from.data(), to.data(), rows, columns, sweeps, counter.data());
            finish(what);
            const auto result = from.values();
            check(result == expected, what);
            output(what, result);
        };
        one("strips_132", relax<true>, 132);
        one("turns_66", relax<false>, 66);
        one("strips_264", relax<true>, 264);
    }
}

int main() {
    return run(body);
}
