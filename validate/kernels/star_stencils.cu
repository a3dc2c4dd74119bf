// Stars of neighbours in squares and cubes, 16 bytes a lane and a warp a row, as scientific codes write them
// first: every neighbour is a load of its own, so that rows and planes come again from the caches.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <array>

using namespace textbook;

/// `radius` neighbours along each axis. Beyond the grid is zero; the side is a multiple of the vector.
template <class Vector, class Value, int axes, int radius>
__global__ void __launch_bounds__(256) star(const Value* in, Value* out, int size) {
    constexpr int lanes = sizeof(Vector) / sizeof(Value);
    const std::size_t x = (blockIdx.x * std::size_t{32} + threadIdx.x) * lanes;
    const int y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    if (x >= size || y >= size) return;
    const std::size_t pitch = size, plane = pitch * size;
    const std::size_t at = (axes == 3 ? z * plane : 0) + y * pitch + x;
    const Value* own = in + at;
    Value row[3 * lanes];
    const Vector none = {};
    *reinterpret_cast<Vector*>(row) = x >= lanes ? *reinterpret_cast<const Vector*>(own - lanes) : none;
    *reinterpret_cast<Vector*>(row + lanes) = *reinterpret_cast<const Vector*>(own);
    *reinterpret_cast<Vector*>(row + 2 * lanes) =
        x + lanes < size ? *reinterpret_cast<const Vector*>(own + lanes) : none;
    Value sum[lanes];
#pragma unroll
    for (int v = 0; v < lanes; ++v) {
        sum[v] = Value(0.5) * row[lanes + v];
#pragma unroll
        for (int d = 1; d <= radius; ++d)
            sum[v] += Value(0.25) * row[lanes + v - d] + Value(0.125) * row[lanes + v + d];
    }
#pragma unroll
    for (int d = 1; d <= radius; ++d) {
        const Vector above = y >= d ? *reinterpret_cast<const Vector*>(own - d * pitch) : none;
        const Vector below = y + d < size ? *reinterpret_cast<const Vector*>(own + d * pitch) : none;
        const Value *one = reinterpret_cast<const Value*>(&above),
                    *two = reinterpret_cast<const Value*>(&below);
#pragma unroll
        for (int v = 0; v < lanes; ++v) sum[v] += Value(0.25) * one[v] + Value(0.125) * two[v];
        if constexpr (axes == 3) {
            const Vector front = z >= d ? *reinterpret_cast<const Vector*>(own - d * plane) : none;
            const Vector back = z + d < size ? *reinterpret_cast<const Vector*>(own + d * plane) : none;
            one = reinterpret_cast<const Value*>(&front);
            two = reinterpret_cast<const Value*>(&back);
#pragma unroll
            for (int v = 0; v < lanes; ++v) sum[v] += Value(0.25) * one[v] + Value(0.125) * two[v];
        }
    }
    *reinterpret_cast<Vector*>(out + at) = *reinterpret_cast<const Vector*>(sum);
}

/// The same sum at one place, in double precision.
template <class Value>
double sum_at(const std::vector<Value>& in, int size, int axes, int radius, const std::array<int, 3>& at) {
    const auto value = [&](int axis, int step) {
        std::array<int, 3> place = at;
        place[axis] += step;
        if (place[axis] < 0 || place[axis] >= size) return 0.0;
        const std::size_t row = static_cast<std::size_t>(place[2]) * size + place[1];
        return static_cast<double>(in[row * size + place[0]]);
    };
    double sum = 0.5 * value(0, 0);
    for (int d = 1; d <= radius; ++d) {
        for (int axis = 0; axis < axes; ++axis) sum += 0.25 * value(axis, -d) + 0.125 * value(axis, d);
    }
    return sum;
}

template <class Vector, class Value, int axes, int radius>
void run_star(int size) {
    constexpr int lanes = sizeof(Vector) / sizeof(Value);
    const std::size_t count = static_cast<std::size_t>(size) * size * (axes == 3 ? size : 1);
    const std::vector<Value> numbers = random_values<Value>(count, 3);
    Array<Value> in(numbers), out(count);
    const dim3 grid((size / lanes + 31) / 32, (size + 7) / 8, axes == 3 ? size : 1);
    prepare();
    star<Vector, Value, axes, radius><<<grid, dim3(32, 8)>>>(in.data(), out.data(), size);
    finish("star");
    const std::vector<Value> results = out.values();
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::array<int, 3> at{static_cast<int>(random_bits(5, i) % size),
                                    static_cast<int>(random_bits(6, i) % size),
                                    axes == 3 ? static_cast<int>(random_bits(7, i) % size) : 0};
        const std::size_t place = (static_cast<std::size_t>(at[2]) * size + at[1]) * size + at[0];
        check(std::fabs(sum_at(numbers, size, axes, radius, at) - static_cast<double>(results[place])) < 1e-4,
              "star");
    }
    output("star", results);
}

void body() {
    run_star<float4, float, 2, 1>(4096);
    run_star<float4, float, 2, 4>(4096);
    run_star<double2, double, 2, 1>(4096);
    run_star<float4, float, 3, 1>(200);
    run_star<float4, float, 3, 1>(320);
    run_star<float4, float, 3, 4>(200);
    run_star<float4, float, 3, 4>(320);
    run_star<double2, double, 3, 1>(256);
    run_star<double2, double, 3, 2>(128);
}

int main() {
    return run(body);
}
