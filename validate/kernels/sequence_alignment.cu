// Aligns sequences of four letters: one long pair by diagonals of shared tiles, many short pairs by a thread
// each (row in registers or in local memory), and pairs by a warp each, whose lanes pass scores on by
// shuffles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Letter = unsigned char;

constexpr int gap = 2;

__host__ __device__ inline int best(int corner, int above, int left, Letter a, Letter b) {
    const int match = corner + (a == b ? 5 : -3), skip = (above > left ? above : left) - gap;
    return match > skip ? match : skip;
}

/// One diagonal of tiles of the matrix of scores, which has a row and a column of borders.
template <int tile>
__global__ void align_tiles(const Letter* down, const Letter* right, int* scores, int length, int diagonal,
                            int first) {
    __shared__ int part[tile + 1][tile + 1];
    __shared__ Letter down_part[tile], right_part[tile];
    const int top = (first + blockIdx.x) * tile, left = (diagonal - first - blockIdx.x) * tile;
    const int t = threadIdx.x, pitch = length + 1;
    down_part[t] = down[top + t];
    right_part[t] = right[left + t];
    part[0][t + 1] = scores[top * pitch + left + t + 1];
    part[t + 1][0] = scores[(top + t + 1) * pitch + left];
    if (t == 0) part[0][0] = scores[top * pitch + left];
    __syncthreads();
    for (int step = 0; step < 2 * tile - 1; ++step) {
        const int row = t, column = step - t;
        if (column >= 0 && column < tile) {
            part[row + 1][column + 1] = best(part[row][column], part[row][column + 1], part[row + 1][column],
                                             down_part[row], right_part[column]);
        }
        __syncthreads();
    }
    for (int row = 1; row <= tile; ++row) scores[(top + row) * pitch + left + t + 1] = part[row][t + 1];
}

/// Letter i of pair p is at i * pairs + p. The row of scores stays in registers.
template <int length>
__global__ void align_in_registers(const Letter* down, const Letter* right, int* results, int pairs) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    int row[length + 1];
    Letter letters[length];
#pragma unroll
    for (int j = 0; j <= length; ++j) row[j] = -gap * j;
#pragma unroll
    for (int j = 0; j < length; ++j) letters[j] = right[j * pairs + p];
    for (int i = 0; i < length; ++i) {
        const Letter letter = down[i * pairs + p];
        int corner = row[0];
        row[0] = -gap * (i + 1);
#pragma unroll
        for (int j = 0; j < length; ++j) {
            const int above = row[j + 1];
            row[j + 1] = best(corner, above, row[j], letter, letters[j]);
            corner = above;
        }
    }
    results[p] = row[length];
}

/// The same with a length known at the launch: the row lies in local memory.
__global__ void align_in_local(const Letter* down, const Letter* right, int* results, int pairs, int length) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    int row[128];
    for (int j = 0; j < length; ++j) row[j] = -gap * (j + 1);
    int last = 0;
    for (int i = 0; i < length; ++i) {
        const Letter letter = down[i * pairs + p];
        int corner = -gap * i, left = -gap * (i + 1);
        for (int j = 0; j < length; ++j) {
            const int above = row[j];
            left = best(corner, above, left, letter, right[j * pairs + p]);
            row[j] = left;
            corner = above;
        }
        last = left;
    }
    results[p] = last;
}

/// A warp a pair: lane j has column j of 32 and works on row step - j; letters of a pair are consecutive.
__global__ void align_by_warps(const Letter* down, const Letter* right, int* results, int pairs, int length) {
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (p >= pairs) return;
    const Letter mine = right[p * 32 + lane];
    int score = -gap * (lane + 1), corner = -gap * lane;
    for (int step = 0; step < length + 31; ++step) {
        int left = __shfl_up_sync(0xffffffffU, score, 1);
        const int row = step - lane;
        if (row >= 0 && row < length) {
            if (lane == 0) left = -gap * (row + 1);
            score = best(corner, score, left, down[p * length + row], mine);
            corner = left;
        }
    }
    if (lane == 31) results[p] = score;
}

