// Many small matrices at once: 4 by 4 products with a thread a product, with interleaved elements and with 16
// lanes a product; 16 by 16 products by a block and by a warp; Cholesky factors of 8 by 8 by a thread and of
// 16 by 16 by a warp; and LU factors of 8 by 8 by a thread and, with pivots, of 32 by 32 by a warp.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr int threads = 128;

/// Matrices lie one after the other, row by row.
__global__ void multiply_4_thread(const float4* left, const float4* right, float4* product, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        float4 rows[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            rows[k] = right[i * 4 + k];
        }
#pragma unroll
        for (int row = 0; row < 4; ++row) {
            const float4 a = left[i * 4 + row];
            product[i * 4 + row] =
                make_float4(a.x * rows[0].x + a.y * rows[1].x + a.z * rows[2].x + a.w * rows[3].x,
                            a.x * rows[0].y + a.y * rows[1].y + a.z * rows[2].y + a.w * rows[3].y,
                            a.x * rows[0].z + a.y * rows[1].z + a.z * rows[2].z + a.w * rows[3].z,
                            a.x * rows[0].w + a.y * rows[1].w + a.z * rows[2].w + a.w * rows[3].w);
        }
    }
}

/// Element k of matrix i lies at k * count + i.
__global__ void multiply_4_interleaved(const float* left, const float* right, float* product, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        float b[16];
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            b[k] = right[k * count + i];
        }
#pragma unroll
        for (int row = 0; row < 4; ++row) {
            float sums[4] = {};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const float a = left[(row * 4 + k) * count + i];
#pragma unroll
                for (int column = 0; column < 4; ++column) {
                    sums[column] += a * b[k * 4 + column];
                }
            }
#pragma unroll
            for (int column = 0; column < 4; ++column) {
                product[(row * 4 + column) * count + i] = sums[column];
            }
        }
    }
}

/// Each lane has one element of all three matrices.
__global__ void multiply_4_lanes(const float* left, const float* right, float* product, int count) {
    const int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 16;
    const bool inside = i < count * 16;
    const float a = inside ? left[i] : 0.0F, b = inside ? right[i] : 0.0F;
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        sum +=
            __shfl_sync(all_lanes, a, lane / 4 * 4 + k, 16) * __shfl_sync(all_lanes, b, k * 4 + lane % 4, 16);
    }
    if (inside) {
        product[i] = sum;
    }
}

__global__ void multiply_16_block(const float* left, const float* right, float* product) {
    __shared__ float a[16][16], b[16][16];
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * 256 + y * 16 + x;
    a[y][x] = left[i];
    b[y][x] = right[i];
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        sum += a[y][k] * b[k][x];
    }
    product[i] = sum;
}

/// A lane has a column of the right matrix in registers and eight elements of the product.
__global__ void multiply_16_warp(const float* left, const float* right, float* product, int count) {
    const int matrix = (blockIdx.x * threads + threadIdx.x) / 32;
    if (matrix >= count) {
        return;
    }
    const int column = threadIdx.x % 16, first_row = threadIdx.x % 32 / 16 * 8;
    const auto* a = reinterpret_cast<const float4*>(left + matrix * 256);
    float b[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        b[k] = right[matrix * 256 + k * 16 + column];
    }
#pragma unroll
    for (int row = first_row; row < first_row + 8; ++row) {
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 four = a[row * 4 + k];
            sum += four.x * b[k * 4] + four.y * b[k * 4 + 1] + four.z * b[k * 4 + 2] + four.w * b[k * 4 + 3];
        }
        product[matrix * 256 + row * 16 + column] = sum;
    }
}

/// The lower triangle is in registers. Elements are interleaved.
__global__ void cholesky_8_thread(const float* from, float* to, int count) {
    constexpr int size = 8;
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        float a[size][size];
#pragma unroll
        for (int row = 0; row < size; ++row) {
#pragma unroll
            for (int column = 0; column <= row; ++column) {
                a[row][column] = from[(row * size + column) * count + i];
            }
        }
#pragma unroll
        for (int k = 0; k < size; ++k) {
            a[k][k] = sqrtf(a[k][k]);
#pragma unroll
            for (int row = k + 1; row < size; ++row) {
                a[row][k] /= a[k][k];
            }
#pragma unroll
            for (int column = k + 1; column < size; ++column) {
#pragma unroll
                for (int row = column; row < size; ++row) {
                    a[row][column] -= a[row][k] * a[column][k];
                }
            }
        }
#pragma unroll
        for (int row = 0; row < size; ++row) {
#pragma unroll
            for (int column = 0; column <= row; ++column) {
                to[(row * size + column) * count + i] = a[row][column];
            }
        }
    }
}

