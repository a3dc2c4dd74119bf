// Work on packed bits: matrices of 32 x 32 and 8 x 8 bits transposed by ballots, by shuffles and in words,
// Boolean products, nearest codes by Hamming distance, automata of 64 cells a word, permanents in the order
// of a Gray code, counters added bit by bit, and permutations and selections within words.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Word = unsigned long long;
constexpr unsigned full = 0xffffffffU;

__global__ void transpose_ballot(const unsigned* in, unsigned* out, int matrices) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int m = (blockIdx.x * blockDim.x + threadIdx.x) / 32; m < matrices; m += warps) {
        const unsigned row = in[m * 32 + lane];
        unsigned column = 0;
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            const unsigned bits = __ballot_sync(full, row >> k & 1);
            if (lane == k) column = bits;
        }
        out[m * 32 + lane] = column;
    }
}
__global__ void transpose_shuffle(const unsigned* in, unsigned* out, int matrices) {
    const int lane = threadIdx.x % 32, m = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (m >= matrices) return;
    unsigned row = in[m * 32 + lane], mask = 0x0000ffffU;
#pragma unroll
    for (int step = 16; step > 0; step /= 2, mask ^= mask << step) {
        const unsigned other = __shfl_xor_sync(full, row, step);
        row = lane & step ? (row & ~mask) | (other >> step & mask) : (row & mask) | (other << step & ~mask);
    }
    out[m * 32 + lane] = row;
}
/// A thread an 8 x 8 matrix in one word.
__global__ void transpose_bytes(const Word* in, Word* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Word x = in[i], t = (x ^ x >> 7) & 0x00AA00AA00AA00AAULL;
        x ^= t ^ t << 7;
        t = (x ^ x >> 14) & 0x0000CCCC0000CCCCULL;
        x ^= t ^ t << 14;
        t = (x ^ x >> 28) & 0x00000000F0F0F0F0ULL;
        out[i] = x ^ t ^ t << 28;
    }
}

