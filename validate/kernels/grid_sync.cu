// Jacobi steps on a grid of points: one launch a step, then many steps in one cooperative launch with a
// barrier of the whole grid after each, with rows kept in shared memory, and until the largest change is
// small.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>

using namespace textbook;
namespace groups = cooperative_groups;

constexpr int threads = 512;
constexpr int most_blocks = 132;  // one on each SM, so that all run at once

/// The mean of the four neighbours; points on the border keep their values.
__device__ float mean_of_neighbours(const float* values, int i, int columns) {
    return 0.25F * ((values[i - columns] + values[i + columns]) + (values[i - 1] + values[i + 1]));
}

__device__ bool is_inner(int i, int rows, int columns) {
    const int row = i / columns, column = i - row * columns;
    return row > 0 && row < rows - 1 && column > 0 && column < columns - 1;
}

__global__ void one_step(const float* from, float* to, int rows, int columns) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        to[i] = is_inner(i, rows, columns) ? mean_of_neighbours(from, i, columns) : from[i];
    }
}

/// Points are dealt to all threads of the grid in turn.
__global__ void many_steps(float* from, float* to, int rows, int columns, int steps) {
    const auto grid = groups::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (int i = grid.thread_rank(); i < rows * columns; i += grid.num_threads()) {
            to[i] = is_inner(i, rows, columns) ? mean_of_neighbours(from, i, columns) : from[i];
        }
        grid.sync();
        float* const swapped = from;
        from = to;
        to = swapped;
    }
}

/// Each block owns a strip of rows, in shared memory for all steps. Only the rows at a strip's edges go
/// through global memory: edges[parity of the step][block][first or last][column].
__global__ void resident_strips(const float* from, float* to, float* edges, int rows, int columns,
                                int steps) {
    extern __shared__ float strips[];
    const auto grid = groups::this_grid();
    const int blocks = gridDim.x, block = blockIdx.x;
    const int first_row = static_cast<long long>(rows) * block / blocks;
    const int own_rows = static_cast<long long>(rows) * (block + 1) / blocks - first_row;
    // One row more on either side, for the neighbours' edges.
    const int size = (rows / blocks + 3) * columns;
    float *current = strips, *next = strips + size;
    for (int i = threadIdx.x; i < own_rows * columns; i += threads) {
        current[i + columns] = from[first_row * columns + i];
    }
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        float* const edges_of_step = edges + step % 2 * blocks * 2 * columns;
        for (int column = threadIdx.x; column < columns; column += threads) {
            edges_of_step[block * 2 * columns + column] = current[columns + column];
            edges_of_step[(block * 2 + 1) * columns + column] = current[own_rows * columns + column];
        }
        grid.sync();
        for (int column = threadIdx.x; column < columns; column += threads) {
            if (block > 0) {
                current[column] = edges_of_step[(block * 2 - 1) * columns + column];
            }
            if (block < blocks - 1) {
                current[(own_rows + 1) * columns + column] =
                    edges_of_step[(block + 1) * 2 * columns + column];
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < own_rows * columns; i += threads) {
            next[i + columns] = is_inner(first_row * columns + i, rows, columns)
                                    ? mean_of_neighbours(current, i + columns, columns)
                                    : current[i + columns];
        }
        __syncthreads();
        float* const swapped = current;
        current = next;
        next = swapped;
    }
    for (int i = threadIdx.x; i < own_rows * columns; i += threads) {
        to[first_row * columns + i] = current[i + columns];
    }
}

/// Stops when no point changed by more than the tolerance. The largest change of each step is an integer:
/// floats that are not negative are in the order of their bits.
__global__ void until_settled(float* from, float* to, int rows, int columns, int most_steps, float tolerance,
                              unsigned* largest_changes, int* steps_done) {
    const auto grid = groups::this_grid();
    int step = 0;
    for (; step < most_steps; ++step) {
        float change = 0.0F;
        for (int i = grid.thread_rank(); i < rows * columns; i += grid.num_threads()) {
            const float value = is_inner(i, rows, columns) ? mean_of_neighbours(from, i, columns) : from[i];
            change = fmaxf(change, fabsf(value - from[i]));
            to[i] = value;
        }
        const unsigned change_of_warp = __reduce_max_sync(0xffffffffU, __float_as_uint(change));
        if (threadIdx.x % 32 == 0) {
            atomicMax(&largest_changes[step], change_of_warp);
        }
        grid.sync();
        float* const swapped = from;
        from = to;
        to = swapped;
        if (__uint_as_float(*const_cast<volatile unsigned*>(&largest_changes[step])) <= tolerance) {
            ++step;
            break;
        }
    }
    if (grid.thread_rank() == 0) {
        *steps_done = step;
    }
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, std::size_t shared, Arguments... arguments) {
    void* addresses[] = {&arguments...};
    require(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                                        addresses, shared, nullptr),
            "cudaLaunchCooperativeKernel");
}

