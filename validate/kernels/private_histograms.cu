// Histograms of bytes and of numbers in the ways that libraries keep counters: a copy for each warp, bytes
// for each thread, packed halves of words, and runs of equal values added up first; parts merged by a second
// kernel or by atomics.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int warps = 8;

/// 256 bins for each warp in shared memory; parts[CTA][bin].
__global__ void copies_of_warps(const uint4* data, unsigned* parts, int vectors) {
    __shared__ unsigned bins[warps][256];
    for (int i = threadIdx.x; i < warps * 256; i += blockDim.x) (&bins[0][0])[i] = 0;
    __syncthreads();
    unsigned* own = bins[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 v = data[i];
        for (const unsigned word : {v.x, v.y, v.z, v.w}) {
            atomicAdd(own + (word & 255U), 1U);
            atomicAdd(own + (word >> 8 & 255U), 1U);
            atomicAdd(own + (word >> 16 & 255U), 1U);
            atomicAdd(own + (word >> 24), 1U);
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) sum += bins[w][threadIdx.x];
    parts[blockIdx.x * 256 + threadIdx.x] = sum;
}

/// A CTA a bin adds up the parts.
__global__ void merge_parts(const unsigned* parts, unsigned* bins, int count, int width) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    unsigned own = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) own += parts[i * width + blockIdx.x];
    own = __reduce_add_sync(0xffffffffU, own);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0) bins[blockIdx.x] = sum;
}

/// 64 bins of bytes for each thread, without atomics: at most 240 values a thread.
__global__ void bytes_of_threads(const uint4* data, unsigned* parts, int vectors) {
    __shared__ __align__(16) unsigned char bins[64][64 + 4];  // [bin][thread]
    for (int i = threadIdx.x; i < 64 * 68 / 4; i += blockDim.x)
        reinterpret_cast<unsigned*>(&bins[0][0])[i] = 0;
    __syncthreads();
    for (int k = 0; k < 15; ++k) {
        const int i = (blockIdx.x * 15 + k) * 64 + threadIdx.x;
        if (i >= vectors) break;
        const uint4 v = data[i];
        for (const unsigned word : {v.x, v.y, v.z, v.w}) {
            ++bins[word >> 2 & 63U][threadIdx.x];
            ++bins[word >> 10 & 63U][threadIdx.x];
            ++bins[word >> 18 & 63U][threadIdx.x];
            ++bins[word >> 26][threadIdx.x];
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 64; i += 4) {
        const unsigned four =
            *reinterpret_cast<const unsigned*>(&bins[threadIdx.x][(i + 4 * threadIdx.x) % 64]);
        sum += (four & 255U) + (four >> 8 & 255U) + (four >> 16 & 255U) + (four >> 24);
    }
    parts[blockIdx.x * 64 + threadIdx.x] = sum;
}

/// Two bins of 16 bits in a word, `copies` copies a CTA that lanes take in turn. A CTA counts 32768 numbers
/// at most.
template <int copies>
__global__ void packed_halves(const unsigned* data, unsigned* bins, int count, int bin_count) {
    extern __shared__ unsigned packed[];
    const int words = bin_count / 2;
    for (int i = threadIdx.x; i < words * copies; i += blockDim.x) packed[i] = 0;
    __syncthreads();
    const int first = blockIdx.x * 32768, last = min(count, first + 32768);
    unsigned* own = packed + threadIdx.x % copies * words;
    for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
        const unsigned bin = data[i];
        atomicAdd(own + bin / 2, bin % 2 == 0 ? 1U : 65536U);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x) {
        unsigned sum = 0;
        for (int c = 0; c < copies; ++c) sum += packed[c * words + i / 2] >> (16 * (i % 2)) & 65535U;
        if (sum > 0) atomicAdd(bins + i, sum);
    }
}

