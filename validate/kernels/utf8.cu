// Texts in UTF-8: code points counted by bytes, by words and by 16 bytes, texts checked by pieces and by
// neighbours, widened to code points after a scan by a CTA, and bits of quotes and commas of tables found by
// ballots.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr int threads = 256;

__device__ void add_to(int* sum, int mine) {
    mine = __reduce_add_sync(all_lanes, mine);
    if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(sum, mine);
}

/// A byte that starts no code point has 10 as its highest bits.
__global__ void count_bytes(const Byte* text, int* sum, int count) {
    int mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
        mine += (text[i] & 0xc0) != 0x80 ? 1 : 0;
    add_to(sum, mine);
}
__device__ int starts_of(unsigned word) {
    return __popc((~word | word << 1) & 0x80808080U);
}
__global__ void count_words(const unsigned* text, int* sum, int words) {
    int mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < words; i += gridDim.x * threads)
        mine += starts_of(text[i]);
    add_to(sum, mine);
}
__global__ void count_wide(const uint4* text, int* sum, int pieces) {
    int mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < pieces; i += gridDim.x * threads) {
        const uint4 four = text[i];
        mine += starts_of(four.x) + starts_of(four.y) + starts_of(four.z) + starts_of(four.w);
    }
    add_to(sum, mine);
}

/// How many bytes follow a first byte; -1 for what is none.
__host__ __device__ inline int followers(unsigned byte) {
    return byte < 0x80 ? 0 : byte < 0xc2 ? -1 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : -1;
}

/// A thread checks 64 bytes one after another, with what the last code point needs beyond them.
__global__ void check_pieces(const Byte* text, int* wrong, int count) {
    const int begin = (blockIdx.x * threads + threadIdx.x) * 64;
    if (begin >= count) return;
    int i = begin;
    while (i < min(count, begin + 3) && (text[i] & 0xc0) == 0x80) ++i;  // These belong to the piece before.
    const int end = min(count, begin + 64);
    int mine = 0;
    while (i < end) {
        const int more = followers(text[i]);
        ++i;
        if (more < 0) {
            ++mine;
            continue;
        }
        for (int k = 0; k < more; ++k) {
            if (i >= count || (text[i] & 0xc0) != 0x80) {
                ++mine;
                break;
            }
            ++i;
        }
    }
    if (mine > 0) atomicAdd(wrong, mine);
}

/// A byte a thread: the three bytes before it say whether it must follow. The tile lies in shared memory.
__global__ void check_neighbours(const Byte* text, int* wrong, int count) {
    __shared__ Byte tile[threads + 3];
    const int i = blockIdx.x * threads + threadIdx.x;
    tile[threadIdx.x + 3] = i < count ? text[i] : 0;
    if (threadIdx.x < 3) tile[threadIdx.x] = i >= 3 ? text[i - 3] : 0;
    __syncthreads();
    const Byte* own = tile + threadIdx.x + 3;
    const bool needed = own[-1] >= 0xc2 || own[-2] >= 0xe0 || own[-3] >= 0xf0;
    const bool follows = (own[0] & 0xc0) == 0x80;
    const bool bad = i < count && (needed != follows || (!follows && followers(own[0]) < 0));
    const int all = __syncthreads_count(bad);
    if (threadIdx.x == 0 && all > 0) atomicAdd(wrong, all);
}

/// Starts of a CTA's 1024 bytes.
__global__ void count_blocks(const unsigned* text, int* sums, int words) {
    __shared__ int parts[threads / 32];
    const int i = blockIdx.x * threads + threadIdx.x;
    const int mine = __reduce_add_sync(all_lanes, i < words ? starts_of(text[i]) : 0);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (int k = 0; k < threads / 32; ++k) sum += parts[k];
    sums[blockIdx.x] = sum;
}

/// Sums before each, by one CTA of 1024.
__global__ void scan_blocks(const int* sums, int* begins, int count) {
    __shared__ int parts[2][1024];
    int base = 0;
    for (int begin = 0; begin < count; begin += 1024) {
        const int i = begin + threadIdx.x, own = i < count ? sums[i] : 0;
        int now = 0;
        parts[0][threadIdx.x] = own;
        __syncthreads();
        for (int distance = 1; distance < 1024; distance *= 2, now ^= 1) {
            const int before =
                static_cast<int>(threadIdx.x) >= distance ? parts[now][threadIdx.x - distance] : 0;
            parts[now ^ 1][threadIdx.x] = parts[now][threadIdx.x] + before;
            __syncthreads();
        }
        if (i < count) begins[i] = base + parts[now][threadIdx.x] - own;
        base += parts[now][1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) begins[count] = base;
}

/// A thread has four bytes; each start becomes a code point, with bytes up to three beyond.
__global__ void widen(const unsigned* text, const int* begins, unsigned* points, int words) {
    __shared__ int parts[threads / 32];
    const int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned word = i < words ? text[i] : 0x80808080U, next = i + 1 < words ? text[i + 1] : 0U;
    const int own = starts_of(word);
    int sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(all_lanes, sum, distance);
        if (lane >= distance) sum += other;
    }
    if (lane == 31) parts[warp] = sum;
    __syncthreads();
    int to = begins[blockIdx.x] + sum - own;
    for (int k = 0; k < warp; ++k) to += parts[k];
    const std::uint64_t bytes = static_cast<std::uint64_t>(next) << 32 | word;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned four = static_cast<unsigned>(bytes >> (8 * k)), first = four & 255U;
        if ((first & 0xc0U) == 0x80U) continue;
        unsigned point = first;
        if (first >= 0xf0U) {
            point =
                (first & 7U) << 18 | (four >> 8 & 63U) << 12 | (four >> 16 & 63U) << 6 | (four >> 24 & 63U);
        } else if (first >= 0xe0U) {
            point = (first & 15U) << 12 | (four >> 8 & 63U) << 6 | (four >> 16 & 63U);
        } else if (first >= 0xc0U) {
            point = (first & 31U) << 6 | (four >> 8 & 63U);
        }
        points[to++] = point;
    }
}

