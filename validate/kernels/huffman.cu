// Huffman codes: pieces of a text decoded by a thread each, bit by bit along a tree and by tables in global,
// constant and shared memory, with words staged for a warp; lengths of codes summed, and texts encoded.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;
constexpr int symbols = 64, longest = 11, table_size = 1 << longest;

/// A canonical code: children of the tree's nodes (leaves are ~symbol), codes and a table by the next bits.
struct Code {
    std::vector<int> children;
    std::vector<unsigned> codes, lengths;
    std::vector<unsigned short> table;  // length << 8 | symbol
};

__constant__ unsigned short constant_table[table_size];

/// Bits of a text from any place, the highest first.
struct Reader {
    const unsigned* words;
    int place;  // in bits

    __device__ unsigned next() const {
        return __funnelshift_l(words[place / 32 + 1], words[place / 32], place % 32) >> (32 - longest);
    }
};

/// A thread follows the tree with each bit.
__global__ void by_tree(const unsigned* words, const int* starts, const int2* tree, Byte* text, int pieces,
                        int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    int place = starts[i];
    for (int k = 0; k < length; ++k) {
        int node = 0;
        while (node >= 0) {
            const int2 pair = tree[node];
            node = words[place / 32] >> (31 - place % 32) & 1 ? pair.y : pair.x;
            ++place;
        }
        text[static_cast<std::size_t>(i) * length + k] = static_cast<Byte>(~node);
    }
}

enum class Table { global, constant, shared };

/// A thread looks the next bits up.
template <Table where>
__global__ void by_table(const unsigned* words, const int* starts, const unsigned short* table, Byte* text,
                         int pieces, int length) {
    __shared__ unsigned short copy[where == Table::shared ? table_size : 1];
    if (where == Table::shared) {
        for (int k = threadIdx.x; k < table_size; k += blockDim.x) copy[k] = table[k];
        __syncthreads();
    }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    Reader reader{words, starts[i]};
    for (int k = 0; k < length; ++k) {
        const unsigned bits = reader.next();
        const unsigned entry = where == Table::shared     ? copy[bits]
                               : where == Table::constant ? constant_table[bits]
                                                          : table[bits];
        reader.place += static_cast<int>(entry >> 8);
        text[static_cast<std::size_t>(i) * length + k] = static_cast<Byte>(entry);
    }
}

/// Four symbols are put together for each store, and bits are kept in a register of 64.
__global__ void by_buffer(const unsigned* words, const int* starts, const unsigned short* table,
                          unsigned* text, int pieces, int length) {
    __shared__ unsigned short copy[table_size];
    for (int k = threadIdx.x; k < table_size; k += blockDim.x) copy[k] = table[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    const int start = starts[i];
    const unsigned* from = words + start / 32;
    std::uint64_t buffer = static_cast<std::uint64_t>(from[0]) << 32 | from[1];
    buffer <<= start % 32;
    from += 2;
    int left = 64 - start % 32;
    for (int k = 0; k < length; k += 4) {
        unsigned four = 0;
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            if (left < 32) {
                buffer |= static_cast<std::uint64_t>(*from++) << (32 - left);
                left += 32;
            }
            const unsigned entry = copy[buffer >> (64 - longest)];
            buffer <<= entry >> 8;
            left -= static_cast<int>(entry >> 8);
            four |= (entry & 255U) << (8 * part);
        }
        text[(static_cast<std::size_t>(i) * length + k) / 4] = four;
    }
}

/// Bits of a piece, a warp a piece.
__global__ void piece_bits(const Byte* text, const unsigned* lengths, int* bits, int pieces, int length) {
    __shared__ unsigned copy[symbols];
    if (threadIdx.x < symbols) copy[threadIdx.x] = lengths[threadIdx.x];
    __syncthreads();
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= pieces) return;
    unsigned sum = 0;
    for (int k = lane; k < length; k += 32) sum += copy[text[static_cast<std::size_t>(i) * length + k]];
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (lane == 0) bits[i] = static_cast<int>(sum);
}

