// Solves lower triangular systems by forward substitution: a dense one in one block by rows, by columns
// and by square blocks; a sparse one level by level in one block and by warps that wait for each other;
// and many small ones at once, by threads and by warps.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr int small_size = 24;  // unknowns of each of many systems
constexpr unsigned all_lanes = 0xffffffffU;

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(all_lanes, value, distance);
    }
    return value;
}

/// Each unknown is a sum over all unknowns before it: one reduction of the block for each.
__global__ void dense_by_rows(const float* matrix, const float* right, float* solution, int size) {
    extern __shared__ float known[];
    __shared__ float warp_sums[threads / 32];
    for (int row = 0; row < size; ++row) {
        float sum = 0.0F;
        for (int column = threadIdx.x; column < row; column += threads) {
            sum += matrix[row * size + column] * known[column];
        }
        sum = sum_of_warp(sum);
        if (threadIdx.x % 32 == 0) {
            warp_sums[threadIdx.x / 32] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            float total = 0.0F;
            for (const float warp_sum : warp_sums) {
                total += warp_sum;
            }
            known[row] = (right[row] - total) / matrix[row * size + row];
        }
        __syncthreads();
    }
    for (int row = threadIdx.x; row < size; row += threads) {
        solution[row] = known[row];
    }
}

/// As soon as an unknown is known, its column is subtracted from the right side: one barrier for each. The
/// matrix is stored by columns.
__global__ void dense_by_columns(const float* matrix, const float* right, float* solution, int size) {
    extern __shared__ float remaining[];
    for (int row = threadIdx.x; row < size; row += threads) {
        remaining[row] = right[row];
    }
    __syncthreads();
    for (int column = 0; column < size; ++column) {
        const float known = remaining[column] / matrix[column * size + column];
        for (int row = column + 1 + threadIdx.x; row < size; row += threads) {
            remaining[row] -= matrix[column * size + row] * known;
        }
        if (threadIdx.x == 0) {
            solution[column] = known;
        }
        __syncthreads();
    }
}

/// 32 unknowns by one warp without barriers, then their 32 columns by all. The matrix is stored by columns.
__global__ void dense_by_blocks(const float* matrix, const float* right, float* solution, int size) {
    extern __shared__ float remaining[];
    __shared__ float known[32];
    for (int row = threadIdx.x; row < size; row += threads) {
        remaining[row] = right[row];
    }
    __syncthreads();
    for (int first = 0; first < size; first += 32) {
        const int width = min(32, size - first);
        if (threadIdx.x < 32) {
            const int row = first + threadIdx.x;
            const bool inside = threadIdx.x < width;
            const float diagonal = inside ? matrix[row * size + row] : 1.0F;
            float own = inside ? remaining[row] : 0.0F;
            for (int k = 0; k < width; ++k) {
                const float found = __shfl_sync(all_lanes, own / diagonal, k);
                if (threadIdx.x == k) {
                    own = found;
                    known[k] = found;
                    solution[row] = found;
                } else if (inside && threadIdx.x > k) {
                    own -= matrix[(first + k) * size + row] * found;
                }
            }
        }
        __syncthreads();
        for (int row = first + 32 + threadIdx.x; row < size; row += threads) {
            float sum = 0.0F;
#pragma unroll
            for (int k = 0; k < 32; ++k) {
                sum += matrix[(first + k) * size + row] * known[k];
            }
            remaining[row] -= sum;
        }
        __syncthreads();
    }
}

/// A sparse matrix by rows, with ones on the diagonal, which is not stored.
struct Sparse {
    const int* offsets;  // of each row's elements; one more than rows
    const int* columns;
    const float* values;
    int rows;
};

/// Rows of a level depend on rows of earlier levels only. One block, one barrier a level.
__global__ void sparse_by_levels(Sparse matrix, const int* order, const int* level_offsets, int levels,
                                 const float* right, float* solution) {
    for (int level = 0; level < levels; ++level) {
        for (int i = level_offsets[level] + threadIdx.x; i < level_offsets[level + 1]; i += blockDim.x) {
            const int row = order[i];
            float sum = right[row];
            for (int k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
                sum -= matrix.values[k] * solution[matrix.columns[k]];
            }
            solution[row] = sum;
        }
        __syncthreads();
    }
}

/// A warp for each row waits until the rows before are done. Blocks take their rows from a counter, so that
/// those they wait for have begun.
__global__ void sparse_waiting(Sparse matrix, const float* right, volatile float* solution,
                               volatile int* done, int* next_block) {
    __shared__ int block;
    if (threadIdx.x == 0) {
        block = atomicAdd(next_block, 1);
    }
    __syncthreads();
    const int row = (block * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= matrix.rows) {
        return;
    }
    float sum = 0.0F;
    for (int k = matrix.offsets[row] + lane; k < matrix.offsets[row + 1]; k += 32) {
        const int column = matrix.columns[k];
        while (done[column] == 0) {
        }
        __threadfence();
        sum += matrix.values[k] * solution[column];
    }
    __syncwarp();
    sum = sum_of_warp(sum);
    if (lane == 0) {
        solution[row] = right[row] - sum;
        __threadfence();
        done[row] = 1;
    }
}