/// One step on the host.
std::vector<double> stepped(const std::vector<double>& values, int rows, int columns) {
    auto result = values;
    for (int row = 1; row < rows - 1; ++row) {
        for (int column = 1; column < columns - 1; ++column) {
            const int i = row * columns + column;
            result[i] = 0.25 * (values[i - columns] + values[i + columns] + values[i - 1] + values[i + 1]);
        }
    }
    return result;
}

std::vector<double> after_steps(const std::vector<float>& values, int rows, int columns, int steps) {
    auto result = std::vector<double>(values.begin(), values.end());
    for (int step = 0; step < steps; ++step) {
        result = stepped(result, rows, columns);
    }
    return result;
}

void body() {
    struct Case {
        int rows, columns, steps, blocks;
    };
    for (const auto& [rows, columns, steps, blocks] :
         {Case{130, 203, 12, 44}, Case{1029, 1030, 4, most_blocks}}) {
        const bool small = rows < 1000;
        auto values = random_values<float>(rows * columns, 1);
        for (int column = 0; column < columns; ++column) {
            values[column] = 2.0F;  // a warm border
        }
        Array<float> first(values), second(values.size());
        // After an even number of steps the result is in the first array.
        const auto verify = [&](const char* what, const Array<float>& result,
                                const std::vector<double>& expected) {
            finish(what);
            const auto settled = result.values();
            check_close(settled, expected, 1e-6, what);
            output(what, settled);
            first.copy_from(values);
            second.zero();
        };
        const int one_step_blocks = (rows * columns + 255) / 256;
        for (int step = 0; step < 4; ++step) {
            const bool odd = step % 2 == 1;
            prepare();
            one_step<<<one_step_blocks, 256>>>(odd ? second.data() : first.data(),
                                               odd ? first.data() : second.data(), rows, columns);
            finish("one_step");
        }
        verify("one_step", first, after_steps(values, rows, columns, 4));

        const auto expected = after_steps(values, rows, columns, steps);
        prepare();
        launch(many_steps, blocks, 0, first.data(), second.data(), rows, columns, steps);
        verify("many_steps", first, expected);

        const Array<float> edges(2 * blocks * 2 * columns);
        const std::size_t shared = std::size_t{2} * (rows / blocks + 3) * columns * sizeof(float);
        require(cudaFuncSetAttribute(resident_strips, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared)),
                "shared memory");
        prepare();
        launch(resident_strips, blocks, shared, static_cast<const float*>(first.data()), second.data(),
               edges.data(), rows, columns, steps);
        verify("resident_strips", second, expected);

        // The tolerance lies between the changes of two steps, far from both.
        const int wanted_steps = small ? 10 : 2;
        auto settled = std::vector<double>(values.begin(), values.end());
        double tolerance = 0.0, change = 0.0;
        for (int step = 0; step < wanted_steps; ++step) {
            const auto next = stepped(settled, rows, columns);
            const double change_before = change;
            change = 0.0;
            for (std::size_t i = 0; i < next.size(); ++i) {
                change = std::max(change, std::fabs(next[i] - settled[i]));
            }
            tolerance = 0.5 * (change_before + change);
            settled = next;
        }
        const Array<unsigned> largest_changes(steps);
        const Array<int> steps_done(1);
        prepare();
        launch(until_settled, blocks, 0, first.data(), second.data(), rows, columns, steps,
               static_cast<float>(tolerance), largest_changes.data(), steps_done.data());
        verify("until_settled", first, settled);
        check(steps_done.values()[0] == wanted_steps, "steps of until_settled");
        output("largest_changes", largest_changes);
        output("steps_done", steps_done);
    }
}

int main() {
    return run(body);
}