/// Lanes l and l + 16 have row l: one updates even columns, the other odd ones.
__global__ void cholesky_16_warp(const float* from, float* to, int count) {
    constexpr int size = 16;
    __shared__ float matrices[threads / 32][size][size + 1];
    const int matrix = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (matrix >= count) {
        return;
    }
    float(*a)[size + 1] = matrices[threadIdx.x / 32];
    const int row = lane % size, parity = lane / size;
    for (int k = parity; k < size; k += 2) {
        a[k][row] = from[(matrix * size + k) * size + row];
    }
    __syncwarp();
    for (int k = 0; k < size; ++k) {
        const float diagonal = sqrtf(a[k][k]);
        __syncwarp();
        if (parity == 0 && row >= k) {
            a[row][k] = row == k ? diagonal : a[row][k] / diagonal;
        }
        __syncwarp();
        for (int column = k + 1 + parity; column <= row; column += 2) {
            a[row][column] -= a[row][k] * a[column][k];
        }
        __syncwarp();
    }
    for (int k = parity; k < size; k += 2) {
        to[(matrix * size + k) * size + row] = row <= k ? a[k][row] : 0.0F;
    }
}

/// Without pivots, for matrices with large diagonals. Elements are interleaved.
__global__ void lu_8_thread(const float* from, float* to, int count) {
    constexpr int size = 8;
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        float a[size * size];
#pragma unroll
        for (int k = 0; k < size * size; ++k) {
            a[k] = from[k * count + i];
        }
#pragma unroll
        for (int k = 0; k < size; ++k) {
            const float inverse = 1.0F / a[k * size + k];
#pragma unroll
            for (int row = k + 1; row < size; ++row) {
                a[row * size + k] *= inverse;
#pragma unroll
                for (int column = k + 1; column < size; ++column) {
                    a[row * size + column] -= a[row * size + k] * a[k * size + column];
                }
            }
        }
#pragma unroll
        for (int k = 0; k < size * size; ++k) {
            to[k * count + i] = a[k];
        }
    }
}

/// A lane has a row in registers. Rows are not exchanged: each remembers the step that took it as pivot, and
/// is stored there. Matrices lie column by column.
__global__ void lu_32_warp(const float* from, float* to, int* pivots, int count) {
    const int matrix = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (matrix >= count) {
        return;
    }
    float a[32];
#pragma unroll
    for (int column = 0; column < 32; ++column) {
        a[column] = from[matrix * 1024 + column * 32 + lane];
    }
    int place = -1;
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        // The lane's number replaces the last bits of the magnitude, so that one maximum finds both.
        const unsigned magnitude = __float_as_uint(fabsf(a[k])) & ~31U;
        const int pivot = __reduce_max_sync(all_lanes, place < 0 ? magnitude | lane : 0U) & 31;
        const float divisor = __shfl_sync(all_lanes, a[k], pivot);
        if (lane == pivot) {
            place = k;
        }
        const float factor = place < 0 ? a[k] / divisor : 0.0F;
        if (place < 0) {
            a[k] = factor;
        }
#pragma unroll
        for (int column = k + 1; column < 32; ++column) {
            a[column] -= factor * __shfl_sync(all_lanes, a[column], pivot);
        }
    }
#pragma unroll
    for (int column = 0; column < 32; ++column) {
        to[matrix * 1024 + column * 32 + place] = a[column];
    }
    pivots[matrix * 32 + place] = lane;
}

/// Element k of matrix i goes from i * elements + k to k * count + i.
template <class T>
std::vector<T> interleaved(const std::vector<T>& values, int count, int elements) {
    std::vector<T> result(values.size());
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < elements; ++k) {
            result[k * count + i] = values[i * elements + k];
        }
    }
    return result;
}

