// Statistics of streams: mean and variance by Welford's updates and merges, HyperLogLog registers in packed
// bytes, count-min tables, reservoirs, medians by five markers, merged and thinned summaries, moving medians
// of nine, and exponential averages of columns.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

template <class T>
struct Moments {
    T count, mean, squares;
    __device__ void add(T x) {
        count += 1;
        const T delta = x - mean;
        mean += delta / count;
        squares += delta * (x - mean);
    }
    __device__ void merge(const Moments& o) {
        const T sum = count + o.count;
        if (sum == 0) return;
        const T delta = o.mean - mean, share = o.count / sum;
        mean += delta * share;
        squares += o.squares + delta * delta * count * share;
        count = sum;
    }
};
template <class T>
__device__ Moments<T> block_merge(Moments<T> m) {
    __shared__ T parts[32][3];
    for (int step = 16; step > 0; step /= 2)
        m.merge({__shfl_down_sync(0xffffffffU, m.count, step), __shfl_down_sync(0xffffffffU, m.mean, step),
                 __shfl_down_sync(0xffffffffU, m.squares, step)});
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) parts[warp][0] = m.count, parts[warp][1] = m.mean, parts[warp][2] = m.squares;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < blockDim.x / 32; ++w) m.merge({parts[w][0], parts[w][1], parts[w][2]});
    return m;
}
template <class T>
__global__ void moments(const T* values, Moments<T>* partial, int count) {
    Moments<T> m{0, 0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        m.add(values[i]);
    m = block_merge(m);
    if (threadIdx.x == 0) partial[blockIdx.x] = m;
}
template <class T>
__global__ void merge_moments(const Moments<T>* partial, Moments<T>* out, int count) {
    Moments<T> m{0, 0, 0};
    for (int i = threadIdx.x; i < count; i += blockDim.x) m.merge(partial[i]);
    m = block_merge(m);
    if (threadIdx.x == 0) *out = m;
}

__host__ __device__ inline unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352dU;
    x = (x ^ x >> 15) * 0x846ca68bU;
    return x ^ x >> 16;
}
/// The greatest of a byte within a word, by compare-and-swap only where it grows.
__device__ inline void max_byte(unsigned* words, unsigned index, unsigned value) {
    unsigned* word = words + index / 4;
    const unsigned shift = index % 4 * 8;
    unsigned old = *static_cast<volatile unsigned*>(word);
    while ((old >> shift & 255) < value) {
        const unsigned seen = atomicCAS(word, old, (old & ~(255U << shift)) | value << shift);
        if (seen == old) break;
        old = seen;
    }
}
constexpr int registers = 4096;
__global__ void __launch_bounds__(512) hyper_log_log(const unsigned* items, unsigned* out, int count) {
    __shared__ unsigned own[registers / 4];
    for (int k = threadIdx.x; k < registers / 4; k += blockDim.x) own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned hash = mixed(items[i]);
        max_byte(own, hash % registers, __clz(static_cast<int>(hash / registers)) - 12 + 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < registers / 4; k += blockDim.x) {
        unsigned old = out[k], seen = 0;
        for (;; old = seen) {
            const unsigned both = __vmaxu4(old, own[k]);
            if (both == old) break;
            seen = atomicCAS(out + k, old, both);
            if (seen == old) break;
        }
    }
}
constexpr int table_width = 1 << 16;
__device__ inline unsigned place(unsigned item, int row) {
    return row * table_width + mixed(item + row * 0x9E3779B9U) % table_width;
}
__global__ void count_min_add(const unsigned* items, unsigned* table, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
#pragma unroll
        for (int row = 0; row < 4; ++row) atomicAdd(table + place(items[i], row), 1U);
}
__global__ void count_min_ask(const unsigned* items, const unsigned* table, unsigned* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned least = 0xffffffffU;
#pragma unroll
    for (int row = 0; row < 4; ++row) least = min(least, table[place(items[i], row)]);
    out[i] = least;
}
/// Each thread keeps four of the items that it saw, each with the same chance; then the block writes them.
__global__ void __launch_bounds__(256) reservoirs(const unsigned* items, unsigned* out, int count) {
    __shared__ unsigned kept[4][256];
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x + t;
    unsigned seen = 0, random = mixed(first + 1);
    for (int i = first; i < count; i += gridDim.x * blockDim.x, ++seen) {
        if (seen < 4) {
            kept[seen][t] = items[i];
            continue;
        }
        random = random * 1664525U + 1013904223U;
        const unsigned slot = __umulhi(random, seen + 1);
        if (slot < 4) kept[slot][t] = items[i];
    }
    for (int k = 0; k < 4; ++k) out[(blockIdx.x * 4 + k) * 256 + t] = kept[k][t];
}
/// The median of a column without keeping it: five markers that move by parabolas (P-square).
__global__ void marker_medians(const float* in, float* out, int columns, int rows) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float q[5];
    int n[5] = {0, 1, 2, 3, 4};
    for (int k = 0; k < 5; ++k) {
        float x = in[k * columns + column];
#pragma unroll
        for (int j = 0; j < 5; ++j)
            if (j < k && x < q[j]) {
                const float t = q[j];
                q[j] = x, x = t;
            } else if (j == k) {
                q[j] = x;
            }
    }
    for (int row = 5; row < rows; ++row) {
        const float x = in[row * columns + column];
        q[0] = fminf(q[0], x);
        q[4] = fmaxf(q[4], x);
#pragma unroll
        for (int k = 1; k < 4; ++k) n[k] += x < q[k] ? 1 : 0;
        n[4] = row;
#pragma unroll
        for (int k = 1; k < 4; ++k) {
            const float d = 0.25F * k * row - n[k];
            if ((d >= 1.0F && n[k + 1] - n[k] > 1) || (d <= -1.0F && n[k - 1] - n[k] < -1)) {
                const int s = d > 0.0F ? 1 : -1;
                const float up = (q[k + 1] - q[k]) / (n[k + 1] - n[k]),
                            down = (q[k] - q[k - 1]) / (n[k] - n[k - 1]);
                const float bent = q[k] + static_cast<float>(s) / (n[k + 1] - n[k - 1]) *
                                              ((n[k] - n[k - 1] + s) * up + (n[k + 1] - n[k] - s) * down);
                q[k] = q[k - 1] < bent && bent < q[k + 1] ? bent : q[k] + s * (s > 0 ? up : down);
                n[k] += s;
            }
        }
    }
    out[column] = q[2];
}
/// Two sorted summaries become one: each value finds its rank in the other, every second rank is kept.
__global__ void __launch_bounds__(256) merge_summaries(const unsigned* in, unsigned* out) {
    __shared__ unsigned both[2][256];
    for (int side = 0; side < 2; ++side)
        both[side][threadIdx.x] = in[(blockIdx.x * 2 + side) * 256 + threadIdx.x];
    __syncthreads();
    for (int side = 0; side < 2; ++side) {
        const unsigned value = both[side][threadIdx.x];
        int low = 0;
#pragma unroll
        for (int step = 256; step > 0; step /= 2) {
            const int at = low + step - 1;
            if (at < 256 && (both[1 - side][at] < value || (side == 1 && both[0][at] == value))) low += step;
        }
        const int rank = low + threadIdx.x;
        if (rank % 2 == (blockIdx.x & 1)) out[blockIdx.x * 256 + rank / 2] = value;
    }
}
/// Four results a thread, by exchanges of lesser and greater.
__global__ void moving_medians(const float* in, float* out, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= count) return;
    float window[12];
