// Dynamic programming with the instructions that add and take the larger at once: local alignments by threads
// and by warps of 16-bit pairs, banded alignments with their way back, seams of images, and shortest paths in
// tiles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <utility>

using namespace textbook;

constexpr int letters = 20, query_length = 32, gap_open = -11, gap_extend = -1;

/// Local alignment with affine gaps: a thread a target, the whole query's row in registers, scores of each
/// letter in shared memory. Targets lie letter by letter, so neighbours read neighbouring bytes.
__global__ void __launch_bounds__(128)
    align_by_threads(const unsigned char* targets, const signed char* profile, int* best, int count,
                     int length) {
    __shared__ __align__(16) signed char scores[letters * query_length];
    for (int i = threadIdx.x; i < letters * query_length; i += blockDim.x) scores[i] = profile[i];
    __syncthreads();
    const int target = blockIdx.x * blockDim.x + threadIdx.x;
    if (target >= count) return;
    int high[query_length], down[query_length], most = 0;
#pragma unroll
    for (int q = 0; q < query_length; ++q) high[q] = 0, down[q] = -1000;
    for (int t = 0; t < length; ++t) {
        const auto* row = reinterpret_cast<const char4*>(
            scores + targets[static_cast<std::size_t>(t) * count + target] * query_length);
        int diagonal = 0, left = 0, across = -1000;
#pragma unroll
        for (int q4 = 0; q4 < query_length; q4 += 4) {
            const char4 four = row[q4 / 4];
            const int score[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int q = q4 + k;
                down[q] = __viaddmax_s32(high[q], gap_open, down[q] + gap_extend);
                across = __viaddmax_s32(left, gap_open, across + gap_extend);
                const int cell = __viaddmax_s32_relu(diagonal, score[k], max(across, down[q]));
                diagonal = high[q];
                high[q] = left = cell;
            }
            most = __vimax3_s32(__vimax3_s32(most, high[q4], high[q4 + 1]), high[q4 + 2], high[q4 + 3]);
        }
    }
    best[target] = most;
}

/// Two targets in the halves of a word; a warp holds a query of 128 letters, four a lane, and goes along
/// anti-diagonals: a lane's last column comes from the lane before by a shuffle.
__global__ void align_by_warps(const unsigned* queries, const unsigned* targets, unsigned* best, int pairs,
                               int length) {
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    constexpr unsigned same = 0x00020002U, other = 0xfffdfffdU, open = 0xfffbfffbU, extend = 0xffffffffU;
    const uint4 mine = reinterpret_cast<const uint4*>(queries)[static_cast<std::size_t>(pair) * 32 + lane];
    const unsigned own[4] = {mine.x, mine.y, mine.z, mine.w};
    unsigned high[4] = {}, down[4], across = 0xc000c000U, corner = 0, most = 0, letter = 0xffffffffU,
             next = 0;
    for (unsigned& d : down) d = 0xc000c000U;
    for (int step = 0; step < length + 31; ++step) {
        if (step % 32 == 0)
            next = step + lane < length ? targets[static_cast<std::size_t>(pair) * length + step + lane]
                                        : 0xffffffffU;
        const unsigned fresh = __shfl_sync(0xffffffffU, next, step % 32);
        letter = __shfl_up_sync(0xffffffffU, letter, 1);
        unsigned left = __shfl_up_sync(0xffffffffU, high[3], 1);
        unsigned gap = __shfl_up_sync(0xffffffffU, across, 1);
        if (lane == 0) letter = fresh, left = 0, gap = 0xc000c000U;
        unsigned diagonal = corner;
        corner = left;
        if (step < lane) continue;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned equal = __vcmpeq2(own[k], letter), score = (equal & same) | (~equal & other);
            down[k] = __viaddmax_s16x2(high[k], open, __vadd2(down[k], extend));
            gap = __viaddmax_s16x2(left, open, __vadd2(gap, extend));
            const unsigned cell = __viaddmax_s16x2_relu(diagonal, score, __vmaxs2(gap, down[k]));
            diagonal = high[k];
            high[k] = left = cell;
        }
        across = gap;
        most = __vimax3_s16x2(__vimax3_s16x2(most, high[0], high[1]), high[2], high[3]);
    }
    for (int step = 16; step > 0; step /= 2) most = __vmaxs2(most, __shfl_xor_sync(0xffffffffU, most, step));
    if (lane == 0) best[pair] = most;
}

