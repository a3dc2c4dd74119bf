// A sparse matrix by rows turned into one by columns: columns counted, offsets scanned, entries scattered; by
// a thread a row, by a warp a row, and by a thread an entry that finds its row by search.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void count_columns(const int* columns, int* counts, int entries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < entries) atomicAdd(&counts[columns[i]], 1);
}

/// Counts of a part of the entries in shared memory, for few columns.
__global__ void count_columns_shared(const int* columns, int* counts, int entries, int width) {
    extern __shared__ int own[];
    for (int i = threadIdx.x; i < width; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x)
        atomicAdd(&own[columns[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
}

/// One CTA scans all counts, a run of its own for each thread.
__global__ void scan_counts(const int* counts, int* offsets, int width) {
    __shared__ int sums[1024];
    const int run = (width + 1023) / 1024, first = threadIdx.x * run, last = min(width, first + run);
    int sum = 0;
    for (int i = first; i < last; ++i) sum += counts[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        const int other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += other;
        __syncthreads();
    }
    int before = threadIdx.x == 0 ? 0 : sums[threadIdx.x - 1];
    for (int i = first; i < last; ++i) {
        offsets[i] = before;
        before += counts[i];
    }
    if (threadIdx.x == 1023) offsets[width] = sums[1023];
}

__global__ void scatter_by_row(const int* starts, const int* columns, const float* values, int* cursors,
                               int* rows, float* out, int height) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= height) return;
    for (int i = starts[row]; i < starts[row + 1]; ++i) {
        const int place = atomicAdd(&cursors[columns[i]], 1);
        rows[place] = row;
        out[place] = values[i];
    }
}

__global__ void scatter_by_warp(const int* starts, const int* columns, const float* values, int* cursors,
                                int* rows, float* out, int height) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= height) return;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) {
        const int place = atomicAdd(&cursors[columns[i]], 1);
        rows[place] = row;
        out[place] = values[i];
    }
}

/// Both words of an entry in one store of eight bytes.
__global__ void scatter_by_entry(const int* starts, const int* columns, const float* values, int* cursors,
                                 float2* pairs, int height, int entries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= entries) return;
    int low = 0, high = height;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (starts[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    pairs[atomicAdd(&cursors[columns[i]], 1)] = {__int_as_float(low), values[i]};
}

void all_of(int height, int width, int most) {
    std::vector<int> starts(height + 1, 0), columns;
    for (int row = 0; row < height; ++row) {
        const int count = 1 + static_cast<int>(random_bits(1, row) % static_cast<unsigned>(most));
        for (int i = 0; i < count; ++i)
            columns.push_back(static_cast<int>(random_bits(2, columns.size()) % width));
        starts[row + 1] = static_cast<int>(columns.size());
    }
    const int entries = static_cast<int>(columns.size());
    const Array<int> start_array(starts), column_array(columns);
    const Array<float> values(random_values<float>(entries, 3));
    Array<int> counts(width), offsets(width + 1), rows(entries);
    Array<float> out(entries);
    Array<float2> pairs(entries);
    const std::string name = std::to_string(height);
    prepare();
    count_columns<<<(entries + 255) / 256, 256>>>(column_array.data(), counts.data(), entries);
    finish("count");
    output(("counts_" + name).c_str(), counts);
    if (width <= 8192) {
        counts.zero();
        prepare();
        count_columns_shared<<<264, 512, width * sizeof(int)>>>(column_array.data(), counts.data(), entries,
                                                                width);
        finish("count shared");
    }
    prepare();
    scan_counts<<<1, 1024>>>(counts.data(), offsets.data(), width);
    finish("scan");
    output(("offsets_" + name).c_str(), offsets);
    Array<int> cursors(offsets.values());
    prepare();
    scatter_by_row<<<(height + 127) / 128, 128>>>(start_array.data(), column_array.data(), values.data(),
                                                  cursors.data(), rows.data(), out.data(), height);
    finish("by row");
    output(("rows_" + name).c_str(), rows, true);
    cursors.copy_from(offsets.values());
    prepare();
    scatter_by_warp<<<(height + 7) / 8, 256>>>(start_array.data(), column_array.data(), values.data(),
                                               cursors.data(), rows.data(), out.data(), height);
    finish("by warp");
    cursors.copy_from(offsets.values());
    prepare();
    scatter_by_entry<<<(entries + 255) / 256, 256>>>(start_array.data(), column_array.data(), values.data(),
                                                     cursors.data(), pairs.data(), height, entries);
    finish("by entry");
    output(("values_" + name).c_str(), out, true);
}

void body() {
    all_of(100000, 100000, 31);
    all_of(20000, 5000, 200);
    all_of(3000, 40000, 1000);
}

int main() {
    return run(body);
}