/// Systems follow each other: neighbouring threads read far apart.
__global__ void small_by_threads(const float* matrices, const float* right, float* solutions, int systems) {
    const int system = blockIdx.x * blockDim.x + threadIdx.x;
    if (system >= systems) {
        return;
    }
    const float* const matrix = matrices + system * small_size * small_size;
    float known[small_size];
#pragma unroll
    for (int row = 0; row < small_size; ++row) {
        float sum = right[system * small_size + row];
#pragma unroll
        for (int column = 0; column < row; ++column) {
            sum -= matrix[row * small_size + column] * known[column];
        }
        known[row] = sum / matrix[row * small_size + row];
        solutions[system * small_size + row] = known[row];
    }
}

/// The same element of all systems follows each other: neighbouring threads read neighbouring words.
__global__ void small_interleaved(const float* matrices, const float* right, float* solutions, int systems) {
    const int system = blockIdx.x * blockDim.x + threadIdx.x;
    if (system >= systems) {
        return;
    }
    float known[small_size];
#pragma unroll
    for (int row = 0; row < small_size; ++row) {
        float sum = right[row * systems + system];
#pragma unroll
        for (int column = 0; column < row; ++column) {
            sum -= matrices[(row * small_size + column) * systems + system] * known[column];
        }
        known[row] = sum / matrices[(row * small_size + row) * systems + system];
        solutions[row * systems + system] = known[row];
    }
}

/// A warp for each system, a lane for each row; the matrix comes through shared memory, its rows one word
/// apart from a multiple of the banks.
__global__ void small_by_warps(const float* matrices, const float* right, float* solutions, int systems) {
    __shared__ float tiles[threads / 32][small_size * (small_size + 1)];
    const int system = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (system >= systems) {
        return;
    }
    float* const tile = tiles[threadIdx.x / 32];
    for (int i = lane; i < small_size * small_size; i += 32) {
        tile[i / small_size * (small_size + 1) + i % small_size] =
            matrices[system * small_size * small_size + i];
    }
    __syncwarp();
    const bool inside = lane < small_size;
    const float* const own_row = tile + (inside ? lane : 0) * (small_size + 1);
    const float diagonal = inside ? own_row[lane] : 1.0F;
    float own = inside ? right[system * small_size + lane] : 0.0F;
#pragma unroll
    for (int k = 0; k < small_size; ++k) {
        const float found = __shfl_sync(all_lanes, own / diagonal, k);
        if (lane == k) {
            own = found;
        } else if (lane > k) {
            own -= own_row[k] * found;
        }
    }
    if (inside) {
        solutions[system * small_size + lane] = own;
    }
}

void solve_dense(int size) {
    auto by_rows = random_values<float>(size * size, 1);
    std::vector<float> by_columns(by_rows.size());
    const auto right_values = random_values<float>(size, 2);
    std::vector<double> expected(size);
    for (int row = 0; row < size; ++row) {
        double sum = right_values[row];
        for (int column = 0; column < size; ++column) {
            float& value = by_rows[row * size + column];
            // Small beside the diagonal, so that rounding does not grow.
            value = column > row ? 0.0F : column == row ? value + 3.0F : value * 0.125F;
            by_columns[column * size + row] = value;
            if (column < row) {
                sum -= static_cast<double>(value) * expected[column];
            }
        }
        expected[row] = sum / by_rows[row * size + row];
    }
    const Array<float> matrix(by_rows), matrix_by_columns(by_columns), right(right_values);
    Array<float> solution(size);
    const auto verify = [&](const char* what) {
        finish(what);
        const auto found = solution.values();
        check_close(found, expected, 1e-5, what);
        output(what, found);
        solution.zero();
    };
    const std::size_t shared = size * sizeof(float);
    prepare();
    dense_by_rows<<<1, threads, shared>>>(matrix.data(), right.data(), solution.data(), size);
    verify("dense_by_rows");
    prepare();
    dense_by_columns<<<1, threads, shared>>>(matrix_by_columns.data(), right.data(), solution.data(), size);
    verify("dense_by_columns");
    prepare();
    dense_by_blocks<<<1, threads, shared>>>(matrix_by_columns.data(), right.data(), solution.data(), size);
    verify("dense_by_blocks");
}

