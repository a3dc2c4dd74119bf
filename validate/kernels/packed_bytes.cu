// Four bytes in a word: block matching and stereo by sums of absolute differences, saturated blending of
// images, thresholds by masks, shuffled channels, and filters of samples by dot products of bytes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Motion of blocks of 16 x 16 pixels over 16 x 16 offsets, a thread an offset. Words at odd bytes are made
/// of two.
__global__ void __launch_bounds__(256)
    match_blocks(const unsigned* now, const unsigned* before, unsigned* motion, int words, int height) {
    __shared__ unsigned own[16][4], window[32][9], best;
    const int thread = threadIdx.x, x0 = blockIdx.x * 4, y0 = blockIdx.y * 16;
    if (thread == 0) best = ~0U;
    if (thread < 64) own[thread / 4][thread % 4] = now[(y0 + thread / 4) * words + x0 + thread % 4];
    for (int i = thread; i < 32 * 9; i += 256) {
        const int y = min(max(y0 - 8 + i / 9, 0), height - 1), x = min(max(x0 - 2 + i % 9, 0), words - 1);
        window[i / 9][i % 9] = before[y * words + x];
    }
    __syncthreads();
    const int dx = thread % 16, dy = thread / 16;
    const unsigned order = 0x3210U + 0x1111U * (dx % 4);
    unsigned sum = 0;
#pragma unroll 4
    for (int y = 0; y < 16; ++y) {
        unsigned low = window[dy + y][dx / 4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned high = window[dy + y][dx / 4 + k + 1];
            sum += __vsadu4(own[y][k], __byte_perm(low, high, order));
            low = high;
        }
    }
    const unsigned least = __reduce_min_sync(0xffffffffU, sum << 8 | thread);
    if (thread % 32 == 0) atomicMin(&best, least);
    __syncthreads();
    if (thread == 0) motion[blockIdx.y * gridDim.x + blockIdx.x] = best;
}

/// Four pixels a thread: the disparity of 32 with the least difference over nine rows, with bytes all the
/// way.
__global__ void stereo(const unsigned* left, const unsigned* right, unsigned* disparity, int words,
                       int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= words || y >= height) return;
    unsigned best = 0xffffffffU, chosen = 0;
    for (int d = 0; d < 32; ++d) {
        unsigned cost = 0;
        for (int j = -4; j <= 4; ++j) {
            const int row = min(max(y + j, 0), height - 1) * words;
            const int from = max(x - d / 4 - 1, 0), to = max(x - d / 4, 0);
            const unsigned other =
                __byte_perm(right[row + from], right[row + to], 0x7654U - 0x1111U * (d % 4));
            const unsigned difference = __vminu4(__vabsdiffu4(left[row + x], other), 0x3f3f3f3fU);
            cost = __vaddus4(cost, __vavgu4(difference, 0U));
        }
        const unsigned better = __vcmpltu4(cost, best);
        chosen = (better & (0x01010101U * d)) | (~better & chosen);
        best = __vminu4(best, cost);
    }
    disparity[y * words + x] = chosen;
}

/// Images of 16 bytes a thread.
template <class Of>
__device__ uint4 each(uint4 a, uint4 b, Of of) {
    return {of(a.x, b.x), of(a.y, b.y), of(a.z, b.z), of(a.w, b.w)};
}
enum class Blend { add, average, screen };
template <Blend kind>
__global__ void blend(const uint4* below, const uint4* above, uint4* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    out[i] = each(below[i], above[i], [](unsigned a, unsigned b) {
        if constexpr (kind == Blend::add) return __vaddus4(a, b);
        if constexpr (kind == Blend::average) return __vavgu4(__vmaxu4(a, b), __vsubus4(a, 0x10101010U));
        const unsigned middle = __vhaddu4(a, b), apart = __vabsdiffu4(a, b);
        return __vmaxu4(middle, __vaddus4(__vsubus4(apart, 0x20202020U), __vminu4(a, b)));
    });
}

/// Pixels brighter than a background are kept, others cleared; also how many there are and their sum.
__global__ void threshold(const uint4* in, const uint4* background, uint4* out, unsigned long long* totals,
                          int count) {
    unsigned kept = 0, sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        out[i] = each(in[i], background[i], [&](unsigned pixel, unsigned level) {
            kept += __popc(__vsetgtu4(pixel, level));
            const unsigned bright = pixel & __vcmpgtu4(pixel, level);
            sum = __dp4a(bright, 0x01010101U, sum);
            return bright;
        });
    }
    kept = __reduce_add_sync(0xffffffffU, kept);
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(totals, static_cast<unsigned long long>(kept));
        atomicAdd(totals + 1, static_cast<unsigned long long>(sum));
    }
}

