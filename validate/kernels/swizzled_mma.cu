// Matrix products by mma.sync with ldmatrix: rows padded or swizzled, two to four stages of cp.async, split
// sums with atomics, halves, bfloats and bytes, a right side in rows, and tiles of TF32 and of doubles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

enum class Kind { half, brain, bytes };
template <Kind kind>
using Sum = std::conditional_t<kind == Kind::bytes, int, float>;

__device__ inline unsigned address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ inline void copy_later(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(to)), "l"(from) : "memory");
}
__device__ inline void load_four(unsigned (&to)[4], const void* from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address(from))
                 : "memory");
}
__device__ inline void load_four_turned(unsigned (&to)[4], const void* from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address(from))
                 : "memory");
}

template <Kind kind>
__device__ inline void multiply(Sum<kind> (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    if constexpr (kind == Kind::half) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else if constexpr (kind == Kind::brain) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

/// Rows times rows, 128 x 128 a CTA, 64 x 32 a warp, steps of 64 bytes; `split`: blockIdx.z takes a part of
/// the sum.
template <Kind kind, bool swizzled, int stages, bool split>
__global__ void __launch_bounds__(256)
    row_products(const uint4* a, const uint4* b, Sum<kind>* out, int columns, int chunks, int steps) {
    extern __shared__ uint4 tiles[];
    constexpr int pitch = swizzled ? 4 : 5, stage_size = 2 * 128 * pitch;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const auto place = [](int row, int chunk) {
        return row * pitch + (swizzled ? chunk ^ (row / 2 % 4) : chunk);
    };
    const uint4* from_a = a + static_cast<std::size_t>(blockIdx.y) * 128 * chunks;
    const uint4* from_b = b + static_cast<std::size_t>(blockIdx.x) * 128 * chunks;
    const auto fetch = [&](int step) {
        uint4* left = tiles + step % stages * stage_size;
        const int first = (blockIdx.z * steps + step) * 4;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const int row = k * 64 + thread / 4, chunk = thread % 4;
            const std::size_t at = static_cast<std::size_t>(row) * chunks + first + chunk;
            copy_later(left + place(row, chunk), from_a + at);
            copy_later(left + 128 * pitch + place(row, chunk), from_b + at);
        }
    };
#pragma unroll
    for (int s = 0; s < stages - 1; ++s) {
        if (s < steps) fetch(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    const int first_row = warp / 4 * 64, first_column = warp % 4 * 32;
    Sum<kind> sums[4][4][4] = {};
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        if (step + stages - 1 < steps) fetch(step + stages - 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const uint4* left = tiles + step % stages * stage_size;
        const uint4* right = left + 128 * pitch;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            unsigned x[4][4], y[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_four(x[i], left + place(first_row + i * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
            for (int j = 0; j < 2; ++j)
                load_four(y[j], right + place(first_column + j * 16 + lane % 8 + lane / 16 * 8,
                                              2 * k + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply<kind>(sums[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const std::size_t row = blockIdx.y * 128 + first_row + i * 16 + h * 8 + lane / 4;
                Sum<kind>* to = out + row * columns + blockIdx.x * 128 + first_column + j * 8 + lane % 4 * 2;
                if constexpr (split) {
                    atomicAdd(to, sums[i][j][2 * h]);
                    atomicAdd(to + 1, sums[i][j][2 * h + 1]);
                } else {
                    to[0] = sums[i][j][2 * h];
                    to[1] = sums[i][j][2 * h + 1];
                }
            }
}

/// The right side in rows of columns, 64 x 64 a CTA of four warps, by ordinary loads a step ahead.
__global__ void __launch_bounds__(128)
    plain_products(const __half* a, const __half* b, __half2* out, int columns, int depth) {
    __shared__ uint4 left[64 * 4], right[32 * 8];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int first_row = warp / 2 * 32, first_column = warp % 2 * 32;
    uint4 next_a[2], next_b[2];
    const auto fetch = [&](int k) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const std::size_t a_row = blockIdx.y * 64 + i * 32 + thread / 4;
            const std::size_t b_row = k + i * 16 + thread / 8;
            next_a[i] = *reinterpret_cast<const uint4*>(a + a_row * depth + k + thread % 4 * 8);
            next_b[i] =
                *reinterpret_cast<const uint4*>(b + b_row * columns + blockIdx.x * 64 + thread % 8 * 8);
        }
    };
    fetch(0);
    float sums[2][4][4] = {};
    for (int k = 0; k < depth; k += 32) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int a_row = i * 32 + thread / 4, b_row = i * 16 + thread / 8;
            left[a_row * 4 + (thread % 4 ^ (a_row / 2 % 4))] = next_a[i];
            right[b_row * 8 + (thread % 8 ^ (b_row % 8))] = next_b[i];
        }
        __syncthreads();
        if (k + 32 < depth) fetch(k + 32);
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            unsigned x[2][4], y[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int row = first_row + i * 16 + lane % 16;
                load_four(x[i], left + row * 4 + ((2 * s + lane / 16) ^ (row / 2 % 4)));
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int row = s * 16 + lane % 16;
                load_four_turned(y[j],
                                 right + row * 8 + ((first_column / 8 + 2 * j + lane / 16) ^ (row % 8)));
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply<Kind::half>(sums[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const std::size_t row = blockIdx.y * 64 + first_row + i * 16 + h * 8 + lane / 4;
                const int column = blockIdx.x * 64 + first_column + j * 8 + lane % 4 * 2;
                out[(row * columns + column) / 2] =
                    __floats2half2_rn(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
            }
}

/// Floats rounded to TF32 on the way to shared memory; padded rows, 128 x 64 a CTA, 32 x 32 a warp.
__global__ void __launch_bounds__(256)
    rounded_products(const float* a, const float* b, float* out, int columns, int depth) {
    __shared__ __align__(16) unsigned left[128][20], right[16][72];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int first_row = warp / 2 * 32, first_column = warp % 2 * 32, g = lane / 4, t = lane % 4;
    const auto rounded = [](float value) {
        unsigned bits;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
        return bits;
    };
    float sums[2][4][4] = {};
    for (int k = 0; k < depth; k += 16) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int row = i * 64 + thread / 4, column = thread % 4 * 4;
            const float4 v = *reinterpret_cast<const float4*>(
                a + static_cast<std::size_t>(blockIdx.y * 128 + row) * depth + k + column);
            *reinterpret_cast<uint4*>(&left[row][column]) = {rounded(v.x), rounded(v.y), rounded(v.z),
                                                             rounded(v.w)};
        }
        const int row = thread / 16, column = thread % 16 * 4;
        const float4 v = *reinterpret_cast<const float4*>(b + static_cast<std::size_t>(k + row) * columns +
                                                          blockIdx.x * 64 + column);
        *reinterpret_cast<uint4*>(&right[row][column]) = {rounded(v.x), rounded(v.y), rounded(v.z),
                                                          rounded(v.w)};
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 16; s += 8) {
            unsigned x[2][4], y[4][2];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    x[i][e] = left[first_row + i * 16 + g + e % 2 * 8][s + t + e / 2 * 4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int e = 0; e < 2; ++e) y[j][e] = right[s + t + e * 4][first_column + j * 8 + g];
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    float(&c)[4] = sums[i][j];
                    asm volatile(
                        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                        : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const std::size_t row = blockIdx.y * 128 + first_row + i * 16 + h * 8 + g;
                *reinterpret_cast<float2*>(out + row * columns + blockIdx.x * 64 + first_column + j * 8 +
                                           t * 2) = {sums[i][j][2 * h], sums[i][j][2 * h + 1]};
            }
}

/// Rows of doubles times rows, 64 x 64 a CTA of four warps.
__global__ void __launch_bounds__(128)
    double_products(const double* a, const double* b, double* out, int columns, int depth) {
    __shared__ __align__(16) double left[64][20], right[64][20];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int first_row = warp / 2 * 32, first_column = warp % 2 * 32, g = lane / 4, t = lane % 4;
    double sums[4][4][2] = {};
    for (int k = 0; k < depth; k += 16) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = i * 16 + thread / 8, column = thread % 8 * 2;
            *reinterpret_cast<double2*>(&left[row][column]) = *reinterpret_cast<const double2*>(
                a + static_cast<std::size_t>(blockIdx.y * 64 + row) * depth + k + column);
            *reinterpret_cast<double2*>(&right[row][column]) = *reinterpret_cast<const double2*>(
                b + static_cast<std::size_t>(blockIdx.x * 64 + row) * depth + k + column);
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 16; s += 4) {
            double x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] = left[first_row + i * 8 + g][s + t];
                y[i] = right[first_column + i * 8 + g][s + t];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    asm volatile(
                        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                        : "+d"(sums[i][j][0]), "+d"(sums[i][j][1])
                        : "d"(x[i]), "d"(y[j]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const std::size_t row = blockIdx.y * 64 + first_row + i * 8 + g;
            *reinterpret_cast<double2*>(out + row * columns + blockIdx.x * 64 + first_column + j * 8 +
                                        t * 2) = {sums[i][j][0], sums[i][j][1]};
        }
}

/// A few outputs by hand; `rows_right`: both sides have their sum along the row.
template <class T, class S>
void check_product(const std::vector<T>& a, const std::vector<T>& b, const std::vector<S>& out, int rows,
                   int columns, int depth, bool rows_right, const char* what) {
    std::vector<double> expected;
    std::vector<S> got;
    for (std::size_t i = 0; i < 96; ++i) {
        const std::size_t row = i * 613 % rows, column = i * 331 % columns;
        double sum = 0.0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k)
            sum += as_double(a[row * depth + k]) *
                   as_double(rows_right ? b[column * depth + k] : b[k * columns + column]);
        expected.push_back(sum);
        got.push_back(out[row * columns + column]);
    }
    check_close(got, expected, 2e-3, what);
}

template <Kind kind, bool swizzled, int stages, bool split, class T>
void rows_by_rows(int rows, int columns, int depth, int parts, const char* name) {
    const std::vector<T> a_values = random_values<T>(static_cast<std::size_t>(rows) * depth, 1);
    const std::vector<T> b_values = random_values<T>(static_cast<std::size_t>(columns) * depth, 2);
    const Array<T> a(a_values), b(b_values);
    Array<Sum<kind>> out(static_cast<std::size_t>(rows) * columns);
    const int shared = stages * 2 * 128 * (swizzled ? 4 : 5) * 16;
    const int chunks = depth * static_cast<int>(sizeof(T)) / 16;
    require(cudaFuncSetAttribute(row_products<kind, swizzled, stages, split>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
            "shared");
    prepare();
    row_products<kind, swizzled, stages, split><<<dim3(columns / 128, rows / 128, parts), 256, shared>>>(
        reinterpret_cast<const uint4*>(a.data()), reinterpret_cast<const uint4*>(b.data()), out.data(),
        columns, chunks, chunks / 4 / parts);
    finish(name);
    check_product(a_values, b_values, out.values(), rows, columns, depth, true, name);
    output(name, out);
}

void body() {
    rows_by_rows<Kind::half, false, 2, false, __half>(2048, 2048, 2048, 1, "padded_two");
    rows_by_rows<Kind::half, true, 3, false, __half>(2048, 1920, 2048, 1, "swizzled_three");
    rows_by_rows<Kind::brain, true, 4, false, __nv_bfloat16>(1536, 1408, 4096, 1, "swizzled_four");
    rows_by_rows<Kind::half, true, 3, true, __half>(512, 640, 16384, 16, "split_sixteen");
    rows_by_rows<Kind::bytes, true, 2, false, signed char>(2048, 2048, 2048, 1, "bytes_two");
    const int rows = 1024, columns = 1536, depth = 1024;
    const std::vector<__half> half_a = random_values<__half>(rows * depth, 3);
    const std::vector<__half> half_b = random_values<__half>(depth * columns, 4);
    const Array<__half> a(half_a), b(half_b);
    Array<__half> half_out(rows * columns);
    prepare();
    plain_products<<<dim3(columns / 64, rows / 64), 128>>>(
        a.data(), b.data(), reinterpret_cast<__half2*>(half_out.data()), columns, depth);
    finish("plain");
    check_product(half_a, half_b, half_out.values(), rows, columns, depth, false, "plain");
    output("plain", half_out);
    const std::vector<float> float_a = random_values<float>(rows * depth, 5);
    const std::vector<float> float_b = random_values<float>(depth * columns, 6);
    const Array<float> wide_a(float_a), wide_b(float_b);
    Array<float> out(rows * columns);
    prepare();
    rounded_products<<<dim3(columns / 64, rows / 128), 256>>>(wide_a.data(), wide_b.data(), out.data(),
                                                              columns, depth);
    finish("rounded");
    check_product(float_a, float_b, out.values(), rows, columns, depth, false, "rounded");
    output("rounded", out);
    const std::vector<double> double_a = random_values<double>(rows * depth, 7);
    const std::vector<double> double_b = random_values<double>(columns * depth, 8);
    const Array<double> double_left(double_a), double_right(double_b);
    Array<double> double_out(rows * columns);
    prepare();
    double_products<<<dim3(columns / 64, rows / 64), 128>>>(double_left.data(), double_right.data(),
                                                            double_out.data(), columns, depth);
    finish("doubles");
    check_product(double_a, double_b, double_out.values(), rows, columns, depth, true, "doubles");
    output("doubles", double_out);
}

int main() {
    return run(body);
}
