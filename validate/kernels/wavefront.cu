// Edit distances by dynamic programming, where a cell depends on those above, to the left and between: a pair
// of strings a thread, row by row; a pair a block along anti-diagonals, in global and in shared memory; a
// pair a warp by shuffles; longer pairs in tiles, a launch for each diagonal of tiles; and one long pair in
// one launch whose tiles wait for each other by flags.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int longest = 64;  // of the strings that are not cut into tiles
constexpr int width = longest + 1;
constexpr int threads = 96;
constexpr int tile_size = 64;
constexpr unsigned all_lanes = 0xffffffffU;

/// Pairs of strings: string i of `from` has from_lengths[i] letters and begins at i * longest.
struct Pairs {
    const unsigned char *from, *to;
    const int *from_lengths, *to_lengths;
    int count;
};

__host__ __device__ inline int next_cell(int above, int left, int between, bool same) {
    const int inserted = (above < left ? above : left) + 1, kept = between + (same ? 0 : 1);
    return inserted < kept ? inserted : kept;
}

/// The row lies in local memory.
__global__ void pair_a_thread(Pairs pairs, int* distances) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs.count) {
        return;
    }
    const unsigned char* from = pairs.from + pair * longest;
    const unsigned char* to = pairs.to + pair * longest;
    const int rows = pairs.from_lengths[pair], columns = pairs.to_lengths[pair];
    int cells[width];
    for (int column = 0; column <= columns; ++column) {
        cells[column] = column;
    }
    for (int row = 1; row <= rows; ++row) {
        int between = row - 1, left = row;
        for (int column = 1; column <= columns; ++column) {
            const int above = cells[column];
            left = next_cell(above, left, between, from[row - 1] == to[column - 1]);
            between = above;
            cells[column] = left;
        }
    }
    distances[pair] = cells[columns];
}

