// Values between the points of a table: cubic curves with one search a query, two-dimensional tables at
// sorted and at random places, a table in shared memory, and sums of Gaussians at scattered points.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline int interval_of(const float* knots, int count, float x) {
    int low = 0, high = count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (knots[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ void spline(const float* knots, const float4* pieces, const float* at, float* out, int count,
                       int queries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const float x = at[i];
    const int k = interval_of(knots, count, x);
    const float4 p = pieces[k];
    const float t = x - knots[k];
    out[i] = fmaf(fmaf(fmaf(p.w, t, p.z), t, p.y), t, p.x);
}

/// Knots in shared memory; a CTA serves many queries.
__global__ void spline_shared(const float* knots, const float4* pieces, const float* at, float* out,
                              int count, int queries) {
    extern __shared__ float own[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) own[i] = knots[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < queries; i += gridDim.x * blockDim.x) {
        const float x = at[i];
        const int k = interval_of(own, count, x);
        const float4 p = pieces[k];
        const float t = x - own[k];
        out[i] = fmaf(fmaf(fmaf(p.w, t, p.z), t, p.y), t, p.x);
    }
}

/// Sixteen points of a table around each place.
__global__ void bicubic(const float* table, const float2* at, float* out, int n, int queries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const float2 place = at[i];
    const int x = static_cast<int>(place.x), y = static_cast<int>(place.y);
    const float u = place.x - x, v = place.y - y;
    const auto weight = [](float t, float(&w)[4]) {
        w[0] = t * (-0.5F + t * (1.0F - 0.5F * t));
        w[1] = 1.0F + t * t * (-2.5F + 1.5F * t);
        w[2] = t * (0.5F + t * (2.0F - 1.5F * t));
        w[3] = t * t * (-0.5F + 0.5F * t);
    };
    float across[4], down[4], sum = 0.0F;
    weight(u, across);
    weight(v, down);
    for (int b = 0; b < 4; ++b) {
        float row = 0.0F;
        for (int a = 0; a < 4; ++a) row = fmaf(across[a], table[(y - 1 + b) * n + x - 1 + a], row);
        sum = fmaf(down[b], row, sum);
    }
    out[i] = sum;
}

/// Three linear steps in a table of four channels.
__global__ void trilinear(const float4* table, const float* at, float4* out, int n, int queries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const float px = at[i], py = at[queries + i], pz = at[2 * queries + i];
    const int x = static_cast<int>(px), y = static_cast<int>(py), z = static_cast<int>(pz);
    const float u = px - x, v = py - y, w = pz - z;
    float4 sum = {};
    for (int corner = 0; corner < 8; ++corner) {
        const float part =
            (corner & 1 ? u : 1.0F - u) * (corner & 2 ? v : 1.0F - v) * (corner & 4 ? w : 1.0F - w);
        const float4 c = table[((z + (corner >> 2)) * n + y + (corner >> 1 & 1)) * n + x + (corner & 1)];
        sum = {fmaf(part, c.x, sum.x), fmaf(part, c.y, sum.y), fmaf(part, c.z, sum.z),
               fmaf(part, c.w, sum.w)};
    }
    out[i] = sum;
}

/// Sums of Gaussians: points in shared memory by turns.
__global__ void gaussians(const float4* points, const float2* at, float* out, int count, int queries) {
    __shared__ float4 own[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 place = i < queries ? at[i] : float2{};
    float sum = 0.0F, norm = 1e-20F;
    for (int first = 0; first < count; first += 256) {
        __syncthreads();
        own[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; ++k) {
            const float4 p = own[k];
            const float dx = place.x - p.x, dy = place.y - p.y, w = __expf(-p.z * (dx * dx + dy * dy));
            sum = fmaf(w, p.w, sum);
            norm += w;
        }
    }
    if (i < queries) out[i] = sum / norm;
}

void curves(int count, int queries) {
    std::vector<float> knots(count), at(queries);
    for (int i = 0; i < count; ++i) knots[i] = i + 0.3F * random_float(1, i);
    for (int i = 0; i < queries; ++i) at[i] = 0.5F + (0.5F + 0.5F * random_float(2, i)) * (count - 2);
    const Array<float> knot_array(knots), at_array(at),
        piece_array(random_values<float>(4 * static_cast<std::size_t>(count), 3));
    Array<float> out(queries);
    const auto* pieces = reinterpret_cast<const float4*>(piece_array.data());
    const std::string name = std::to_string(count);
    prepare();
    spline<<<(queries + 255) / 256, 256>>>(knot_array.data(), pieces, at_array.data(), out.data(), count,
                                           queries);
    finish("spline");
    output(("spline_" + name).c_str(), out);
    if (count <= 8192) {
        prepare();
        spline_shared<<<264, 512, count * sizeof(float)>>>(knot_array.data(), pieces, at_array.data(),
                                                           out.data(), count, queries);
        finish("shared");
        output(("shared_" + name).c_str(), out);
    }
}

void tables(int n, int queries) {
    std::vector<float2> places(queries), ordered(queries);
    const int side = static_cast<int>(std::sqrt(static_cast<double>(queries)));
    for (int i = 0; i < queries; ++i) {
        places[i] = {1.0F + (0.5F + 0.5F * random_float(4, i)) * (n - 4),
                     1.0F + (0.5F + 0.5F * random_float(5, i)) * (n - 4)};
        ordered[i] = {1.0F + static_cast<float>(i % side) / side * (n - 4),
                      1.0F + static_cast<float>(i / side % side) / side * (n - 4)};
    }
    const Array<float> table(random_values<float>(static_cast<std::size_t>(n) * n, 6));
    const Array<float2> place_array(places), ordered_array(ordered);
    Array<float> out(queries);
    for (const auto* at : {&ordered_array, &place_array}) {
        prepare();
        bicubic<<<(queries + 127) / 128, 128>>>(table.data(), at->data(), out.data(), n, queries);
        finish("bicubic");
        output(("bicubic_" + std::to_string(n)).c_str(), out);
    }
}

void cubes(int n, int queries) {
    std::vector<float> at(3 * static_cast<std::size_t>(queries));
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = (0.5F + 0.499F * random_float(7, i)) * (n - 2);
    const Array<float> table(random_values<float>(4 * static_cast<std::size_t>(n) * n * n, 8)), at_array(at);
    Array<float> out(4 * static_cast<std::size_t>(queries));
    prepare();
    trilinear<<<(queries + 127) / 128, 128>>>(reinterpret_cast<const float4*>(table.data()), at_array.data(),
                                              reinterpret_cast<float4*>(out.data()), n, queries);
    finish("trilinear");
    output(("trilinear_" + std::to_string(n)).c_str(), out);
}

void sums(int count, int queries) {
    std::vector<float> points(4 * static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 2; ++k) points[4 * i + k] = random_float(9, 2 * i + k);
        points[4 * i + 2] = 20.0F;
        points[4 * i + 3] = random_float(10, i);
    }
    const Array<float> point_array(points),
        at(random_values<float>(2 * static_cast<std::size_t>(queries), 11));
    Array<float> out(queries);
    prepare();
    gaussians<<<(queries + 255) / 256, 256>>>(reinterpret_cast<const float4*>(point_array.data()),
                                              reinterpret_cast<const float2*>(at.data()), out.data(), count,
                                              queries);
    finish("gaussians");
    output(("gaussians_" + std::to_string(queries)).c_str(), out);
}

void body() {
    curves(1 << 16, 1 << 21);
    curves(4096, 1 << 21);
    curves(100, 1 << 18);
    tables(2048, 1 << 20);
    tables(256, 1 << 20);
    cubes(64, 1 << 20);
    cubes(200, 1 << 19);
    sums(2048, 40000);
    sums(512, 5000);
}

int main() {
    return run(body);
}
