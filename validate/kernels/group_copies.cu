// Cooperative groups and asynchronous copies as the C++ headers offer them: rows and tiles copied to shared
// memory by blocks, by threads and by a warp for the others, stencils and sums on pipelines of two and four
// stages, sums of rows by tiles of lanes, sparse rows, scans, and counters that lanes share.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using namespace textbook;
namespace cg = cooperative_groups;

// Barriers and pipelines in shared memory are made by their first use, not where they are declared.
#pragma nv_diag_suppress static_var_with_dynamic_init

/// A row to shared memory by the whole block, its mean and deviation from there, and normalized back.
__global__ void __launch_bounds__(256) standardize(const float* in, float* out, int columns) {
    extern __shared__ float row[];
    __shared__ float sums[2];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * columns;
    cg::memcpy_async(block, row, in + first, sizeof(float) * columns);
    if (block.thread_rank() < 2) sums[block.thread_rank()] = 0.0F;
    cg::wait(block);
    float sum = 0.0F, squares = 0.0F;
    for (int i = block.thread_rank(); i < columns; i += block.size()) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    sum = cg::reduce(warp, sum, cg::plus<float>());
    squares = cg::reduce(warp, squares, cg::plus<float>());
    if (warp.thread_rank() == 0) {
        atomicAdd(&sums[0], sum);
        atomicAdd(&sums[1], squares);
    }
    block.sync();
    const float mean = sums[0] / columns, scale = rsqrtf(sums[1] / columns - mean * mean + 1e-5F);
    for (int i = block.thread_rank(); i < columns; i += block.size())
        out[first + i] = (row[i] - mean) * scale;
}

