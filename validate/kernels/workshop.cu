// What a workshop writes: a product in registers, rows of half precision, tokens, images, particles.
// Predicted before they were recorded: a test of the model by kernels that it was not made with.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

namespace {

/// Tiles of 64 x 64 by 256 threads, each with 4 x 4 sums; k in steps of 16, the next step loaded ahead.
__global__ void product_in_registers(const float* a, const float* b, float* c, int size) {
    __shared__ float left[16][64], right[16][64];
    const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16 * 4;
    const int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sums[4][4] = {};
    for (int first = 0; first < size; first += 16) {
        for (int i = thread; i < 1024; i += 256) {
            left[i % 16][i / 16] = a[(row + i / 16) * size + first + i % 16];
            right[i / 64][i % 64] = b[(first + i / 64) * size + column + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float p[4], q[4];
            for (int i = 0; i < 4; ++i) {
                p[i] = left[k][y + i];
                q[i] = right[k][x + i];
            }
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    sums[i][j] += p[i] * q[j];
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            c[(row + y + i) * size + column + x + j] = sums[i][j];
        }
    }
}

/// Root mean square of rows of bf16, one CTA a row, two elements a load.
__global__ void rms_rows(const __nv_bfloat162* from, const __nv_bfloat162* weight, __nv_bfloat162* to,
                         int pairs) {
    __shared__ float parts[32];
    const __nv_bfloat162* row = from + static_cast<std::size_t>(blockIdx.x) * pairs;
    float sum = 0.0F;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __bfloat1622float2(row[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    float all = 0.0F;
    for (int w = 0; w < blockDim.x / 32; ++w) {
        all += parts[w];
    }
    const float scale = rsqrtf(all / (2 * pairs) + 1e-5F);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __bfloat1622float2(row[i]), w = __bfloat1622float2(weight[i]);
        to[static_cast<std::size_t>(blockIdx.x) * pairs + i] =
            __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
    }
}

/// Rotary positions: pairs of a head, sines computed on the way.
__global__ void rotate_heads(float* q, int tokens, int heads, int half) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * half) {
        return;
    }
    const int pair = i % half, token = i / half / heads;
    float* at = q + static_cast<std::size_t>(i / half) * 2 * half + pair;
    float s, c;
    __sincosf(static_cast<float>(token) * __expf(-0.14F * static_cast<float>(pair)), &s, &c);
    const float x = at[0], y = at[half];
    at[0] = x * c - y * s;
    at[half] = x * s + y * c;
}

__global__ void embed(const int* tokens, const float4* table, float4* to, int width) {
    const int token = tokens[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        to[static_cast<std::size_t>(blockIdx.x) * width + i] =
            table[static_cast<std::size_t>(token) * width + i];
    }
}

/// Largest element of each row and its place, a warp a row.
__global__ void largest_of_row(const float* from, int* to, int rows, int columns) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float best = -1e30F;
    int place = 0;
    for (int i = threadIdx.x % 32; i < columns; i += 32) {
        const float v = from[static_cast<std::size_t>(row) * columns + i];
        if (v > best) {
            best = v;
            place = i;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_down_sync(0xffffffffU, best, step);
        const int at = __shfl_down_sync(0xffffffffU, place, step);
        if (other > best || (other == best && at < place)) {
            best = other;
            place = at;
        }
    }
    if (threadIdx.x % 32 == 0) {
        to[row] = place;
    }
}

/// Grey image blurred by 5 x 5, tile and its edge in shared memory.
__global__ void blur(const unsigned char* from, unsigned char* to, int width, int height) {
    __shared__ unsigned char tile[20][36];
    const int x = blockIdx.x * 32, y = blockIdx.y * 16;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 20 * 36; i += 512) {
        const int column = min(max(x + i % 36 - 2, 0), width - 1);
        const int row = min(max(y + i / 36 - 2, 0), height - 1);
        tile[i / 36][i % 36] = from[row * width + column];
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) {
            sum += tile[threadIdx.y + i][threadIdx.x + j];
        }
    }
    if (x + threadIdx.x < width && y + threadIdx.y < height) {
        to[(y + threadIdx.y) * width + x + threadIdx.x] = static_cast<unsigned char>(sum / 25);
    }
}

