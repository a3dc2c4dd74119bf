// Groups of threads: streams filtered by coalesced threads, sums by key in labeled partitions, extremes and
// unions of bits in tiles, prefixes and sorted halves, and small matrices by tiles of four, eight and sixteen
// lanes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <climits>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;
using namespace textbook;

/// Keeps what passes; the threads that hold such an element come together and one of them takes room for all.
__global__ void keep_small(const unsigned* in, unsigned* out, unsigned* kept, unsigned limit, int count) {
    const auto grid = cg::this_grid();
    for (unsigned i = grid.thread_rank(); i < static_cast<unsigned>(count); i += grid.num_threads()) {
        const unsigned value = in[i];
        if (value % 1000 < limit) {
            const auto active = cg::coalesced_threads();
            const unsigned start =
                cg::invoke_one_broadcast(active, [&] { return atomicAdd(kept, active.size()); });
            out[start + active.thread_rank()] = value;
        }
    }
}

/// Both halves of a warp of elements find their places: odd ones to the front and even ones to the back.
__global__ void split_odd_even(const unsigned* in, unsigned* out, unsigned* ends, int count) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned value = i < count ? in[i] : 0;
    const bool odd = value % 2 == 1;
    const auto same = cg::binary_partition(cg::binary_partition(warp, i < count), odd);
    unsigned start = 0;
    if (same.thread_rank() == 0 && i < count) start = atomicAdd(ends + (odd ? 0 : 1), same.size());
    start = same.shfl(start, 0);
    if (i < count) out[odd ? start + same.thread_rank() : count - 1 - start - same.thread_rank()] = value;
}

/// Sums by key: lanes with the same key reduce in their partition, the first one adds to memory.
__global__ void sums_by_label(const unsigned* keys, const unsigned* values, unsigned* sums, int count) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    for (int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32; first < count;
         first += gridDim.x * blockDim.x) {
        const int i = first + warp.thread_rank();
        if (i >= count) continue;
        const auto alike = cg::labeled_partition(cg::coalesced_threads(), keys[i]);
        const unsigned sum = cg::reduce(alike, values[i], cg::plus<unsigned>());
        cg::invoke_one(alike, [&] { atomicAdd(sums + keys[i], sum); });
    }
}

/// Rows of a bitmap and of numbers: a tile of `lanes` a row finds the union, the meet, the largest and the
/// least.
template <int lanes>
__global__ void row_summaries(const int4* in, int4* summary, int rows, int width) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<lanes>(block);
    const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= rows) return;
    int all = -1, any = 0, most = INT_MIN, least = INT_MAX;
    for (int i = tile.thread_rank(); i < width; i += lanes) {
        const int4 v = in[static_cast<std::size_t>(row) * width + i];
        any |= v.x | v.y | v.z | v.w;
        all &= v.x & v.y & v.z & v.w;
        most = max(max(most, v.x), max(max(v.y, v.z), v.w));
        least = min(min(least, v.x), min(min(v.y, v.z), v.w));
    }
    any = cg::reduce(tile, any, cg::bit_or<int>());
    all = cg::reduce(tile, all, cg::bit_and<int>());
    most = cg::reduce(tile, most, cg::greater<int>());
    least = cg::reduce(tile, least, cg::less<int>());
    cg::invoke_one(tile, [&] { summary[row] = {any, all, most, least}; });
}

/// Records of varying length are laid end to end inside each block: prefixes in warps, and over the warps'
/// sums.
__global__ void __launch_bounds__(512) pack_records(const unsigned* words, const unsigned char* lengths,
                                                    unsigned* packed, unsigned* totals, int count) {
    __shared__ unsigned starts[16];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int i = blockIdx.x * 512 + threadIdx.x;
    const unsigned length = i < count ? lengths[i] : 0;
    const unsigned before = cg::exclusive_scan(warp, length);
    if (warp.thread_rank() == 31) starts[warp.meta_group_rank()] = before + length;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const auto half = cg::tiled_partition<16>(warp);
        if (half.meta_group_rank() == 0) {
            const unsigned own = starts[half.thread_rank()];
            const unsigned sum = cg::inclusive_scan(half, own, cg::plus<unsigned>());
            starts[half.thread_rank()] = sum - own;
            if (half.thread_rank() == 15) totals[blockIdx.x] = sum;
        }
    }
    block.sync();
    unsigned* to =
        packed + static_cast<std::size_t>(blockIdx.x) * 512 * 7 + starts[warp.meta_group_rank()] + before;
    for (unsigned k = 0; k < length; ++k) to[k] = words[i] + k;
}