void solve_sparse(int rows) {
    std::vector<int> offsets(rows + 1), columns, levels_of_rows(rows);
    std::vector<float> values;
    const auto right_values = random_values<float>(rows, 2);
    std::vector<double> expected(rows);
    int levels = 0;
    for (int row = 0; row < rows; ++row) {
        const int elements = row == 0 ? 0 : random_bits(3, row) % 9;
        double sum = right_values[row];
        for (int k = 0; k < elements; ++k) {
            // In the first half of the rows before: few levels.
            const int column = random_bits(4, columns.size()) % ((row + 1) / 2);
            values.push_back(random_float(5, columns.size()) * 0.125F);
            sum -= static_cast<double>(values.back()) * expected[column];
            levels_of_rows[row] = std::max(levels_of_rows[row], levels_of_rows[column] + 1);
            columns.push_back(column);
        }
        levels = std::max(levels, levels_of_rows[row] + 1);
        offsets[row + 1] = static_cast<int>(columns.size());
        expected[row] = sum;
    }
    std::vector<int> order(rows), level_offsets(levels + 1);
    for (int row = 0; row < rows; ++row) {
        order[row] = row;
        ++level_offsets[levels_of_rows[row] + 1];
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int left, int right) { return levels_of_rows[left] < levels_of_rows[right]; });
    for (int level = 0; level < levels; ++level) {
        level_offsets[level + 1] += level_offsets[level];
    }
    const Array<int> offsets_array(offsets), columns_array(columns), order_array(order);
    const Array<int> level_offsets_array(level_offsets), done(rows), next_block(1);
    const Array<float> values_array(values), right(right_values);
    const Sparse matrix{offsets_array.data(), columns_array.data(), values_array.data(), rows};
    Array<float> solution(rows);
    const auto verify = [&](const char* what) {
        finish(what);
        const auto found = solution.values();
        check_close(found, expected, 1e-5, what);
        output(what, found);
        solution.zero();
    };
    prepare();
    sparse_by_levels<<<1, 1024>>>(matrix, order_array.data(), level_offsets_array.data(), levels,
                                  right.data(), solution.data());
    verify("sparse_by_levels");
    prepare();
    sparse_waiting<<<(rows * 32 + threads - 1) / threads, threads>>>(matrix, right.data(), solution.data(),
                                                                     done.data(), next_block.data());
    verify("sparse_waiting");
}

void solve_many(int systems) {
    constexpr int elements = small_size * small_size;
    auto values = random_values<float>(systems * elements, 1);
    const auto right_values = random_values<float>(systems * small_size, 2);
    std::vector<float> interleaved(values.size()), interleaved_right(right_values.size());
    std::vector<double> expected(right_values.size());
    for (int system = 0; system < systems; ++system) {
        for (int row = 0; row < small_size; ++row) {
            const int unknown = system * small_size + row;
            interleaved_right[row * systems + system] = right_values[unknown];
            double sum = right_values[unknown];
            for (int column = 0; column < small_size; ++column) {
                float& value = values[system * elements + row * small_size + column];
                value = column > row ? 0.0F : column == row ? value + 3.0F : value * 0.125F;
                interleaved[(row * small_size + column) * systems + system] = value;
                if (column < row) {
                    sum -= static_cast<double>(value) * expected[system * small_size + column];
                }
            }
            expected[unknown] = sum / values[system * elements + row * small_size + row];
        }
    }
    const Array<float> matrices(values), right(right_values), interleaved_matrices(interleaved);
    const Array<float> interleaved_sides(interleaved_right);
    Array<float> solutions(expected.size());
    const auto verify = [&](const char* what, bool is_interleaved = false) {
        finish(what);
        auto found = solutions.values();
        if (is_interleaved) {
            const auto words = found;
            for (int i = 0; i < systems * small_size; ++i) {
                found[i % systems * small_size + i / systems] = words[i];
            }
        }
        check_close(found, expected, 1e-5, what);
        output(what, found);
        solutions.zero();
    };
    prepare();
    small_by_threads<<<(systems + 63) / 64, 64>>>(matrices.data(), right.data(), solutions.data(), systems);
    verify("small_by_threads");
    prepare();
    small_interleaved<<<(systems + 63) / 64, 64>>>(interleaved_matrices.data(), interleaved_sides.data(),
                                                   solutions.data(), systems);
    verify("small_interleaved", true);
    prepare();
    small_by_warps<<<(systems * 32 + threads - 1) / threads, threads>>>(matrices.data(), right.data(),
                                                                        solutions.data(), systems);
    verify("small_by_warps");
}

void body() {
    solve_dense(300);
    solve_dense(517);
    solve_sparse(3001);
    solve_sparse(60013);
    solve_many(999);
    solve_many(10007);
}

int main() {
    return run(body);
}
