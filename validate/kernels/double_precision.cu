// Double precision: products of matrices straight from memory, by shared tiles and with sums blocked in
// registers; y = a x + y with one and with two elements a load; and polynomials by Horner's rule, one chain
// and four chains a thread.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int tile_size = 16, block_tile = 64;
constexpr int threads = 256;

/// Matrices lie row by row.
struct Product {
    const double *left, *right;
    double* result;
    int rows, columns, depth;
};

__global__ void product_plain(Product product) {
    const int column = blockIdx.x * tile_size + threadIdx.x, row = blockIdx.y * tile_size + threadIdx.y;
    if (row < product.rows && column < product.columns) {
        double sum = 0.0;
        for (int k = 0; k < product.depth; ++k) {
            sum += product.left[row * product.depth + k] * product.right[k * product.columns + column];
        }
        product.result[row * product.columns + column] = sum;
    }
}

__global__ void product_tile(Product product) {
    __shared__ double left[tile_size][tile_size], right[tile_size][tile_size];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * tile_size + x, row = blockIdx.y * tile_size + y;
    double sum = 0.0;
    for (int first = 0; first < product.depth; first += tile_size) {
        left[y][x] = row < product.rows && first + x < product.depth
                         ? product.left[row * product.depth + first + x]
                         : 0.0;
        right[y][x] = first + y < product.depth && column < product.columns
                          ? product.right[(first + y) * product.columns + column]
                          : 0.0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile_size; ++k) {
            sum += left[y][k] * right[k][x];
        }
        __syncthreads();
    }
    if (row < product.rows && column < product.columns) {
        product.result[row * product.columns + column] = sum;
    }
}

/// 16 by 16 threads have a tile of 64 by 64; rows and columns of a thread are 16 apart.
__global__ void product_registers(Product product) {
    __shared__ double left[tile_size][block_tile + 1], right[tile_size][block_tile];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const int first_row = blockIdx.y * block_tile, first_column = blockIdx.x * block_tile;
    double sums[4][4] = {};
    for (int first = 0; first < product.depth; first += tile_size) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int row = first_row + y + 16 * part, k = first + x;
            left[x][y + 16 * part] =
                row < product.rows && k < product.depth ? product.left[row * product.depth + k] : 0.0;
            const int right_k = first + threadIdx.x / 64 + 4 * part, column = threadIdx.x % 64;
            right[right_k - first][column] =
                right_k < product.depth && first_column + column < product.columns
                    ? product.right[right_k * product.columns + first_column + column]
                    : 0.0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile_size; ++k) {
            double a[4], b[4];
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                a[part] = left[k][y + 16 * part];
                b[part] = right[k][x + 16 * part];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sums[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = first_row + y + 16 * i, column = first_column + x + 16 * j;
            if (row < product.rows && column < product.columns) {
                product.result[row * product.columns + column] = sums[i][j];
            }
        }
    }
}

__global__ void axpy(double a, const double* x, double* y, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        y[i] = a * x[i] + y[i];
    }
}

/// The last element of an odd count has a thread of its own.
__global__ void axpy_pairs(double a, const double* x, double* y, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count / 2) {
        const double2 own = reinterpret_cast<const double2*>(x)[i];
        double2 sum = reinterpret_cast<double2*>(y)[i];
        sum.x = a * own.x + sum.x;
        sum.y = a * own.y + sum.y;
        reinterpret_cast<double2*>(y)[i] = sum;
    } else if (i == count / 2 && count % 2 == 1) {
        y[count - 1] = a * x[count - 1] + y[count - 1];
    }
}

struct Polynomial {
    static constexpr int degree = 31;
    double factors[degree + 1];
};

__global__ void horner(Polynomial polynomial, const double* x, double* y, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) {
        double value = polynomial.factors[Polynomial::degree];
#pragma unroll
        for (int k = Polynomial::degree - 1; k >= 0; --k) {
            value = value * x[i] + polynomial.factors[k];
        }
        y[i] = value;
    }
}