/// Numbers of common ones of rows of A and rows of B: tiles of 32 x 32 results, 32 words deep.
__global__ void __launch_bounds__(256)
    common_ones(const unsigned* a, const unsigned* b, unsigned short* out, int n, int words) {
    __shared__ unsigned ta[32][33], tb[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    int sums[4] = {};
    for (int first = 0; first < words; first += 32) {
        for (int k = y; k < 32; k += 8) {
            ta[k][x] = a[(blockIdx.y * 32 + k) * words + first + x];
            tb[k][x] = b[(blockIdx.x * 32 + k) * words + first + x];
        }
        __syncthreads();
#pragma unroll 8
        for (int w = 0; w < 32; ++w)
#pragma unroll
            for (int r = 0; r < 4; ++r) sums[r] += __popc(ta[y + 8 * r][w] & tb[x][w]);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
        out[static_cast<std::size_t>(blockIdx.y * 32 + y + 8 * r) * n + blockIdx.x * 32 + x] =
            static_cast<unsigned short>(sums[r]);
}
/// The Boolean product: rows of B that A's bits name are joined; a thread a word of the result.
__global__ void boolean_product(const unsigned* a, const Word* b, Word* out, int n) {
    const int words = n / 64, column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n || column >= words) return;
    Word joined = 0;
    for (int k = 0; k < n / 32; ++k)
        for (unsigned bits = a[row * (n / 32) + k]; bits != 0; bits &= bits - 1)
            joined |= b[(k * 32 + __ffs(static_cast<int>(bits)) - 1) * words + column];
    out[row * words + column] = joined;
}

/// The nearest of a database of 256-bit codes for each query; a block shares its part of the database.
__global__ void __launch_bounds__(128)
    nearest_codes(const ulonglong4_32a* queries, const ulonglong4_32a* codes, Word* best, int count,
                  int part) {
    __shared__ ulonglong4_32a own[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const ulonglong4_32a q = queries[i];
    Word least = ~0ULL;
    for (int first = blockIdx.y * part; first < min((static_cast<int>(blockIdx.y) + 1) * part, count);
         first += 128) {
        const int here = min(128, count - first);
        if (threadIdx.x < here) own[threadIdx.x] = codes[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < here; ++k) {
            const ulonglong4_32a c = own[k];
            const int distance =
                __popcll(q.x ^ c.x) + __popcll(q.y ^ c.y) + __popcll(q.z ^ c.z) + __popcll(q.w ^ c.w);
            least = min(least, static_cast<Word>(distance) << 32 | (first + k));
        }
        __syncthreads();
    }
    atomicMin(best + i, least);
}

/// Several steps of a rule of two neighbours on rings of 64 words; a warp holds a ring, two words a lane.
__global__ void rings(const Word* in, Word* out, int steps, unsigned rule, int count) {
    const int lane = threadIdx.x % 32, ring = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (ring >= count) return;
    Word low = in[ring * 64 + 2 * lane], high = in[ring * 64 + 2 * lane + 1];
    for (int s = 0; s < steps; ++s) {
        const Word before = __shfl_sync(full, high, lane + 31), after = __shfl_sync(full, low, lane + 1);
        const auto next = [rule](Word left, Word middle, Word right) {
            Word result = 0;
#pragma unroll
            for (int pattern = 0; pattern < 8; ++pattern)
                if (rule >> pattern & 1)
                    result |= (pattern & 4 ? left : ~left) & (pattern & 2 ? middle : ~middle) &
                              (pattern & 1 ? right : ~right);
            return result;
        };
        const Word new_low = next(low << 1 | before >> 63, low, low >> 1 | high << 63);
        high = next(high << 1 | low >> 63, high, high >> 1 | after << 63);
        low = new_low;
    }
    out[ring * 64 + 2 * lane] = low;
    out[ring * 64 + 2 * lane + 1] = high;
}
/// Conway's life on a torus, 64 cells a word: neighbours are added by half adders.
__global__ void life_words(const Word* in, Word* out, int words, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= words || y >= height) return;
    const int left = x == 0 ? words - 1 : x - 1, right = x + 1 == words ? 0 : x + 1;
    Word ones = 0, twos = 0, fours = 0, self = 0;
    const auto add = [&](Word bits) {
        const Word carry = ones & bits, more = twos & carry;
        ones ^= bits, twos ^= carry, fours |= more;
    };
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
        const Word* row = in + static_cast<std::size_t>((y + dy + height) % height) * words;
        const Word middle = row[x];
        add(middle << 1 | row[left] >> 63);
        add(middle >> 1 | row[right] << 63);
        if (dy == 0)
            self = middle;
        else
            add(middle);
    }
    out[static_cast<std::size_t>(y) * words + x] = twos & ~fours & (ones | self);
}

/// Permanents modulo 2^64 of 12 x 12 matrices of small numbers (Ryser's formula): a warp a matrix, lanes
/// share the subsets by their top five bits and walk the others in the order of a Gray code.
__global__ void permanents(const unsigned char* in, long long* out, int count) {
    const int lane = threadIdx.x % 32, m = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (m >= count) return;
    const unsigned char* matrix = in + m * 144;
    int sums[12];
#pragma unroll
    for (int r = 0; r < 12; ++r) {
        sums[r] = 0;
        for (int c = 0; c < 5; ++c) sums[r] += lane >> c & 1 ? matrix[r * 12 + 7 + c] & 7 : 0;
    }
    long long total = 0;
    unsigned gray = 0;
    for (unsigned k = 0; k < 128; ++k) {
        if (k > 0) {
            const int bit = __ffs(static_cast<int>(k)) - 1;
            gray ^= 1U << bit;
            const int sign = gray >> bit & 1 ? 1 : -1;
#pragma unroll
            for (int r = 0; r < 12; ++r) sums[r] += sign * (matrix[r * 12 + bit] & 7);
        }
        long long product = (__popc(gray) + __popc(lane)) & 1 ? -1 : 1;
#pragma unroll
        for (int r = 0; r < 12; ++r) product *= sums[r];
        total += product;
    }
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(full, total, step);
    if (lane == 0) out[m] = total;
}