/// Sixteen numbers in a row for each thread, equal neighbours added up before the atomic.
__global__ void runs_first(const uint4* data, unsigned* bins, int vectors, int bin_count) {
    extern __shared__ unsigned counters[];
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x) counters[i] = 0;
    __syncthreads();
    for (int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < vectors; i += 4 * gridDim.x * blockDim.x) {
        unsigned last = data[i].x, run = 0;
        const auto take = [&](unsigned bin) {
            if (bin != last) {
                atomicAdd(counters + last, run);
                last = bin;
                run = 0;
            }
            ++run;
        };
        for (int k = i; k < min(i + 4, vectors); ++k) {
            const uint4 v = data[k];
            take(v.x);
            take(v.y);
            take(v.z);
            take(v.w);
        }
        atomicAdd(counters + last, run);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x)
        if (counters[i] > 0) atomicAdd(bins + i, counters[i]);
}

enum class Data { uniform, skewed, sorted };

unsigned number(Data data, std::size_t i, std::size_t count, unsigned bins) {
    const unsigned bits = random_bits(1, i);
    if (data == Data::sorted) return static_cast<unsigned>(i * bins / count);
    if (data == Data::uniform) return bits % bins;
    const std::uint64_t part = bits % bins;
    return static_cast<unsigned>(part * part / bins * part / bins * part / bins);
}

void of_bytes(Data data, const char* name, int count) {
    std::vector<unsigned char> bytes(count);
    std::vector<unsigned> expected(256);
    for (int i = 0; i < count; ++i) {
        bytes[i] = static_cast<unsigned char>(number(data, i, count, 256));
        ++expected[bytes[i]];
    }
    const Array<unsigned char> in(bytes);
    const auto* vectors = reinterpret_cast<const uint4*>(in.data());
    const int ctas = 132 * 4, ctas_of_bytes = (count / 16 + 959) / 960;
    Array<unsigned> parts(256 * ctas), parts_of_bytes(64 * ctas_of_bytes), bins(256), bins_of_bytes(64);
    prepare();
    copies_of_warps<<<ctas, 32 * warps>>>(vectors, parts.data(), count / 16);
    finish("copies");
    prepare();
    merge_parts<<<256, 256>>>(parts.data(), bins.data(), ctas, 256);
    finish("merge");
    check(bins.values() == expected, "copies");
    prepare();
    bytes_of_threads<<<ctas_of_bytes, 64>>>(vectors, parts_of_bytes.data(), count / 16);
    finish("bytes");
    prepare();
    merge_parts<<<64, 128>>>(parts_of_bytes.data(), bins_of_bytes.data(), ctas_of_bytes, 64);
    finish("merge bytes");
    output(name, bins);
    output((std::string(name) + "_64").c_str(), bins_of_bytes);
}

void of_numbers(Data data, const char* name, int count, int bin_count) {
    std::vector<unsigned> numbers(count), expected(bin_count);
    for (int i = 0; i < count; ++i) ++expected[numbers[i] = number(data, i, count, bin_count)];
    const Array<unsigned> in(numbers);
    Array<unsigned> bins(bin_count);
    prepare();
    packed_halves<4>
        <<<(count + 32767) / 32768, 512, bin_count / 2 * 4 * 4>>>(in.data(), bins.data(), count, bin_count);
    finish("packed");
    check(bins.values() == expected, "packed");
    bins.zero();
    prepare();
    runs_first<<<132 * 2, 512, bin_count * 4>>>(reinterpret_cast<const uint4*>(in.data()), bins.data(),
                                                count / 4, bin_count);
    finish("runs");
    check(bins.values() == expected, "runs");
    output(name, bins);
}

void body() {
    of_bytes(Data::uniform, "bytes_uniform", 16000000);
    of_bytes(Data::skewed, "bytes_skewed", 16000000);
    of_numbers(Data::uniform, "numbers_uniform", 8000000, 2048);
    of_numbers(Data::skewed, "numbers_skewed", 8000000, 2048);
    of_numbers(Data::sorted, "numbers_sorted", 8000000, 4096);
}

int main() {
    return run(body);
}
