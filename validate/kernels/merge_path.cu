// Merges two sorted arrays: each element looks for its place in the other array, each thread merges a
// piece of the result that the merge path gives it, and each block does so within tiles in shared
// memory, whose borders it finds itself or a launch before.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, items_per_thread = 7, tile_size = threads * items_per_thread;

/// Two sorted arrays; of equal elements those of the left one come first.
struct Pair {
    const unsigned* left;
    const unsigned* right;
    int left_count, right_count;

    __host__ __device__ int count() const { return left_count + right_count; }
};

/// How many elements are less than the value, or not greater.
__device__ int lower_bound(const unsigned* values, int count, unsigned value) {
    int begin = 0;
    while (begin < count) {
        const int middle = (begin + count) / 2;
        if (values[middle] < value) {
            begin = middle + 1;
        } else {
            count = middle;
        }
    }
    return begin;
}
__device__ int upper_bound(const unsigned* values, int count, unsigned value) {
    int begin = 0;
    while (begin < count) {
        const int middle = (begin + count) / 2;
        if (values[middle] <= value) {
            begin = middle + 1;
        } else {
            count = middle;
        }
    }
    return begin;
}

/// Each element's place is its own index plus its rank in the other array.
__global__ void rank_of_each(Pair pair, unsigned* merged) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pair.left_count) {
        merged[i + lower_bound(pair.right, pair.right_count, pair.left[i])] = pair.left[i];
    } else if (i < pair.count()) {
        const int own = i - pair.left_count;
        merged[own + upper_bound(pair.left, pair.left_count, pair.right[own])] = pair.right[own];
    }
}

/// Of the first `diagonal` elements of the result, how many come from the left array: the point where the
/// merge path crosses the diagonal.
__device__ int crossing(const Pair& pair, int diagonal) {
    int begin = max(0, diagonal - pair.right_count), end = min(diagonal, pair.left_count);
    while (begin < end) {
        const int middle = (begin + end) / 2;
        if (pair.left[middle] <= pair.right[diagonal - 1 - middle]) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/// Merges from a point of the path on. Places past the end get what is left of either array, or nothing of
/// use.
__device__ void merge_items(const Pair& pair, int left, int right, unsigned (&items)[items_per_thread]) {
    unsigned left_value = left < pair.left_count ? pair.left[left] : 0;
    unsigned right_value = right < pair.right_count ? pair.right[right] : 0;
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const bool from_left =
            right >= pair.right_count || (left < pair.left_count && left_value <= right_value);
        if (from_left) {
            items[k] = left_value;
            ++left;
            left_value = left < pair.left_count ? pair.left[left] : 0;
        } else {
            items[k] = right_value;
            ++right;
            right_value = right < pair.right_count ? pair.right[right] : 0;
        }
    }
}

/// A thread for each seven elements of the result, all in global memory.
__global__ void piece_of_each_thread(Pair pair, unsigned* merged) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * items_per_thread;
    if (first >= pair.count()) {
        return;
    }
    const int left = crossing(pair, first);
    unsigned items[items_per_thread];
    merge_items(pair, left, first - left, items);
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        if (first + k < pair.count()) {
            merged[first + k] = items[k];
        }
    }
}

/// Merges a tile of the result: loads both parts into shared memory, merges there, and writes in order.
__device__ void merge_tile(const Pair& pair, int first, int left_begin, int left_end, unsigned* merged) {
    __shared__ unsigned tile[tile_size];
    const int size = min(tile_size, pair.count() - first);
    const int left_count = left_end - left_begin, right_begin = first - left_begin;
    for (int i = threadIdx.x; i < size; i += threads) {
        tile[i] = i < left_count ? pair.left[left_begin + i] : pair.right[right_begin + i - left_count];
    }
    __syncthreads();
    const Pair parts{tile, tile + left_count, left_count, size - left_count};
    const int diagonal = min(static_cast<int>(threadIdx.x) * items_per_thread, size);
    const int left = crossing(parts, diagonal);
    unsigned items[items_per_thread];
    merge_items(parts, left, diagonal - left, items);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        if (diagonal + k < size) {
            tile[diagonal + k] = items[k];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += threads) {
        merged[first + i] = tile[i];
    }
}

/// Two threads find the borders of the block's tile, while all others wait.
__global__ void tile_of_each_block(Pair pair, unsigned* merged) {
    __shared__ int borders[2];
    const int first = blockIdx.x * tile_size;
    if (threadIdx.x < 2) {
        borders[threadIdx.x] =
            crossing(pair, min(first + static_cast<int>(threadIdx.x) * tile_size, pair.count()));
    }
    __syncthreads();
    merge_tile(pair, first, borders[0], borders[1], merged);
}

