// Blocks that wait for their neighbour's flag: a pipeline in which block s applies stage s to one chunk after
// another, and the tiles of an edit distance, column by column, each after the tile to its left.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 128;

__device__ void wait_until(const volatile int* flag, int least) {
    if (threadIdx.x == 0) {
        while (*flag < least) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ void announce(volatile int* flag, int value) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *flag = value;
    }
}

/// Stage s reads what stage s - 1 wrote: chunk by chunk, in place.
__global__ void pipeline(unsigned* values, int chunk, int chunks, int* done) {
    const int stage = blockIdx.x;
    for (int c = 0; c < chunks; ++c) {
        if (stage > 0) {
            wait_until(done + stage - 1, c + 1);
        }
        for (int i = threadIdx.x; i < chunk; i += threads) {
            unsigned* const place = values + c * chunk + i;
            __stcg(place, __ldcg(place) * 3U + stage);
        }
        announce(done + stage, c + 1);
    }
}

/// Tiles of `threads` columns and `tile_rows` rows. Thread t holds column t; rows are skewed inside a tile.
/// The last column of a tile goes to the block on the right.
constexpr int tile_rows = 32;
__global__ void edit_distance(const unsigned char* left, const unsigned char* right, int rows, int* edges,
                              int* last_row, int* done) {
    __shared__ int current[2][threads + 1];
    const int block = blockIdx.x, t = threadIdx.x, column = block * threads + t, stride = rows + 1;
    const int* const edge_in = edges + block * stride;
    int* const edge_out = edges + (block + 1) * stride;
    const unsigned char own = right[column];
    int above = column + 1, above_left = column;
    if (t == threads - 1) {
        edge_out[0] = column + 1;
    }
    for (int tile = 0; tile * tile_rows < rows; ++tile) {
        if (block > 0) {
            wait_until(done + block - 1, tile + 1);
        }
        for (int step = 0; step < tile_rows + threads - 1; ++step) {
            const int row = tile * tile_rows + step - t;
            int value = 0;
            const bool active = step >= t && step - t < tile_rows;
            if (active) {
                const int before =
                    t > 0 ? current[(step + 1) % 2][t] : (block > 0 ? __ldcg(edge_in + row + 1) : row + 1);
                if (t == 0) {
                    above_left = block > 0 ? __ldcg(edge_in + row) : row;
                }
                const int changed = above_left + (left[row] != own);
                value = min(changed, min(above, before) + 1);
                above_left = before;
                above = value;
                if (t == threads - 1) {
                    __stcg(edge_out + row + 1, value);
                }
            }
            current[step % 2][t + 1] = value;
            __syncthreads();
        }
        announce(done + block, tile + 1);
    }
    last_row[column] = above;
}

void body() {
    Array<int> done(1024);
    for (const int blocks : {4, 32, 128}) {
        for (const int chunk : {128, 4096}) {
            const int chunks = 48;
            const auto numbers = random_values<unsigned>(chunk * chunks, 5);
            auto expected = numbers;
            for (unsigned& value : expected) {
                for (int stage = 0; stage < blocks; ++stage) {
                    value = value * 3U + stage;
                }
            }
            Array<unsigned> values(numbers);
            done.zero();
            prepare();
            pipeline<<<blocks, threads>>>(values.data(), chunk, chunks, done.data());
            finish("pipeline");
            const auto result = values.values();
            check(result == expected, "pipeline");
            output("pipeline", result);
        }
    }
    for (const int blocks : {2, 16, 64}) {
        const int rows = blocks == 64 ? 1024 : 512, columns = blocks * threads;
        auto left = random_values<unsigned char>(rows, 6), right = random_values<unsigned char>(columns, 7);
        for (auto* text : {&left, &right}) {
            for (unsigned char& letter : *text) {
                letter %= 4;
            }
        }
        std::vector<int> above(columns + 1), expected(columns);
        for (int c = 0; c <= columns; ++c) {
            above[c] = c;
        }
        for (int r = 0; r < rows; ++r) {
            int diagonal = above[0];
            above[0] = r + 1;
            for (int c = 1; c <= columns; ++c) {
                const int value =
                    std::min(diagonal + (left[r] != right[c - 1]), std::min(above[c], above[c - 1]) + 1);
                diagonal = above[c];
                above[c] = value;
            }
        }
        expected.assign(above.begin() + 1, above.end());
        const Array<unsigned char> from(left), to(right);
        Array<int> edges((blocks + 1) * (rows + 1)), last_row(columns);
        done.zero();
        prepare();
        edit_distance<<<blocks, threads>>>(from.data(), to.data(), rows, edges.data(), last_row.data(),
                                           done.data());
        finish("edit_distance");
        const auto result = last_row.values();
        check(result == expected, "edit_distance");
        output("edit_distance", result);
    }
}

int main() {
    return run(body);
}