/// Five-point average, one thread a point, rows of a matrix.
__global__ void relax(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < width - 1 && y < height - 1) {
        const float* at = from + y * width + x;
        to[y * width + x] = 0.2F * (at[0] + at[1] + at[-1] + at[width] + at[-width]);
    }
}

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

/// Array of structs: each thread moves one particle.
__global__ void move(Particle* particles, int count, float step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        Particle p = particles[i];
        p.x += step * p.vx;
        p.y += step * p.vy;
        p.z += step * p.vz;
        p.vz -= step * 9.81F * p.charge / (p.mass + 2.0F);
        particles[i] = p;
    }
}

/// Counts of byte values, one table a CTA in shared memory.
__global__ void count_bytes(const unsigned int* from, int* counts, int words) {
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        const unsigned int word = from[i];
        for (int b = 0; b < 32; b += 8) {
            atomicAdd(&own[word >> b & 255U], 1);
        }
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

/// Softmax of rows of scores behind a causal mask, a CTA a row.
__global__ void masked_softmax(const float* from, float* to, int columns) {
    __shared__ float parts[8];
    const int row = blockIdx.x % columns, last = row + 1;
    const float* in = from + static_cast<std::size_t>(blockIdx.x) * columns;
    float* out = to + static_cast<std::size_t>(blockIdx.x) * columns;
    float top = -1e30F;
    for (int i = threadIdx.x; i < last; i += blockDim.x) {
        top = fmaxf(top, in[i]);
    }
    for (int step = 16; step > 0; step /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffU, top, step));
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = top;
    }
    __syncthreads();
    for (const float part : parts) {
        top = fmaxf(top, part);
    }
    __syncthreads();
    float sum = 0.0F;
    for (int i = threadIdx.x; i < last; i += blockDim.x) {
        sum += __expf(in[i] - top);
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    sum = 0.0F;
    for (const float part : parts) {
        sum += part;
    }
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = i < last ? __expf(in[i] - top) / sum : 0.0F;
    }
}

void products(int size) {
    const auto x = random_values<float>(size * size, 1), y = random_values<float>(size * size, 2);
    const Array<float> a(x), b(y);
    Array<float> c(size * size);
    prepare();
    product_in_registers<<<dim3(size / 64, size / 64), 256>>>(a.data(), b.data(), c.data(), size);
    finish("product_in_registers");
    const std::vector<float> values = c.values();
    for (const int row : {0, size / 3, size - 1}) {
        std::vector<double> expected(size);
        for (int k = 0; k < size; ++k) {
            for (int column = 0; column < size; ++column) {
                expected[column] += static_cast<double>(x[row * size + k]) * y[k * size + column];
            }
        }
        check_close(std::vector<float>(values.begin() + row * size, values.begin() + (row + 1) * size),
                    expected, 1e-4, "product_in_registers");
    }
    output("product_in_registers", values);
}