std::vector<double> products(const std::vector<float>& left, const std::vector<float>& right, int size) {
    std::vector<double> result(left.size(), 0.0);
    for (std::size_t first = 0; first < left.size(); first += size * size) {
        for (int row = 0; row < size; ++row) {
            for (int k = 0; k < size; ++k) {
                for (int column = 0; column < size; ++column) {
                    result[first + row * size + column] +=
                        static_cast<double>(left[first + row * size + k]) * right[first + k * size + column];
                }
            }
        }
    }
    return result;
}

void multiply_4(int count) {
    const auto left = random_values<float>(count * 16, 1), right = random_values<float>(count * 16, 2);
    const auto expected = products(left, right, 4);
    const Array<float> left_array(left), right_array(right), product(left.size());
    const int blocks = (count + threads - 1) / threads;
    prepare();
    multiply_4_thread<<<blocks, threads>>>(reinterpret_cast<const float4*>(left_array.data()),
                                           reinterpret_cast<const float4*>(right_array.data()),
                                           reinterpret_cast<float4*>(product.data()), count);
    finish("multiply_4_thread");
    check_close(product.values(), expected, 1e-6, "multiply_4_thread");
    output("multiply_4_thread", product);
    const Array<float> left_interleaved(interleaved(left, count, 16));
    const Array<float> right_interleaved(interleaved(right, count, 16));
    prepare();
    multiply_4_interleaved<<<blocks, threads>>>(left_interleaved.data(), right_interleaved.data(),
                                                product.data(), count);
    finish("multiply_4_interleaved");
    check_close(product.values(), interleaved(expected, count, 16), 1e-6, "multiply_4_interleaved");
    output("multiply_4_interleaved", product);
    prepare();
    multiply_4_lanes<<<(count * 16 + threads - 1) / threads, threads>>>(left_array.data(), right_array.data(),
                                                                        product.data(), count);
    finish("multiply_4_lanes");
    check_close(product.values(), expected, 1e-6, "multiply_4_lanes");
    output("multiply_4_lanes", product);
}

void multiply_16(int count) {
    const auto left = random_values<float>(count * 256, 3), right = random_values<float>(count * 256, 4);
    const auto expected = products(left, right, 16);
    const Array<float> left_array(left), right_array(right);
    Array<float> product(left.size());
    prepare();
    multiply_16_block<<<count, dim3(16, 16)>>>(left_array.data(), right_array.data(), product.data());
    finish("multiply_16_block");
    check_close(product.values(), expected, 1e-6, "multiply_16_block");
    output("multiply_16_block", product);
    product.zero();
    prepare();
    multiply_16_warp<<<(count * 32 + threads - 1) / threads, threads>>>(left_array.data(), right_array.data(),
                                                                        product.data(), count);
    finish("multiply_16_warp");
    check_close(product.values(), expected, 1e-6, "multiply_16_warp");
    output("multiply_16_warp", product);
}

/// Symmetric and positive definite: a matrix times its transpose, and more on the diagonal.
std::vector<float> positive_matrices(int count, int size) {
    const auto values = random_values<float>(count * size * size, 5);
    std::vector<float> result(values.size());
    for (int i = 0; i < count; ++i) {
        const int first = i * size * size;
        for (int row = 0; row < size; ++row) {
            for (int column = 0; column <= row; ++column) {
                float sum = row == column ? 1.0F : 0.0F;
                for (int k = 0; k < size; ++k) {
                    sum += values[first + row * size + k] * values[first + column * size + k];
                }
                result[first + row * size + column] = result[first + column * size + row] = sum;
            }
        }
    }
    return result;
}

std::vector<double> cholesky_factors(const std::vector<float>& matrices, int size) {
    std::vector<double> factors(matrices.size(), 0.0);
    for (std::size_t first = 0; first < matrices.size(); first += size * size) {
        double* l = &factors[first];
        for (int row = 0; row < size; ++row) {
            for (int column = 0; column <= row; ++column) {
                double rest = matrices[first + row * size + column];
                for (int k = 0; k < column; ++k) {
                    rest -= l[row * size + k] * l[column * size + k];
                }
                l[row * size + column] = row == column ? std::sqrt(rest) : rest / l[column * size + column];
            }
        }
    }
    return factors;
}