/// Each thread's own pipeline: it waits for nothing but its own copies.
template <int stages>
__global__ void __launch_bounds__(128) energy(const float4* in, float* out, int count) {
    __shared__ float4 buffers[stages][128];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int step = gridDim.x * 128, begin = blockIdx.x * 128 + threadIdx.x;
    int next = begin;
    for (int stage = 0; stage < stages; ++stage, next += step) {
        pipe.producer_acquire();
        if (next < count)
            cuda::memcpy_async(&buffers[stage][threadIdx.x], in + next, cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    }
    float sum = 0.0F;
    for (int i = begin, stage = 0; i < count; i += step, stage = (stage + 1) % stages) {
        cuda::pipeline_consumer_wait_prior<stages - 1>(pipe);
        const float4 v = buffers[stage][threadIdx.x];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        pipe.consumer_release();
        pipe.producer_acquire();
        if (next < count)
            cuda::memcpy_async(&buffers[stage][threadIdx.x], in + next, cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        next += step;
    }
    out[begin] = sum;
}

/// A smoothing of nine points along each line: tiles with their margins come through a pipeline of the block.
template <int stages>
__global__ void __launch_bounds__(256) smooth(const float* in, float* out, int tiles, int per_block) {
    constexpr int tile = 1024, margin = 4;
    __shared__ alignas(16) float buffers[stages][tile + 2 * margin];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int begin = blockIdx.x * per_block, end = min(begin + per_block, tiles);
    for (int now = begin, fetch = begin; now < end; ++now) {
        for (; fetch < end && fetch < now + stages; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffers[(fetch - begin) % stages],
                               in + static_cast<std::size_t>(fetch) * tile,
                               cuda::aligned_size_t<16>(sizeof(float) * (tile + 2 * margin)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const float* from = buffers[(now - begin) % stages];
        for (int i = threadIdx.x; i < tile; i += 256) {
            float sum = 0.2F * from[i + margin];
#pragma unroll
            for (int k = 1; k <= margin; ++k) sum += 0.1F * (from[i + margin - k] + from[i + margin + k]);
            out[static_cast<std::size_t>(now) * tile + i] = sum;
        }
        pipe.consumer_release();
    }
}

/// The first warp fetches for the other four, which evaluate a polynomial of each value.
__global__ void __launch_bounds__(160) fetch_for_others(const float* in, float* out, int tiles) {
    constexpr int tile = 2048, stages = 2;
    __shared__ alignas(16) float buffers[stages][tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool fetches = block.thread_rank() < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    fetches ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (fetches) {
        const auto warp = cg::tiled_partition<32>(block);
        for (int t = blockIdx.x, stage = 0; t < tiles; t += gridDim.x, stage ^= 1) {
            pipe.producer_acquire();
            cuda::memcpy_async(warp, buffers[stage], in + static_cast<std::size_t>(t) * tile,
                               cuda::aligned_size_t<16>(sizeof(float) * tile), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int t = blockIdx.x, stage = 0; t < tiles; t += gridDim.x, stage ^= 1) {
            pipe.consumer_wait();
            for (int i = threadIdx.x - 32; i < tile; i += 128) {
                const float x = buffers[stage][i];
                out[static_cast<std::size_t>(t) * tile + i] =
                    1.0F + x * (0.5F + x * (0.25F + x * (0.125F - x)));
            }
            pipe.consumer_release();
        }
    }
}

/// Two tables' tiles arrive on one barrier; the block multiplies them and keeps a sum for each tile.
__global__ void __launch_bounds__(256)
    tile_products(const float* a, const float* b, double* sums, int tiles) {
    constexpr int tile = 1536;
    __shared__ alignas(16) float left[tile], right[tile];
    __shared__ float parts[8];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = static_cast<std::size_t>(t) * tile;
        cuda::memcpy_async(block, left, a + first, cuda::aligned_size_t<16>(sizeof(left)), barrier);
        cuda::memcpy_async(block, right, b + first, cuda::aligned_size_t<16>(sizeof(right)), barrier);
        barrier.arrive_and_wait();
        float sum = 0.0F;
        for (int i = threadIdx.x; i < tile; i += 256) sum = fmaf(left[i], right[tile - 1 - i], sum);
        sum = cg::reduce(warp, sum, cg::plus<float>());
        if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
        block.sync();
        if (threadIdx.x == 0) {
            double all = 0.0;
            for (int w = 0; w < 8; ++w) all += parts[w];
            sums[t] = all;
        }
    }
}

/// Narrow rows of integers: `lanes` lanes find sum and maximum of each.
template <int lanes>
__global__ void __launch_bounds__(256) narrow_rows(const int* in, int2* out, int rows, int columns) {
    const auto tile = cg::tiled_partition<lanes>(cg::this_thread_block());
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    if (row >= rows) return;
    const int* values = in + static_cast<std::size_t>(row) * columns;
    int sum = 0, most = -1;
    for (int i = tile.thread_rank(); i < columns; i += lanes) {
        const int value = values[i] >> 8;
        sum += value;
        most = max(most, value);
    }
    sum = cg::reduce(tile, sum, cg::plus<int>());
    most = cg::reduce(tile, most, cg::greater<int>());
    if (tile.thread_rank() == 0) out[row] = {sum, most};
}

/// Rows of a sparse matrix times a vector, some lanes a row, which go on to further rows.
template <int lanes>
__global__ void __launch_bounds__(128) sparse_rows(const int* starts, const int* columns, const float* values,
                                                   const float* x, float* y, int rows) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<lanes>(block);
    const int tiles = gridDim.x * tile.meta_group_size();
    for (int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank(); row < rows; row += tiles) {
        float sum = 0.0F;
        const int end = starts[row + 1];
        for (int k = starts[row] + tile.thread_rank(); k < end; k += lanes)
            sum += values[k] * __ldg(x + columns[k]);
        for (int step = lanes / 2; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
        if (tile.thread_rank() == 0) y[row] = sum;
    }
}

/// Those lanes that found a value take one place together.
__global__ void __launch_bounds__(256) keep_marked(const int* in, int* out, int* found, int mask, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int value = in[i];
        if ((value & mask) != 0) continue;
        const cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(found, static_cast<int>(active.size()));
        out[active.shfl(base, 0) + active.thread_rank()] = value;
    }
}

/// Running sums along rows, a warp a row.
__global__ void __launch_bounds__(128) running_rows(const int* in, int* out, int rows, int columns) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    const std::size_t first = static_cast<std::size_t>(row) * columns;
    int carry = 0;
    for (int start = 0; start < columns; start += 32) {
        const int i = start + warp.thread_rank(), value = i < columns ? in[first + i] >> 16 : 0;
        const int sum = carry + cg::inclusive_scan(warp, value, cg::plus<int>());
        if (i < columns) out[first + i] = sum;
        carry = warp.shfl(sum, 31);
    }
}

/// Counts by key: lanes of the same key form a group, and its first lane counts for all.
__global__ void __launch_bounds__(256) count_labels(const int* keys, int* counts, int count) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int rounded = (count + 31) / 32 * 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rounded; i += gridDim.x * blockDim.x) {
        const int key = i < count ? keys[i] : -1;
        const auto group = cg::labeled_partition(warp, key);
        if (group.thread_rank() == 0 && key >= 0) atomicAdd(counts + key, static_cast<int>(group.size()));
    }
}

/// Values split in two halves about a pivot: low ones from the front, high ones from the back.
__global__ void __launch_bounds__(256) split(const int* in, int* out, int* ends, int pivot, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int value = in[i];
    const bool low = value < pivot;
    const auto side = cg::binary_partition(cg::coalesced_threads(), low);
    int base = 0;
    if (side.thread_rank() == 0) base = atomicAdd(ends + (low ? 0 : 1), static_cast<int>(side.size()));
    const int place = side.shfl(base, 0) + side.thread_rank();
    out[low ? place : count - 1 - place] = value;
}

void copies() {
    const int rows = 5000, columns = 2500;
    const auto values = random_values<float>(static_cast<std::size_t>(rows) * columns, 1);
    const Array<float> in(values);
    Array<float> out(values.size());
    prepare();
    standardize<<<rows, 256, columns * sizeof(float)>>>(in.data(), out.data(), columns);
    finish("standardize");
    std::vector<double> expected(values.size());
    for (int row = 0; row < rows; ++row) {
        const std::size_t first = static_cast<std::size_t>(row) * columns;
        double sum = 0.0, squares = 0.0;
        for (int c = 0; c < columns; ++c) {
            sum += values[first + c];
            squares += static_cast<double>(values[first + c]) * values[first + c];
        }
        const double mean = sum / columns, scale = 1.0 / std::sqrt(squares / columns - mean * mean + 1e-5);
        for (int c = 0; c < columns; ++c) expected[first + c] = (values[first + c] - mean) * scale;
    }
    check_close(out.values(), expected, 1e-4, "standardize");

    const auto energies = [&](const Array<float>& sums, int vectors, const char* what) {
        finish(what);
        std::vector<double> wanted(sums.size());
        for (int i = 0; i < vectors * 4; ++i)
            wanted[i / 4 % sums.size()] += static_cast<double>(values[i]) * values[i];
        check_close(sums.values(), wanted, 1e-5, what);
        output(what, sums);
    };
    const int vectors = static_cast<int>(values.size() / 4), blocks = 132 * 8;
    const Array<float> sums(blocks * 128), fewer_sums(blocks / 2 * 128);
    const auto* in_vectors = reinterpret_cast<const float4*>(in.data());
    prepare();
    energy<2><<<blocks, 128>>>(in_vectors, sums.data(), vectors);
    energies(sums, vectors, "energy_of_two_stages");
    prepare();
    energy<4><<<blocks / 2, 128>>>(in_vectors, fewer_sums.data(), vectors - 3);
    energies(fewer_sums, vectors - 3, "energy_of_four_stages");

    const int tile = 1024, tiles = (static_cast<int>(values.size()) - 8) / tile;
    const auto smoothed = [&](const char* what) {
        const auto got = out.values();
        for (std::size_t i = 0; i < static_cast<std::size_t>(tiles) * tile; i += 97) {
            double sum = 0.1 * values[i + 4];
            for (int k = 0; k < 9; ++k) sum += 0.1 * values[i + k];
            check(std::fabs(got[i] - sum) < 1e-5, what);
        }
        output(what, got);
    };
    out.zero();
    prepare();
    smooth<4><<<132 * 4, 256>>>(in.data(), out.data(), tiles, (tiles + 132 * 4 - 1) / (132 * 4));
    finish("smooth by four stages");
    smoothed("smooth_by_four_stages");

    out.zero();
    prepare();
    fetch_for_others<<<132 * 5, 160>>>(in.data(), out.data(), static_cast<int>(values.size() / 2048));
    finish("fetch for others");
    const auto got = out.values();
    for (std::size_t i = 0; i < values.size() / 2048 * 2048; i += 89) {
        const double x = values[i];
        check(std::fabs(got[i] - (1.0 + x * (0.5 + x * (0.25 + x * (0.125 - x))))) < 1e-5,
              "fetch for others");
    }
    output("fetch_for_others", got);

    const auto others = random_values<float>(values.size(), 2);
    const Array<float> second(others);
    const int products = static_cast<int>(values.size() / 1536);
    const Array<double> product_sums(products);
    prepare();
    tile_products<<<132 * 6, 256>>>(in.data(), second.data(), product_sums.data(), products);
    finish("tile products");
    std::vector<double> dots(products);
    for (int t = 0; t < products; ++t)
        for (int i = 0; i < 1536; ++i)
            dots[t] += static_cast<double>(values[t * 1536 + i]) * others[t * 1536 + 1535 - i];
    check_close(product_sums.values(), dots, 1e-5, "tile products");
    output("tile_products", product_sums);
}

template <int lanes>
void narrow(const char* name, const Array<int>& in, const std::vector<int>& values, int columns) {
    const int rows = static_cast<int>(values.size()) / columns, each = 256 / lanes;
    const Array<int2> out(rows);
    prepare();
    narrow_rows<lanes><<<(rows + each - 1) / each, 256>>>(in.data(), out.data(), rows, columns);
    finish(name);
    const auto got = out.values();
    bool right = true;
    for (int row = 0; row < rows; ++row) {
        int sum = 0, most = -1;
        for (int c = 0; c < columns; ++c) {
            const int value = values[static_cast<std::size_t>(row) * columns + c] >> 8;
            sum += value;
            most = std::max(most, value);
        }
        right = right && got[row].x == sum && got[row].y == most;
    }
    check(right, name);
    std::vector<int> sums(rows);
    for (int row = 0; row < rows; ++row) sums[row] = got[row].x ^ got[row].y;
    output(name, sums);
}

void sparse() {
    const int rows = 200'003, width = 300'000;
    std::vector<int> starts(rows + 1), columns;
    for (int row = 0; row < rows; ++row) {
        const int length = static_cast<int>(random_bits(3, row) % 41), centre = row + row / 2;
        for (int k = 0; k < length; ++k)
            columns.push_back((centre + static_cast<int>(random_bits(4, columns.size()) % 6000)) % width);
        starts[row + 1] = static_cast<int>(columns.size());
    }
    const auto values = random_values<float>(columns.size(), 5), x = random_values<float>(width, 6);
    const Array<int> start_array(starts), column_array(columns);
    const Array<float> value_array(values), x_array(x), y(rows);
    prepare();
    sparse_rows<8><<<132 * 16, 128>>>(start_array.data(), column_array.data(), value_array.data(),
                                      x_array.data(), y.data(), rows);
    finish("sparse rows");
    std::vector<double> expected(rows);
    for (int row = 0; row < rows; ++row)
        for (int k = starts[row]; k < starts[row + 1]; ++k)
            expected[row] += static_cast<double>(values[k]) * x[columns[k]];
    check_close(y.values(), expected, 1e-5, "sparse rows");
    output("sparse_rows", y);
}

void lanes() {
    const auto values = random_values<int>(9'000'000, 7);
    const int count = static_cast<int>(values.size());
    const Array<int> in(values);
    narrow<4>("rows_of_12", in, values, 12);
    narrow<16>("rows_of_75", in, values, 75);
    narrow<32>("rows_of_250", in, values, 250);
    sparse();

    Array<int> out(count), ends(2);
    prepare();
    keep_marked<<<132 * 8, 256>>>(in.data(), out.data(), ends.data(), 6, count);
    finish("keep marked");
    std::vector<int> expected;
    for (const int value : values)
        if ((value & 6) == 0) expected.push_back(value);
    auto got = out.values();
    check(ends.values()[0] == static_cast<int>(expected.size()), "keep marked");
    got.resize(expected.size());
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    check(got == expected, "keep marked");

    const int columns = 1111, rows = count / columns;
    out.zero();
    prepare();
    running_rows<<<(rows + 3) / 4, 128>>>(in.data(), out.data(), rows, columns);
    finish("running rows");
    got = out.values();
    bool right = true;
    for (int i = 0, sum = 0; i < rows * columns; ++i) {
        sum = i % columns == 0 ? values[i] >> 16 : sum + (values[i] >> 16);
        right = right && got[i] == sum;
    }
    check(right, "running rows");
    output("running_rows", got);

    std::vector<int> keys(3'000'011), wanted(777);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const int a = static_cast<int>(random_bits(8, i) % 777),
                  b = static_cast<int>(random_bits(9, i) % 777);
        keys[i] = a * b / 777;
        ++wanted[keys[i]];
    }
    const Array<int> key_array(keys), counts(wanted.size());
    prepare();
    count_labels<<<132 * 4, 256>>>(key_array.data(), counts.data(), static_cast<int>(keys.size()));
    finish("count labels");
    check(counts.values() == wanted, "count labels");
    output("count_labels", counts);

    ends.zero();
    const int pivot = -300'000'000, some = 4'000'001;
    prepare();
    split<<<(some + 255) / 256, 256>>>(in.data(), out.data(), ends.data(), pivot, some);
    finish("split");
    got = out.values();
    got.resize(some);
    const int low = ends.values()[0];
    right = std::all_of(got.begin(), got.begin() + low, [&](int value) { return value < pivot; }) &&
            std::all_of(got.begin() + low, got.end(), [&](int value) { return value >= pivot; });
    std::sort(got.begin(), got.end());
    expected.assign(values.begin(), values.begin() + some);
    std::sort(expected.begin(), expected.end());
    check(right && got == expected, "split");
    output("split", got);
}

void body() {
    copies();
    lanes();
}

int main() {
    return run(body);
}
