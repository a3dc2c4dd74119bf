// Fourier transforms of many short complex sequences: the sum by its definition, radix 2 in shared memory
// with sines and cosines on the fly and from a table, radix 4, and transforms of 32 points within a warp by
// shuffles, alone and as rows and columns of 1024 points.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <complex>

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;

__device__ float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}
__device__ float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}
__device__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__host__ __device__ constexpr int log_of(int points) {
    return points == 1 ? 0 : 1 + log_of(points / 2);
}

/// Thread k sums all points for frequency k. `roots` holds exp(-2 pi i k / points).
template <int points>
__global__ void by_definition(const float2* from, const float2* roots, float2* to) {
    __shared__ float2 values[points], own_roots[points];
    values[threadIdx.x] = from[blockIdx.x * points + threadIdx.x];
    own_roots[threadIdx.x] = roots[threadIdx.x];
    __syncthreads();
    float2 sum = {};
    for (int i = 0; i < points; ++i) {
        sum = sum + values[i] * own_roots[i * threadIdx.x % points];
    }
    to[blockIdx.x * points + threadIdx.x] = sum;
}

/// Loads in bit-reversed order; each of points / 2 threads has two points.
template <int points>
__device__ void load_reversed(const float2* from, float2* values) {
    constexpr int shift = 32 - log_of(points);
    for (int i = threadIdx.x; i < points; i += points / 2) {
        values[__brev(i) >> shift] = from[blockIdx.x * points + i];
    }
    __syncthreads();
}

template <int points>
__device__ void store_all(const float2* values, float2* to) {
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        to[blockIdx.x * points + i] = values[i];
    }
}

template <int points>
__global__ void radix_2_sines(const float2* from, float2* to) {
    __shared__ float2 values[points];
    load_reversed<points>(from, values);
    for (int half = 1; half < points; half *= 2) {
        const int k = threadIdx.x % half, first = (threadIdx.x - k) * 2 + k;
        float2 root;
        sincospif(-static_cast<float>(k) / half, &root.y, &root.x);
        const float2 even = values[first], odd = root * values[first + half];
        values[first] = even + odd;
        values[first + half] = even - odd;
        __syncthreads();
    }
    store_all<points>(values, to);
}

template <int points>
__global__ void radix_2_table(const float2* from, const float2* roots, float2* to) {
    __shared__ float2 values[points], own_roots[points / 2];
    own_roots[threadIdx.x] = roots[threadIdx.x];
    load_reversed<points>(from, values);
#pragma unroll
    for (int half = 1; half < points; half *= 2) {
        const int k = threadIdx.x % half, first = (threadIdx.x - k) * 2 + k;
        const float2 root = own_roots[k * (points / 2 / half)];
        const float2 even = values[first], odd = root * values[first + half];
        values[first] = even + odd;
        values[first + half] = even - odd;
        __syncthreads();
    }
    store_all<points>(values, to);
}

/// Each of points / 4 threads has four points in registers; half as many stages. The points are in order
/// after the last stage, without reversal, since each stage moves them.
template <int points>
__global__ void radix_4(const float2* from, const float2* roots, float2* to) {
    constexpr int quarter = points / 4;
    __shared__ float2 values[points];
    const int thread = threadIdx.x;
    float2 own[4];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        own[part] = from[blockIdx.x * points + thread + part * quarter];
    }
#pragma unroll
    for (int size = 1; size < points; size *= 4) {
        const int k = thread % size;
        if (size > 1) {
            __syncthreads();
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                own[part] = values[thread + part * quarter];
            }
            __syncthreads();
#pragma unroll
            for (int part = 1; part < 4; ++part) {
                own[part] = own[part] * __ldg(roots + k * part * (quarter / size));
            }
        }
        const float2 sum_even = own[0] + own[2], difference_even = own[0] - own[2];
        const float2 sum_odd = own[1] + own[3], difference_odd = own[1] - own[3];
        // Times -i.
        const float2 turned = make_float2(difference_odd.y, -difference_odd.x);
        const int first = (thread - k) * 4 + k;
        values[first] = sum_even + sum_odd;
        values[first + size] = difference_even + turned;
        values[first + 2 * size] = sum_even - sum_odd;
        values[first + 3 * size] = difference_even - turned;
    }
    __syncthreads();
    store_all<points>(values, to);
}

/// Transforms the 32 points of a warp, one a lane; the lane gets the frequency whose bits are its own in
/// reverse. `root` is exp(-2 pi i lane / 32).
__device__ float2 transform_of_warp(float2 value, float2 root) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        const float2 other =
            make_float2(__shfl_xor_sync(all_lanes, value.x, half), __shfl_xor_sync(all_lanes, value.y, half));
        // The upper lane of a pair with index k within its half takes the root exp(-pi i k / half).
        const int index = lane % half * (16 / half);
        const float2 factor =
            make_float2(__shfl_sync(all_lanes, root.x, index), __shfl_sync(all_lanes, root.y, index));
        value = (lane & half) == 0 ? value + other : (other - value) * factor;
    }
    return value;
}

