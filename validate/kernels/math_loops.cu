// Loops of arithmetic a thread or a warp: normal numbers, matrix exponentials, systems of eight by shuffles,
// queens by bits, special functions of doubles, roots, heat in shared memory, and radix-4 FFTs.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Pairs of normal numbers from a counter; sums of values and of squares a block.
__global__ void box_muller(float2* sums, int steps, unsigned seed) {
    __shared__ float shared[32];
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0F, squares = 0.0F;
    for (int k = 0; k < steps; ++k) {
        const uint4 bits = philox({thread, static_cast<unsigned>(k), 0U, 0U}, {seed, 0U});
        const float radius = sqrtf(-2.0F * logf((static_cast<float>(bits.x >> 8) + 0.5F) * 0x1p-24F));
        float sine, cosine;
        sincospif(static_cast<float>(bits.y >> 8) * 0x1p-23F, &sine, &cosine);
        const float x = radius * cosine, y = radius * sine;
        sum += x + y;
        squares += x * x + y * y;
    }
    const auto add = [](float a, float b) { return a + b; };
    sum = across_block(sum, shared, add);
    squares = across_block(squares, shared, add);
    if (threadIdx.x == 0) sums[blockIdx.x] = {sum, squares};
}

/// exp of 4 x 4: scaled by 1/16, Taylor to the sixth power by Horner, squared four times; [element][matrix].
__global__ void __launch_bounds__(128) matrix_exponential(const float* in, float* out, int matrices) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= matrices) return;
    float a[4][4], e[4][4], t[4][4];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        a[i / 4][i % 4] = in[static_cast<std::size_t>(i) * matrices + m] * 0.0625F;
        e[i / 4][i % 4] = i / 4 == i % 4 ? 1.0F : 0.0F;
    }
    const auto product = [&](const float(&x)[4][4], const float(&y)[4][4]) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                t[i][j] = x[i][0] * y[0][j] + x[i][1] * y[1][j] + x[i][2] * y[2][j] + x[i][3] * y[3][j];
    };
#pragma unroll
    for (int k = 6; k > 0; --k) {
        product(a, e);
#pragma unroll
        for (int i = 0; i < 16; ++i)
            e[i / 4][i % 4] = t[i / 4][i % 4] / static_cast<float>(k) + (i / 4 == i % 4 ? 1.0F : 0.0F);
    }
    for (int k = 0; k < 4; ++k) {
        product(e, e);
#pragma unroll
        for (int i = 0; i < 16; ++i) e[i / 4][i % 4] = t[i / 4][i % 4];
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) out[static_cast<std::size_t>(i) * matrices + m] = e[i / 4][i % 4];
}

/// Four matrices of 8 x 8 a warp: a lane a row; LU with pivots in place by shuffles, then a solution.
__global__ void small_solves(const float* in, const float* right, float* out, int matrices) {
    const int m = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const bool inside = m < matrices;
    float row[8], value = inside ? right[m * 8 + lane] : 1.0F;
#pragma unroll
    for (int j = 0; j < 8; ++j)
        row[j] = inside ? in[(static_cast<std::size_t>(m) * 8 + lane) * 8 + j] : (j == lane ? 1.0F : 0.0F);
    int step_of = -1;  // the step in which this lane's row was the pivot
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        float most = step_of < 0 ? fabsf(row[k]) : -1.0F;
        int who = lane;
        for (int step = 4; step > 0; step /= 2) {
            const float other = __shfl_xor_sync(0xffffffffU, most, step, 8);
            const int other_who = __shfl_xor_sync(0xffffffffU, who, step, 8);
            if (other > most || (other == most && other_who < who)) {
                most = other;
                who = other_who;
            }
        }
        if (lane == who) step_of = k;
        const float pivot = __shfl_sync(0xffffffffU, row[k], who, 8);
        const float factor = step_of < 0 ? row[k] / pivot : 0.0F;
#pragma unroll
        for (int j = k + 1; j < 8; ++j)
            row[j] = fmaf(-factor, __shfl_sync(0xffffffffU, row[j], who, 8), row[j]);
        value = fmaf(-factor, __shfl_sync(0xffffffffU, value, who, 8), value);
    }
#pragma unroll
    for (int k = 7; k >= 0; --k) {
        const unsigned owners = __ballot_sync(0xffffffffU, step_of == k) >> (threadIdx.x % 32 / 8 * 8) & 255U;
        const int who = __ffs(static_cast<int>(owners)) - 1;
        const float x = __shfl_sync(0xffffffffU, value / row[k], who, 8);
        if (step_of < k) value = fmaf(-row[k], x, value);
        if (inside && lane == k) out[m * 8 + k] = x;
    }
}

