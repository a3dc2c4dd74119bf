// Tables of dynamic programming by diagonals: edit distances with one warp a pair by shuffles and one CTA a
// pair through shared memory, and tiles of large tables with one
// launch a diagonal of tiles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A warp a pair: each lane keeps `each` columns, and takes the row that its left neighbour left before.
template <int each>
__global__ void warp_distance(const unsigned char* first, const unsigned char* second, int* distances,
                              int pairs, int length) {
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    const unsigned char* a = first + static_cast<std::size_t>(pair) * 32 * each;
    const unsigned char* b = second + static_cast<std::size_t>(pair) * length;
    unsigned char letter[each];
    int above[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        letter[k] = a[lane * each + k];
        above[k] = lane * each + k + 1;
    }
    int diagonal = lane * each;
    for (int step = 0; step < length + 31; ++step) {
        const int row = step - lane;
        int left = __shfl_up_sync(0xffffffffU, above[each - 1], 1);
        if (row < 0 || row >= length) continue;
        if (lane == 0) left = row + 1;
        const int entered = left;
        const unsigned char own = b[row];
#pragma unroll
        for (int k = 0; k < each; ++k) {
            const int value = min(min(left, above[k]) + 1, diagonal + (letter[k] == own ? 0 : 1));
            diagonal = above[k];
            above[k] = value;
            left = value;
        }
        diagonal = entered;
    }
    if (lane == 31) distances[pair] = above[each - 1];
}

/// A CTA a pair: three diagonals in shared memory, a thread a column.
__global__ void block_distance(const unsigned char* first, const unsigned char* second, int* distances,
                               int length) {
    extern __shared__ int diagonals[];  // 3 x (length + 1)
    const unsigned char* a = first + static_cast<std::size_t>(blockIdx.x) * length;
    const unsigned char* b = second + static_cast<std::size_t>(blockIdx.x) * length;
    int *now = diagonals, *last = now + length + 1, *older = last + length + 1;
    for (int d = 0; d <= 2 * length; ++d) {
        for (int i = max(0, d - length) + threadIdx.x; i <= min(d, length); i += blockDim.x) {
            const int j = d - i;
            int value = i + j;
            if (i > 0 && j > 0)
                value = min(min(last[i - 1], last[i]) + 1, older[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            now[i] = value;
        }
        __syncthreads();
        int* free = older;
        older = last;
        last = now;
        now = free;
    }
    if (threadIdx.x == 0) distances[blockIdx.x] = last[length];
}

/// A tile of `blockDim.x` columns and `rows` rows of each pair's table on one diagonal of tiles. Borders
/// between tiles are kept in global memory: the row above and the column to the left, with the corner in
/// `corners`.
__global__ void tile_common(const unsigned char* first, const unsigned char* second, int* row_border,
                            int* column_border, int* corners, int length, int diagonal, int first_tile) {
    __shared__ int fresh[1024 + 1];  // [t + 1]: what thread t found last
    const int size = blockDim.x, x = first_tile + blockIdx.x, y = diagonal - x, t = threadIdx.x;
    const int tiles = length / size, pair = blockIdx.y;
    const unsigned char* b = second + static_cast<std::size_t>(pair) * length + y * size;
    int* above = row_border + static_cast<std::size_t>(pair) * length + x * size;
    int* left = column_border + static_cast<std::size_t>(pair) * length + y * size;
    const unsigned char own = first[static_cast<std::size_t>(pair) * length + x * size + t];
    int* corner = corners + static_cast<std::size_t>(pair) * (tiles + 1) * (tiles + 1);
    int up = above[t], up_left = t == 0 ? corner[y * (tiles + 1) + x] : above[t - 1];
    for (int step = 0; step < 2 * size - 1; ++step) {
        const int row = step - t;
        __syncthreads();
        if (row >= 0 && row < size) {
            const int beside = t == 0 ? left[row] : fresh[t];
            const int value = own == b[row] ? up_left + 1 : max(up, beside);
            up_left = beside;
            up = value;
        }
        __syncthreads();
        if (row >= 0 && row < size) {
            fresh[t + 1] = up;
            if (t == size - 1) left[row] = up;
        }
    }
    above[t] = up;
    if (t == size - 1) corner[(y + 1) * (tiles + 1) + x + 1] = up;
}

std::vector<unsigned char> letters(std::size_t count, int seed) {
    std::vector<unsigned char> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<unsigned char>(random_bits(seed, i) % 4);
    return out;
}

int distance_of(const unsigned char* a, int m, const unsigned char* b, int n) {
    std::vector<int> row(m + 1);
    for (int i = 0; i <= m; ++i) row[i] = i;
    for (int j = 1; j <= n; ++j) {
        int diagonal = row[0];
        row[0] = j;
        for (int i = 1; i <= m; ++i) {
            const int value =
                std::min({row[i] + 1, row[i - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = row[i];
            row[i] = value;
        }
    }
    return row[m];
}

template <int each>
void by_warps(int pairs, int length) {
    const auto a = letters(static_cast<std::size_t>(pairs) * 32 * each, 1),
               b = letters(static_cast<std::size_t>(pairs) * length, 2);
    const Array<unsigned char> first(a), second(b);
    Array<int> distances(pairs);
    prepare();
    warp_distance<each>
        <<<(pairs + 3) / 4, 128>>>(first.data(), second.data(), distances.data(), pairs, length);
    finish("warp");
    check(distances.values()[1] == distance_of(&a[32 * each], 32 * each, &b[length], length), "warp");
    output(("warp_" + std::to_string(length)).c_str(), distances);
}

void by_blocks(int pairs, int length, int threads) {
    const auto a = letters(static_cast<std::size_t>(pairs) * length, 3),
               b = letters(static_cast<std::size_t>(pairs) * length, 4);
    const Array<unsigned char> first(a), second(b);
    Array<int> distances(pairs);
    prepare();
    block_distance<<<pairs, threads, 3 * (length + 1) * sizeof(int)>>>(first.data(), second.data(),
                                                                       distances.data(), length);
    finish("block");
    check(distances.values()[1] == distance_of(&a[length], length, &b[length], length), "block");
    output(("block_" + std::to_string(length)).c_str(), distances);
}

void by_tiles(int pairs, int length, int size) {
    const int tiles = length / size;
    const Array<unsigned char> first(letters(static_cast<std::size_t>(pairs) * length, 7)),
        second(letters(static_cast<std::size_t>(pairs) * length, 8));
    Array<int> rows(static_cast<std::size_t>(pairs) * length), columns(rows.size()),
        corners(static_cast<std::size_t>(pairs) * (tiles + 1) * (tiles + 1));
    for (int d = 0; d < 2 * tiles - 1; ++d) {
        const int from = std::max(0, d - tiles + 1), to = std::min(d, tiles - 1);
        prepare();
        tile_common<<<dim3(to - from + 1, pairs), size>>>(first.data(), second.data(), rows.data(),
                                                          columns.data(), corners.data(), length, d, from);
        finish("tiles");
    }
    output(("tiles_" + std::to_string(length)).c_str(), rows);
}

void body() {
    by_warps<4>(8192, 128);
    by_warps<8>(4096, 300);
    by_blocks(512, 256, 128);
    by_blocks(264, 500, 256);
    by_tiles(64, 768, 256);
    by_tiles(8, 1024, 512);
}

int main() {
    return run(body);
}
