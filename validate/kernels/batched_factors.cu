// Cholesky factors of many small matrices (8 by 8 to 32 by 32) in single and double precision: a thread a
// matrix in registers or in a local array, a lane a row by shuffles, a CTA a matrix in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;

/// A thread a matrix. The lower triangle is packed row by row; unrolled whole, it lies in registers.
template <class T, int n, bool unrolled>
__global__ void by_thread(const T* matrices, T* factors, int count) {
    constexpr int turns = unrolled ? n : 1;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const T* from = matrices + static_cast<std::size_t>(i) * n * n;
    T* to = factors + static_cast<std::size_t>(i) * n * n;
    T low[n * (n + 1) / 2];
#pragma unroll turns
    for (int row = 0; row < n; ++row) {
#pragma unroll turns
        for (int column = 0; column <= row; ++column) {
            T sum = from[row * n + column];
#pragma unroll turns
            for (int k = 0; k < column; ++k) {
                sum -= low[row * (row + 1) / 2 + k] * low[column * (column + 1) / 2 + k];
            }
            if (row == column) {
                low[row * (row + 1) / 2 + row] = sqrt(sum);
            } else {
                low[row * (row + 1) / 2 + column] = sum / low[column * (column + 1) / 2 + column];
            }
        }
    }
#pragma unroll turns
    for (int row = 0; row < n; ++row) {
#pragma unroll turns
        for (int column = 0; column < n; ++column) {
            to[row * n + column] = column <= row ? low[row * (row + 1) / 2 + column] : T(0);
        }
    }
}

/// A lane holds a row; 32 / n matrices a warp. Columns are finished from left to right.
template <class T, int n>
__global__ void by_lanes(const T* matrices, T* factors, int count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / n, lane = thread % n;
    if (i >= count) return;  // Counts are multiples of the matrices a CTA takes.
    const T* from = matrices + (static_cast<std::size_t>(i) * n + lane) * n;
    T* to = factors + (static_cast<std::size_t>(i) * n + lane) * n;
    T row[n];
#pragma unroll
    for (int k = 0; k < n; ++k) row[k] = from[k];
#pragma unroll
    for (int k = 0; k < n; ++k) {
        const T pivot = sqrt(__shfl_sync(all_lanes, row[k], k, n));
        row[k] = lane == k ? pivot : row[k] / pivot;
#pragma unroll
        for (int column = k + 1; column < n; ++column) {
            row[column] -= row[k] * __shfl_sync(all_lanes, row[k], column, n);
        }
    }
#pragma unroll
    for (int k = 0; k < n; ++k) to[k] = k <= lane ? row[k] : T(0);
}

/// A CTA a matrix: every step scales a column and takes its products from what lies to the right.
template <class T, int n, int threads>
__global__ void by_block(const T* matrices, T* factors) {
    __shared__ T tile[n][n + 1];
    const T* from = matrices + static_cast<std::size_t>(blockIdx.x) * n * n;
    T* to = factors + static_cast<std::size_t>(blockIdx.x) * n * n;
    for (int i = threadIdx.x; i < n * n; i += threads) tile[i / n][i % n] = from[i];
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        if (threadIdx.x == 0) tile[k][k] = sqrt(tile[k][k]);
        __syncthreads();
        for (int row = k + 1 + threadIdx.x; row < n; row += threads) tile[row][k] /= tile[k][k];
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += threads) {
            const int row = i / n, column = i % n;
            if (column > k && column <= row) tile[row][column] -= tile[row][k] * tile[column][k];
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n * n; i += threads) to[i] = i % n <= i / n ? tile[i / n][i % n] : T(0);
}

/// Every 61st matrix is multiplied together again.
template <class T>
void look(const char* what, const std::vector<T>& matrices, const Array<T>& factors, int n, int count) {
    const auto low = factors.values();
    for (int i = 0; i < count; i += 61) {
        const std::size_t begin = static_cast<std::size_t>(i) * n * n;
        for (int row = 0; row < n; ++row) {
            for (int column = 0; column <= row; ++column) {
                double sum = 0;
                for (int k = 0; k <= column; ++k) {
                    sum += static_cast<double>(low[begin + row * n + k]) * low[begin + column * n + k];
                }
                check(std::fabs(sum - matrices[begin + row * n + column]) < 1e-4, what);
            }
        }
    }
    output(what, low);
}

template <class T, int n>
void all_of(const std::string& type, int count) {
    const std::size_t elements = static_cast<std::size_t>(count) * n * n;
    auto numbers = random_values<T>(elements, n);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < n; ++k) numbers[static_cast<std::size_t>(i) * n * n + k * (n + 1)] += n + 1;
    }
    const Array<T> matrices(numbers);
    Array<T> factors(elements);
    const std::string what = type + std::to_string(n);
    prepare();
    by_thread<T, n, (n <= 8)><<<(count + 63) / 64, 64>>>(matrices.data(), factors.data(), count);
    finish("thread");
    look(("thread_" + what).c_str(), numbers, factors, n, count);
    factors.zero();
    prepare();
    by_lanes<T, n><<<count * n / 128, 128>>>(matrices.data(), factors.data(), count);
    finish("lanes");
    look(("lanes_" + what).c_str(), numbers, factors, n, count);
    factors.zero();
    constexpr int threads = n * n < 128 ? n * n : 128;
    const int blocks = count / (n < 32 ? 2 : 4);
    prepare();
    by_block<T, n, threads><<<blocks, threads>>>(matrices.data(), factors.data());
    finish("block");
    look(("block_" + what).c_str(), numbers, factors, n, blocks);
}

void body() {
    all_of<float, 8>("float", 32768);
    all_of<float, 16>("float", 8192);
    all_of<float, 32>("float", 4096);
    all_of<double, 8>("double", 32768);
    all_of<double, 16>("double", 8192);
    all_of<double, 32>("double", 2048);
}

int main() {
    return run(body);
}
