// Conway's game of life on a torus: a byte a cell, from global and from shared memory, with sums kept while a
// thread walks down a column, and with four cells in a word; then a bit a cell, 32 cells added at once by
// logic.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

constexpr int block_width = 32, block_height = 8;
constexpr int walk_length = 16;  // rows of a thread that walks

/// An index that is out of range by less than the size.
__device__ int wrapped(int i, int size) {
    return i < 0 ? i + size : i >= size ? i - size : i;
}

/// Alive with three living neighbours, or with two if it was alive.
__device__ Byte next_cell(int neighbours, int cell) {
    return (neighbours | cell) == 3 ? 1 : 0;
}

__global__ void byte_cells(const Byte* from, Byte* to, int width, int height) {
    const int column = blockIdx.x * block_width + threadIdx.x, row = blockIdx.y * block_height + threadIdx.y;
    if (column >= width || row >= height) {
        return;
    }
    int sum = 0;
    for (int y = -1; y <= 1; ++y) {
        const Byte* const cells = from + wrapped(row + y, height) * width;
        for (int x = -1; x <= 1; ++x) {
            sum += cells[wrapped(column + x, width)];
        }
    }
    const int cell = from[row * width + column];
    to[row * width + column] = next_cell(sum - cell, cell);
}

/// A tile and the cells around it.
__global__ void byte_cells_in_tiles(const Byte* from, Byte* to, int width, int height) {
    __shared__ Byte tile[block_height + 2][block_width + 2];
    const int first_column = blockIdx.x * block_width - 1, first_row = blockIdx.y * block_height - 1;
    for (int y = threadIdx.y; y < block_height + 2; y += block_height) {
        for (int x = threadIdx.x; x < block_width + 2; x += block_width) {
            // Tiles at the edge may reach beyond the first cells of the other side; those are not used.
            const int row = min(wrapped(first_row + y, height), height - 1);
            const int column = min(wrapped(first_column + x, width), width - 1);
            tile[y][x] = from[row * width + column];
        }
    }
    __syncthreads();
    const int column = first_column + 1 + threadIdx.x, row = first_row + 1 + threadIdx.y;
    if (column < width && row < height) {
        int sum = 0;
#pragma unroll
        for (int y = 0; y < 3; ++y) {
#pragma unroll
            for (int x = 0; x < 3; ++x) {
                sum += tile[threadIdx.y + y][threadIdx.x + x];
            }
        }
        const int cell = tile[threadIdx.y + 1][threadIdx.x + 1];
        to[row * width + column] = next_cell(sum - cell, cell);
    }
}

/// Each row's sum of three cells serves three results.
__global__ void byte_columns(const Byte* from, Byte* to, int width, int height) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, first_row = blockIdx.y * walk_length;
    if (column >= width) {
        return;
    }
    const int west = wrapped(column - 1, width), east = wrapped(column + 1, width);
    const auto sum_of_row = [&](int row, int& cell) {
        const Byte* const cells = from + wrapped(row, height) * width;
        cell = cells[column];
        return cells[west] + cell + cells[east];
    };
    int cell = 0, below = 0;
    int upper_sum = sum_of_row(first_row - 1, cell), sum = sum_of_row(first_row, cell);
    const int end = min(first_row + walk_length, height);
    for (int row = first_row; row < end; ++row) {
        const int lower_sum = sum_of_row(row + 1, below);
        to[row * width + column] = next_cell(upper_sum + sum + lower_sum - cell, cell);
        upper_sum = sum;
        sum = lower_sum;
        cell = below;
    }
}

/// Four bytes a word: sums stay below 256, so that one addition serves four cells.
__global__ void four_cells(const unsigned* from, unsigned* to, int words, int height) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (i >= words) {
        return;
    }
    const int west = wrapped(i - 1, words), east = wrapped(i + 1, words);
    unsigned sum = 0, cells = 0;
#pragma unroll
    for (int y = -1; y <= 1; ++y) {
        const unsigned* const row_words = from + wrapped(row + y, height) * words;
        const unsigned word = row_words[i];
        // The first cell is the lowest byte.
        sum += word + __funnelshift_l(row_words[west], word, 8) + __funnelshift_r(word, row_words[east], 8);
        cells = y == 0 ? word : cells;
    }
    to[row * words + i] = __vcmpeq4((sum - cells) | cells, 0x03030303U) & 0x01010101U;
}

/// Sums of 32 columns, bit by bit: ones and twos.
struct Sums {
    unsigned ones, twos;
};

__device__ Sums sum_of_two(unsigned a, unsigned b) {
    return {a ^ b, a & b};
}
__device__ Sums sum_of_three(unsigned a, unsigned b, unsigned c) {
    return {a ^ b ^ c, (a & b) | (c & (a | b))};
}

/// A word, and the word as its cells' western and eastern neighbours see it. The first cell is the lowest
/// bit.
struct Neighbours {
    unsigned west, cells, east;
};

__device__ Neighbours neighbours(const unsigned* row_words, int i, int west, int east) {
    const unsigned word = row_words[i];
    return {__funnelshift_l(row_words[west], word, 1), word, __funnelshift_r(word, row_words[east], 1)};
}

/// Of four twos exactly one must be set, for a sum of two or three; with it the ones, or the cell itself.
__device__ unsigned next_word(Sums upper, Sums sides, Sums lower, unsigned cells) {
    const Sums ones = sum_of_three(upper.ones, sides.ones, lower.ones);
    const unsigned odd = upper.twos ^ sides.twos ^ lower.twos ^ ones.twos;
    const unsigned several = (upper.twos & lower.twos) | (sides.twos & ones.twos);
    return odd & ~several & (ones.ones | cells);
}

