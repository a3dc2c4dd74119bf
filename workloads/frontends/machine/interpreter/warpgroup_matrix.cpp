// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/warpgroup_matrix.hpp"

#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/matrices.hpp"
#include "workloads/frontends/machine/interpreter/matrix_types.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint32_t max_columns = 256, max_depth = 32, rows_of_warp = 16;

/// Plain instructions that take as long as a column of a product does.
constexpr std::uint32_t work_of_column = 8;

/// Bits of Instruction::variant.
constexpr std::uint32_t a_shift = 0, b_shift = 4, columns_shift = 8;
constexpr std::uint32_t a_in_registers = 1U << 20U, a_transposed = 1U << 21U, b_transposed = 1U << 22U,
                        a_negated = 1U << 23U, b_negated = 1U << 24U, half_result = 1U << 25U,
                        integer_result = 1U << 26U, no_addend = 1U << 27U;

std::uint64_t uniform_pair(const Warp& warp, std::size_t row) {
    return std::uint64_t{warp.rows[row].lane[0]} | (std::uint64_t{warp.rows[row + 1].lane[0]} << 32U);
}

/// Shared memory is read in pieces of 16 bytes, which no swizzle tears apart.
constexpr std::uint32_t piece_bytes = 16;

/// The first `count` elements of a piece as numbers; what stands behind them in `values` means nothing.
template <MatrixElement element>
void piece_of(const std::byte* from, std::uint32_t count, float* values) {
    constexpr std::uint32_t bytes = bytes_of(element), of_piece = piece_bytes / bytes;
    using Part = std::conditional_t<bytes == 1, std::uint8_t,
                                    std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
    std::array<Part, of_piece> parts{};
    if (count >= of_piece) {
        std::memcpy(parts.data(), from, piece_bytes);
    } else {
        std::memcpy(parts.data(), from, std::size_t{count} * bytes);
    }
    for (std::uint32_t i = 0; i < of_piece; ++i) {
        values[i] = element_of(element, parts[i], 0);
    }
}

/// A matrix in shared memory: its descriptor, whether `outer` (rows of A, columns of B) is the direction in
/// which elements lie side by side, and their type.
struct SharedMatrix {
    MatrixDescriptor descriptor;
    bool across = false;
    MatrixElement element = MatrixElement::f16;
};

/// See element_offset.
inline std::uint32_t offset_of(const MatrixDescriptor& descriptor, bool transposed,
                               std::uint32_t element_bytes, std::uint32_t outer, std::uint32_t inner) {
    // Pieces of 16 bytes; eight of them, one below the other, are a core matrix.
    const std::uint32_t row_bytes = descriptor.swizzle_bytes == 0 ? 16U : descriptor.swizzle_bytes;
    const auto row_shift = static_cast<unsigned>(std::countr_zero(row_bytes));
    const std::uint32_t in_row = row_bytes - 1U;
    std::uint32_t offset = descriptor.start;
    if (!transposed) {
        const std::uint32_t along = inner * element_bytes;
        offset += outer / 8U * descriptor.stride_step + outer % 8U * row_bytes + (along & in_row);
        offset += (along >> row_shift) * descriptor.leading_step;
    } else {
        const std::uint32_t along = outer * element_bytes;
        const bool plain = descriptor.swizzle_bytes == 0;
        offset += inner % 8U * row_bytes + (along & in_row);
        offset += (along >> row_shift) * (plain ? descriptor.stride_step : descriptor.leading_step);
        offset += inner / 8U * (plain ? descriptor.leading_step : descriptor.stride_step);
    }
    return static_cast<std::uint32_t>(model::machine::swizzled(static_cast<std::int64_t>(offset),
                                                               static_cast<int>(descriptor.swizzle_bytes)));
}

/// Numbers of a factor in the order in which they lie in shared memory: `outer` or `inner` side by side.
struct Numbers {
    alignas(64) std::array<float, std::size_t{max_columns} * max_depth> value;  // NOLINT: filled as needed.
    std::size_t outer_step = 0, inner_step = 0;
};

