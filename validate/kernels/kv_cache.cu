// What stands before attention: rotary positions of queries and keys by sines on the way and by tables, keys
// and values put into a cache of whole rows and of pages, and pages gathered again; fp32 and bf16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Bf16 = __nv_bfloat16;
constexpr int page = 16;  // tokens

struct Shape {
    int tokens, heads, width;  // Heads of queries or of keys; the width of a head is even.
};

/// A thread a pair (first and second half of a head); the angle is worked out for each.
template <class T>
__global__ void rotate_slowly(T* values, const int* positions, Shape shape) {
    const int half = shape.width / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= shape.tokens * shape.heads * half) return;
    const int k = i % half, row = i / half, token = row / shape.heads;
    const float frequency = powf(10000.0F, -2.0F * k / shape.width);
    float sine, cosine;
    sincosf(positions[token] * frequency, &sine, &cosine);
    T* at = values + static_cast<std::size_t>(row) * shape.width + k;
    const float a = static_cast<float>(at[0]), b = static_cast<float>(at[half]);
    at[0] = static_cast<T>(a * cosine - b * sine);
    at[half] = static_cast<T>(b * cosine + a * sine);
}

/// A CTA a token: sines and cosines come from a table, once for all heads.
template <class T>
__global__ void rotate_by_table(T* values, const float2* table, const int* positions, Shape shape) {
    const int half = shape.width / 2, token = blockIdx.x;
    const float2* angles = table + static_cast<std::size_t>(positions[token]) * half;
    T* row = values + static_cast<std::size_t>(token) * shape.heads * shape.width;
    for (int i = threadIdx.x; i < shape.heads * half; i += blockDim.x) {
        const int head = i / half, k = i % half;
        const float2 angle = angles[k];
        T* at = row + head * shape.width + k;
        const float a = static_cast<float>(at[0]), b = static_cast<float>(at[half]);
        at[0] = static_cast<T>(a * angle.x - b * angle.y);
        at[half] = static_cast<T>(b * angle.x + a * angle.y);
    }
}

/// Eight bf16 of 16 bytes.
struct alignas(16) Eight {
    __nv_bfloat162 pairs[4];
};

/// Eight pairs a thread, with the halves loaded by 16 bytes each.
__global__ void rotate_wide(Eight* values, const float2* table, const int* positions, Shape shape) {
    const int pieces = shape.width / 16, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= shape.tokens * shape.heads * pieces) return;
    const int piece = i % pieces, row = i / pieces;
    const auto* angles = reinterpret_cast<const float4*>(
        table + static_cast<std::size_t>(positions[row / shape.heads]) * shape.width / 2 + piece * 8);
    Eight* at = values + static_cast<std::size_t>(row) * pieces * 2 + piece;
    Eight first = at[0], second = at[pieces];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float4 angle = angles[k];  // Of two pairs: cosine and sine each.
        const float2 a = __bfloat1622float2(first.pairs[k]), b = __bfloat1622float2(second.pairs[k]);
        first.pairs[k] = __floats2bfloat162_rn(a.x * angle.x - b.x * angle.y, a.y * angle.z - b.y * angle.w);
        second.pairs[k] = __floats2bfloat162_rn(b.x * angle.x + a.x * angle.y, b.y * angle.z + a.y * angle.w);
    }
    at[0] = first;
    at[pieces] = second;
}

/// One token a sequence goes to the end of the sequence's rows: `cache[sequence][head][position][width]`.
__global__ void append_rows(const Bf16* keys, const Bf16* values, Bf16* key_cache, Bf16* value_cache,
                            const int* lengths, int heads, int width, int longest) {
    const int sequence = blockIdx.x, head = blockIdx.y;
    const std::size_t from = (static_cast<std::size_t>(sequence) * heads + head) * width;
    const std::size_t to =
        ((static_cast<std::size_t>(sequence) * heads + head) * longest + lengths[sequence]) * width;
    for (int k = threadIdx.x; k < width; k += blockDim.x) {
        key_cache[to + k] = keys[from + k];
        value_cache[to + k] = values[from + k];
    }
}

