// Kernels that users build of CUB's collectives for blocks and warps: scans of tiles by several ways of
// loading, tiles sorted in place, sums and maxima of rows, sums of short segments, records turned to columns,
// heads of runs and counts of bytes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>

using namespace textbook;

/// Running sums of each tile by itself, with the last tile perhaps short.
template <int threads, int items, cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing,
          cub::BlockScanAlgorithm scanning>
__global__ void __launch_bounds__(threads)
    scan_tiles(unsigned* in, unsigned* out, unsigned* totals, int count) {
    using Load = cub::BlockLoad<unsigned, threads, items, loading>;
    using Store = cub::BlockStore<unsigned, threads, items, storing>;
    using Scan = cub::BlockScan<unsigned, threads, scanning>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } shared;
    const int first = blockIdx.x * threads * items, valid = min(threads * items, count - first);
    unsigned values[items], total;
    if (valid == threads * items)
        Load(shared.load).Load(in + first, values);
    else
        Load(shared.load).Load(in + first, values, valid, 0U);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(values, values, total);
    __syncthreads();
    if (valid == threads * items)
        Store(shared.store).Store(out + first, values);
    else
        Store(shared.store).Store(out + first, values, valid);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

/// Loaded with a stride of the block and exchanged by hand: the largest value so far in each tile.
template <int threads, int items>
__global__ void __launch_bounds__(threads) running_maximum(const float* in, float* out, int count) {
    using Exchange = cub::BlockExchange<float, threads, items>;
    using Scan = cub::BlockScan<float, threads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Exchange::TempStorage exchange;
    __shared__ typename Scan::TempStorage scan;
    const int first = blockIdx.x * threads * items, valid = min(threads * items, count - first);
    float values[items];
    cub::LoadDirectStriped<threads>(threadIdx.x, in + first, values, valid, -2.0F);
    Exchange(exchange).StripedToBlocked(values, values);
    Scan(scan).InclusiveScan(values, values, cuda::maximum<>{});
    __syncthreads();
    Exchange(exchange).BlockedToStriped(values, values);
    cub::StoreDirectStriped<threads>(threadIdx.x, out + first, values, valid);
}

/// Each tile in order, in place.
template <int threads, int items>
__global__ void __launch_bounds__(threads) sort_tiles(unsigned* keys) {
    using Load = cub::BlockLoad<unsigned, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, threads, items>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
    } shared;
    unsigned* tile = keys + static_cast<std::size_t>(blockIdx.x) * threads * items;
    unsigned own[items];
    Load(shared.load).Load(tile, own);
    __syncthreads();
    Sort(shared.sort).SortBlockedToStriped(own);
    cub::StoreDirectStriped<threads>(threadIdx.x, tile, own);
}

/// Scores of a tile from high to low, with the places they came from.
template <int threads, int items>
__global__ void __launch_bounds__(threads) rank_tiles(float* scores, unsigned short* places) {
    using Sort = cub::BlockRadixSort<float, threads, items, unsigned short>;
    __shared__ typename Sort::TempStorage shared;
    const std::size_t first = (static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x) * items;
    float own[items];
    unsigned short from[items];
    cub::LoadDirectBlocked(threadIdx.x, scores + first - threadIdx.x * items, own);
#pragma unroll
    for (int k = 0; k < items; ++k) from[k] = static_cast<unsigned short>(threadIdx.x * items + k);
    Sort(shared).SortDescending(own, from);
    cub::StoreDirectBlocked(threadIdx.x, scores + first - threadIdx.x * items, own);
    cub::StoreDirectBlocked(threadIdx.x, places + first - threadIdx.x * items, from);
}