/// Global alignment in a band of 16 cells with linear gaps, a thread a pair: which neighbour won comes with
/// the larger value, two bits a cell, and the way back is walked at the end for the number of equal letters.
__global__ void banded_way_back(const unsigned char* first, const unsigned char* second, unsigned* choices,
                                int* scores, int* equal, int count, int length) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= count) return;
    constexpr int band = 16, middle = 8, never = -10000;
    int row[band + 1];
#pragma unroll
    for (int b = 0; b <= band; ++b) row[b] = b >= middle && b < band ? -2 * (b - middle) : never;
    for (int i = 1; i <= length; ++i) {
        const int letter = first[static_cast<std::size_t>(i - 1) * count + pair];
        unsigned bits = 0;
        int left = never;
#pragma unroll
        for (int b = 0; b < band; ++b) {
            const int j = i + b - middle;
            if (j < 0 || j > length) {
                row[b] = left = never;
                continue;
            }
            const int other = j > 0 ? second[static_cast<std::size_t>(j - 1) * count + pair] : 255;
            bool straight, upper;
            const int gap = __vibmax_s32(row[b + 1] - 2, left - 2, &upper);
            const int cell =
                __vibmax_s32(j > 0 ? row[b] + (letter == other ? 3 : -1) : never, gap, &straight);
            bits |= (straight ? 0U : upper ? 1U : 2U) << (2 * b);
            row[b] = left = cell;
        }
        choices[static_cast<std::size_t>(i - 1) * count + pair] = bits;
    }
    scores[pair] = row[middle];
    int same = 0;
    for (int i = length, b = middle; i > 0;) {
        const unsigned choice = choices[static_cast<std::size_t>(i - 1) * count + pair] >> (2 * b) & 3U;
        if (choice == 0) {
            same += first[static_cast<std::size_t>(i - 1) * count + pair] ==
                    second[static_cast<std::size_t>(i + b - middle - 1) * count + pair];
            --i;
        } else if (choice == 1) {
            --i, ++b;
        } else {
            --b;
        }
        if (b < 0 || b >= band) break;
    }
    equal[pair] = same;
}

/// The cheapest seam from the top of each small image to its bottom: a block an image, a thread a column.
__global__ void cheapest_seams(const unsigned char* energy, unsigned* cost, int height) {
    __shared__ unsigned rows[2][256 + 2], least;
    const int x = threadIdx.x;
    if (x < 2) rows[x][0] = rows[x][257] = ~0U;
    if (x == 0) least = ~0U;
    const unsigned char* image = energy + static_cast<std::size_t>(blockIdx.x) * height * 256;
    unsigned own = image[x];
    for (int y = 1; y < height; ++y) {
        unsigned* row = rows[y % 2];
        row[x + 1] = own;
        const unsigned here = image[y * 256 + x];
        __syncthreads();
        own = here + __vimin3_u32(row[x], own, row[x + 2]);
    }
    atomicMin(&least, __reduce_min_sync(0xffffffffU, own));
    __syncthreads();
    if (x == 0) cost[blockIdx.x] = least;
}