void tokens_of_a_model(int tokens, int width) {
    const auto x = random_values<__nv_bfloat16>(static_cast<std::size_t>(tokens) * width, 3),
               w = random_values<__nv_bfloat16>(width, 4);
    const Array<__nv_bfloat16> from(x), weight(w);
    Array<__nv_bfloat16> to(x.size());
    prepare();
    rms_rows<<<tokens, 256>>>(reinterpret_cast<const __nv_bfloat162*>(from.data()),
                              reinterpret_cast<const __nv_bfloat162*>(weight.data()),
                              reinterpret_cast<__nv_bfloat162*>(to.data()), width / 2);
    finish("rms_rows");
    std::vector<double> expected(width);
    double squares = 0.0;
    for (int i = 0; i < width; ++i) {
        squares += as_double(x[i]) * as_double(x[i]);
    }
    for (int i = 0; i < width; ++i) {
        expected[i] = as_double(x[i]) * as_double(w[i]) / std::sqrt(squares / width + 1e-5);
    }
    const std::vector<__nv_bfloat16> rows = to.values();
    check_close(std::vector<__nv_bfloat16>(rows.begin(), rows.begin() + width), expected, 1e-2, "rms_rows");
    output("rms_rows", rows);

    const int half = 64, heads = width / (2 * half);
    Array<float> q(random_values<float>(static_cast<std::size_t>(tokens) * width, 5));
    prepare();
    rotate_heads<<<(tokens * heads * half + 255) / 256, 256>>>(q.data(), tokens, heads, half);
    finish("rotate_heads");
    check(q.values()[0] == random_float(5, 0), "rotate_heads");

    std::vector<int> ids(tokens);
    for (int i = 0; i < tokens; ++i) {
        ids[i] = static_cast<int>(random_bits(6, i) % 20000U);
    }
    const Array<int> drawn(ids);
    const auto t = random_values<float>(std::size_t{20000} * 1024, 7);
    const Array<float> table(t);
    Array<float> embedded(static_cast<std::size_t>(tokens) * 1024);
    prepare();
    embed<<<tokens, 128>>>(drawn.data(), reinterpret_cast<const float4*>(table.data()),
                           reinterpret_cast<float4*>(embedded.data()), 256);
    finish("embed");
    check(embedded.values()[1] == t[static_cast<std::size_t>(ids[0]) * 1024 + 1], "embed");
    output("embed", embedded);
}

void rows_of_scores(int rows, int columns) {
    const auto x = random_values<float>(static_cast<std::size_t>(rows) * columns, 8);
    const Array<float> from(x);
    Array<int> places(rows);
    prepare();
    largest_of_row<<<(rows + 3) / 4, 128>>>(from.data(), places.data(), rows, columns);
    finish("largest_of_row");
    std::vector<int> expected(rows);
    for (int row = 0; row < rows; ++row) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(row) * columns;
        expected[row] = static_cast<int>(std::max_element(first, first + columns) - first);
    }
    check(places.values() == expected, "largest_of_row");
    output("largest_of_row", places);
    Array<float> to(x.size());
    prepare();
    masked_softmax<<<rows, 256>>>(from.data(), to.data(), columns);
    finish("masked_softmax");
    output("masked_softmax", to);
}

void images(int width, int height) {
    std::vector<unsigned char> pixels(static_cast<std::size_t>(width) * height);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<unsigned char>(random_bits(9, i));
    }
    const Array<unsigned char> from(pixels);
    Array<unsigned char> to(pixels.size());
    prepare();
    blur<<<dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 16)>>>(from.data(), to.data(), width,
                                                                        height);
    finish("blur");
    output("blur", to);
    const Array<float> field(random_values<float>(pixels.size(), 10));
    Array<float> relaxed(pixels.size());
    prepare();
    relax<<<dim3((width + 63) / 64, (height + 3) / 4), dim3(64, 4)>>>(field.data(), relaxed.data(), width,
                                                                      height);
    finish("relax");
    output("relax", relaxed);
}

void particles_and_bytes(int count) {
    std::vector<Particle> all(count);
    for (int i = 0; i < count; ++i) {
        float* values = &all[i].x;
        for (int f = 0; f < 8; ++f) {
            values[f] = random_float(11, static_cast<std::uint64_t>(i) * 8 + f);
        }
    }
    Array<Particle> particles(all);
    prepare();
    move<<<(count + 127) / 128, 128>>>(particles.data(), count, 0.01F);
    finish("move");
    check(std::fabs(particles.values()[5].x - (all[5].x + 0.01F * all[5].vx)) < 1e-5F, "move");
    const auto words = random_values<unsigned int>(count * 4, 12);
    const Array<unsigned int> from(words);
    Array<int> counts(256);
    prepare();
    count_bytes<<<528, 256>>>(from.data(), counts.data(), count * 4);
    finish("count_bytes");
    output("count_bytes", counts);
}

void body() {
    products(1024);
    products(2048);
    tokens_of_a_model(4096, 4096);
    tokens_of_a_model(1024, 2048);
    rows_of_scores(8192, 2048);
    rows_of_scores(4096, 1024);
    images(3840, 2160);
    images(1921, 1083);
    particles_and_bytes(1 << 20);
    particles_and_bytes(1 << 22);
}

}  // namespace

int main() {
    return run(body);
}