/// Reads `count` rows of A or columns of B from `first` on. Pieces are whole: 32 bytes along the depth, or
/// rows and columns in eights; only in fp8 and int8 eight columns are half a piece.
template <MatrixElement element>
void read_shared(const Warp& warp, const Instruction& instruction, const SharedMatrix& matrix,
                 std::uint32_t first, std::uint32_t count, Numbers& numbers) {
    constexpr std::uint32_t bytes = bytes_of(element), of_piece = piece_bytes / bytes;
    constexpr std::uint32_t depth = 32U / bytes;
    const std::uint32_t along = matrix.across ? count : depth;
    const std::uint32_t lines = matrix.across ? depth : count;
    const std::uint32_t pitch = (along + of_piece - 1) / of_piece * of_piece;
    numbers.outer_step = matrix.across ? 1 : pitch;
    numbers.inner_step = matrix.across ? pitch : 1;
    const auto size = static_cast<std::uint64_t>(warp.launch->shared_bytes);
    const std::byte* const shared = warp.cta->shared.data();
    for (std::uint32_t line = 0; line < lines; ++line) {
        for (std::uint32_t place = 0; place < along; place += of_piece) {
            const std::uint32_t outer = first + (matrix.across ? place : line);
            const std::uint32_t inner = matrix.across ? line : place;
            const std::uint32_t elements = std::min(of_piece, along - place);
            const std::uint32_t offset = offset_of(matrix.descriptor, matrix.across, bytes, outer, inner);
            if (offset + std::uint64_t{elements} * bytes > size) {
                fault(warp, instruction, 0,
                      fmt::format("a matrix beyond shared memory, at offset {:#x}", offset));
            }
            piece_of<element>(shared + offset, elements,
                              numbers.value.data() + std::size_t{line} * pitch + place);
        }
    }
}

void read_shared(const Warp& warp, const Instruction& instruction, const SharedMatrix& matrix,
                 std::uint32_t first, std::uint32_t count, Numbers& numbers) {
    const auto read = [&]<MatrixElement element>() {
        read_shared<element>(warp, instruction, matrix, first, count, numbers);
    };
    switch (matrix.element) {
        case MatrixElement::f16:
            return read.operator()<MatrixElement::f16>();
        case MatrixElement::bf16:
            return read.operator()<MatrixElement::bf16>();
        case MatrixElement::tf32:
            return read.operator()<MatrixElement::tf32>();
        case MatrixElement::e4m3:
            return read.operator()<MatrixElement::e4m3>();
        case MatrixElement::e5m2:
            return read.operator()<MatrixElement::e5m2>();
        case MatrixElement::s8:
            return read.operator()<MatrixElement::s8>();
        case MatrixElement::u8:
            return read.operator()<MatrixElement::u8>();
    }
}

/// Compilers left to themselves make vectors along the depth here, which must be shuffled.
using EightReals [[gnu::vector_size(32)]] = float;

/// A by its depth, and the sums by columns: the rows of a warp are two vectors, and B's numbers one by one.
struct Tile {
    std::array<std::array<EightReals, 2>, max_depth> a;      // NOLINT: filled as far as it is read.
    std::array<std::array<EightReals, 2>, max_columns> sum;  // NOLINT: the same.
};

/// sum += left right. Products of the elements' types are exact in fp32, hence one rounding is as good as
/// two. References, since vectors that the host lacks have no calling convention.
void add_product(const EightReals& left, float right, EightReals& sum) {
    for (int i = 0; i < 8; ++i) {
#ifdef __FMA__
        sum[i] = std::fma(left[i], right, sum[i]);
#else
        sum[i] = left[i] * right + sum[i];
#endif
    }
}

/// sum = a b, in blocks of columns whose sums stay in the host's registers.
void multiply_tile(const Numbers& b, std::uint32_t columns, std::uint32_t depth, Tile& tile) {
    constexpr std::size_t block = 4;
    for (std::size_t first = 0; first < columns; first += block) {
        std::array<std::array<EightReals, 2>, block> sums{};
        const float* const from = b.value.data() + first * b.outer_step;
        for (std::size_t e = 0; e < depth; ++e) {
            const auto& left = tile.a[e];
            const auto add = [&](std::size_t c) {
                const float right = from[c * b.outer_step + e * b.inner_step];
                add_product(left[0], right, sums[c][0]);
                add_product(left[1], right, sums[c][1]);
            };
            // Written out: compilers keep sums of a loop in memory.
            add(0);
            add(1);
            add(2);
            add(3);
        }
        for (std::size_t c = 0; c < block; ++c) {
            tile.sum[first + c] = sums[c];
        }
    }
}

void set_a(Tile& tile, std::size_t row, std::size_t e, float value) {
    tile.a[e][row / 8][row % 8] = value;
}