/// Tokens of a prompt go to pages: `slots[token]` is the page times its size plus the place in it; values lie
/// `[page][head][width][place]`, keys `[page][head][place][width]`.
__global__ void scatter_pages(const Bf16* keys, const Bf16* values, Bf16* key_pages, Bf16* value_pages,
                              const int* slots, int heads, int width) {
    const int token = blockIdx.x, slot = slots[token];
    const std::size_t from = static_cast<std::size_t>(token) * heads * width;
    const std::size_t to = static_cast<std::size_t>(slot / page) * heads * width * page;
    for (int i = threadIdx.x; i < heads * width; i += blockDim.x) {
        const int head = i / width, k = i % width;
        key_pages[to + (static_cast<std::size_t>(head) * page + slot % page) * width + k] = keys[from + i];
        value_pages[to + (static_cast<std::size_t>(head) * width + k) * page + slot % page] =
            values[from + i];
    }
}

/// A sequence's pages become rows again, 16 bytes a thread.
__global__ void gather_pages(const uint4* pages, const int* table, uint4* rows, int heads, int pieces,
                             int pages_a_sequence) {
    const int sequence = blockIdx.y, number = blockIdx.x;
    const std::size_t from =
        static_cast<std::size_t>(table[sequence * pages_a_sequence + number]) * heads * page * pieces;
    for (int i = threadIdx.x; i < heads * page * pieces; i += blockDim.x) {
        const int head = i / (page * pieces), rest = i % (page * pieces);
        rows[((static_cast<std::size_t>(sequence) * heads + head) * pages_a_sequence + number) * page *
                 pieces +
             rest] = pages[from + i];
    }
}

std::vector<Bf16> pattern(std::size_t count, std::uint64_t seed) {
    return random_values<Bf16>(count, seed);
}
bool same(const Bf16& a, const Bf16& b) {
    return as_double(a) == as_double(b);
}

template <class T>
void rotate(Shape shape) {
    const std::size_t count = static_cast<std::size_t>(shape.tokens) * shape.heads * shape.width;
    const int half = shape.width / 2;
    const auto numbers = random_values<T>(count, 1);
    std::vector<int> positions(shape.tokens);
    for (int i = 0; i < shape.tokens; ++i) positions[i] = static_cast<int>(random_bits(2, i) % 4096);
    std::vector<float2> table(std::size_t{4096} * half);
    for (int at = 0; at < 4096; ++at) {
        for (int k = 0; k < half; ++k) {
            const double angle = at * std::pow(10000.0, -2.0 * k / shape.width);
            table[static_cast<std::size_t>(at) * half + k] = {static_cast<float>(std::cos(angle)),
                                                              static_cast<float>(std::sin(angle))};
        }
    }
    Array<T> values(numbers);
    const Array<int> position_array(positions);
    const Array<float2> table_array(table);
    const std::string name = std::to_string(sizeof(T)) + "_" + std::to_string(shape.tokens);
    // Large angles that are worked out in single precision have no digest: two machines may differ.
    const auto look = [&](const char* what, bool digest) {
        finish(what);
        const auto found = values.values();
        for (std::size_t i = 0; i < count; i += 103) {
            const std::size_t row = i / shape.width, k = i % shape.width % half, token = row / shape.heads;
            const float2 angle = table[static_cast<std::size_t>(positions[token]) * half + k];
            const double a = as_double(numbers[row * shape.width + k]),
                         b = as_double(numbers[row * shape.width + k + half]);
            const bool second = i % shape.width >= static_cast<std::size_t>(half);
            const double expected = second ? b * angle.x + a * angle.y : a * angle.x - b * angle.y;
            check(std::fabs(as_double(found[i]) - expected) < (sizeof(T) == 2 ? 1e-2 : 2e-3), what);
        }
        if (digest) output((what + ("_" + name)).c_str(), found);
        values.copy_from(numbers);
    };
    prepare();
    rotate_slowly<<<static_cast<unsigned>((count / 2 + 255) / 256), 256>>>(values.data(),
                                                                           position_array.data(), shape);
    look("slowly", false);
    prepare();
    rotate_by_table<<<shape.tokens, 256>>>(values.data(), table_array.data(), position_array.data(), shape);
    look("by_table", true);
    if constexpr (std::is_same_v<T, Bf16>) {
        prepare();
        rotate_wide<<<static_cast<unsigned>((count / 16 + 127) / 128), 128>>>(
            reinterpret_cast<Eight*>(values.data()), table_array.data(), position_array.data(), shape);
        look("wide", true);
    }
}