/// A thread a piece writes its codes; words at its ends belong to two pieces, so bits are set by atomics.
__global__ void encode(const Byte* text, const int* starts, const unsigned* codes, const unsigned* lengths,
                       unsigned* words, int pieces, int length) {
    __shared__ unsigned code_of[symbols], length_of[symbols];
    if (threadIdx.x < symbols) {
        code_of[threadIdx.x] = codes[threadIdx.x];
        length_of[threadIdx.x] = lengths[threadIdx.x];
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    int word = starts[i] / 32, used = starts[i] % 32;
    unsigned bits = 0;
    for (int k = 0; k < length; ++k) {
        const int symbol = text[static_cast<std::size_t>(i) * length + k];
        const unsigned code = code_of[symbol];
        const int count = static_cast<int>(length_of[symbol]);
        const int room = 32 - used;
        if (count < room) {
            bits |= code << (room - count);
            used += count;
        } else {
            atomicOr(&words[word++], bits | code >> (count - room));
            used = count - room;
            bits = used == 0 ? 0U : code << (32 - used);
        }
    }
    if (used > 0) atomicOr(&words[word], bits);
}

/// Lengths of 2 to 11 bits that fill the tree, frequent symbols first.
Code make_code() {
    Code code;
    const int counts[longest + 1] = {0, 0, 1, 2, 3, 3, 2, 4, 8, 10, 15, 0};
    for (int bits = 1; bits <= longest; ++bits) {
        for (int k = 0; k < counts[bits]; ++k) code.lengths.push_back(bits);
    }
    while (code.lengths.size() < symbols) code.lengths.push_back(longest);
    code.table.assign(table_size, static_cast<unsigned short>(longest << 8));
    code.children.assign(2, 0);
    unsigned next = 0;
    for (int symbol = 0; symbol < symbols; ++symbol) {
        const int bits = static_cast<int>(code.lengths[symbol]);
        check(next + (1U << (longest - bits)) <= table_size, "code");
        code.codes.push_back(next >> (longest - bits));
        for (unsigned k = 0; k < 1U << (longest - bits); ++k) {
            code.table[next + k] = static_cast<unsigned short>(bits << 8 | symbol);
        }
        int node = 0;
        for (int bit = longest - 1; bit >= longest - bits; --bit) {
            const int side = static_cast<int>(next >> bit & 1U);
            if (bit == longest - bits) {
                code.children[2 * node + side] = ~symbol;
            } else if (code.children[2 * node + side] == 0) {
                code.children[2 * node + side] = static_cast<int>(code.children.size()) / 2;
                node = code.children[2 * node + side];
                code.children.resize(code.children.size() + 2);
            } else {
                node = code.children[2 * node + side];
            }
        }
        next += 1U << (longest - bits);
    }
    return code;
}

void all_of(const Code& code, int pieces, int length, int threads) {
    std::vector<Byte> text(static_cast<std::size_t>(pieces) * length);
    std::vector<int> starts(pieces + 1), bits(pieces);
    for (std::size_t i = 0; i < text.size(); ++i) {
        // As likely as its code says: by the table, with what it leaves over given to the first symbols.
        text[i] = static_cast<Byte>(code.table[random_bits(length, i) % table_size] & 255U);
    }
    for (int i = 0; i < pieces; ++i) {
        for (int k = 0; k < length; ++k) {
            bits[i] += static_cast<int>(code.lengths[text[static_cast<std::size_t>(i) * length + k]]);
        }
        starts[i + 1] = starts[i] + bits[i];
    }
    std::vector<unsigned> words(starts[pieces] / 32 + 3);
    for (int i = 0, place = 0; i < static_cast<int>(text.size()); ++i) {
        const int symbol = text[i];
        for (int bit = static_cast<int>(code.lengths[symbol]) - 1; bit >= 0; --bit, ++place) {
            words[place / 32] |= (code.codes[symbol] >> bit & 1U) << (31 - place % 32);
        }
    }
    const Array<unsigned> word_array(words), codes(code.codes), lengths(code.lengths);
    const Array<int> start_array(starts), tree(code.children);
    const Array<unsigned short> table(code.table);
    const Array<Byte> text_array(text);
    Array<Byte> found(text.size());
    Array<int> bit_array(pieces);
    Array<unsigned> encoded(words.size());
    const int blocks = (pieces + threads - 1) / threads;
    const auto look = [&](const char* what) {
        finish(what);
        check(found.values() == text, what);
        found.zero();
    };
    prepare();
    by_tree<<<blocks, threads>>>(word_array.data(), start_array.data(),
                                 reinterpret_cast<const int2*>(tree.data()), found.data(), pieces, length);
    look("tree");
    prepare();
    by_table<Table::global><<<blocks, threads>>>(word_array.data(), start_array.data(), table.data(),
                                                 found.data(), pieces, length);
    look("global table");
    prepare();
    by_table<Table::constant><<<blocks, threads>>>(word_array.data(), start_array.data(), table.data(),
                                                   found.data(), pieces, length);
    look("constant table");
    prepare();
    by_table<Table::shared><<<blocks, threads>>>(word_array.data(), start_array.data(), table.data(),
                                                 found.data(), pieces, length);
    look("shared table");
    prepare();
    by_buffer<<<blocks, threads>>>(word_array.data(), start_array.data(), table.data(),
                                   reinterpret_cast<unsigned*>(found.data()), pieces, length);
    finish("buffer");
    output(("text_" + std::to_string(pieces)).c_str(), found);
    look("buffer");
    prepare();
    piece_bits<<<(pieces * 32 + 255) / 256, 256>>>(text_array.data(), lengths.data(), bit_array.data(),
                                                   pieces, length);
    finish("bits");
    check(bit_array.values() == bits, "bits");
    prepare();
    encode<<<blocks, threads>>>(text_array.data(), start_array.data(), codes.data(), lengths.data(),
                                encoded.data(), pieces, length);
    finish("encode");
    check(encoded.values() == words, "encode");
    output(("words_" + std::to_string(pieces)).c_str(), encoded);
}

void body() {
    const Code code = make_code();
    require(cudaMemcpyToSymbol(constant_table, code.table.data(), table_size * sizeof(unsigned short)),
            "table");
    all_of(code, 32768, 128, 128);
    all_of(code, 8192, 64, 64);
    all_of(code, 8192, 512, 64);
}

int main() {
    return run(body);
}