/// All threads of a warp look for a border at once: each tests one of 32 points, so that each step makes the
/// range 32 times shorter.
__device__ int crossing_by_warp(const Pair& pair, int diagonal) {
    int begin = max(0, diagonal - pair.right_count), end = min(diagonal, pair.left_count);
    const int lane = threadIdx.x % 32;
    while (begin < end) {
        const int step = (end - begin + 31) / 32, middle = begin + lane * step;
        const bool before = middle < end && pair.left[middle] <= pair.right[diagonal - 1 - middle];
        // The points before the path are the first ones.
        const int passed = __popc(__ballot_sync(0xffffffffU, before));
        end = min(end, begin + passed * step);
        begin = passed == 0 ? begin : begin + (passed - 1) * step + 1;
    }
    return begin;
}

__global__ void tile_found_by_warps(Pair pair, unsigned* merged) {
    __shared__ int borders[2];
    const int first = blockIdx.x * tile_size, warp = threadIdx.x / 32;
    if (warp < 2) {
        borders[warp] = crossing_by_warp(pair, min(first + warp * tile_size, pair.count()));
    }
    __syncthreads();
    merge_tile(pair, first, borders[0], borders[1], merged);
}

/// A thread for each border between tiles.
__global__ void find_borders(Pair pair, int* borders, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        borders[i] = crossing(pair, min(i * tile_size, pair.count()));
    }
}

__global__ void tile_between_borders(Pair pair, const int* borders, unsigned* merged) {
    merge_tile(pair, blockIdx.x * tile_size, borders[blockIdx.x], borders[blockIdx.x + 1], merged);
}

void body() {
    struct Case {
        int left, right;
    };
    for (const auto& [left_count, right_count] : {Case{70001, 33333}, Case{1000003, 1248007}}) {
        auto left_values = random_values<unsigned>(left_count, 1);
        auto right_values = random_values<unsigned>(right_count, 2);
        // Fewer different values than elements: many are equal.
        for (unsigned& value : left_values) {
            value >>= 13;
        }
        for (unsigned& value : right_values) {
            value = (value >> 13) / 3 * 2;
        }
        std::sort(left_values.begin(), left_values.end());
        std::sort(right_values.begin(), right_values.end());
        const int count = left_count + right_count;
        std::vector<unsigned> expected(count);
        std::merge(left_values.begin(), left_values.end(), right_values.begin(), right_values.end(),
                   expected.begin());
        const int tiles = (count + tile_size - 1) / tile_size;
        // How many elements of the left array come before each tile.
        std::vector<int> expected_borders;
        for (int i = 0, from_left = 0; i <= count; ++i) {
            if (i % tile_size == 0 || i == count) {
                expected_borders.push_back(from_left);
            }
            const int from_right = i - from_left;
            if (from_left < left_count &&
                (from_right == right_count || left_values[from_left] <= right_values[from_right])) {
                ++from_left;
            }
        }
        const Array<unsigned> left(left_values), right(right_values);
        const Pair pair{left.data(), right.data(), left_count, right_count};
        Array<unsigned> merged(count);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto found = merged.values();
            check(found == expected, what);
            output(what, found);
            merged.zero();
        };
        prepare();
        rank_of_each<<<(count + threads - 1) / threads, threads>>>(pair, merged.data());
        verify("rank_of_each");
        prepare();
        piece_of_each_thread<<<tiles, threads>>>(pair, merged.data());
        verify("piece_of_each_thread");
        prepare();
        tile_of_each_block<<<tiles, threads>>>(pair, merged.data());
        verify("tile_of_each_block");
        prepare();
        tile_found_by_warps<<<tiles, threads>>>(pair, merged.data());
        verify("tile_found_by_warps");
        const Array<int> borders(tiles + 1);
        prepare();
        find_borders<<<(tiles + 1 + threads - 1) / threads, threads>>>(pair, borders.data(), tiles + 1);
        finish("find_borders");
        const auto found_borders = borders.values();
        check(found_borders == expected_borders, "find_borders");
        output("find_borders", found_borders);
        prepare();
        tile_between_borders<<<tiles, threads>>>(pair, borders.data(), merged.data());
        verify("tile_between_borders");
    }
}

int main() {
    return run(body);
}