/// A's registers are those of mma: see matrix.cpp.
void read_registers(const Warp& warp, const Instruction& instruction, MatrixElement element,
                    std::uint32_t depth, float sign, Tile& tile) {
    const std::uint32_t per_word = 4U / bytes_of(element);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t r = 0; r < depth / (2U * per_word); ++r) {
            const std::uint32_t word = warp.rows[instruction.sources[0].row + r].lane[lane];
            const std::uint32_t first = (lane % 4U + 4U * (r / 2U)) * per_word;
            for (std::uint32_t part = 0; part < per_word && first + part < depth; ++part) {
                set_a(tile, lane / 4U + 8U * (r % 2U), first + part, sign * element_of(element, word, part));
            }
        }
    }
}

/// The sums, as bits of reals, that lanes hold in result i of theirs. Registers 4 j to 4 j + 3: columns 8 j +
/// 2 t and the next, of row g, then of row g + 8.
Row sums_of_register(const Tile& tile, std::size_t i) {
    const std::size_t column = 8 * (i / 4) + i % 2;
    const std::size_t half = i / 2 % 2;
    // Lanes 4 g to 4 g + 3 hold place g of four columns: turned from columns to rows.
    using FourReals [[gnu::vector_size(16)]] = float;
    std::array<FourReals, 8> turned;  // NOLINT: filled whole below.
    const auto& c = tile.sum;
    for (int g = 0; g < 8; ++g) {
        turned[static_cast<std::size_t>(g)] = FourReals{c[column][half][g], c[column + 2][half][g],
                                                        c[column + 4][half][g], c[column + 6][half][g]};
    }
    return std::bit_cast<Row>(turned);
}

void add_reals(const Row& sums, const Row& old, Row& to) {
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        to.lane[lane] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(old.lane[lane]) +
                                                     std::bit_cast<float>(sums.lane[lane]));
    }
}

void add_integers(const Row& sums, const Row& old, Row& to) {
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const auto sum = static_cast<std::int32_t>(std::bit_cast<float>(sums.lane[lane]));
        to.lane[lane] = old.lane[lane] + static_cast<std::uint32_t>(sum);
    }
}

/// Into the half of the words from bit `shift` on.
void add_to_half(const Row& sums, const Row& old, unsigned shift, Row& to) {
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const float addend = real_of_half(static_cast<std::uint16_t>(old.lane[lane] >> shift));
        const double value =
            static_cast<double>(std::bit_cast<float>(sums.lane[lane])) + static_cast<double>(addend);
        to.lane[lane] = (to.lane[lane] & ~(0xffffU << shift)) | (std::uint32_t{half_of_real(value)} << shift);
    }
}

/// sources[0]: registers of A; sources[1]: four uniform registers, descriptors of A and of B; sources[2]: the
/// addend; predicates_in[0]: whether it is added.
Flow multiply(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    if (warp.launch->skips_matrices) {
        warp.launch->opaque_values = true;
        return Flow::next;
    }
    const std::uint32_t variant = instruction.variant;
    warp.launch->matrix_work += ((variant >> columns_shift) & 0x1ffU) * work_of_column;
    const auto a = static_cast<MatrixElement>((variant >> a_shift) & 15U);
    const auto b = static_cast<MatrixElement>((variant >> b_shift) & 15U);
    const std::uint32_t columns = (variant >> columns_shift) & 0x1ffU;
    const std::uint32_t depth = 32U / bytes_of(a);
    const float sign = ((variant & a_negated) != 0) != ((variant & b_negated) != 0) ? -1.0F : 1.0F;
    Tile tile;        // NOLINT: see there.
    Numbers numbers;  // NOLINT: see there.
    if ((variant & a_in_registers) != 0) {
        read_registers(warp, instruction, a, depth, sign, tile);
    } else {
        const SharedMatrix from{descriptor_of(uniform_pair(warp, instruction.sources[1].row)),
                                (variant & a_transposed) != 0, a};
        const auto first = static_cast<std::uint32_t>(warp.index % 4) * rows_of_warp;
        read_shared(warp, instruction, from, first, rows_of_warp, numbers);
        for (std::size_t e = 0; e < depth; ++e) {
            for (std::size_t row = 0; row < rows_of_warp; ++row) {
                set_a(tile, row, e, sign * numbers.value[row * numbers.outer_step + e * numbers.inner_step]);
            }
        }
    }
    const SharedMatrix from{descriptor_of(uniform_pair(warp, instruction.sources[1].row + 2U)),
                            (variant & b_transposed) != 0, b};
    read_shared(warp, instruction, from, 0, columns, numbers);
    multiply_tile(numbers, columns, depth, tile);
    const bool adds =
        (variant & no_addend) == 0 && (read_predicate(warp, instruction.predicates_in[0]) & enabled) != 0;
    const std::uint32_t addend = instruction.sources[2].row;
    for (std::size_t i = 0; i < columns / 2; ++i) {
        const Row sums = sums_of_register(tile, i);
        if ((variant & half_result) != 0) {
            const Row old = adds ? warp.rows[addend + i / 2] : Row{};
            add_to_half(sums, old, 16U * (i % 2), warp.rows[instruction.destination + i / 2]);
            continue;
        }
        const Row old = adds ? warp.rows[addend + i] : Row{};
        const bool integers = (variant & integer_result) != 0;
        Row& to = warp.rows[instruction.destination + i];
        integers ? add_integers(sums, old, to) : add_reals(sums, old, to);
    }
    return Flow::next;
}