#pragma unroll
    for (int k = 0; k < 12; ++k) window[k] = in[min(max(first + k - 4, 0), count - 1)];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        float v[9];
#pragma unroll
        for (int k = 0; k < 9; ++k) v[k] = window[r + k];
#pragma unroll
        for (int pass = 0; pass < 5; ++pass)  // the five least, one after another
#pragma unroll
            for (int k = 8; k > pass; --k) {
                const float least = fminf(v[k - 1], v[k]);
                v[k] = fmaxf(v[k - 1], v[k]);
                v[k - 1] = least;
            }
        if (first + r < count) out[first + r] = v[4];
    }
}
/// A thread a column; `warm` rows before a chunk start its average.
__global__ void column_averages(const float* in, float* out, float rate, int columns, int rows, int chunk,
                                int warm) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, start = blockIdx.y * chunk;
    if (column >= columns) return;
    float average = in[static_cast<std::size_t>(max(start - warm, 0)) * columns + column];
    for (int row = max(start - warm, 0); row < min(start + chunk, rows); ++row) {
        const std::size_t at = static_cast<std::size_t>(row) * columns + column;
        average += rate * (in[at] - average);
        if (row >= start) out[at] = average;
    }
}

template <class T>
void moments_of(const char* name, int count, int blocks) {
    const std::vector<T> host = random_values<T>(count, 1);
    const Array<T> values(host);
    Array<Moments<T>> partial(blocks), whole(1);
    prepare();
    moments<T><<<blocks, 256>>>(values.data(), partial.data(), count);
    finish("moments");
    prepare();
    merge_moments<T><<<1, 256>>>(partial.data(), whole.data(), blocks);
    finish("merged moments");
    double sum = 0.0, squares = 0.0;
    for (const T x : host) sum += x, squares += static_cast<double>(x) * x;
    const Moments<T> m = whole.values()[0];
    check(m.count == count && std::fabs(m.mean - sum / count) < 1e-5, name);
    check(std::fabs(m.squares / count - (squares / count - sum / count * sum / count)) < 1e-4, name);
    output(name, std::vector<T>{m.mean, m.squares});
}