/// The whole matrix of scores of two sequences.
std::vector<int> matrix(const std::vector<Letter>& down, const std::vector<Letter>& right) {
    const std::size_t pitch = right.size() + 1;
    std::vector<int> scores(pitch * (down.size() + 1));
    for (std::size_t j = 0; j < pitch; ++j) scores[j] = -gap * static_cast<int>(j);
    for (std::size_t i = 1; i <= down.size(); ++i) {
        scores[i * pitch] = -gap * static_cast<int>(i);
        for (std::size_t j = 1; j < pitch; ++j) {
            scores[i * pitch + j] = best(scores[(i - 1) * pitch + j - 1], scores[(i - 1) * pitch + j],
                                         scores[i * pitch + j - 1], down[i - 1], right[j - 1]);
        }
    }
    return scores;
}

std::vector<Letter> letters(std::size_t count, int seed) {
    auto values = random_values<Letter>(count, seed);
    for (Letter& value : values) value %= 4;
    return values;
}

/// Some diagonals of the tiles of a matrix whose other parts are there already.
template <int tile>
void long_pair(int length, std::initializer_list<int> diagonals) {
    const auto down = letters(length, 1), right = letters(length, 2);
    const auto expected = matrix(down, right);
    const int tiles = length / tile;
    auto start = expected;
    for (const int diagonal : diagonals) {
        for (int i = 0; i < length * tile; ++i) {
            const int row = i / tile, column = (diagonal - row / tile) * tile + i % tile;
            if (column >= 0 && column < length) start[(row + 1) * (length + 1) + column + 1] = 0;
        }
    }
    const Array<Letter> down_array(down), right_array(right);
    Array<int> scores(start);
    for (const int diagonal : diagonals) {
        const int first = std::max(0, diagonal - tiles + 1), last = std::min(diagonal, tiles - 1);
        prepare();
        align_tiles<tile><<<last - first + 1, tile>>>(down_array.data(), right_array.data(), scores.data(),
                                                      length, diagonal, first);
        finish("tiles");
    }
    check(scores.values() == expected, "tiles");
}

/// Aligns many pairs in one of three ways and checks some of them.
void many_pairs(const std::string& way, int pairs, int rows, int columns) {
    const auto down = letters(pairs * rows, 3), right = letters(pairs * columns, 4);
    const Array<Letter> down_array(down), right_array(right);
    Array<int> results(pairs);
    const int blocks = (pairs + 127) / 128;
    prepare();
    if (way == "registers") {
        align_in_registers<32><<<blocks, 128>>>(down_array.data(), right_array.data(), results.data(), pairs);
    } else if (way == "local") {
        align_in_local<<<blocks, 128>>>(down_array.data(), right_array.data(), results.data(), pairs, rows);
    } else {
        align_by_warps<<<(pairs + 7) / 8, 256>>>(down_array.data(), right_array.data(), results.data(), pairs,
                                                 rows);
    }
    finish(way.c_str());
    const auto scores = results.values();
    for (int i = 0; i < 100; ++i) {
        const int p = random_bits(9, i) % pairs;
        std::vector<Letter> one(rows), other(columns);
        for (int k = 0; k < rows; ++k) one[k] = down[way == "warps" ? p * rows + k : k * pairs + p];
        for (int k = 0; k < columns; ++k) other[k] = right[way == "warps" ? p * columns + k : k * pairs + p];
        check(scores[p] == matrix(one, other).back(), way.c_str());
    }
    output((way + "_" + std::to_string(pairs)).c_str(), scores);
}

void body() {
    long_pair<16>(2048, {5, 40, 127});
    long_pair<32>(4096, {5, 40, 127, 190});
    many_pairs("registers", 16384, 32, 32);
    many_pairs("registers", 100000, 32, 32);
    many_pairs("local", 8192, 64, 64);
    many_pairs("local", 40000, 40, 40);
    many_pairs("warps", 1000, 100, 32);
    many_pairs("warps", 8192, 128, 32);
    many_pairs("warps", 512, 1000, 32);
}

int main() {
    return run(body);
}