/// Where commas stand outside of quotes, 32 bytes a warp and turn: quotes before a byte are counted in bits.
/// Rows of a table are as long as each other, and begin outside of quotes.
__global__ void find_commas(const Byte* text, unsigned* commas, int rows, int row_words) {
    const int row = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned odd = 0;
    for (int word = 0; word < row_words; ++word) {
        const Byte byte = text[(static_cast<std::size_t>(row) * row_words + word) * 32 + lane];
        const unsigned quotes = __ballot_sync(all_lanes, byte == '"');
        const bool inside = ((__popc(quotes & ((1U << lane) - 1U)) + odd) & 1U) != 0;
        const unsigned found = __ballot_sync(all_lanes, byte == ',' && !inside);
        odd ^= __popc(quotes) & 1U;
        if (lane == 0) commas[row * row_words + word] = found;
    }
}

void all_of(int count, int plain) {
    std::vector<Byte> text;
    std::vector<unsigned> points;
    text.reserve(count);
    while (static_cast<int>(text.size()) < count) {
        const unsigned kind = random_bits(1, points.size()) % 100, bits = random_bits(2, points.size());
        const int left = count - static_cast<int>(text.size());
        if (static_cast<int>(kind) < plain || left < 4) {
            points.push_back(kind % 7 == 0 ? '"' : kind % 5 == 0 ? ',' : 'a' + bits % 26);
            text.push_back(static_cast<Byte>(points.back()));
        } else if (kind % 3 == 0) {
            points.push_back(0x80 + bits % 0x700);
            text.push_back(static_cast<Byte>(0xc0 | points.back() >> 6));
            text.push_back(static_cast<Byte>(0x80 | (points.back() & 63U)));
        } else if (kind % 3 == 1) {
            points.push_back(0x800 + bits % 0xc000);
            text.push_back(static_cast<Byte>(0xe0 | points.back() >> 12));
            text.push_back(static_cast<Byte>(0x80 | (points.back() >> 6 & 63U)));
            text.push_back(static_cast<Byte>(0x80 | (points.back() & 63U)));
        } else {
            points.push_back(0x10000 + bits % 0x80000);
            text.push_back(static_cast<Byte>(0xf0 | points.back() >> 18));
            for (int shift = 12; shift >= 0; shift -= 6)
                text.push_back(static_cast<Byte>(0x80 | (points.back() >> shift & 63U)));
        }
    }
    const int words = count / 4, blocks = (words + threads - 1) / threads,
              total = static_cast<int>(points.size());
    const Array<Byte> array(text);
    const auto* as_words = reinterpret_cast<const unsigned*>(array.data());
    Array<int> sum(1), sums(blocks), begins(blocks + 1);
    Array<unsigned> widened(points.size()), commas(words / 8);
    const int grid = std::min(1056, (count + threads * 16 - 1) / (threads * 16));
    const auto look = [&](const char* what, int expected) {
        finish(what);
        check(sum.values()[0] == expected, what);
        sum.zero();
    };
    const std::string name = std::to_string(count) + "_" + std::to_string(plain);
    prepare();
    count_bytes<<<grid, threads>>>(array.data(), sum.data(), count);
    look("bytes", total);
    prepare();
    count_words<<<grid, threads>>>(as_words, sum.data(), words);
    look("words", total);
    prepare();
    count_wide<<<grid, threads>>>(reinterpret_cast<const uint4*>(array.data()), sum.data(), count / 16);
    look("wide", total);
    prepare();
    check_pieces<<<(count / 64 + threads - 1) / threads, threads>>>(array.data(), sum.data(), count);
    look("pieces", 0);
    prepare();
    check_neighbours<<<(count + threads - 1) / threads, threads>>>(array.data(), sum.data(), count);
    look("neighbours", 0);
    prepare();
    count_blocks<<<blocks, threads>>>(as_words, sums.data(), words);
    finish("blocks");
    prepare();
    scan_blocks<<<1, 1024>>>(sums.data(), begins.data(), blocks);
    finish("scan");
    check(begins.values()[blocks] == total, "scan");
    prepare();
    widen<<<blocks, threads>>>(as_words, begins.data(), widened.data(), words);
    finish("widen");
    check(widened.values() == points, "widen");
    output(("points_" + name).c_str(), widened);
    const int row_words = 16, rows = words / 8 / row_words;
    prepare();
    find_commas<<<(rows * 32 + threads - 1) / threads, threads>>>(array.data(), commas.data(), rows,
                                                                  row_words);
    finish("commas");
    const auto found = commas.values();
    for (int row = 0; row < rows; row += 3) {
        bool inside = false;
        for (int i = row * row_words * 32; i < (row + 1) * row_words * 32; ++i) {
            if (text[i] == '"') inside = !inside;
            check((found[i / 32] >> i % 32 & 1U) == (text[i] == ',' && !inside ? 1U : 0U), "commas");
        }
    }
    output(("commas_" + name).c_str(), found);
}

void body() {
    all_of(1 << 24, 90);
    all_of(1 << 22, 40);
}

int main() {
    return run(body);
}