/// Floyd and Warshall in tiles of 32: the tile on the diagonal, its row and column, and all others.
constexpr int side = 32;
__device__ void relax(int (&cell)[4], const int (&left)[side][side], const int (&up)[side][side]) {
#pragma unroll 8
    for (int k = 0; k < side; ++k)
#pragma unroll
        for (int r = 0; r < 4; ++r)
            cell[r] = __viaddmin_s32(left[threadIdx.y + 8 * r][k], up[k][threadIdx.x], cell[r]);
}
__device__ void load_tile(int (&tile)[side][side], const int* from, int n, int row, int column) {
    for (int r = threadIdx.y; r < side; r += 8)
        tile[r][threadIdx.x] =
            from[static_cast<std::size_t>(row * side + r) * n + column * side + threadIdx.x];
}
__global__ void paths_diagonal(int* distance, int n, int pivot) {
    __shared__ int tile[side][side];
    load_tile(tile, distance, n, pivot, pivot);
    for (int k = 0; k < side; ++k) {
        __syncthreads();
        for (int r = threadIdx.y; r < side; r += 8)
            tile[r][threadIdx.x] = __viaddmin_s32(tile[r][k], tile[k][threadIdx.x], tile[r][threadIdx.x]);
    }
    for (int r = threadIdx.y; r < side; r += 8)
        distance[static_cast<std::size_t>(pivot * side + r) * n + pivot * side + threadIdx.x] =
            tile[r][threadIdx.x];
}
__global__ void paths_cross(int* distance, int n, int pivot) {
    __shared__ int centre[side][side], own[side][side];
    const int other = static_cast<int>(blockIdx.x) + (static_cast<int>(blockIdx.x) >= pivot ? 1 : 0);
    const bool in_row = blockIdx.y == 0;
    const int row = in_row ? pivot : other, column = in_row ? other : pivot;
    load_tile(centre, distance, n, pivot, pivot);
    load_tile(own, distance, n, row, column);
    __syncthreads();
    int cell[4];
    for (int r = 0; r < 4; ++r) cell[r] = own[threadIdx.y + 8 * r][threadIdx.x];
    if (in_row)
        relax(cell, centre, own);
    else
        relax(cell, own, centre);
    for (int r = 0; r < 4; ++r)
        distance[static_cast<std::size_t>(row * side + threadIdx.y + 8 * r) * n + column * side +
                 threadIdx.x] = cell[r];
}
__global__ void paths_others(int* distance, int n, int pivot) {
    if (blockIdx.x == pivot || blockIdx.y == pivot) return;
    __shared__ int left[side][side], up[side][side];
    load_tile(left, distance, n, blockIdx.y, pivot);
    load_tile(up, distance, n, pivot, blockIdx.x);
    int* own = distance + static_cast<std::size_t>(blockIdx.y * side + threadIdx.y) * n + blockIdx.x * side +
               threadIdx.x;
    int cell[4];
    for (int r = 0; r < 4; ++r) cell[r] = own[static_cast<std::size_t>(8 * r) * n];
    __syncthreads();
    relax(cell, left, up);
    for (int r = 0; r < 4; ++r) own[static_cast<std::size_t>(8 * r) * n] = cell[r];
}