__global__ void horner_four(Polynomial polynomial, const double* x, double* y, int count) {
    const int first = blockIdx.x * threads * 4 + threadIdx.x;
    double own[4], values[4];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        const int i = first + part * threads;
        own[part] = i < count ? x[i] : 0.0;
        values[part] = polynomial.factors[Polynomial::degree];
    }
#pragma unroll
    for (int k = Polynomial::degree - 1; k >= 0; --k) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            values[part] = values[part] * own[part] + polynomial.factors[k];
        }
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        const int i = first + part * threads;
        if (i < count) {
            y[i] = values[part];
        }
    }
}

void products() {
    struct Case {
        int rows, columns, depth;
    };
    for (const Case& shape : {Case{130, 100, 75}, Case{520, 500, 201}}) {
        const int rows = shape.rows, columns = shape.columns, depth = shape.depth;
        const auto left = random_values<double>(rows * depth, 1);
        const auto right = random_values<double>(depth * columns, 2);
        std::vector<double> expected(rows * columns, 0.0);
        for (int row = 0; row < rows; ++row) {
            for (int k = 0; k < depth; ++k) {
                for (int column = 0; column < columns; ++column) {
                    expected[row * columns + column] += left[row * depth + k] * right[k * columns + column];
                }
            }
        }
        const Array<double> left_array(left), right_array(right);
        Array<double> result(expected.size());
        const Product product = {left_array.data(), right_array.data(), result.data(), rows, columns, depth};
        const auto verify = [&](const char* what) {
            finish(what);
            const auto values = result.values();
            check_close(values, expected, 1e-13, what);
            output(what, values);
            result.zero();
        };
        const auto blocks = [&](int tile) {
            return dim3((columns + tile - 1) / tile, (rows + tile - 1) / tile);
        };
        prepare();
        product_plain<<<blocks(tile_size), dim3(tile_size, tile_size)>>>(product);
        verify("product_plain");
        prepare();
        product_tile<<<blocks(tile_size), dim3(tile_size, tile_size)>>>(product);
        verify("product_tile");
        prepare();
        product_registers<<<blocks(block_tile), 256>>>(product);
        verify("product_registers");
    }
}

void vectors() {
    constexpr double a = 0.7;
    Polynomial polynomial;
    for (int k = 0; k <= Polynomial::degree; ++k) {
        polynomial.factors[k] = random_float(3, k);
    }
    for (const int count : {100003, (1 << 20) + 77}) {
        const auto x_values = random_values<double>(count, 1), y_values = random_values<double>(count, 2);
        std::vector<double> sums(count), polynomials(count);
        for (int i = 0; i < count; ++i) {
            sums[i] = a * x_values[i] + y_values[i];
            double power = 1.0;
            for (const double factor : polynomial.factors) {
                polynomials[i] += factor * power;
                power *= x_values[i];
            }
        }
        const Array<double> x(x_values);
        Array<double> y(y_values);
        const auto verify = [&](const char* what, const std::vector<double>& expected) {
            finish(what);
            const auto values = y.values();
            check_close(values, expected, 1e-14, what);
            output(what, values);
            y.copy_from(y_values);
        };
        const int blocks = (count + threads - 1) / threads;
        prepare();
        axpy<<<blocks, threads>>>(a, x.data(), y.data(), count);
        verify("axpy", sums);
        prepare();
        axpy_pairs<<<(blocks + 1) / 2, threads>>>(a, x.data(), y.data(), count);
        verify("axpy_pairs", sums);
        prepare();
        horner<<<blocks, threads>>>(polynomial, x.data(), y.data(), count);
        verify("horner", polynomials);
        prepare();
        horner_four<<<(blocks + 3) / 4, threads>>>(polynomial, x.data(), y.data(), count);
        verify("horner_four", polynomials);
    }
}

void body() {
    products();
    vectors();
}

int main() {
    return run(body);
}
