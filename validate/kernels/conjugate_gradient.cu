// The parts of a conjugate gradient: products with a 5-point matrix, without its numbers and with rows of
// equal length by columns, dot products by shuffles and an atomic addition, and sums of vectors, alone and
// with dots.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;

/// Adds the sum over a CTA to a number in memory.
__device__ void add_to(float* to, float value) {
    __shared__ float sums[threads / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffU, value, distance);
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    value = 0.0F;
    for (int warp = 0; warp < threads / 32; ++warp) value += sums[warp];
    atomicAdd(to, value);
}

__global__ void dot(const float* x, const float* y, float* to, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) sum += x[i] * y[i];
    add_to(to, sum);
}

__global__ void dot_wide(const float4* x, const float4* y, float* to, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count / 4; i += gridDim.x * threads) {
        const float4 a = x[i], b = y[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    add_to(to, sum);
}

__global__ void axpy(float factor, const float* x, float* y, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) y[i] += factor * x[i];
}

/// q = 4 p less the four neighbours, beyond the edge 0.
__global__ void five_points(const float* p, float* q, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    float sum = 4.0F * p[i];
    if (x > 0) sum -= p[i - 1];
    if (x + 1 < width) sum -= p[i + 1];
    if (y > 0) sum -= p[i - width];
    if (y + 1 < height) sum -= p[i + width];
    q[i] = sum;
}

/// Number k of row i lies at k * rows + i; a column below 0 is none.
__global__ void equal_rows(const float* numbers, const int* columns, const float* p, float* q, int rows) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= rows) return;
    float sum = 0.0F;
    for (int k = 0; k < 5; ++k) {
        const int column = columns[k * rows + i];
        if (column >= 0) sum += numbers[k * rows + i] * p[column];
    }
    q[i] = sum;
}

/// x += factor p and r -= factor q, and the new r times itself.
__global__ void step(float factor, const float* p, const float* q, float* x, float* r, float* to, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        x[i] += factor * p[i];
        const float next = r[i] - factor * q[i];
        r[i] = next;
        sum += next * next;
    }
    add_to(to, sum);
}

/// p = r + factor p
__global__ void direction(float factor, const float* r, float* p, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) p[i] = r[i] + factor * p[i];
}

void all_of(int width, int height, bool rows_too) {
    const int count = width * height, blocks = (count + threads - 1) / threads, few = std::min(blocks, 1056);
    const auto numbers = random_values<float>(count, width);
    const Array<float> right(numbers);
    Array<float> p(numbers), r(numbers), q(count), x(count), sums(4);
    std::vector<double> product(count);
    double before = 0, along = 0;
    for (int i = 0; i < count; ++i) {
        const int column = i % width;
        double sum = 4.0 * numbers[i];
        if (column > 0) sum -= numbers[i - 1];
        if (column + 1 < width) sum -= numbers[i + 1];
        if (i >= width) sum -= numbers[i - width];
        if (i + width < count) sum -= numbers[i + width];
        product[i] = sum;
        before += static_cast<double>(numbers[i]) * numbers[i];
        along += numbers[i] * sum;
    }
    // The factors are the host's, so that they do not depend on the order of atomic additions.
    const auto factor = static_cast<float>(before / along);
    double after = 0;
    for (int i = 0; i < count; ++i) after += std::pow(numbers[i] - factor * product[i], 2);
    const auto next_factor = static_cast<float>(after / before);
    const auto close = [&](int place, double expected, const char* what) {
        check(std::fabs(sums.values()[place] / expected - 1.0) < 1e-3, what);
    };

    if (rows_too) {
        std::vector<float> elements(5 * static_cast<std::size_t>(count));
        std::vector<int> columns(elements.size());
        for (int i = 0; i < count; ++i) {
            const int column = i % width, neighbours[5] = {i - width, i - 1, i, i + 1, i + width};
            for (int k = 0; k < 5; ++k) {
                const bool there = neighbours[k] >= 0 && neighbours[k] < count && (k != 1 || column > 0) &&
                                   (k != 3 || column + 1 < width);
                elements[static_cast<std::size_t>(k) * count + i] = k == 2 ? 4.0F : -1.0F;
                columns[static_cast<std::size_t>(k) * count + i] = there ? neighbours[k] : -1;
            }
        }
        const Array<float> element_array(elements);
        const Array<int> column_array(columns);
        prepare();
        equal_rows<<<blocks, threads>>>(element_array.data(), column_array.data(), p.data(), q.data(), count);
        finish("equal_rows");
        check_close(q.values(), product, 1e-6, "equal_rows");
        q.zero();
    }
    prepare();
    five_points<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(p.data(), q.data(), width,
                                                                            height);
    finish("five_points");
    check_close(q.values(), product, 1e-6, "five_points");
    prepare();
    dot<<<few, threads>>>(p.data(), q.data(), sums.data(), count);
    finish("dot");
    close(0, along, "dot");
    prepare();
    dot_wide<<<few, threads>>>(reinterpret_cast<const float4*>(p.data()),
                               reinterpret_cast<const float4*>(q.data()), sums.data() + 1, count);
    finish("dot_wide");
    close(1, along, "dot_wide");
    prepare();
    step<<<few, threads>>>(factor, p.data(), q.data(), x.data(), r.data(), sums.data() + 2, count);
    finish("step");
    close(2, after, "step");
    output("step", r);
    prepare();
    direction<<<blocks, threads>>>(next_factor, r.data(), p.data(), count);
    finish("direction");
    output("direction", p);
    // What is left of the right side again: r + factor q.
    prepare();
    axpy<<<blocks, threads>>>(factor, q.data(), r.data(), count);
    finish("axpy");
    check_close(r.values(), std::vector<double>(numbers.begin(), numbers.end()), 1e-5, "axpy");
}

void body() {
    all_of(1024, 512, true);
    all_of(2000, 1000, true);
    all_of(4096, 2048, false);
}

int main() {
    return run(body);
}