/// The whole table is kept, anti-diagonal after anti-diagonal. Thread r has row r.
__global__ void diagonals_in_global(Pairs pairs, unsigned short* tables, int* distances) {
    const int pair = blockIdx.x, row = threadIdx.x;
    const int rows = pairs.from_lengths[pair], columns = pairs.to_lengths[pair];
    unsigned short* table = tables + pair * 2 * width * width;
    for (int diagonal = 0; diagonal <= rows + columns; ++diagonal) {
        const int column = diagonal - row;
        if (row <= rows && column >= 0 && column <= columns) {
            unsigned short* cell = table + diagonal * width + row;
            if (row > 0 && column > 0) {
                const bool same =
                    pairs.from[pair * longest + row - 1] == pairs.to[pair * longest + column - 1];
                *cell = next_cell(cell[-width - 1], cell[-width], cell[-2 * width - 1], same);
            } else {
                *cell = diagonal;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        distances[pair] = table[(rows + columns) * width + rows];
    }
}

/// Three anti-diagonals are kept.
__global__ void diagonals_in_shared(Pairs pairs, int* distances) {
    __shared__ int cells[3][width];
    __shared__ unsigned char to[longest];
    const int pair = blockIdx.x, row = threadIdx.x;
    const int rows = pairs.from_lengths[pair], columns = pairs.to_lengths[pair];
    const int letter = row > 0 && row <= rows ? pairs.from[pair * longest + row - 1] : 0;
    if (threadIdx.x < columns) {
        to[threadIdx.x] = pairs.to[pair * longest + threadIdx.x];
    }
    __syncthreads();
    int now = 0, last = 2, before_last = 1;
    for (int diagonal = 0; diagonal <= rows + columns; ++diagonal) {
        const int column = diagonal - row;
        if (row <= rows && column >= 0 && column <= columns) {
            int cell = diagonal;
            if (row > 0 && column > 0) {
                cell = next_cell(cells[last][row - 1], cells[last][row], cells[before_last][row - 1],
                                 letter == to[column - 1]);
            }
            cells[now][row] = cell;
        }
        __syncthreads();
        const int oldest = before_last;
        before_last = last;
        last = now;
        now = oldest;
    }
    if (threadIdx.x == 0) {
        distances[pair] = cells[last][rows];
    }
}

/// Lane l has column l of a strip of 32 columns and takes its left cell from the lane before, which computed
/// it one step earlier. The last column of a strip waits in shared memory for the next strip.
__global__ void pair_a_warp(Pairs pairs, int* distances) {
    __shared__ int borders[threads / 32][width];
    const int lane = threadIdx.x % 32, pair = (blockIdx.x * threads + threadIdx.x) / 32;
    if (pair >= pairs.count) {
        return;
    }
    int* border = borders[threadIdx.x / 32];
    const unsigned char* from = pairs.from + pair * longest;
    const int rows = pairs.from_lengths[pair], columns = pairs.to_lengths[pair];
    for (int row = lane; row <= rows; row += 32) {
        border[row] = row;
    }
    __syncwarp();
    int cell = 0;
    for (int first = 1; first <= columns; first += 32) {
        const int column = first + lane;
        const int letter = column <= columns ? pairs.to[pair * longest + column - 1] : 0;
        cell = column;
        int between = column - 1;
        for (int step = 1; step < rows + 32; ++step) {
            const int row = step - lane;
            int left = __shfl_up_sync(all_lanes, cell, 1);
            if (row >= 1 && row <= rows) {
                if (lane == 0) {
                    left = border[row];
                }
                cell = next_cell(cell, left, between, from[row - 1] == letter);
                between = left;
                if (lane == 31) {
                    border[row] = cell;
                }
            }
        }
        __syncwarp();
    }
    if (lane == (columns - 1) % 32) {
        distances[pair] = cell;
    }
}

/// A pair of strings in tiles. `bottoms` has, for each row of tiles and one before, the cells of its last
/// row; `rights` the same for columns. The cells of row 0 and column 0 are given.
struct Tiled {
    const unsigned char *from, *to;
    int rows, columns;
    int *bottoms, *rights;
};

__host__ __device__ inline int tiles_of(int length) {
    return (length + tile_size - 1) / tile_size;
}

/// Thread t has row t + 1 of the tile; row 0 and column 0 are those of the neighbours.
__device__ void compute_tile(const Tiled& pair, int tile_row, int tile_column) {
    // With two more columns than rows the cells of an anti-diagonal lie in different banks.
    __shared__ int cells[tile_size + 1][tile_size + 2];
    __shared__ unsigned char to[tile_size];
    const int first_row = tile_row * tile_size, first_column = tile_column * tile_size;
    const int rows = min(tile_size, pair.rows - first_row);
    const int columns = min(tile_size, pair.columns - first_column);
    const int* tops = pair.bottoms + tile_row * (pair.columns + 1) + first_column;
    const int* lefts = pair.rights + tile_column * (pair.rows + 1) + first_row;
    int* bottoms = pair.bottoms + (tile_row + 1) * (pair.columns + 1) + first_column;
    int* rights = pair.rights + (tile_column + 1) * (pair.rows + 1) + first_row;
    const int row = threadIdx.x + 1;
    int letter = 0;
    if (row <= rows) {
        letter = pair.from[first_row + row - 1];
        // Another block wrote them: past the L1.
        cells[row][0] = __ldcg(lefts + row);
    }
    if (row <= columns) {
        to[row - 1] = pair.to[first_column + row - 1];
        cells[0][row] = __ldcg(tops + row);
    }
    if (row == 1) {
        cells[0][0] = __ldcg(tops);
    }
    __syncthreads();
    for (int diagonal = 2; diagonal <= rows + columns; ++diagonal) {
        const int column = diagonal - row;
        if (row <= rows && column >= 1 && column <= columns) {
            cells[row][column] = next_cell(cells[row - 1][column], cells[row][column - 1],
                                           cells[row - 1][column - 1], letter == to[column - 1]);
        }
        __syncthreads();
    }
    if (row <= rows) {
        rights[row] = cells[row][columns];
    }
    if (row <= columns) {
        bottoms[row] = cells[rows][row];
    }
}

/// One diagonal of tiles of many pairs of equal lengths.
__global__ void tile_diagonal(Tiled first, int diagonal, int first_row) {
    const int pair = blockIdx.y, tile_row = first_row + blockIdx.x;
    first.from += pair * first.rows;
    first.to += pair * first.columns;
    first.bottoms += pair * (tiles_of(first.rows) + 1) * (first.columns + 1);
    first.rights += pair * (tiles_of(first.columns) + 1) * (first.rows + 1);
    compute_tile(first, tile_row, diagonal - tile_row);
}

/// Blocks take tiles row by row, so that the tiles they wait for are taken already.
__global__ void tile_flags(Tiled pair, volatile int* done, int* next_tile) {
    __shared__ int taken;
    if (threadIdx.x == 0) {
        taken = atomicAdd(next_tile, 1);
    }
    __syncthreads();
    const int tile = taken, tile_columns = tiles_of(pair.columns);
    const int tile_row = tile / tile_columns, tile_column = tile % tile_columns;
    if (threadIdx.x == 0) {
        while (tile_row > 0 && done[tile - tile_columns] == 0) {
        }
        while (tile_column > 0 && done[tile - 1] == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    compute_tile(pair, tile_row, tile_column);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        done[tile] = 1;
    }
}

int distance_of(const unsigned char* from, int rows, const unsigned char* to, int columns) {
    std::vector<int> cells(columns + 1);
    for (int column = 0; column <= columns; ++column) {
        cells[column] = column;
    }
    for (int row = 1; row <= rows; ++row) {
        int between = row - 1, left = row;
        for (int column = 1; column <= columns; ++column) {
            const int above = cells[column];
            left = next_cell(above, left, between, from[row - 1] == to[column - 1]);
            between = above;
            cells[column] = left;
        }
    }
    return cells[columns];
}

/// Letters of an alphabet of four.
std::vector<unsigned char> random_letters(std::size_t count, std::uint64_t seed) {
    auto letters = random_values<unsigned char>(count, seed);
    for (unsigned char& letter : letters) {
        letter = 'a' + letter % 4;
    }
    return letters;
}

void short_pairs() {
    for (const int count : {101, 1001}) {
        const auto from = random_letters(count * longest, 1), to = random_letters(count * longest, 2);
        std::vector<int> from_lengths(count), to_lengths(count), expected(count);
        for (int i = 0; i < count; ++i) {
            from_lengths[i] = longest - random_bits(3, i) % 32;
            to_lengths[i] = longest - random_bits(4, i) % 32;
            expected[i] = distance_of(&from[i * longest], from_lengths[i], &to[i * longest], to_lengths[i]);
        }
        const Array<unsigned char> from_array(from), to_array(to);
        const Array<int> from_lengths_array(from_lengths), to_lengths_array(to_lengths);
        const Pairs pairs = {from_array.data(), to_array.data(), from_lengths_array.data(),
                             to_lengths_array.data(), count};
        Array<int> distances(count);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto result = distances.values();
            check(result == expected, what);
            output(what, result);
            distances.zero();
        };
        prepare();
        pair_a_thread<<<(count + 63) / 64, 64>>>(pairs, distances.data());
        verify("pair_a_thread");
        const Array<unsigned short> tables(static_cast<std::size_t>(count) * 2 * width * width);
        prepare();
        diagonals_in_global<<<count, threads>>>(pairs, tables.data(), distances.data());
        verify("diagonals_in_global");
        prepare();
        diagonals_in_shared<<<count, threads>>>(pairs, distances.data());
        verify("diagonals_in_shared");
        constexpr int warps = threads / 32;
        prepare();
        pair_a_warp<<<(count + warps - 1) / warps, threads>>>(pairs, distances.data());
        verify("pair_a_warp");
    }
}

/// Pairs of equal lengths with the borders of their tiles.
struct TiledPairs {
    TiledPairs(int pairs, int rows, int columns)
        : count(pairs),
          from(random_letters(pairs * rows, 5)),
          to(random_letters(pairs * columns, 6)),
          from_array(from),
          to_array(to),
          bottoms(pairs * (tiles_of(rows) + 1) * (columns + 1)),
          rights(pairs * (tiles_of(columns) + 1) * (rows + 1)),
          first{from_array.data(), to_array.data(), rows, columns, bottoms.data(), rights.data()} {
        std::vector<int> bottom_cells(bottoms.size()), right_cells(rights.size());
        for (int pair = 0; pair < pairs; ++pair) {
            int* bottom = &bottom_cells[pair * bottoms.size() / pairs];
            int* right = &right_cells[pair * rights.size() / pairs];
            for (int column = 0; column <= columns; ++column) {
                bottom[column] = column;
            }
            for (int row = 0; row <= rows; ++row) {
                right[row] = row;
            }
            for (int tile_row = 1; tile_row <= tiles_of(rows); ++tile_row) {
                bottom[tile_row * (columns + 1)] = std::min(rows, tile_row * tile_size);
            }
        }
        bottoms.copy_from(bottom_cells);
        rights.copy_from(right_cells);
    }
    void verify(const char* what) const {
        const auto bottom_cells = bottoms.values();
        std::vector<int> result(count), expected(count);
        for (int pair = 0; pair < count; ++pair) {
            result[pair] = bottom_cells[(pair + 1) * bottoms.size() / count - 1];
            expected[pair] =
                distance_of(&from[pair * first.rows], first.rows, &to[pair * first.columns], first.columns);
        }
        check(result == expected, what);
        output(what, bottom_cells);
    }

    int count;
    std::vector<unsigned char> from, to;
    Array<unsigned char> from_array, to_array;
    Array<int> bottoms, rights;
    Tiled first;
};

void body() {
    short_pairs();

    const TiledPairs pairs(70, 150, 201);
    const int tile_rows = tiles_of(pairs.first.rows), tile_columns = tiles_of(pairs.first.columns);
    for (int diagonal = 0; diagonal < tile_rows + tile_columns - 1; ++diagonal) {
        const int first_row = std::max(0, diagonal - tile_columns + 1);
        const int last_row = std::min(diagonal, tile_rows - 1);
        prepare();
        tile_diagonal<<<dim3(last_row - first_row + 1, pairs.count), tile_size>>>(pairs.first, diagonal,
                                                                                  first_row);
        finish("tile_diagonal");
    }
    pairs.verify("tile_diagonal");

    const TiledPairs pair(1, 1500, 1900);
    const int tiles = tiles_of(pair.first.rows) * tiles_of(pair.first.columns);
    const Array<int> done(tiles), next_tile(1);
    prepare();
    tile_flags<<<tiles, tile_size>>>(pair.first, done.data(), next_tile.data());
    finish("tile_flags");
    pair.verify("tile_flags");
}

int main() {
    return run(body);
}