void body() {
    moments_of<float>("float moments", 9000001, 132 * 4);
    moments_of<double>("double moments", 3000000, 132 * 2);
    const int count = 6000000;
    std::vector<unsigned> host = random_values<unsigned>(count, 2);
    for (unsigned& item : host) item = item % 3 == 0 ? item % 1000 : item % 700000;  // some are frequent
    const Array<unsigned> items(host), sketch(registers / 4);
    prepare();
    hyper_log_log<<<132 * 2, 512>>>(items.data(), sketch.data(), count);
    finish("hyper log log");
    const std::vector<unsigned> got = sketch.values();
    output("registers", got);
    double harmonic = 0.0;
    for (int k = 0; k < registers; ++k)
        harmonic += std::ldexp(1.0, -static_cast<int>(got[k / 4] >> k % 4 * 8 & 255));
    std::sort(host.begin(), host.end());
    const auto distinct = std::unique(host.begin(), host.end()) - host.begin();
    check(std::fabs(0.7213 / (1.0 + 1.079 / registers) * registers * registers / harmonic / distinct - 1.0) <
              0.08,
          "estimate");
    Array<unsigned> table(4 * table_width), counts(1000000);
    prepare();
    count_min_add<<<132 * 8, 256>>>(items.data(), table.data(), 1500000);
    finish("count");
    output("table", table);
    prepare();
    count_min_ask<<<(1000000 + 255) / 256, 256>>>(items.data(), table.data(), counts.data(), 1000000);
    finish("ask");
    output("counts", counts);
    Array<unsigned> kept(132 * 2 * 1024);
    prepare();
    reservoirs<<<132 * 2, 256>>>(items.data(), kept.data(), count);
    finish("reservoirs");
    output("kept", kept);
    const int columns = 20000, rows = 200;
    const std::vector<float> host_values = random_values<float>(columns * rows, 3);
    const Array<float> values(host_values);
    Array<float> medians(columns), out(columns * rows);
    prepare();
    marker_medians<<<(columns + 127) / 128, 128>>>(values.data(), medians.data(), columns, rows);
    finish("markers");
    double off = 0.0;
    for (const float x : medians.values()) off += std::fabs(x) / columns;
    check(off < 0.12, "markers");
    output("markers", medians);
    const int summaries = 16000;
    std::vector<unsigned> sorted = random_values<unsigned>(summaries * 256, 4);
    for (int s = 0; s < summaries; ++s) std::sort(sorted.begin() + s * 256, sorted.begin() + (s + 1) * 256);
    const Array<unsigned> summary(sorted);
    Array<unsigned> thinned(summaries / 2 * 256);
    prepare();
    merge_summaries<<<summaries / 2, 256>>>(summary.data(), thinned.data());
    finish("summaries");
    const std::vector<unsigned> thin = thinned.values();
    for (int s = 0; s < summaries / 2; s += 9) {
        std::sort(sorted.begin() + s * 512, sorted.begin() + (s + 1) * 512);
        for (int k = 0; k < 256; ++k)
            check(thin[s * 256 + k] == sorted[s * 512 + 2 * k + (s & 1)], "summaries");
    }
    output("summaries", thin);
    const int length = columns * rows - 3;
    prepare();
    moving_medians<<<(length / 4 + 256) / 256, 256>>>(values.data(), out.data(), length);
    finish("medians");
    const std::vector<float> median = out.values();
    for (int i = 4; i + 4 < length; i += 37) {
        std::vector<float> nine(host_values.begin() + i - 4, host_values.begin() + i + 5);
        std::nth_element(nine.begin(), nine.begin() + 4, nine.end());
        check(median[i] == nine[4], "medians");
    }
    output("medians", median);
    for (const int chunk : {rows, 25}) {
        prepare();
        column_averages<<<dim3((columns + 127) / 128, rows / chunk), 128>>>(values.data(), out.data(), 0.125F,
                                                                            columns, rows, chunk, 40);
        finish("averages");
        output("averages", out);
    }
}

int main() {
    return run(body);
}