/// Solves small systems by elimination with the largest pivot: a tile a system, a lane a row in registers.
template <int n>
__global__ void __launch_bounds__(128)
    solve_small(const float* matrices, const float* sides, float* solutions, int count) {
    const auto tile = cg::tiled_partition<n>(cg::this_thread_block());
    const int system = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (system >= count) return;
    const int lane = tile.thread_rank();
    float row[n], side = sides[system * n + lane];
#pragma unroll
    for (int k = 0; k < n; k += 4)
        *reinterpret_cast<float4*>(row + k) = reinterpret_cast<const float4*>(
            matrices)[((static_cast<std::size_t>(system) * n + lane) * n + k) / 4];
    bool used = false;
    int mine = 0;
#pragma unroll
    for (int k = 0; k < n; ++k) {
        // Size and lane of the candidate in one number.
        const unsigned candidate = used ? 0U : (__float_as_uint(fabsf(row[k])) & ~(n - 1U)) | lane;
        const int pivot = cg::reduce(tile, candidate, cg::greater<unsigned>()) & (n - 1U);
        const float leading = tile.shfl(row[k], pivot), factor = lane == pivot ? 0.0F : row[k] / leading;
        if (lane == pivot) used = true, mine = k;
#pragma unroll
        for (int j = k; j < n; ++j) row[j] -= factor * tile.shfl(row[j], pivot);
        side -= factor * tile.shfl(side, pivot);
    }
    float diagonal = 1.0F;
#pragma unroll
    for (int k = 0; k < n; ++k) diagonal = mine == k ? row[k] : diagonal;
    solutions[system * n + mine] = side / diagonal;
}

/// The largest distance from the mean of clouds of points, by reductions of floats over a block in three
/// levels.
__global__ void __launch_bounds__(256) cloud_radius(const float2* points, float* radius, int each) {
    __shared__ float2 parts[8];
    __shared__ unsigned most;
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const float2* own = points + static_cast<std::size_t>(blockIdx.x) * each;
    float2 sum = {};
    for (int i = block.thread_rank(); i < each; i += 256) sum.x += own[i].x, sum.y += own[i].y;
    sum.x = cg::reduce(warp, sum.x, cg::plus<float>());
    sum.y = cg::reduce(warp, sum.y, cg::plus<float>());
    cg::invoke_one(warp, [&] { parts[warp.meta_group_rank()] = sum; });
    if (block.thread_rank() == 0) most = 0;
    block.sync();
    const auto eight = cg::tiled_partition<8>(warp);
    const float2 part = parts[eight.thread_rank()];
    const float x = cg::reduce(eight, part.x, cg::plus<float>()) / each;
    const float y = cg::reduce(eight, part.y, cg::plus<float>()) / each;
    float far = 0.0F;
    for (int i = block.thread_rank(); i < each; i += 256)
        far = fmaxf(far, hypotf(own[i].x - x, own[i].y - y));
    far = cg::reduce(warp, far, cg::greater<float>());
    cg::reduce_update_async(warp, cuda::atomic_ref<unsigned, cuda::thread_scope_block>(most),
                            __float_as_uint(far), cg::greater<unsigned>());
    block.sync();
    if (block.thread_rank() == 0) radius[blockIdx.x] = __uint_as_float(most);
}