/// A block sums each row.
template <int threads, cub::BlockReduceAlgorithm algorithm>
__global__ void __launch_bounds__(threads) row_sums(const float* in, float* sums, int rows, int columns) {
    using Reduce = cub::BlockReduce<float, threads, algorithm>;
    __shared__ typename Reduce::TempStorage shared;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* values = in + static_cast<std::size_t>(row) * columns;
        float sum = 0.0F;
        for (int i = threadIdx.x; i < columns; i += threads) sum += values[i] * values[i];
        sum = Reduce(shared).Sum(sum);
        if (threadIdx.x == 0) sums[row] = sum;
        __syncthreads();
    }
}

/// Largest of each row and where it is; the first of equal ones.
struct Best {
    float value;
    int column;
};
struct Better {
    __device__ Best operator()(const Best& a, const Best& b) const {
        return b.value > a.value || (b.value == a.value && b.column < a.column) ? b : a;
    }
};
template <int threads>
__global__ void __launch_bounds__(threads)
    row_best(const float4* in, int* columns, float* values, int width) {
    using Reduce = cub::BlockReduce<Best, threads, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage shared;
    const float4* row = in + static_cast<std::size_t>(blockIdx.x) * (width / 4);
    Best best{-3.0F, -1};
    for (int i = threadIdx.x; i < width / 4; i += threads) {
        const float4 v = row[i];
        best = Better{}(best, {v.x, 4 * i});
        best = Better{}(best, {v.y, 4 * i + 1});
        best = Better{}(best, {v.z, 4 * i + 2});
        best = Better{}(best, {v.w, 4 * i + 3});
    }
    best = Reduce(shared).Reduce(best, Better{});
    if (threadIdx.x == 0) {
        columns[blockIdx.x] = best.column;
        values[blockIdx.x] = best.value;
    }
}

/// Segments of eight by a quarter warp each: their running sums, and what share each value has of the whole.
__global__ void __launch_bounds__(256)
    shares_of_eight(const unsigned* in, unsigned* sums, float* shares, int count) {
    using Scan = cub::WarpScan<unsigned, 8>;
    using Reduce = cub::WarpReduce<unsigned, 8>;
    __shared__ typename Scan::TempStorage scan[32];
    __shared__ typename Reduce::TempStorage reduce[32];
    const int i = blockIdx.x * 256 + threadIdx.x, group = threadIdx.x / 8;
    const unsigned value = i < count ? in[i] & 0xfffU : 0U;
    unsigned before = 0;
    Scan(scan[group]).ExclusiveSum(value, before);
    const unsigned sum = __shfl_sync(0xffffffffU, Reduce(reduce[group]).Sum(value), 0, 8);
    if (i < count) {
        sums[i] = before;
        shares[i] = sum > 0 ? static_cast<float>(value) / static_cast<float>(sum) : 0.0F;
    }
}

/// Sums of the runs that flags start, within each 32 values.
__global__ void __launch_bounds__(128)
    flagged_sums(const int* values, const unsigned char* heads, int* sums, int count) {
    using Reduce = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage shared[4];
    const int i = blockIdx.x * 128 + threadIdx.x;
    const int head = i < count ? heads[i] : 1, value = i < count ? values[i] : 0;
    const int sum = Reduce(shared[threadIdx.x / 32]).HeadSegmentedSum(value, head);
    if (i < count && (head != 0 || threadIdx.x % 32 == 0)) sums[i] = sum;
}

/// Records of `fields` floats to one array a field.
template <int threads, int fields>
__global__ void __launch_bounds__(threads)
    records_to_columns(const float* records, float* columns, int count) {
    using Exchange = cub::BlockExchange<float, threads, fields>;
    __shared__ typename Exchange::TempStorage shared;
    const int first = blockIdx.x * threads, valid = min(threads, count - first);
    float record[fields];
    cub::LoadDirectStriped<threads>(threadIdx.x, records + static_cast<std::size_t>(first) * fields, record,
                                    valid * fields, 0.0F);
    Exchange(shared).StripedToBlocked(record, record);
    if (threadIdx.x >= valid) return;
#pragma unroll
    for (int f = 0; f < fields; ++f)
        columns[static_cast<std::size_t>(f) * count + first + threadIdx.x] = record[f];
}