std::uint32_t columns_of(Decoder& decoder) {
    for (const std::string& modifier : decoder.line().modifiers) {
        if (!modifier.starts_with("64x")) {
            continue;
        }
        std::uint32_t columns = 0;
        std::from_chars(modifier.data() + 3, modifier.data() + modifier.size(), columns);
        if (columns >= 8 && columns <= max_columns && columns % 8 == 0) {
            return columns;
        }
    }
    decoder.refuse("a warpgroup's product of this shape");
}

}  // namespace

MatrixDescriptor descriptor_of(std::uint64_t bits) {
    constexpr std::uint64_t field = 0x3fff;
    constexpr std::array<std::uint32_t, 4> swizzles{0, 128, 64, 32};
    return {static_cast<std::uint32_t>((bits & field) << 4U),
            static_cast<std::uint32_t>(((bits >> 16U) & field) << 4U),
            static_cast<std::uint32_t>(((bits >> 32U) & field) << 4U), swizzles[bits >> 62U]};
}

std::uint32_t element_offset(const MatrixDescriptor& descriptor, bool transposed, std::uint32_t element_bytes,
                             std::uint32_t outer, std::uint32_t inner) {
    return offset_of(descriptor, transposed, element_bytes, outer, inner);
}

/// HGMMA.64x128x16.F32.BF16 Rd, [Ra,] gdesc[UR], Rc [, UP] [, gsb0]
void decode_warpgroup_product(Decoder& decoder, Instruction& instruction) {
    instruction.variant = columns_of(decoder) << columns_shift;
    const FactorTypes types = factor_types(decoder);
    instruction.variant |= static_cast<std::uint32_t>(types.a) << a_shift;
    instruction.variant |= static_cast<std::uint32_t>(types.b) << b_shift;
    const std::string& opcode = decoder.line().opcode;
    if (opcode == "IGMMA") {
        instruction.variant |= integer_result;
    } else if (!decoder.has("F32")) {
        instruction.variant |= half_result;
    }
    instruction.destination = decoder.destination(0);
    std::size_t next = 1;
    if (decoder.is(next, OperandKind::general)) {
        instruction.variant |= a_in_registers;
        instruction.sources[0].row = decoder.general_row(decoder.operand(next).number);
        ++next;
    }
    const Operand& described = decoder.operand(next++);
    if (described.kind != OperandKind::address || described.descriptor < 0) {
        decoder.refuse(fmt::format("operand '{}' as descriptors", described.text));
    }
    instruction.sources[1].row = decoder.uniform_row(described.descriptor);
    for (const std::string& modifier : described.modifiers) {
        const std::uint32_t bit = modifier == "tnspA"   ? a_transposed
                                  : modifier == "tnspB" ? b_transposed
                                  : modifier == "negA"  ? a_negated
                                  : modifier == "negB"  ? b_negated
                                                        : 0U;
        if (bit == 0) {
            decoder.refuse("descriptors with ." + modifier);
        }
        instruction.variant |= bit;
    }
    const Operand& addend = decoder.operand(next);
    if (addend.kind != OperandKind::general) {
        decoder.refuse(fmt::format("operand '{}' as an addend", addend.text));
    }
    instruction.variant |= addend.number == zero_register ? no_addend : 0U;
    instruction.sources[2].row = decoder.general_row(addend.number);
    ++next;
    if (decoder.is(next, OperandKind::uniform_predicate)) {
        instruction.predicates_in[0] = decoder.predicate_in(next);
    }
    instruction.execute = multiply;
}

}  // namespace warptime::workloads::frontends::machine