void append(int sequences, int heads, int width, int longest) {
    const std::size_t count = static_cast<std::size_t>(sequences) * heads * width;
    const auto keys = pattern(count, 3), values = pattern(count, 4);
    std::vector<int> lengths(sequences);
    for (int i = 0; i < sequences; ++i) lengths[i] = static_cast<int>(random_bits(5, i) % longest);
    const Array<Bf16> key_array(keys), value_array(values);
    const Array<int> length_array(lengths);
    Array<Bf16> key_cache(count * longest), value_cache(count * longest);
    prepare();
    append_rows<<<dim3(sequences, heads), 64>>>(key_array.data(), value_array.data(), key_cache.data(),
                                                value_cache.data(), length_array.data(), heads, width,
                                                longest);
    finish("append");
    const auto found = value_cache.values();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = i / width, sequence = row / heads;
        check(same(found[(row * longest + lengths[sequence]) * width + i % width], values[i]), "append");
    }
    output(("appended_" + std::to_string(sequences)).c_str(), key_cache);
}

void pages(int sequences, int heads, int width, int pages_a_sequence) {
    const int page_count = sequences * pages_a_sequence, tokens = page_count * page;
    const std::size_t count = static_cast<std::size_t>(tokens) * heads * width;
    const auto keys = pattern(count, 6), values = pattern(count, 7);
    // An odd multiple scatters the pages; their number is a power of two.
    std::vector<int> table(page_count), slots(tokens);
    for (int i = 0; i < page_count; ++i) table[i] = static_cast<int>(i * 0x9e3779b1U & (page_count - 1U));
    for (int token = 0; token < tokens; ++token) slots[token] = table[token / page] * page + token % page;
    const Array<Bf16> key_array(keys), value_array(values);
    const Array<int> table_array(table), slot_array(slots);
    Array<Bf16> key_pages(count), value_pages(count), rows(count);
    prepare();
    scatter_pages<<<tokens, 128>>>(key_array.data(), value_array.data(), key_pages.data(), value_pages.data(),
                                   slot_array.data(), heads, width);
    finish("scatter");
    const auto scattered = value_pages.values();
    for (std::size_t i = 0; i < count; i += 41) {
        const std::size_t token = i / width / heads, column = i % (static_cast<std::size_t>(heads) * width);
        const std::size_t at =
            (static_cast<std::size_t>(table[token / page]) * heads * width + column) * page + token % page;
        check(same(scattered[at], values[i]), "scatter");
    }
    output(("pages_" + std::to_string(tokens)).c_str(), scattered);
    prepare();
    gather_pages<<<dim3(pages_a_sequence, sequences), 256>>>(
        reinterpret_cast<const uint4*>(key_pages.data()), table_array.data(),
        reinterpret_cast<uint4*>(rows.data()), heads, width / 8, pages_a_sequence);
    finish("gather");
    const auto found = rows.values();
    const std::size_t longest = static_cast<std::size_t>(pages_a_sequence) * page;
    for (std::size_t i = 0; i < count; i += 41) {
        const std::size_t token = i / width / heads, head = i / width % heads;
        const std::size_t at =
            ((token / longest * heads + head) * longest + token % longest) * width + i % width;
        check(same(found[at], keys[i]), "gather");
    }
    output(("rows_" + std::to_string(tokens)).c_str(), found);
}

void body() {
    rotate<float>({2048, 16, 128});
    rotate<Bf16>({2048, 32, 128});
    rotate<Bf16>({64, 32, 128});
    append(256, 8, 128, 128);
    append(16, 32, 128, 64);
    pages(16, 8, 128, 32);
    pages(4, 8, 128, 8);
}

int main() {
    return run(body);
}