__device__ int reversed_lane() {
    return static_cast<int>(__brev(threadIdx.x % 32) >> 27);
}

/// `roots` holds exp(-2 pi i k / 32).
__global__ void warp_32(const float2* from, const float2* roots, float2* to, int count) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (warp < count) {
        const float2 value = transform_of_warp(from[warp * 32 + threadIdx.x % 32], roots[threadIdx.x % 32]);
        to[warp * 32 + reversed_lane()] = value;
    }
}

/// Point 32 i + j lies in row i and column j. Each warp transforms a column, turns it, then transforms a row
/// of what came out.
__global__ void warps_1024(const float2* from, const float2* roots, float2* to) {
    __shared__ float2 values[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, reversed = reversed_lane();
    const float2 root = roots[lane * 32];
    values[warp][lane] = from[blockIdx.x * 1024 + threadIdx.x];
    __syncthreads();
    const float2 column = transform_of_warp(values[lane][warp], root);
    __syncthreads();
    values[reversed][warp] = column * roots[warp * reversed];
    __syncthreads();
    const float2 row = transform_of_warp(values[warp][lane], root);
    __syncthreads();
    values[reversed][warp] = row;
    __syncthreads();
    to[blockIdx.x * 1024 + threadIdx.x] = values[warp][lane];
}

using Complex = std::complex<double>;

Complex root_of(int k, int points) {
    return std::polar(1.0, -2.0 * 3.14159265358979323846 * k / points);
}

/// Transforms in place: halves of even and odd points, recursively.
void transform(Complex* values, int points, const std::vector<Complex>& roots) {
    if (points == 1) {
        return;
    }
    const int half = points / 2, step = static_cast<int>(roots.size()) / points;
    std::vector<Complex> parts(points);
    for (int i = 0; i < points; ++i) {
        parts[i % 2 * half + i / 2] = values[i];
    }
    transform(parts.data(), half, roots);
    transform(parts.data() + half, half, roots);
    for (int k = 0; k < half; ++k) {
        const Complex odd = roots[k * step] * parts[half + k];
        values[k] = parts[k] + odd;
        values[half + k] = parts[k] - odd;
    }
}

template <int points>
void transform_all(int count) {
    const auto numbers = random_values<float>(static_cast<std::size_t>(count) * points * 2, 1);
    std::vector<float2> values(numbers.size() / 2), root_values(points);
    std::vector<Complex> transformed(values.size()), roots(points);
    for (int k = 0; k < points; ++k) {
        roots[k] = root_of(k, points);
        root_values[k] =
            make_float2(static_cast<float>(roots[k].real()), static_cast<float>(roots[k].imag()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = make_float2(numbers[2 * i], numbers[2 * i + 1]);
        transformed[i] = Complex(values[i].x, values[i].y);
    }
    std::vector<double> expected;
    for (int i = 0; i < count; ++i) {
        transform(&transformed[static_cast<std::size_t>(i) * points], points, roots);
    }
    for (const Complex& value : transformed) {
        expected.insert(expected.end(), {value.real(), value.imag()});
    }
    const Array<float2> from(values), root_array(root_values);
    Array<float2> to(values.size());
    const auto verify = [&](const char* what) {
        finish(what);
        std::vector<float> result;
        for (const float2& value : to.values()) {
            result.insert(result.end(), {value.x, value.y});
        }
        check_close(result, expected, 1e-5, what);
        output((what + ("_" + std::to_string(points))).c_str(), result);
        to.zero();
    };
    if constexpr (points == 32) {
        prepare();
        warp_32<<<(count + 3) / 4, 128>>>(from.data(), root_array.data(), to.data(), count);
        verify("warp_32");
    } else {
        if (count < 200) {
            prepare();
            by_definition<points><<<count, points>>>(from.data(), root_array.data(), to.data());
            verify("by_definition");
        } else {
            prepare();
            radix_2_sines<points><<<count, points / 2>>>(from.data(), to.data());
            verify("radix_2_sines");
        }
        prepare();
        radix_2_table<points><<<count, points / 2>>>(from.data(), root_array.data(), to.data());
        verify("radix_2_table");
        prepare();
        radix_4<points><<<count, points / 4>>>(from.data(), root_array.data(), to.data());
        verify("radix_4");
        if constexpr (points == 1024) {
            prepare();
            warps_1024<<<count, points>>>(from.data(), root_array.data(), to.data());
            verify("warps_1024");
        }
    }
}

void body() {
    transform_all<256>(101);
    transform_all<256>(1003);
    transform_all<1024>(601);
    transform_all<32>(2001);
    transform_all<32>(30001);
}

int main() {
    return run(body);
}