/// Queens on a board of `size`: a thread the three first rows' places, the rest by bits and a stack.
__global__ void queens(unsigned long long* solutions, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count = 0;
    if (i < size * size * size) {
        const unsigned full = (1U << size) - 1;
        unsigned columns[24], left[24], right[24], open[24];
        unsigned c = 0, l = 0, r = 0;
        bool possible = true;
        const int places[3] = {i % size, i / size % size, i / size / size};
        for (const int place : places) {
            const unsigned bit = 1U << place;
            if ((c | l | r) & bit) possible = false;
            c |= bit;
            l = (l | bit) << 1;
            r = (r | bit) >> 1;
        }
        int depth = 0;
        columns[0] = c;
        left[0] = l;
        right[0] = r;
        open[0] = possible ? full & ~(c | l | r) : 0;
        while (depth >= 0) {
            if (open[depth] == 0) {
                --depth;
                continue;
            }
            const unsigned bit = open[depth] & (0U - open[depth]);
            open[depth] ^= bit;
            const unsigned nc = columns[depth] | bit;
            if (nc == full) {
                ++count;
                continue;
            }
            const unsigned nl = (left[depth] | bit) << 1, nr = (right[depth] | bit) >> 1;
            ++depth;
            columns[depth] = nc;
            left[depth] = nl;
            right[depth] = nr;
            open[depth] = full & ~(nc | nl | nr);
        }
    }
    count = __reduce_add_sync(0xffffffffU, count);
    if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(solutions, static_cast<unsigned long long>(count));
}

/// Several functions of doubles an element.
__global__ void double_functions(const double* in, double* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const double x = in[i];
        out[i] = erf(x) + lgamma(x + 2.5) * cos(3.0 * x) + log1p(x * x) * exp(-x) + pow(x * x + 0.1, 0.3);
    }
}

/// Newton's steps to the root of each cubic until they are small: lanes end at different times.
__global__ void roots(const float4* coefficients, float* out, int* steps, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 c = coefficients[i];
    float x = 3.0F;
    int k = 0;
    for (; k < 60; ++k) {
        const float value = ((x + c.y) * x + c.z) * x + c.w, slope = (3.0F * x + 2.0F * c.y) * x + c.z;
        const float change = value / (fabsf(slope) < 1e-3F ? 1e-3F : slope);
        x -= change;
        if (fabsf(change) < 1e-5F * fmaxf(1.0F, fabsf(x))) break;
    }
    out[i] = x;
    steps[i] = k;
}

/// Rods of 256 points, one a block, many explicit steps between two rows of shared memory.
__global__ void __launch_bounds__(256) heat_rods(const float* in, float* out, int steps, float rate) {
    __shared__ float rod[2][258];
    const std::size_t at = static_cast<std::size_t>(blockIdx.x) * 256 + threadIdx.x;
    const int i = threadIdx.x + 1;
    rod[0][i] = in[at];
    if (threadIdx.x < 2) rod[threadIdx.x][0] = rod[threadIdx.x][257] = 0.0F;
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        const float* now = rod[k % 2];
        rod[(k + 1) % 2][i] = now[i] + rate * (now[i - 1] - 2.0F * now[i] + now[i + 1]);
        __syncthreads();
    }
    out[at] = rod[steps % 2][i];
}

/// FFT of `size` points, radix 4 by Stockham's order, `size` / 4 threads a row.
template <int size>
__global__ void __launch_bounds__(size / 4) radix_four(const float2* in, float2* out) {
    __shared__ float2 points[size];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * size;
    const int t = threadIdx.x;
    float2 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = in[start + t + k * (size / 4)];
#pragma unroll
    for (int span = 1; span < size; span *= 4) {
        const int low = t % span;
        if (span > 1) {
#pragma unroll
            for (int k = 1; k < 4; ++k) {
                float sine, cosine;
                sincospif(-0.5F * static_cast<float>(k * low) / static_cast<float>(span), &sine, &cosine);
                v[k] = {v[k].x * cosine - v[k].y * sine, v[k].x * sine + v[k].y * cosine};
            }
        }
        const float2 a = {v[0].x + v[2].x, v[0].y + v[2].y}, b = {v[0].x - v[2].x, v[0].y - v[2].y};
        const float2 c = {v[1].x + v[3].x, v[1].y + v[3].y}, d = {v[1].y - v[3].y, v[3].x - v[1].x};
        v[0] = {a.x + c.x, a.y + c.y};
        v[1] = {b.x + d.x, b.y + d.y};
        v[2] = {a.x - c.x, a.y - c.y};
        v[3] = {b.x - d.x, b.y - d.y};
        const int base = (t - low) * 4 + low;
        if (span * 4 < size) {
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 4; ++k) points[base + k * span] = v[k];
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 4; ++k) v[k] = points[t + k * (size / 4)];
        } else {
#pragma unroll
            for (int k = 0; k < 4; ++k) out[start + base + k * span] = v[k];
        }
    }
}

