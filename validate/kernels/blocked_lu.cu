// Factors a matrix in place into lower and upper triangles by blocks in shared memory: a block on the
// diagonal by one CTA, the blocks beside and below it, and the update of all others.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// The block at (offset, offset): one thread a row, below the diagonal the factors with ones on it.
template <int block>
__global__ void diagonal(float* matrix, int size, int offset) {
    __shared__ float part[block][block + 1];
    const int t = threadIdx.x;
    float* const corner = matrix + offset * size + offset;
    for (int row = 0; row < block; ++row) part[row][t] = corner[row * size + t];
    __syncthreads();
    for (int k = 0; k < block - 1; ++k) {
        if (t > k) {
            const float factor = part[t][k] / part[k][k];
            part[t][k] = factor;
            for (int column = k + 1; column < block; ++column) part[t][column] -= factor * part[k][column];
        }
        __syncthreads();
    }
    for (int row = 0; row < block; ++row) corner[row * size + t] = part[row][t];
}

/// Even CTAs solve for a block of the upper triangle, a column a thread; odd ones for one of the lower, a row
/// a thread.
template <int block>
__global__ void perimeter(float* matrix, int size, int offset) {
    __shared__ float triangle[block][block], part[block][block + 1];
    const int t = threadIdx.x, other = offset + (blockIdx.x / 2 + 1) * block;
    const bool upper = blockIdx.x % 2 == 0;
    const float* const corner = matrix + offset * size + offset;
    float* const place = upper ? matrix + offset * size + other : matrix + other * size + offset;
    for (int row = 0; row < block; ++row) {
        triangle[row][t] = corner[row * size + t];
        part[row][t] = place[row * size + t];
    }
    __syncthreads();
    if (upper) {
        for (int row = 1; row < block; ++row) {
            float sum = part[row][t];
            for (int k = 0; k < row; ++k) sum -= triangle[row][k] * part[k][t];
            part[row][t] = sum;
        }
    } else {
        for (int column = 0; column < block; ++column) {
            float sum = part[t][column];
            for (int k = 0; k < column; ++k) sum -= part[t][k] * triangle[k][column];
            part[t][column] = sum / triangle[column][column];
        }
    }
    __syncthreads();
    for (int row = 0; row < block; ++row) place[row * size + t] = part[row][t];
}

/// All blocks to the right and below lose the product of their row's and their column's block.
template <int block>
__global__ void internal(float* matrix, int size, int offset) {
    __shared__ float lower[block][block], upper[block][block];
    const int column = offset + (blockIdx.x + 1) * block + threadIdx.x;
    const int row = offset + (blockIdx.y + 1) * block + threadIdx.y;
    lower[threadIdx.y][threadIdx.x] = matrix[row * size + offset + threadIdx.x];
    upper[threadIdx.y][threadIdx.x] = matrix[(offset + threadIdx.y) * size + column];
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < block; ++k) sum += lower[threadIdx.y][k] * upper[k][threadIdx.x];
    matrix[row * size + column] -= sum;
}

/// One step of the factorization: the rows and columns from `offset` on are the matrix that is left.
template <int block>
void factor_step(int size, int offset) {
    auto start = random_values<float>(static_cast<std::size_t>(size) * size, 21);
    for (int i = 0; i < size; ++i) start[i * size + i] += 64.0F;
    Array<float> matrix(start);
    const int rest = (size - offset) / block - 1;
    prepare();
    diagonal<block><<<1, block>>>(matrix.data(), size, offset);
    finish("diagonal");
    prepare();
    perimeter<block><<<2 * rest, block>>>(matrix.data(), size, offset);
    finish("perimeter");
    prepare();
    internal<block><<<dim3(rest, rest), dim3(block, block)>>>(matrix.data(), size, offset);
    finish("internal");

    // In what was solved, the product of the triangles is the start; elsewhere it is what the update took.
    const auto result = matrix.values();
    const auto product = [&](int row, int column) {
        double sum = 0.0;
        for (int k = 0; k < block; ++k) {
            const int place = offset + k;
            if (place > row || place > column) break;
            const double left = place == row ? 1.0 : result[row * size + place];
            sum += left * result[place * size + column];
        }
        return sum;
    };
    for (int i = 0; i < 3000; ++i) {
        int row = random_bits(31, i) % (size - offset), column = random_bits(32, i) % (size - offset);
        if (i % 3 == 0) row %= block;
        if (i % 5 == 0) column %= block;
        const bool solved = row < block || column < block;
        row += offset;
        column += offset;
        const double left = solved ? 0.0 : result[row * size + column];
        check(std::fabs(product(row, column) + left - start[row * size + column]) < 1e-3, "product");
    }
    output(("step_" + std::to_string(size) + "_" + std::to_string(offset)).c_str(), result);
}

void body() {
    factor_step<16>(512, 0);
    factor_step<16>(1024, 0);
    factor_step<16>(3072, 0);
    factor_step<16>(3072, 2048);
    factor_step<32>(512, 0);
    factor_step<32>(1024, 0);
    factor_step<32>(2560, 0);
    factor_step<32>(2560, 1280);
}

int main() {
    return run(body);
}