void body() {
    const std::vector<unsigned> bits = random_values<unsigned>(4 << 20, 1);
    std::vector<signed char> profile(letters * query_length);
    for (std::size_t i = 0; i < profile.size(); ++i) profile[i] = static_cast<signed char>(bits[i] % 16) - 5;
    const Array<signed char> profile_there(profile);
    for (const auto& [count, length] : {std::pair{50000, 72}, std::pair{9001, 200}}) {
        std::vector<unsigned char> targets(static_cast<std::size_t>(count) * length);
        for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = bits[i] % letters;
        const Array<unsigned char> there(targets);
        Array<int> best(count);
        prepare();
        align_by_threads<<<(count + 127) / 128, 128>>>(there.data(), profile_there.data(), best.data(), count,
                                                       length);
        finish("threads");
        const std::vector<int> got = best.values();
        for (int target = 0; target < count; target += 499) {
            std::vector<int> high(query_length), down(query_length, -1000);
            int most = 0;
            for (int t = 0; t < length; ++t)
                for (int q = 0, diagonal = 0, left = 0, across = -1000; q < query_length; ++q) {
                    down[q] = std::max(high[q] + gap_open, down[q] + gap_extend);
                    across = std::max(left + gap_open, across + gap_extend);
                    const int letter = targets[static_cast<std::size_t>(t) * count + target];
                    left = std::max({0, diagonal + profile[letter * query_length + q], across, down[q]});
                    diagonal = std::exchange(high[q], left);
                    most = std::max(most, left);
                }
            check(got[target] == most, "threads");
        }
        output("threads", got);
    }
    for (const auto& [pairs, length] : {std::pair{8192, 100}, std::pair{2500, 390}}) {
        std::vector<unsigned> queries(pairs * 128), targets(pairs * length);
        for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = bits[i] & 0x00030003U;
        for (std::size_t i = 0; i < targets.size(); ++i)
            targets[i] = (bits[i + 777] & 0x1c000U) != 0 ? queries[i / length * 128 + i % length % 128]
                                                         : bits[i] >> 3 & 0x00030003U;
        const Array<unsigned> queries_there(queries), targets_there(targets);
        Array<unsigned> best(pairs);
        prepare();
        align_by_warps<<<(pairs + 3) / 4, 128>>>(queries_there.data(), targets_there.data(), best.data(),
                                                 pairs, length);
        finish("warps");
        const std::vector<unsigned> got = best.values();
        for (int pair = 0; pair < pairs; pair += 301)
            for (int half = 0; half < 32; half += 16) {
                std::vector<int> high(128), down(128, -16384);
                int most = 0;
                for (int t = 0; t < length; ++t)
                    for (int q = 0, diagonal = 0, left = 0, across = -16384; q < 128; ++q) {
                        down[q] = std::max(high[q] - 5, down[q] - 1);
                        across = std::max(left - 5, across - 1);
                        const bool same =
                            (((queries[pair * 128 + q] ^ targets[pair * length + t]) >> half) & 3U) == 0;
                        left = std::max({0, diagonal + (same ? 2 : -3), across, down[q]});
                        diagonal = std::exchange(high[q], left);
                        most = std::max(most, left);
                    }
                check((got[pair] >> half & 0xffffU) == static_cast<unsigned>(most), "warps");
            }
        output("warps", got);
    }
    {
        const int count = 30000, length = 120;
        std::vector<unsigned char> first(count * length), second(count * length);
        for (int i = 0; i < count * length; ++i) {
            first[i] = bits[i] & 3U;
            second[i] = bits[i] >> 8 & 15U ? first[std::max(i - (i / count > 60 ? 3 : 0) * count, 0)] : 1;
        }
        const Array<unsigned char> first_there(first), second_there(second);
        Array<unsigned> choices(count * length);
        Array<int> scores(count), equal(count);
        prepare();
        banded_way_back<<<(count + 95) / 96, 96>>>(first_there.data(), second_there.data(), choices.data(),
                                                   scores.data(), equal.data(), count, length);
        finish("banded");
        const std::vector<int> got = scores.values(), same = equal.values();
        for (int i = 0; i < count; ++i) check(got[i] > 60 && same[i] > 70 && same[i] <= length, "banded");
        output("banded", got);
        output("equal letters", same);
    }
    {
        const int images = 700, height = 128;
        const std::vector<unsigned char> energy = random_values<unsigned char>(images * height * 256, 2);
        const Array<unsigned char> there(energy);
        Array<unsigned> cost(images);
        prepare();
        cheapest_seams<<<images, 256>>>(there.data(), cost.data(), height);
        finish("seams");
        const std::vector<unsigned> got = cost.values();
        for (int image = 0; image < images; image += 37) {
            const unsigned char* from = energy.data() + image * height * 256;
            std::vector<unsigned> row(from, from + 256), next(256);
            for (int y = 1; y < height; ++y, row.swap(next))
                for (int x = 0; x < 256; ++x)
                    next[x] = from[y * 256 + x] +
                              std::min({row[std::max(x - 1, 0)], row[x], row[std::min(x + 1, 255)]});
            check(got[image] == *std::min_element(row.begin(), row.end()), "seams");
        }
        output("seams", got);
    }
    const int n = 1536, tiles = n / side;
    std::vector<int> graph(n * n);
    for (int i = 0; i < n * n; ++i) graph[i] = i / n == i % n ? 0 : static_cast<int>(bits[i] % 100000U) + 1;
    Array<int> distance(graph);
    for (const int pivot : {0, 1}) {
        prepare();
        paths_diagonal<<<1, dim3(32, 8)>>>(distance.data(), n, pivot);
        finish("diagonal");
        prepare();
        paths_cross<<<dim3(tiles - 1, 2), dim3(32, 8)>>>(distance.data(), n, pivot);
        finish("cross");
        prepare();
        paths_others<<<dim3(tiles, tiles), dim3(32, 8)>>>(distance.data(), n, pivot);
        finish("others");
    }
    for (int k = 0; k < 2 * side; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0, through = graph[i * n + k]; j < n; ++j)
                graph[i * n + j] = std::min(graph[i * n + j], through + graph[k * n + j]);
    check(distance.values() == graph, "paths through the first nodes");
    output("paths", distance);
}

int main() {
    return run(body);
}