template <int size>
void transforms(const Array<float>& in, const std::vector<float>& values, Array<float>& out, int rows,
                const char* name) {
    prepare();
    radix_four<size><<<rows, size / 4>>>(reinterpret_cast<const float2*>(in.data()),
                                         reinterpret_cast<float2*>(out.data()));
    finish(name);
    const std::vector<float> got = out.values();
    for (int f = 0; f < size; f += size / 16 + 1) {
        double real = 0.0, imaginary = 0.0;
        for (int i = 0; i < size; ++i) {
            const double angle = -2.0 * 3.14159265358979 * (static_cast<long long>(f) * i % size) / size;
            const double x = values[2 * size + 2 * i], y = values[2 * size + 2 * i + 1];
            real += x * std::cos(angle) - y * std::sin(angle);
            imaginary += x * std::sin(angle) + y * std::cos(angle);
        }
        check(std::fabs(got[2 * size + 2 * f] - real) < 1e-3 &&
                  std::fabs(got[2 * size + 2 * f + 1] - imaginary) < 1e-3,
              name);
    }
    output(name, got);
}

void body() {
    Array<float2> sums(132 * 4);
    prepare();
    box_muller<<<132 * 4, 256>>>(sums.data(), 100, 7U);
    finish("normal");
    double squares = 0.0;
    for (const float2 pair : sums.values()) squares += pair.y;
    check(std::fabs(squares / (2.0 * 132 * 4 * 256 * 100) - 1.0) < 0.01, "normal");
    const int count = 8 << 20;
    const std::vector<float> values = random_values<float>(count, 1);
    const Array<float> in(values);
    Array<float> out(count);
    const int matrices = 500000;
    prepare();
    matrix_exponential<<<(matrices + 127) / 128, 128>>>(in.data(), out.data(), matrices);
    finish("exponential");
    output("exponential", out);
    const int systems = 130001;
    const Array<float> right(random_values<float>(systems * 8, 2));
    Array<float> solved(systems * 8);
    prepare();
    small_solves<<<(systems + 15) / 16, 128>>>(in.data(), right.data(), solved.data(), systems);
    finish("solves");
    const std::vector<float> x = solved.values(), b = right.values();
    int bad = 0;
    for (int m = 0; m < systems; m += 50)
        for (int i = 0; i < 8; ++i) {
            double sum = -b[m * 8 + i], scale = 1.0;
            for (int j = 0; j < 8; ++j) {
                sum +=
                    static_cast<double>(values[(static_cast<std::size_t>(m) * 8 + i) * 8 + j]) * x[m * 8 + j];
                scale = std::max(scale, std::fabs(static_cast<double>(x[m * 8 + j])));
            }
            bad += std::fabs(sum) > 1e-3 * scale;
        }
    check(bad == 0, "solves");
    Array<unsigned long long> solutions(1);
    prepare();
    queens<<<(11 * 11 * 11 + 63) / 64, 64>>>(solutions.data(), 11);
    finish("queens");
    check(solutions.values()[0] == 2680, "queens");
    output("queens", solutions);
    const int many = 1 << 20;
    const Array<double> doubles(random_values<double>(many, 3));
    Array<double> results(many);
    prepare();
    double_functions<<<132 * 8, 128>>>(doubles.data(), results.data(), many);
    finish("functions");
    output("functions", results);
    Array<int> steps(count / 4);
    prepare();
    roots<<<count / 4 / 256, 256>>>(reinterpret_cast<const float4*>(in.data()), out.data(), steps.data(),
                                    count / 4);
    finish("roots");
    std::vector<int> step_values = steps.values();
    std::vector<double> step_numbers(step_values.begin(), step_values.end());
    output("steps", step_numbers);
    prepare();
    heat_rods<<<4096, 256>>>(in.data(), out.data(), 200, 0.25F);
    finish("heat");
    output("heat", out);
    transforms<256>(in, values, out, count / 2 / 256, "points_256");
    transforms<1024>(in, values, out, count / 2 / 1024, "points_1024");
}

int main() {
    return run(body);
}
