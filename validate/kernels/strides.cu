// Reads, writes and copies numbers at distances of 1 to 64 words, of four and of sixteen bytes, and sums
// matrices by columns and by rows with a thread, and with a warp, for each.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

template <class T>
__global__ void read_apart(const T* from, T* to, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[static_cast<std::size_t>(i) * stride];
}

template <class T>
__global__ void write_apart(const T* from, T* to, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[static_cast<std::size_t>(i) * stride] = from[i];
}

__global__ void scale_apart(float* values, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[static_cast<std::size_t>(i) * stride] *= 2.0F;
}

/// Each thread walks its own piece of so many numbers.
__global__ void sum_pieces(const float* from, float* to, int count, int each) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float sum = 0.0F;
        for (int k = 0; k < each; ++k) sum += from[i * each + k];
        to[i] = sum;
    }
}

__global__ void sum_columns(const float* matrix, float* sums, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0F;
        for (int row = 0; row < rows; ++row) sum += matrix[row * columns + column];
        sums[column] = sum;
    }
}

__global__ void sum_rows(const float* matrix, float* sums, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0F;
        for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column];
        sums[row] = sum;
    }
}

__global__ void sum_rows_by_warps(const float* matrix, float* sums, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0.0F;
        for (int column = lane; column < columns; column += 32) sum += matrix[row * columns + column];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
        if (lane == 0) sums[row] = sum;
    }
}

void body() {
    const int count = 1 << 19;
    for (const int stride : {1, 2, 3, 4, 8, 16, 32, 64}) {
        std::vector<float> apart(static_cast<std::size_t>(count) * stride);
        for (int i = 0; i < count; ++i)
            apart[static_cast<std::size_t>(i) * stride] = static_cast<float>(i % 1021);
        Array<float> from(apart), to(count), back(apart.size());
        prepare();
        read_apart<<<count / 256, 256>>>(from.data(), to.data(), count, stride);
        finish("read");
        output("read", to);
        prepare();
        write_apart<<<count / 256, 256>>>(to.data(), back.data(), count, stride);
        finish("write");
        check(back.values() == apart, "write");
        prepare();
        scale_apart<<<count / 256, 256>>>(from.data(), count, stride);
        finish("scale");
        output("scale", from);
    }
    for (const int stride : {1, 2, 4, 8, 16}) {
        const int fours = count / 4;
        std::vector<float> apart(static_cast<std::size_t>(count) * stride);
        for (std::size_t i = 0; i < apart.size(); ++i) apart[i] = static_cast<float>(i % 1021);
        const Array<float> from(apart);
        Array<float> to(count), back(apart.size());
        prepare();
        read_apart<<<fours / 256, 256>>>(reinterpret_cast<const float4*>(from.data()),
                                         reinterpret_cast<float4*>(to.data()), fours, stride);
        finish("read fours");
        output("read_fours", to);
        prepare();
        write_apart<<<fours / 256, 256>>>(reinterpret_cast<const float4*>(to.data()),
                                          reinterpret_cast<float4*>(back.data()), fours, stride);
        finish("write fours");
        output("write_fours", back);
    }
    for (const int each : {4, 16, 64}) {
        const auto values = random_values<float>(1 << 21, each);
        const Array<float> from(values);
        Array<float> to((1 << 21) / each);
        prepare();
        sum_pieces<<<(1 << 21) / each / 256, 256>>>(from.data(), to.data(), (1 << 21) / each, each);
        finish("pieces");
        output("pieces", to);
    }
    for (const auto& [rows, columns] : {std::pair{512, 4096}, std::pair{4096, 512}, std::pair{2048, 1000}}) {
        const auto values = random_values<float>(static_cast<std::size_t>(rows) * columns, rows);
        const Array<float> matrix(values);
        Array<float> down(columns), across(rows);
        prepare();
        sum_columns<<<(columns + 127) / 128, 128>>>(matrix.data(), down.data(), rows, columns);
        finish("columns");
        output("columns", down);
        prepare();
        sum_rows<<<(rows + 127) / 128, 128>>>(matrix.data(), across.data(), rows, columns);
        finish("rows");
        output("rows", across);
        prepare();
        sum_rows_by_warps<<<(rows + 7) / 8, 256>>>(matrix.data(), across.data(), rows, columns);
        finish("warps");
        output("warps", across);
    }
}

int main() {
    return run(body);
}