void body() {
    const int count = 12'000'011;
    const std::vector<unsigned> values = random_values<unsigned>(count, 1);
    const Array<unsigned> there(values);
    Array<unsigned> out(count), counters(2);
    for (const unsigned limit : {30U, 600U}) {
        counters.zero();
        prepare();
        keep_small<<<132 * 8, 256>>>(there.data(), out.data(), counters.data(), limit, count);
        finish("keep");
        std::vector<unsigned> expected, got = out.values();
        for (const unsigned value : values)
            if (value % 1000 < limit) expected.push_back(value);
        check(counters.values()[0] == expected.size(), "keep: how many");
        got.resize(expected.size());
        std::sort(got.begin(), got.end());
        std::sort(expected.begin(), expected.end());
        check(got == expected, "keep");
        output("kept", got);
    }
    const int some = 2'000'017;
    counters.zero();
    prepare();
    split_odd_even<<<(some + 255) / 256, 256>>>(there.data(), out.data(), counters.data(), some);
    finish("split");
    std::vector<unsigned> split = out.values(), all(values.begin(), values.begin() + some);
    split.resize(some);
    const unsigned odd = counters.values()[0];
    for (int i = 0; i < some; ++i) check(split[i] % 2 == (i < static_cast<int>(odd) ? 1 : 0), "split");
    std::sort(split.begin(), split.end());
    std::sort(all.begin(), all.end());
    check(split == all, "split");
    output("split", split);

    for (const unsigned labels : {5U, 40'000U}) {
        std::vector<unsigned> keys(some), expected(labels);
        for (int i = 0; i < some; ++i) {
            keys[i] =
                labels == 5 ? values[i] % labels : static_cast<unsigned>(i / 51 + values[i] % 4) % labels;
            expected[keys[i]] += values[i];
        }
        const Array<unsigned> keys_there(keys);
        Array<unsigned> sums(labels);
        prepare();
        sums_by_label<<<132 * 6, 256>>>(keys_there.data(), there.data(), sums.data(), some);
        finish("labels");
        check(sums.values() == expected, "labels");
        output("labels", sums);
    }
    const auto summarized = [&](auto kernel, int lanes, int rows, int width, const char* what) {
        Array<int4> summary(rows);
        prepare();
        kernel<<<(rows + 256 / lanes - 1) / (256 / lanes), 256>>>(reinterpret_cast<const int4*>(there.data()),
                                                                  summary.data(), rows, width);
        finish(what);
        const std::vector<int4> got = summary.values();
        std::vector<int> flat;
        for (int row = 0; row < rows; ++row) {
            int4 expected = {0, -1, INT_MIN, INT_MAX};
            for (int i = 0; i < 4 * width; ++i) {
                const int value = static_cast<int>(values[static_cast<std::size_t>(row) * 4 * width + i]);
                expected = {expected.x | value, expected.y & value, std::max(expected.z, value),
                            std::min(expected.w, value)};
            }
            check(std::memcmp(&got[row], &expected, sizeof(int4)) == 0, what);
            flat.insert(flat.end(), {got[row].x, got[row].y, got[row].z, got[row].w});
        }
        output(what, flat);
    };
    summarized(row_summaries<4>, 4, 300'000, 9, "rows by four");
    summarized(row_summaries<16>, 16, 40'001, 64, "rows by sixteen");
    {
        const int records = 1'500'000, blocks = (records + 511) / 512;
        std::vector<unsigned char> lengths(records);
        for (int i = 0; i < records; ++i) lengths[i] = values[i] % 8;
        const Array<unsigned char> lengths_there(lengths);
        Array<unsigned> packed(static_cast<std::size_t>(blocks) * 512 * 7), totals(blocks);
        prepare();
        pack_records<<<blocks, 512>>>(there.data(), lengths_there.data(), packed.data(), totals.data(),
                                      records);
        finish("pack");
        const std::vector<unsigned> got = packed.values(), sizes = totals.values();
        for (int block = 0, i = 0; block < blocks; ++block) {
            unsigned at = 0;
            for (const int end = std::min(i + 512, records); i < end; ++i)
                for (int k = 0; k < lengths[i]; ++k)
                    check(got[static_cast<std::size_t>(block) * 512 * 7 + at++] == values[i] + k, "pack");
            check(sizes[block] == at, "pack");
        }
        output("packed", got);
    }
    const auto solved = [&](auto kernel, int n, int systems, const char* what) {
        std::vector<float> matrices(static_cast<std::size_t>(systems) * n * n), sides(systems * n);
        for (std::size_t i = 0; i < matrices.size(); ++i)
            matrices[i] = random_float(2, i) +
                          (static_cast<int>(i % n) == static_cast<int>(i / n * 3 % n) ? 4.0F : 0.0F);
        std::vector<double> expected(sides.size());
        for (std::size_t i = 0; i < sides.size(); ++i) expected[i] = static_cast<int>(i % 17) - 8;
        for (std::size_t i = 0; i < sides.size(); ++i) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k) sum += matrices[i * n + k] * expected[i / n * n + k];
            sides[i] = static_cast<float>(sum);
        }
        const Array<float> matrices_there(matrices), sides_there(sides);
        Array<float> solutions(sides.size());
        prepare();
        kernel<<<(systems * n + 127) / 128, 128>>>(matrices_there.data(), sides_there.data(),
                                                   solutions.data(), systems);
        finish(what);
        check_close(solutions.values(), expected, 2e-3, what);
    };
    solved(solve_small<4>, 4, 400'000, "systems of four");
    solved(solve_small<8>, 8, 100'003, "systems of eight");
    solved(solve_small<16>, 16, 20'000, "systems of sixteen");
    {
        const int clouds = 1500, each = 3000;
        std::vector<float2> points(clouds * each);
        for (std::size_t i = 0; i < points.size(); ++i)
            points[i] = {random_float(4, i), random_float(5, i) * 3.0F};
        const Array<float2> points_there(points);
        Array<float> radius(clouds);
        prepare();
        cloud_radius<<<clouds, 256>>>(points_there.data(), radius.data(), each);
        finish("clouds");
        std::vector<double> expected(clouds);
        for (int cloud = 0; cloud < clouds; ++cloud) {
            double x = 0.0, y = 0.0;
            const float2* own = points.data() + cloud * each;
            for (int i = 0; i < each; ++i) x += own[i].x / each, y += own[i].y / each;
            for (int i = 0; i < each; ++i)
                expected[cloud] = std::max(expected[cloud], std::hypot(own[i].x - x, own[i].y - y));
        }
        check_close(radius.values(), expected, 1e-5, "clouds");
        output("radius", radius);
    }
}

int main() {
    return run(body);
}