/// Heads of runs of equal numbers: a flag each, and how many a tile has.
template <int threads, int items>
__global__ void __launch_bounds__(threads)
    run_heads(const int* in, unsigned char* flags, int* heads, int count) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<unsigned char, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
    using Discontinuity = cub::BlockDiscontinuity<int, threads>;
    using Reduce = cub::BlockReduce<int, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Discontinuity::TempStorage heads;
        typename Reduce::TempStorage reduce;
        typename Store::TempStorage store;
    } shared;
    const int first = blockIdx.x * threads * items, valid = min(threads * items, count - first);
    int own[items], head[items], found = 0;
    Load(shared.load).Load(in + first, own, valid, in[first + valid - 1]);
    __syncthreads();
    if (first == 0)
        Discontinuity(shared.heads).FlagHeads(head, own, cuda::std::not_equal_to<>{});
    else
        Discontinuity(shared.heads).FlagHeads(head, own, cuda::std::not_equal_to<>{}, in[first - 1]);
    unsigned char bytes[items];
#pragma unroll
    for (int k = 0; k < items; ++k) {
        found += head[k];
        bytes[k] = static_cast<unsigned char>(head[k]);
    }
    __syncthreads();
    found = Reduce(shared.reduce).Sum(found);
    if (threadIdx.x == 0) heads[blockIdx.x] = found;
    __syncthreads();
    Store(shared.store).Store(flags + first, bytes, valid);
}

/// Counts of bytes: each block goes over its share of tiles and adds to the whole at the end.
template <int threads, int items, cub::BlockHistogramAlgorithm algorithm>
__global__ void __launch_bounds__(threads) count_bytes(const unsigned char* in, unsigned* counts, int tiles) {
    using Histogram = cub::BlockHistogram<unsigned char, threads, items, 256, algorithm>;
    using Load = cub::BlockLoad<unsigned char, threads, items, cub::BLOCK_LOAD_VECTORIZE>;
    __shared__ typename Histogram::TempStorage shared;
    __shared__ unsigned own[256];
    Histogram histogram(shared);
    histogram.InitHistogram(own);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned char samples[items];
        Load().Load(in + static_cast<std::size_t>(tile) * threads * items, samples);
        __syncthreads();
        histogram.Composite(samples, own);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += threads)
        if (own[bin] > 0) atomicAdd(counts + bin, own[bin]);
}

template <int threads, int items, cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store,
          cub::BlockScanAlgorithm scan>
void scan_launch(const char* name, const std::vector<unsigned>& values, int count) {
    const Array<unsigned> in(values);
    const int tile = threads * items, tiles = (count + tile - 1) / tile;
    Array<unsigned> out(count), totals(tiles);
    prepare();
    scan_tiles<threads, items, load, store, scan>
        <<<tiles, threads>>>(in.data(), out.data(), totals.data(), count);
    finish(name);
    const auto got = out.values(), sums = totals.values();
    unsigned sum = 0;
    bool right = true;
    for (int i = 0; i < count; ++i) {
        sum = i % tile == 0 ? values[i] : sum + values[i];
        right = right && got[i] == sum;
        if (i % tile == tile - 1 || i == count - 1) right = right && sums[i / tile] == sum;
    }
    check(right, name);
    output(name, got);
}

