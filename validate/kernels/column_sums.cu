// Sums and normalises the columns of matrices: a thread a column over pieces of rows with atomic additions,
// tiles that meet in shared memory, and means subtracted in a second pass.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void by_pieces(const float* matrix, float* sums, int rows, int columns, int piece) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * piece;
    if (column >= columns) return;
    float sum = 0.0F;
    for (int row = first; row < min(first + piece, rows); ++row) sum += matrix[row * columns + column];
    atomicAdd(&sums[column], sum);
}

__global__ void by_tiles(const float* matrix, float* sums, int rows, int columns) {
    __shared__ float own[8][33];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0F;
    if (column < columns) {
        for (int row = threadIdx.y; row < rows; row += 8) sum += matrix[row * columns + column];
    }
    own[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int k = 1; k < 8; ++k) sum += own[k][threadIdx.x];
        sums[column] = sum;
    }
}

__global__ void centre(float* matrix, const float* sums, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    const float mean = sums[column] / rows;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) matrix[row * columns + column] -= mean;
}

void body() {
    for (const auto& [rows, columns] : {std::pair{1000, 300}, std::pair{4096, 1024}, std::pair{300, 20000}}) {
        std::vector<float> values(static_cast<std::size_t>(rows) * columns);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(random_bits(9, i) % 17);
        std::vector<double> expected(columns);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column)
                expected[column] += values[row * columns + column];
        }
        Array<float> matrix(values), sums(columns), others(columns);
        const int blocks = (columns + 127) / 128;
        prepare();
        by_pieces<<<dim3(blocks, (rows + 63) / 64), 128>>>(matrix.data(), sums.data(), rows, columns, 64);
        finish("pieces");
        check_close(sums.values(), expected, 1e-6, "pieces");
        output("pieces", sums);
        prepare();
        by_tiles<<<(columns + 31) / 32, dim3(32, 8)>>>(matrix.data(), others.data(), rows, columns);
        finish("tiles");
        check_close(others.values(), expected, 1e-6, "tiles");
        output("tiles", others);
        prepare();
        centre<<<dim3(blocks, 32), 128>>>(matrix.data(), sums.data(), rows, columns);
        finish("centre");
        output("centre", matrix);
    }
}

int main() {
    return run(body);
}