__global__ void bit_cells(const unsigned* from, unsigned* to, int words, int height) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = index / words, i = index - row * words;
    if (row >= height) {
        return;
    }
    const int west = wrapped(i - 1, words), east = wrapped(i + 1, words);
    const auto upper = neighbours(from + wrapped(row - 1, height) * words, i, west, east);
    const auto own = neighbours(from + row * words, i, west, east);
    const auto lower = neighbours(from + wrapped(row + 1, height) * words, i, west, east);
    to[row * words + i] =
        next_word(sum_of_three(upper.west, upper.cells, upper.east), sum_of_two(own.west, own.east),
                  sum_of_three(lower.west, lower.cells, lower.east), own.cells);
}

/// Walks down a column of words: each row is read and added up once.
__global__ void bit_columns(const unsigned* from, unsigned* to, int words, int height) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    const int walk = index / words, i = index - walk * words;
    const int west = wrapped(i - 1, words), east = wrapped(i + 1, words);
    const int first_row = walk * walk_length, end = min(first_row + walk_length, height);
    if (first_row >= height) {
        return;
    }
    const auto before = neighbours(from + wrapped(first_row - 1, height) * words, i, west, east);
    Sums upper = sum_of_three(before.west, before.cells, before.east);
    auto own = neighbours(from + first_row * words, i, west, east);
    for (int row = first_row; row < end; ++row) {
        const auto below = neighbours(from + wrapped(row + 1, height) * words, i, west, east);
        to[row * words + i] = next_word(upper, sum_of_two(own.west, own.east),
                                        sum_of_three(below.west, below.cells, below.east), own.cells);
        upper = sum_of_three(own.west, own.cells, own.east);
        own = below;
    }
}

std::vector<Byte> stepped(const std::vector<Byte>& cells, int width, int height) {
    std::vector<Byte> result(cells.size());
    for (int row = 0; row < height; ++row) {
        const Byte* const upper = cells.data() + (row + height - 1) % height * width;
        const Byte* const own = cells.data() + row * width;
        const Byte* const lower = cells.data() + (row + 1) % height * width;
        for (int column = 0; column < width; ++column) {
            const int west = column == 0 ? width - 1 : column - 1,
                      east = column == width - 1 ? 0 : column + 1;
            const int sum = upper[west] + upper[column] + upper[east] + own[west] + own[east] + lower[west] +
                            lower[column] + lower[east];
            result[row * width + column] = sum == 3 || (sum == 2 && own[column] == 1) ? 1 : 0;
        }
    }
    return result;
}

/// The first of 32 cells is the lowest bit.
std::vector<unsigned> packed(const std::vector<Byte>& cells) {
    std::vector<unsigned> words(cells.size() / 32);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        words[i / 32] |= static_cast<unsigned>(cells[i]) << i % 32;
    }
    return words;
}

void body() {
    struct Case {
        int width, height;
    };
    for (const auto& [width, height] : {Case{352, 203}, Case{2080, 1003}}) {
        auto cells = random_values<Byte>(width * height, 1);
        for (Byte& cell : cells) {
            cell = cell % 3 == 0 ? 1 : 0;
        }
        const auto next = stepped(cells, width, height);
        const auto words = packed(cells), next_words = packed(next);
        const auto later_words = packed(stepped(next, width, height));
        const Array<Byte> from(cells);
        Array<Byte> to(cells.size());
        const auto verify = [&](const char* what) {
            finish(what);
            const auto found = to.values();
            check(found == next, what);
            output(what, found);
            to.zero();
        };
        const dim3 grid((width + block_width - 1) / block_width, (height + block_height - 1) / block_height);
        const dim3 block(block_width, block_height);
        const int walks = (height + walk_length - 1) / walk_length;
        prepare();
        byte_cells<<<grid, block>>>(from.data(), to.data(), width, height);
        verify("byte_cells");
        prepare();
        byte_cells_in_tiles<<<grid, block>>>(from.data(), to.data(), width, height);
        verify("byte_cells_in_tiles");
        prepare();
        byte_columns<<<dim3((width + 127) / 128, walks), 128>>>(from.data(), to.data(), width, height);
        verify("byte_columns");
        prepare();
        four_cells<<<dim3((width / 4 + 127) / 128, height), 128>>>(
            reinterpret_cast<const unsigned*>(from.data()), reinterpret_cast<unsigned*>(to.data()), width / 4,
            height);
        verify("four_cells");

        // Two steps, there and back.
        Array<unsigned> first(words), second(words.size());
        const int words_in_row = width / 32;
        const auto verify_bits = [&](const char* what, const Array<unsigned>& result,
                                     const std::vector<unsigned>& expected) {
            finish(what);
            const auto found = result.values();
            check(found == expected, what);
            output(what, found);
        };
        const int bit_blocks = (words_in_row * height + 255) / 256;
        prepare();
        bit_cells<<<bit_blocks, 256>>>(first.data(), second.data(), words_in_row, height);
        verify_bits("bit_cells", second, next_words);
        prepare();
        bit_cells<<<bit_blocks, 256>>>(second.data(), first.data(), words_in_row, height);
        verify_bits("bit_cells_again", first, later_words);
        first.copy_from(words);
        second.zero();
        const int walk_blocks = (words_in_row * walks + 127) / 128;
        prepare();
        bit_columns<<<walk_blocks, 128>>>(first.data(), second.data(), words_in_row, height);
        verify_bits("bit_columns", second, next_words);
        prepare();
        bit_columns<<<walk_blocks, 128>>>(second.data(), first.data(), words_in_row, height);
        verify_bits("bit_columns_again", first, later_words);
    }
}

int main() {
    return run(body);
}