void scans() {
    const int count = 12'000'000;
    const auto values = random_values<unsigned>(count, 1);
    scan_launch<256, 16, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE, cub::BLOCK_SCAN_RAKING>(
        "scan_transposed", values, count);
    scan_launch<128, 11, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE,
                cub::BLOCK_SCAN_WARP_SCANS>("scan_by_warps", values, count - 77);
    scan_launch<512, 4, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE,
                cub::BLOCK_SCAN_RAKING_MEMOIZE>("scan_vectors", values, 5'000'000);

    const auto reals = random_values<float>(9'000'123, 2);
    const Array<float> in(reals);
    Array<float> out(reals.size());
    const int tile = 192 * 7, tiles = (static_cast<int>(reals.size()) + tile - 1) / tile;
    prepare();
    running_maximum<192, 7><<<tiles, 192>>>(in.data(), out.data(), static_cast<int>(reals.size()));
    finish("running maximum");
    const auto got = out.values();
    float most = 0.0F;
    bool right = true;
    for (std::size_t i = 0; i < reals.size(); ++i) {
        most = i % tile == 0 ? reals[i] : std::max(most, reals[i]);
        right = right && got[i] == most;
    }
    check(right, "running maximum");
    output("running_maximum", got);
}

void sorts() {
    const int tile = 256 * 12, tiles = 2000;
    auto keys = random_values<unsigned>(static_cast<std::size_t>(tile) * tiles, 3);
    const Array<unsigned> array(keys);
    prepare();
    sort_tiles<256, 12><<<tiles, 256>>>(array.data());
    finish("sort tiles");
    const auto got = array.values();
    for (int t = 0; t < tiles; t += 37) {
        const auto first = keys.begin() + static_cast<std::ptrdiff_t>(t) * tile;
        std::sort(first, first + tile);
        check(std::equal(first, first + tile, got.begin() + static_cast<std::ptrdiff_t>(t) * tile),
              "sort tiles");
    }
    output("sort_tiles", got);

    const int ranked = 128 * 6, rows = 3001;
    const auto scores = random_values<float>(static_cast<std::size_t>(ranked) * rows, 4);
    const Array<float> score_array(scores);
    const Array<unsigned short> places(scores.size());
    prepare();
    rank_tiles<128, 6><<<rows, 128>>>(score_array.data(), places.data());
    finish("rank tiles");
    const auto high = score_array.values();
    const auto from = places.values();
    bool right = true;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        right = right && high[i] == scores[i / ranked * ranked + from[i]];
        if (i % ranked > 0)
            right = right && (high[i - 1] > high[i] || (high[i - 1] == high[i] && from[i - 1] < from[i]));
    }
    check(right, "rank tiles");
    output("rank_tiles", places);
}

void rows() {
    const int count = 3000, columns = 3333;
    const auto values = random_values<float>(static_cast<std::size_t>(count) * columns, 5);
    const Array<float> in(values);
    std::vector<double> expected(count);
    for (int row = 0; row < count; ++row)
        for (int c = 0; c < columns; ++c) {
            const double v = values[static_cast<std::size_t>(row) * columns + c];
            expected[row] += v * v;
        }
    Array<float> sums(count);
    prepare();
    row_sums<256, cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<count, 256>>>(in.data(), sums.data(), count, columns);
    finish("row sums by warps");
    check_close(sums.values(), expected, 1e-5, "row sums by warps");
    output("row_sums_by_warps", sums);

    const int width = 1024, lines = static_cast<int>(values.size()) / width;
    const Array<int> where(lines);
    const Array<float> best(lines);
    prepare();
    row_best<64><<<lines, 64>>>(reinterpret_cast<const float4*>(in.data()), where.data(), best.data(), width);
    finish("row best");
    const auto columns_found = where.values();
    for (int line = 0; line < lines; ++line) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(line) * width;
        check(columns_found[line] == std::max_element(first, first + width) - first, "row best");
    }
    output("row_best", where);
    output("row_best_values", best);
}

void segments() {
    const int count = 8'000'056;
    const auto values = random_values<unsigned>(count, 6);
    const Array<unsigned> in(values), sums(count);
    const Array<float> shares(count);
    prepare();
    shares_of_eight<<<(count + 255) / 256, 256>>>(in.data(), sums.data(), shares.data(), count);
    finish("shares of eight");
    const auto got = sums.values();
    unsigned before = 0;
    bool right = true;
    for (int i = 0; i < count; ++i) {
        if (i % 8 == 0) before = 0;
        right = right && got[i] == before;
        before += values[i] & 0xfffU;
    }
    check(right, "shares of eight");
    output("sums_of_eight", got);
    output("shares_of_eight", shares);
}