/// How many of `planes` words have each bit: counters lie across five words and are added by carries.
__global__ void count_planes(const Word* in, Word* out, int planes, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    Word counter[5] = {};
    for (int p = 0; p < planes; ++p) {
        Word carry = in[static_cast<std::size_t>(p) * words + i];
#pragma unroll
        for (Word& digit : counter) {
            const Word next = digit & carry;
            digit ^= carry;
            carry = next;
        }
    }
#pragma unroll
    for (int d = 0; d < 5; ++d) out[static_cast<std::size_t>(d) * words + i] = counter[d];
}
/// Reversals, lowest bits, and the place of the n-th one.
__global__ void pick_bits(const Word* in, Word* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Word x = in[i];
    const unsigned low = static_cast<unsigned>(x);
    const unsigned nth = __fns(low, 0, 1 + i % 9), back = __fns(low | 1, 31, -1 - i % 3);
    out[i] = __brevll(x) ^
             static_cast<Word>(__ffsll(static_cast<long long>(x)) + __clzll(static_cast<long long>(x)) * 64) ^
             static_cast<Word>(nth & 63) << 20 ^ static_cast<Word>(back & 63) << 40;
}

void body() {
    const int matrices = 250003, words = matrices * 32, wide = words / 2;
    const std::vector<unsigned> host = random_values<unsigned>(words, 1);
    const Array<unsigned> bits(host);
    const Word* bits64 = reinterpret_cast<const Word*>(bits.data());
    std::vector<Word> host64(wide);
    std::memcpy(host64.data(), host.data(), words * 4UL);
    Array<Word> out(wide);
    unsigned* out32 = reinterpret_cast<unsigned*>(out.data());
    const auto low_words = [&] {
        const std::vector<Word> values = out.values();
        std::vector<unsigned> halves(words);
        std::memcpy(halves.data(), values.data(), words * 4UL);
        return halves;
    };
    for (const bool shuffle : {false, true}) {
        prepare();
        if (shuffle)
            transpose_shuffle<<<(matrices + 7) / 8, 256>>>(bits.data(), out32, matrices);
        else
            transpose_ballot<<<132 * 8, 256>>>(bits.data(), out32, matrices);
        finish("transpose");
        const std::vector<unsigned> got = low_words();
        for (int m = 0; m < matrices; m += 11)
            for (int k = 0; k < 1024; ++k)
                check((got[m * 32 + k / 32] >> k % 32 & 1) == (host[m * 32 + k % 32] >> k / 32 & 1),
                      "transposed");
        output("transposed", got);
    }
    prepare();
    transpose_bytes<<<132 * 8, 256>>>(bits64, out.data(), wide);
    finish("bytes");
    std::vector<Word> got = out.values();
    for (int i = 0; i < wide; i += 17)
        for (int k = 0; k < 64; ++k)
            check((got[i] >> k & 1) == (host64[i] >> (k % 8 * 8 + k / 8) & 1), "bytes");
    output("bytes", got);
    const int n = 2048;
    Array<unsigned short> common(n * n);
    prepare();
    common_ones<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(bits.data(), bits.data() + n * n / 32, common.data(),
                                                       n, n / 32);
    finish("common ones");
    const std::vector<unsigned short> shared = common.values();
    for (int i = 0; i < n * n; i += 1013) {
        int sum = 0;
        for (int w = 0; w < n / 32; ++w)
            sum += __builtin_popcount(host[i / n * (n / 32) + w] & host[n * n / 32 + i % n * (n / 32) + w]);
        check(shared[i] == sum, "common ones");
    }
    output("common ones", shared);
    std::vector<unsigned> sparse(n * n / 32);
    for (std::size_t i = 0; i < sparse.size(); ++i)
        sparse[i] = i % 5 == 0 ? 1U << host[i] % 32 | 1U << host[i] / 32 % 32 : 0;
    const Array<unsigned> left(sparse);
    const Array<unsigned> right(sparse);
    Array<Word> product(n * n / 64);
    prepare();
    boolean_product<<<n / 4, dim3(32, 4)>>>(left.data(), reinterpret_cast<const Word*>(right.data()),
                                            product.data(), n);
    finish("boolean product");
    output("boolean product", product);
    const int queries = 8192, codes = 6000;
    Array<Word> best(std::vector<Word>(queries, ~0ULL));
    const auto* code = reinterpret_cast<const ulonglong4_32a*>(bits.data());
    prepare();
    nearest_codes<<<dim3(queries / 128, 6), 128>>>(code, code + queries, best.data(), codes, 1024);
    finish("nearest codes");
    const std::vector<Word> nearest = best.values();
    for (int i = 0; i < queries; i += 101) {
        Word least = ~0ULL;
        for (int c = 0; c < codes; ++c) {
            Word distance = 0;
            for (int k = 0; k < 4; ++k)
                distance += __builtin_popcountll(host64[i * 4 + k] ^ host64[(queries + c) * 4 + k]);
            least = std::min(least, distance << 32 | c);
        }
        check(nearest[i] == least, "nearest");
    }
    output("nearest", nearest);
    prepare();
    rings<<<(20001 + 7) / 8, 256>>>(bits64, out.data(), 24, 110, 20001);
    finish("rings");
    output("rings", out);
    const int across = 640, height = 5000;
    out.zero();
    prepare();
    life_words<<<dim3(across / 64, height / 4), dim3(64, 4)>>>(bits64, out.data(), across, height);
    finish("life");
    got = out.values();
    for (int i = 0; i < across * 64 * height; i += 9973) {
        const int y = i / (across * 64), x = i % (across * 64);
        int around = 0, self = 0;
        for (int k = 0; k < 9; ++k) {
            const int cy = (y + k / 3 - 1 + height) % height,
                      cx = (x + k % 3 - 1 + across * 64) % (across * 64);
            const int cell = static_cast<int>(host64[cy * across + cx / 64] >> cx % 64 & 1);
            around += k == 4 ? 0 : cell, self = k == 4 ? cell : self;
        }
        check((got[y * across + x / 64] >> x % 64 & 1) == ((around | self) == 3 ? 1 : 0), "life");
    }
    output("life", got);
    const int squares = 12000;
    Array<long long> values(squares);
    prepare();
    permanents<<<squares / 4, 128>>>(reinterpret_cast<const unsigned char*>(bits.data()), values.data(),
                                     squares);
    finish("permanents");
    const std::vector<long long> permanent = values.values();
    const auto* entries = reinterpret_cast<const unsigned char*>(host.data());
    for (int m = 0; m < squares; m += 401) {
        std::vector<Word> ways(4096);  // of a set of columns for the first rows
        ways[0] = 1;
        for (unsigned set = 0; set < 4096; ++set)
            for (int c = 0; c < 12 && set != 4095; ++c)
                if ((set >> c & 1) == 0)
                    ways[set | 1U << c] +=
                        ways[set] * (entries[m * 144 + __builtin_popcount(set) * 12 + c] & 7);
        check(static_cast<Word>(permanent[m]) == ways[4095], "permanents");
    }
    output("permanents", permanent);
    const int planes = 24, plane_words = 150000;
    prepare();
    count_planes<<<(plane_words + 255) / 256, 256>>>(bits64, out.data(), planes, plane_words);
    finish("planes");
    output("planes", out);
    prepare();
    pick_bits<<<(1000001 + 255) / 256, 256>>>(bits64, out.data(), 1000001);
    finish("pick bits");
    output("picked", out);
}

int main() {
    return run(body);
}