/// Three bytes a pixel to four in the opposite order: three words become four by permuted bytes.
__global__ void widen_pixels(const unsigned* in, uint4* out, int fours) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fours) return;
    const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const auto opaque = [](unsigned low, unsigned high, unsigned order) {
        return __byte_perm(low, high, order) | 0xff000000U;
    };
    out[i] = {opaque(a, 0, 0x4012), opaque(a, b, 0x0345), opaque(b, c, 0x0234), opaque(c, 0, 0x4123)};
}

/// Eight taps of bytes along rows: words at each of four bytes, two dot products a pixel.
__global__ void filter_bytes(const unsigned* in, unsigned* out, int words, int2 taps) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * words;
    if (x >= words) return;
    const unsigned flip = 0x80808080U, at[3] = {in[row + x] ^ flip, in[row + min(x + 1, words - 1)] ^ flip,
                                                in[row + min(x + 2, words - 1)] ^ flip};
    const int lift = 128 * __dp4a(taps.x, 0x01010101, __dp4a(taps.y, 0x01010101, 0));
    unsigned result = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int first = __byte_perm(at[0], at[1], 0x3210 + 0x1111 * k);
        const int second = __byte_perm(at[1], at[2], 0x3210 + 0x1111 * k);
        const int sum = __dp4a(second, taps.y, __dp4a(first, taps.x, lift + 32)) >> 6;
        result |= static_cast<unsigned>(min(max(sum, 0), 255)) << (8 * k);
    }
    out[row + x] = result;
}

/// Samples of 16 bits and 32 taps of 8: even outputs directly, odd ones of shifted words.
__global__ void filter_samples(const unsigned* in, uint2* out, const int* taps, int count) {
    __shared__ unsigned samples[2 * 256 + 16];
    __shared__ int own[8];
    const int start = blockIdx.x * 512;
    if (threadIdx.x < 8) own[threadIdx.x] = taps[threadIdx.x];
    for (int i = threadIdx.x; i < 528; i += 256) samples[i] = start + i < count ? in[start + i] : 0;
    __syncthreads();
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int at = part * 256 + threadIdx.x;
        int even = 0, odd = 0;
        unsigned word = samples[at];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const unsigned next = samples[at + 2 * k + 1], last = samples[at + 2 * k + 2];
            even = __dp2a_lo(static_cast<int>(word), own[k], even);
            even = __dp2a_hi(static_cast<int>(next), own[k], even);
            odd = __dp2a_lo(static_cast<int>(__byte_perm(word, next, 0x5432)), own[k], odd);
            odd = __dp2a_hi(static_cast<int>(__byte_perm(next, last, 0x5432)), own[k], odd);
            word = last;
        }
        if (start + at < count) out[start + at] = {static_cast<unsigned>(even), static_cast<unsigned>(odd)};
    }
}

template <class To, class From>
To* as(const Array<From>& array) {
    return reinterpret_cast<To*>(array.data());
}