void runs() {
    const int count = 10'000'019, tile = 256 * 9, tiles = (count + tile - 1) / tile;
    std::vector<int> values(count);
    for (int i = 0, left = 0, value = 0; i < count; ++i) {
        if (left-- == 0) {
            value = static_cast<int>(random_bits(8, i) % 5000);
            left = static_cast<int>(random_bits(9, i) % 17);
        }
        values[i] = value;
    }
    const Array<int> in(values), heads(tiles);
    const Array<unsigned char> flags(count);
    prepare();
    run_heads<256, 9><<<tiles, 256>>>(in.data(), flags.data(), heads.data(), count);
    finish("run heads");
    const auto got = flags.values();
    std::vector<int> expected(tiles);
    bool right = true;
    for (int i = 0; i < count; ++i) {
        const int head = i == 0 || values[i] != values[i - 1] ? 1 : 0;
        right = right && got[i] == head;
        expected[i / tile] += head;
    }
    check(right && heads.values() == expected, "run heads");
    output("run_heads", flags);

    const Array<int> sums(count);
    prepare();
    flagged_sums<<<(count + 127) / 128, 128>>>(in.data(), flags.data(), sums.data(), count);
    finish("flagged sums");
    const auto summed = sums.values();
    for (int i = count - 1, sum = 0; i >= 0; --i) {
        sum += values[i];
        if (got[i] != 0 || i % 32 == 0) {
            right = right && summed[i] == sum;
            sum = 0;
        }
    }
    check(right, "flagged sums");
    output("flagged_sums", sums);
}

void records_and_bytes() {
    const int count = 1'500'077;
    const auto values = random_values<float>(static_cast<std::size_t>(count) * 7, 10);
    const Array<float> records(values), columns(values.size());
    prepare();
    records_to_columns<256, 7><<<(count + 255) / 256, 256>>>(records.data(), columns.data(), count);
    finish("records to columns");
    const auto got = columns.values();
    bool right = true;
    for (int i = 0; i < count; ++i)
        for (int f = 0; f < 7; ++f)
            right = right && got[static_cast<std::size_t>(f) * count + i] == values[i * 7 + f];
    check(right, "records to columns");
    output("records_to_columns", columns);

    const int tile = 128 * 16, tiles = 12000;
    std::vector<unsigned char> samples(static_cast<std::size_t>(tile) * tiles);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const unsigned bits = random_bits(11, i);
        samples[i] =
            static_cast<unsigned char>(((bits & 255U) + (bits >> 8 & 255U) + (bits >> 16 & 255U)) / 3);
    }
    const Array<unsigned char> in(samples);
    std::vector<unsigned> expected(256), fewer(256);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        ++expected[samples[i]];
        if (i < samples.size() / 4) ++fewer[samples[i]];
    }
    Array<unsigned> counts(256);
    prepare();
    count_bytes<128, 16, cub::BLOCK_HISTO_ATOMIC><<<132 * 12, 128>>>(in.data(), counts.data(), tiles);
    finish("count bytes by atomics");
    check(counts.values() == expected, "count bytes by atomics");
    counts.zero();
    prepare();
    count_bytes<128, 16, cub::BLOCK_HISTO_SORT><<<132 * 4, 128>>>(in.data(), counts.data(), tiles / 4);
    finish("count bytes by sorting");
    check(counts.values() == fewer, "count bytes by sorting");
    output("count_bytes", counts);
}

void body() {
    scans();
    sorts();
    rows();
    segments();
    runs();
    records_and_bytes();
}

int main() {
    return run(body);
}
