// Images and sound at other sizes: pictures enlarged by cubic weights, reduced by averages of boxes through
// shared memory, resized by Lanczos windows along rows and columns, and audio at another rate by phases.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Catmull-Rom weights of the four neighbours.
__host__ __device__ inline void cubic_weights(float t, float* w) {
    const float t2 = t * t, t3 = t2 * t;
    w[0] = -0.5F * t3 + t2 - 0.5F * t;
    w[1] = 1.5F * t3 - 2.5F * t2 + 1.0F;
    w[2] = -1.5F * t3 + 2.0F * t2 + 0.5F * t;
    w[3] = 0.5F * t3 - 0.5F * t2;
}

__device__ inline unsigned char to_byte(float value) {
    return static_cast<unsigned char>(fminf(fmaxf(value + 0.5F, 0.0F), 255.0F));
}

/// A pixel of the larger image a thread, from sixteen of the smaller.
__global__ void bicubic(const uchar4* __restrict__ in, uchar4* __restrict__ out, int width, int height,
                        int out_width, int out_height, float scale) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_width || y >= out_height) return;
    const float fx = (x + 0.5F) * scale - 0.5F, fy = (y + 0.5F) * scale - 0.5F;
    const int ix = static_cast<int>(floorf(fx)), iy = static_cast<int>(floorf(fy));
    float wx[4], wy[4];
    cubic_weights(fx - ix, wx);
    cubic_weights(fy - iy, wy);
    float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const uchar4* row = in + min(max(iy + j - 1, 0), height - 1) * width;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const uchar4 pixel = row[min(max(ix + i - 1, 0), width - 1)];
            const float w = wx[i] * wy[j];
            sum.x += w * pixel.x;
            sum.y += w * pixel.y;
            sum.z += w * pixel.z;
            sum.w += w * pixel.w;
        }
    }
    out[y * out_width + x] = {to_byte(sum.x), to_byte(sum.y), to_byte(sum.z), to_byte(sum.w)};
}

/// Averages of boxes of factor * factor: a block of 32 * 8 outputs brings its part of the image to shared
/// memory.
template <int factor>
__global__ void box_down(const float* in, float* out, int width, int out_width, int out_height) {
    __shared__ float part[8 * factor][32 * factor + 1];
    const int left = blockIdx.x * 32 * factor, top = blockIdx.y * 8 * factor;
    for (int r = threadIdx.y; r < 8 * factor; r += 8)
        for (int c = threadIdx.x; c < 32 * factor; c += 32)
            if (left + c < out_width * factor && top + r < out_height * factor)
                part[r][c] = in[static_cast<size_t>(top + r) * width + left + c];
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= out_width || y >= out_height) return;
    float sum = 0.0F;
#pragma unroll
    for (int r = 0; r < factor; ++r)
#pragma unroll
        for (int c = 0; c < factor; ++c) sum += part[threadIdx.y * factor + r][threadIdx.x * factor + c];
    out[static_cast<size_t>(y) * out_width + x] = sum * (1.0F / (factor * factor));
}

// Three outputs of four inputs.
constexpr int phases = 3, taps = 8;
__constant__ float lanczos[phases][taps];

/// First input of an output, before the edges are looked at.
__host__ __device__ inline int first_of(int i) {
    return (8 * i + 1) / 6 - taps / 2 + 1;
}

/// Along rows, floats to halves; the phases of neighbouring threads differ.
__global__ void resize_rows(const float* __restrict__ in, __half* out, int width, int out_width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= out_width) return;
    const float* row = in + static_cast<size_t>(y) * width;
    const int first = first_of(x), phase = x % phases;
    float sum = 0.0F;
    for (int k = 0; k < taps; ++k) sum += lanczos[phase][k] * row[min(max(first + k, 0), width - 1)];
    out[static_cast<size_t>(y) * out_width + x] = __float2half(sum);
}

/// Along columns, two columns a thread.
__global__ void resize_columns(const __half2* __restrict__ in, float2* out, int pairs, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= pairs) return;
    const int first = first_of(y), phase = y % phases;
    float2 sum = {0.0F, 0.0F};
    if (first >= 0 && first + taps <= height) {
        const __half2* column = in + static_cast<size_t>(first) * pairs + x;
#pragma unroll
        for (int k = 0; k < taps; ++k) {
            const float2 value = __half22float2(column[k * pairs]);
            sum.x += lanczos[phase][k] * value.x;
            sum.y += lanczos[phase][k] * value.y;
        }
    } else {
        for (int k = 0; k < taps; ++k) {
            const int v = min(max(first + k, 0), height - 1);
            const float2 value = __half22float2(in[static_cast<size_t>(v) * pairs + x]);
            sum.x += lanczos[phase][k] * value.x;
            sum.y += lanczos[phase][k] * value.y;
        }
    }
    out[static_cast<size_t>(y) * pairs + x] = sum;
}