void body() {
    const int width = 1920, height = 1088, pixels = width * height, words = width / 4;
    std::vector<unsigned char> now(pixels), before(pixels);
    for (int i = 0; i < pixels; ++i)
        before[i] = (i % width / 24 * 37 + i / width / 20 * 53 + random_bits(1, i) % 32) & 255;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            now[y * width + x] = before[std::min(y + 3, height - 1) * width + std::max(x - 5, 0)];
    const Array<unsigned char> now_there(now), before_there(before);
    Array<unsigned> motion(width / 16 * (height / 16));
    prepare();
    match_blocks<<<dim3(width / 16, height / 16), 256>>>(as<unsigned>(now_there), as<unsigned>(before_there),
                                                         motion.data(), words, height);
    finish("match");
    const std::vector<unsigned> moved = motion.values();
    for (int y = 0; y < height / 16 - 1; ++y)
        for (int x = 1; x < width / 16; ++x) check(moved[y * (width / 16) + x] == (3 + 8) * 16 + 3, "motion");
    output("motion", moved);
    Array<unsigned char> out(pixels);
    prepare();
    stereo<<<dim3((words + 31) / 32, height / 8), dim3(32, 8)>>>(
        as<unsigned>(now_there), as<unsigned>(before_there), as<unsigned>(out), words, height);
    finish("stereo");
    output("stereo", out);

    const int large = 40'000'016;
    std::vector<unsigned char> below = random_values<unsigned char>(large, 2), above(large);
    for (int i = 0; i < large; ++i)
        above[i] = static_cast<unsigned char>(below[(i + 4099) % large] / 2 + i % 101);
    const Array<unsigned char> below_there(below), above_there(above);
    Array<unsigned char> mixed(large);
    const auto blended = [&](auto kernel, const char* what, auto expected) {
        prepare();
        kernel<<<(large / 16 + 255) / 256, 256>>>(as<uint4>(below_there), as<uint4>(above_there),
                                                  as<uint4>(mixed), large / 16);
        finish(what);
        const std::vector<unsigned char> got = mixed.values();
        for (int i = 0; i < large; i += 7) check(got[i] == expected(below[i], above[i]), what);
    };
    blended(blend<Blend::add>, "add", [](int a, int b) { return std::min(a + b, 255); });
    blended(blend<Blend::average>, "average",
            [](int a, int b) { return (std::max(a, b) + std::max(a - 16, 0) + 1) / 2; });
    blended(blend<Blend::screen>, "screen", [](int a, int b) {
        return std::max((a + b) / 2, std::min(std::max(std::abs(a - b) - 32, 0) + std::min(a, b), 255));
    });
    output("screen", mixed);
    Array<unsigned long long> totals(2);
    prepare();
    threshold<<<132 * 4, 512>>>(as<uint4>(below_there), as<uint4>(above_there), as<uint4>(mixed),
                                totals.data(), large / 16);
    finish("threshold");
    unsigned long long kept = 0, sum = 0;
    for (int i = 0; i < large; ++i) kept += below[i] > above[i], sum += below[i] > above[i] ? below[i] : 0;
    check(totals.values() == std::vector<unsigned long long>{kept, sum}, "threshold");

    const int fours = 1'000'003;
    Array<uint4> wide(fours);
    prepare();
    widen_pixels<<<(fours + 127) / 128, 128>>>(as<unsigned>(below_there), wide.data(), fours);
    finish("widen");
    const std::vector<uint4> wider = wide.values();
    for (int i = 0; i < 4 * fours; i += 3) {
        const unsigned char* p = below.data() + 3 * i;
        const unsigned expected = 0xff000000U | p[0] << 16 | p[1] << 8 | p[2];
        check((&wider[i / 4].x)[i % 4] == expected, "widen");
    }
    const signed char taps[8] = {-3, 7, -14, 60, 22, -12, 6, -2};
    int2 packed;
    std::memcpy(&packed, taps, 8);
    const int rows = 5000, row_words = 2000;
    prepare();
    filter_bytes<<<dim3((row_words + 255) / 256, rows), 256>>>(as<unsigned>(below_there), as<unsigned>(mixed),
                                                               row_words, packed);
    finish("filter bytes");
    const std::vector<unsigned char> filtered = mixed.values();
    for (int i = 0; i < rows * row_words * 4; i += 13) {
        if (i % (row_words * 4) > row_words * 4 - 12) continue;
        int total = 32;
        for (int k = 0; k < 8; ++k) total += taps[k] * below[i + k];
        check(filtered[i] == std::min(std::max(total >> 6, 0), 255), "filter bytes");
    }
    const int samples = 9'999'990;
    const std::vector<signed char> many_taps = random_values<signed char>(32, 5);
    const Array<signed char> taps_there(many_taps);
    Array<int> sums(samples);
    prepare();
    filter_samples<<<(samples / 2 + 511) / 512, 256>>>(as<unsigned>(below_there), as<uint2>(sums),
                                                       as<int>(taps_there), samples / 2);
    finish("filter samples");
    const std::vector<int> got = sums.values();
    for (int i = 0; i < samples - 32; i += 17) {
        int total = 0;
        for (int k = 0; k < 32; ++k) {
            std::int16_t sample;
            std::memcpy(&sample, below.data() + 2 * (i + k), 2);
            total += sample * many_taps[k];
        }
        check(got[i] == total, "filter samples");
    }
    output("samples", got);
}

int main() {
    return run(body);
}
