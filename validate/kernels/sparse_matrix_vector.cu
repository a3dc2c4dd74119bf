// Sparse matrix times vector: compressed rows with a thread a row and with a warp a row, and the padded ELL
// layout; rows of random columns and rows near the diagonal.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void row_by_thread(const int* offsets, const int* columns, const float* values,
                              const float* vector, float* product, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0F;
        for (int i = offsets[row]; i < offsets[row + 1]; ++i) {
            sum += values[i] * vector[columns[i]];
        }
        product[row] = sum;
    }
}

__global__ void row_by_warp(const int* offsets, const int* columns, const float* values, const float* vector,
                            float* product, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        const int end = offsets[row + 1];
        float sum = 0.0F;
        for (int i = offsets[row] + lane; i < end; i += 32) {
            sum += values[i] * vector[columns[i]];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(0xffffffffU, sum, distance);
        }
        if (lane == 0) {
            product[row] = sum;
        }
    }
}

/// The k-th elements of all rows lie side by side; column -1 marks padding.
__global__ void padded_rows(const int* columns, const float* values, int width, const float* vector,
                            float* product, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0F;
        for (int k = 0; k < width; ++k) {
            const int column = columns[k * rows + row];
            if (column >= 0) {
                sum += values[k * rows + row] * vector[column];
            }
        }
        product[row] = sum;
    }
}

void body() {
    struct Case {
        int rows, mean_length;
        bool banded;
    };
    for (const auto [rows, mean_length, banded] :
         {Case{1003, 20, false}, Case{131071, 24, false}, Case{100003, 33, true}}) {
        std::vector<int> offsets(rows + 1);
        int width = 0;
        for (int row = 0; row < rows; ++row) {
            const int length = mean_length / 2 + random_bits(1, row) % mean_length;
            offsets[row + 1] = offsets[row] + length;
            width = std::max(width, length);
        }
        const auto values = random_values<float>(offsets[rows], 2), x = random_values<float>(rows, 3);
        std::vector<int> columns(values.size()), padded_columns(rows * width, -1);
        std::vector<float> padded_values(rows * width);
        std::vector<double> expected(rows);
        for (int row = 0; row < rows; ++row) {
            for (int i = offsets[row]; i < offsets[row + 1]; ++i) {
                const int k = i - offsets[row];
                const int diagonal = std::min(std::max(row - mean_length / 2, 0), rows - width) + k;
                columns[i] = banded ? diagonal : static_cast<int>(random_bits(4, i) % rows);
                padded_columns[k * rows + row] = columns[i];
                padded_values[k * rows + row] = values[i];
                expected[row] += static_cast<double>(values[i]) * x[columns[i]];
            }
        }
        const Array<int> offsets_array(offsets), columns_array(columns), padded_columns_array(padded_columns);
        const Array<float> values_array(values), padded_values_array(padded_values), vector(x);
        Array<float> product(rows);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto result = product.values();
            check_close(result, expected, 1e-6, what);
            output(what, result);
            product.zero();
        };
        prepare();
        row_by_thread<<<(rows + 127) / 128, 128>>>(offsets_array.data(), columns_array.data(),
                                                   values_array.data(), vector.data(), product.data(), rows);
        verify("row_by_thread");
        prepare();
        row_by_warp<<<(rows + 7) / 8, 256>>>(offsets_array.data(), columns_array.data(), values_array.data(),
                                             vector.data(), product.data(), rows);
        verify("row_by_warp");
        prepare();
        padded_rows<<<(rows + 127) / 128, 128>>>(padded_columns_array.data(), padded_values_array.data(),
                                                 width, vector.data(), product.data(), rows);
        verify("padded_rows");
    }
}

int main() {
    return run(body);
}