/// Sound of 16 bits, `down` inputs to `up` outputs: output i takes the filter's phase i * down % up.
template <int length>
__global__ void polyphase(const short* __restrict__ in, const float* __restrict__ filter, short* out,
                          int in_count, int out_count, int up, int down) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < out_count; i += gridDim.x * blockDim.x) {
        const long long position = static_cast<long long>(i) * down;
        const int base = static_cast<int>(position / up), phase = static_cast<int>(position % up);
        const float* weights = filter + phase * length;
        float sum = 0.0F;
        for (int k = 0; k < length; ++k) {
            const int at = base - length / 2 + 1 + k;
            if (at >= 0 && at < in_count) sum += __ldg(weights + k) * static_cast<float>(in[at]);
        }
        out[i] = static_cast<short>(__float2int_rn(fminf(fmaxf(sum, -32768.0F), 32767.0F)));
    }
}

void enlarge(const char* name, int width, int height, int out_width, int out_height, dim3 block) {
    const auto noise = random_values<unsigned char>(static_cast<size_t>(width) * height * 4, 1);
    auto bytes = noise;
    for (size_t i = 4; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>((3 * bytes[i - 4] + noise[i]) / 4);
    const Array<unsigned char> in(bytes), out(static_cast<size_t>(out_width) * out_height * 4);
    const float scale = static_cast<float>(width) / out_width;
    const dim3 grid((out_width + block.x - 1) / block.x, (out_height + block.y - 1) / block.y);
    prepare();
    bicubic<<<grid, block>>>(reinterpret_cast<const uchar4*>(in.data()),
                             reinterpret_cast<uchar4*>(out.data()), width, height, out_width, out_height,
                             scale);
    finish("bicubic");
    const auto got = out.values();
    for (int n = 0; n < 500; ++n) {
        const int x = static_cast<int>(random_bits(2, n) % out_width),
                  y = static_cast<int>(random_bits(3, n) % out_height);
        const float fx = (x + 0.5F) * scale - 0.5F, fy = (y + 0.5F) * scale - 0.5F;
        const int ix = static_cast<int>(std::floor(fx)), iy = static_cast<int>(std::floor(fy));
        float wx[4], wy[4];
        cubic_weights(fx - ix, wx);
        cubic_weights(fy - iy, wy);
        for (int c = 0; c < 4; ++c) {
            float sum = 0.0F;
            for (int j = 0; j < 4; ++j)
                for (int i = 0; i < 4; ++i) {
                    const size_t u = std::clamp(ix + i - 1, 0, width - 1),
                                 v = std::clamp(iy + j - 1, 0, height - 1);
                    sum += wx[i] * wy[j] * bytes[(v * width + u) * 4 + c];
                }
            sum = std::clamp(sum, 0.0F, 255.0F);
            const float value = got[(static_cast<size_t>(y) * out_width + x) * 4 + c];
            check(std::fabs(value - sum) < 1.0F, name);
        }
    }
    // Rounding may differ by one where the order of additions does: the digest is of floats.
    output(name, std::vector<float>(got.begin(), got.end()));
}

template <int factor>
void reduce(const char* name, const Array<float>& in, const std::vector<float>& values, int width,
            int height) {
    const int out_width = width / factor, out_height = height / factor;
    const Array<float> out(static_cast<size_t>(out_width) * out_height);
    prepare();
    box_down<factor><<<dim3((out_width + 31) / 32, (out_height + 7) / 8), dim3(32, 8)>>>(
        in.data(), out.data(), width, out_width, out_height);
    finish("box down");
    std::vector<double> expected(out.size());
    for (int y = 0; y < out_height; ++y)
        for (int x = 0; x < out_width; ++x) {
            double sum = 0.0;
            for (int r = 0; r < factor; ++r)
                for (int c = 0; c < factor; ++c)
                    sum += values[static_cast<size_t>(y * factor + r) * width + x * factor + c];
            expected[static_cast<size_t>(y) * out_width + x] = sum / (factor * factor);
        }
    check_close(out.values(), expected, 1e-5, name);
    output(name, out);
}

double sinc(double x) {
    return std::fabs(x) < 1e-9 ? 1.0 : std::sin(3.14159265358979 * x) / (3.14159265358979 * x);
}

void resize(const Array<float>& in, const std::vector<float>& values, int width, int height) {
    // Output i lies at (i + 1/2) * 4/3 - 1/2 = (8 i + 1) / 6.
    float weights[phases][taps];
    for (int phase = 0; phase < phases; ++phase) {
        double sum = 0.0, own[taps];
        for (int k = 0; k < taps; ++k) {
            const double x = ((8 * phase + 1) / 6.0 - (first_of(phase) + k)) * 0.75;
            own[k] = std::fabs(x) < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
            sum += own[k];
        }
        for (int k = 0; k < taps; ++k) weights[phase][k] = static_cast<float>(own[k] / sum);
    }
    require(cudaMemcpyToSymbol(lanczos, weights, sizeof(weights)), "weights");
    const int out_width = width / 4 * 3, out_height = height / 4 * 3;
    const Array<__half> between(static_cast<size_t>(out_width) * height);
    const Array<float> out(static_cast<size_t>(out_width) * out_height);
    prepare();
    resize_rows<<<dim3((out_width + 191) / 192, height), 192>>>(in.data(), between.data(), width, out_width);
    finish("rows");
    prepare();
    resize_columns<<<dim3((out_width / 2 + 127) / 128, out_height), 128>>>(
        reinterpret_cast<const __half2*>(between.data()), reinterpret_cast<float2*>(out.data()),
        out_width / 2, height);
    finish("columns");
    const auto got = out.values();
    for (int n = 0; n < 1000; ++n) {
        const int x = static_cast<int>(random_bits(4, n) % out_width),
                  y = static_cast<int>(random_bits(5, n) % out_height);
        double sum = 0.0;
        for (int j = 0; j < taps; ++j)
            for (int i = 0; i < taps; ++i) {
                const size_t u = std::clamp(first_of(x) + i, 0, width - 1),
                             v = std::clamp(first_of(y) + j, 0, height - 1);
                sum += static_cast<double>(weights[y % phases][j]) * weights[x % phases][i] *
                       values[v * width + u];
            }
        check(std::fabs(got[static_cast<size_t>(y) * out_width + x] - sum) < 4e-3, "lanczos");
    }
    output("lanczos_rows", between);
    output("lanczos", out);
}

template <int length>
void audio(const char* name, int in_count, int up, int down, int threads) {
    std::vector<float> filter(static_cast<size_t>(up) * length);
    for (int phase = 0; phase < up; ++phase)
        for (int k = 0; k < length; ++k) {
            const double x = length / 2 - 1 - k + static_cast<double>(phase) / up;
            const double cut = up >= down ? 1.0 : static_cast<double>(up) / down;
            const double window = 0.5 + 0.5 * std::cos(3.14159265358979 * x / (length / 2));
            filter[static_cast<size_t>(phase) * length + k] =
                static_cast<float>(cut * sinc(cut * x) * std::max(window, 0.0));
        }
    std::vector<short> sound(in_count);
    int value = 0;
    for (int i = 0; i < in_count; ++i) {
        value += static_cast<int>(random_bits(6, i) % 2001) - 1000 - value / 64;
        sound[i] = static_cast<short>(std::clamp(value, -32768, 32767));
    }
    const int out_count = static_cast<int>(static_cast<long long>(in_count) * up / down);
    const Array<short> in(sound), out(out_count);
    const Array<float> filter_array(filter);
    prepare();
    polyphase<length><<<132 * 2048 / threads, threads>>>(in.data(), filter_array.data(), out.data(), in_count,
                                                         out_count, up, down);
    finish("polyphase");
    const auto got = out.values();
    for (int n = 0; n < 1000; ++n) {
        const int i = n < 20 ? n : static_cast<int>(random_bits(7, n) % out_count);
        const long long position = static_cast<long long>(i) * down;
        double sum = 0.0;
        for (int k = 0; k < length; ++k) {
            const long long at = position / up - length / 2 + 1 + k;
            if (at >= 0 && at < in_count)
                sum += static_cast<double>(filter[position % up * length + k]) * sound[at];
        }
        check(std::fabs(got[i] - std::clamp(sum, -32768.0, 32767.0)) < 1.0, name);
    }
    output(name, std::vector<float>(got.begin(), got.end()));
}

void body() {
    enlarge("three_times", 640, 400, 1920, 1200, dim3(32, 8));
    enlarge("half_more", 1280, 720, 1920, 1080, dim3(16, 16));
    constexpr int width = 4000, height = 3000;
    const auto values = random_values<float>(static_cast<size_t>(width) * height, 8);
    const Array<float> in(values);
    reduce<2>("halves", in, values, width, height);
    reduce<4>("quarters", in, values, width, height);
    resize(in, values, 2400, 1600);
    audio<32>("44100_to_48000", 3000000, 160, 147, 256);
    audio<48>("48000_to_32000", 4000000, 2, 3, 512);
}

int main() {
    return run(body);
}