void cholesky(int small_matrices, int large_matrices) {
    const auto small = positive_matrices(small_matrices, 8), large = positive_matrices(large_matrices, 16);
    const Array<float> small_array(interleaved(small, small_matrices, 64)), small_factors(small.size());
    prepare();
    cholesky_8_thread<<<(small_matrices + threads - 1) / threads, threads>>>(
        small_array.data(), small_factors.data(), small_matrices);
    finish("cholesky_8_thread");
    check_close(small_factors.values(), interleaved(cholesky_factors(small, 8), small_matrices, 64), 1e-5,
                "cholesky_8_thread");
    output("cholesky_8_thread", small_factors);
    const Array<float> large_array(large), large_factors(large.size());
    prepare();
    cholesky_16_warp<<<(large_matrices * 32 + threads - 1) / threads, threads>>>(
        large_array.data(), large_factors.data(), large_matrices);
    finish("cholesky_16_warp");
    check_close(large_factors.values(), cholesky_factors(large, 16), 1e-5, "cholesky_16_warp");
    output("cholesky_16_warp", large_factors);
}

/// What L times U gives, of a matrix whose element (row, column) both share at row * size + column.
std::vector<double> multiplied_factors(const std::vector<float>& factors, int size) {
    std::vector<double> result(factors.size(), 0.0);
    for (std::size_t first = 0; first < factors.size(); first += size * size) {
        for (int row = 0; row < size; ++row) {
            for (int k = 0; k <= row; ++k) {
                const double lower = k == row ? 1.0 : factors[first + row * size + k];
                for (int column = k; column < size; ++column) {
                    result[first + row * size + column] += lower * factors[first + k * size + column];
                }
            }
        }
    }
    return result;
}

void lu(int small_matrices, int large_matrices) {
    auto small = random_values<float>(small_matrices * 64, 6);
    for (int i = 0; i < small_matrices; ++i) {
        for (int k = 0; k < 8; ++k) {
            small[i * 64 + k * 9] += 8.0F;
        }
    }
    const Array<float> small_array(interleaved(small, small_matrices, 64)), small_factors(small.size());
    prepare();
    lu_8_thread<<<(small_matrices + threads - 1) / threads, threads>>>(small_array.data(),
                                                                       small_factors.data(), small_matrices);
    finish("lu_8_thread");
    // Interleaving by the other count turns it back.
    const auto factors = interleaved(small_factors.values(), 64, small_matrices);
    check_close(small, multiplied_factors(factors, 8), 1e-6, "lu_8_thread");
    output("lu_8_thread", small_factors);

    const auto large = random_values<float>(large_matrices * 1024, 7);
    const Array<float> large_array(large), large_factors(large.size());
    const Array<int> pivots(large_matrices * 32);
    prepare();
    lu_32_warp<<<(large_matrices * 32 + threads - 1) / threads, threads>>>(
        large_array.data(), large_factors.data(), pivots.data(), large_matrices);
    finish("lu_32_warp");
    const auto by_column = large_factors.values();
    const auto rows = pivots.values();
    std::vector<float> by_row(large.size()), pivoted(large.size());
    for (int i = 0; i < large_matrices; ++i) {
        for (int row = 0; row < 32; ++row) {
            for (int column = 0; column < 32; ++column) {
                by_row[i * 1024 + row * 32 + column] = by_column[i * 1024 + column * 32 + row];
                pivoted[i * 1024 + row * 32 + column] = large[i * 1024 + column * 32 + rows[i * 32 + row]];
                check(row <= column || std::fabs(by_row[i * 1024 + row * 32 + column]) < 1.00001F,
                      "lu_32_warp");
            }
        }
    }
    check_close(pivoted, multiplied_factors(by_row, 32), 1e-5, "lu_32_warp");
    output("lu_32_warp", by_column);
    output("lu_32_warp_pivots", rows);
}

void body() {
    multiply_4(10001);
    multiply_4(131075);
    multiply_16(4001);
    cholesky(3001, 501);
    cholesky(30001, 4003);
    lu(3001, 101);
    lu(30001, 1003);
}

int main() {
    return run(body);
}
