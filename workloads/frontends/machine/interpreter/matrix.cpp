// Matrix instructions of a warp: mma, ldmatrix, stmatrix and movmatrix.
// SPDX-License-Identifier: Apache-2.0
//
// Fragments as in the PTX ISA, "Matrix fragments for mma.m16n8k16" and its neighbours: lane l has group
// g = l / 4 and place t = l % 4. Register r of A holds row g + 8 (r % 2) and columns from (t + 4 (r / 2)) e
// on, e elements of 32 bits together; register r of B the same columns of its row g (column g of the
// product); of the result each lane holds columns 2 t and 2 t + 1 of rows g and g + 8.
#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/matrices.hpp"
#include "workloads/frontends/machine/interpreter/matrix_types.hpp"
#include "workloads/frontends/machine/interpreter/warpgroup_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::size_t max_k = 64;

/// Instruction::variant of a product: types of A and B, their depth, how many rows, and what the result is.
struct Product {
    MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
    std::uint32_t k = 16;
    bool sixteen_rows = true;
    bool half_result = false;
    bool saturates = false;
    bool no_addend = false;
};

std::uint32_t packed(const Product& product) {
    return static_cast<std::uint32_t>(product.a) | (static_cast<std::uint32_t>(product.b) << 4U) |
           (product.k << 8U) | (product.sixteen_rows ? 1U << 16U : 0U) |
           (product.half_result ? 1U << 17U : 0U) | (product.saturates ? 1U << 18U : 0U) |
           (product.no_addend ? 1U << 19U : 0U);
}
Product unpacked(std::uint32_t variant) {
    return {static_cast<MatrixElement>(variant & 15U),
            static_cast<MatrixElement>((variant >> 4U) & 15U),
            (variant >> 8U) & 255U,
            (variant & (1U << 16U)) != 0,
            (variant & (1U << 17U)) != 0,
            (variant & (1U << 18U)) != 0,
            (variant & (1U << 19U)) != 0};
}

constexpr std::size_t columns = 8;

/// Sums of reals are kept in fp64; those of bytes are exact in fp32.
template <class Real>
struct Operands {
    std::array<std::array<Real, max_k>, 16> a;       // NOLINT: filled as far as it is read.
    std::array<std::array<Real, columns>, max_k> b;  // NOLINT: the same.
};
/// Row after row.
template <class Real>
using Sums = std::array<Real, 16 * columns>;

/// left right + sum. Products of the elements' types are exact, hence one rounding is as good as two.
template <class Real>
Real with_product(Real left, Real right, Real sum) {
#ifdef __FMA__
    return std::fma(left, right, sum);
#else
    return left * right + sum;
#endif
}

/// In blocks of rows whose sums stay in the host's registers.
template <class Real>
Sums<Real> product_of(const Operands<Real>& operands, std::size_t rows, std::size_t k) {
    constexpr std::size_t block = 32 / sizeof(Real);
    Sums<Real> sums;  // NOLINT: filled as far as it is read.
    for (std::size_t first = 0; first < rows; first += block) {
        std::array<std::array<Real, columns>, block> own{};
        for (std::size_t e = 0; e < k; ++e) {
            for (std::size_t i = 0; i < block; ++i) {
                const Real left = operands.a[first + i][e];
                for (std::size_t j = 0; j < columns; ++j) {
                    own[i][j] = with_product(left, operands.b[e][j], own[i][j]);
                }
            }
        }
        std::memcpy(sums.data() + first * columns, own.data(), sizeof own);
    }
    return sums;
}

template <class Real>
using LaneSums = std::array<Real, lanes_per_warp>;

/// What the lanes hold of rows 8 `half` and the seven below: columns 2 t + `part`, t = lane % 4.
template <class Real>
LaneSums<Real> sums_of_lanes(const Sums<Real>& sums, std::size_t half, std::size_t part) {
    LaneSums<Real> own;  // NOLINT: filled whole below.
    const Real* const from = sums.data() + 8 * columns * half + part;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        own[lane] = from[2 * lane];
    }
    return own;
}

/// Lanes 4 g to 4 g + 3 hold a piece of row g of A, or of column g of B: its elements one after another.
constexpr std::size_t piece_bytes = 16;

template <MatrixElement element>
inline constexpr std::size_t piece_elements = piece_bytes / bytes_of(element);

template <MatrixElement element, class Real>
void read_piece(const Row& words, std::size_t g, Real* values) {
    constexpr std::uint32_t bytes = bytes_of(element);
    using Part = std::conditional_t<bytes == 1, std::uint8_t,
                                    std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
    std::array<Part, piece_elements<element>> parts;  // NOLINT: filled by the copy.
    static_assert(sizeof parts == piece_bytes);
    std::memcpy(parts.data(), words.lane.data() + 4 * g, piece_bytes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        values[i] = static_cast<Real>(element_of(element, parts[i], 0));
    }
}

template <MatrixElement a, MatrixElement b, class Real>
void read_words(const Warp& warp, const Instruction& instruction, const Product& product,
                Operands<Real>& operands) {
    constexpr std::size_t piece = piece_elements<a>;
    static_assert(piece == piece_elements<b>);
    const std::size_t halves = product.sixteen_rows ? 2U : 1U;
    for (std::size_t step = 0; step < product.k / piece; ++step) {
        for (std::size_t half = 0; half < halves; ++half) {
            const Row& words = warp.rows[instruction.sources[0].row + step * halves + half];
            for (std::size_t g = 0; g < 8; ++g) {
                read_piece<a>(words, g, operands.a[g + 8 * half].data() + step * piece);
            }
        }
        const Row& words = warp.rows[instruction.sources[1].row + step];
        std::array<std::array<Real, piece>, columns> across;  // NOLINT: filled whole below.
        for (std::size_t g = 0; g < columns; ++g) {
            read_piece<b>(words, g, across[g].data());
        }
        for (std::size_t e = 0; e < piece; ++e) {
            for (std::size_t g = 0; g < columns; ++g) {
                operands.b[step * piece + e][g] = across[g][e];
            }
        }
    }
}

/// The elements' types are known at compile time, which makes their conversion fast.
void read_reals(const Warp& warp, const Instruction& instruction, const Product& product,
                Operands<double>& operands) {
    using enum MatrixElement;
    const auto is = [&product](MatrixElement a, MatrixElement b) { return product.a == a && product.b == b; };
    if (is(f16, f16)) {
        read_words<f16, f16>(warp, instruction, product, operands);
    } else if (is(bf16, bf16)) {
        read_words<bf16, bf16>(warp, instruction, product, operands);
    } else if (is(tf32, tf32)) {
        read_words<tf32, tf32>(warp, instruction, product, operands);
    } else if (is(e4m3, e4m3)) {
        read_words<e4m3, e4m3>(warp, instruction, product, operands);
    } else if (is(e4m3, e5m2)) {
        read_words<e4m3, e5m2>(warp, instruction, product, operands);
    } else if (is(e5m2, e4m3)) {
        read_words<e5m2, e4m3>(warp, instruction, product, operands);
    } else {
        read_words<e5m2, e5m2>(warp, instruction, product, operands);
    }
}

void read_bytes(const Warp& warp, const Instruction& instruction, const Product& product,
                Operands<float>& operands) {
    using enum MatrixElement;
    if (product.a == s8) {
        product.b == s8 ? read_words<s8, s8>(warp, instruction, product, operands)
                        : read_words<s8, u8>(warp, instruction, product, operands);
    } else {
        product.b == s8 ? read_words<u8, s8>(warp, instruction, product, operands)
                        : read_words<u8, u8>(warp, instruction, product, operands);
    }
}

/// False where the values of products are not computed.
bool computes(Launch& launch) {
    constexpr std::uint64_t plain_instructions = 16;  // That take as long.
    launch.matrix_work += plain_instructions;
    launch.opaque_values = launch.opaque_values || launch.skips_matrices;
    return !launch.skips_matrices;
}

/// fp16, bf16, tf32 and fp8 with fp32 or fp16 results. The sum is kept exact and rounded once; hardware drops
/// bits of small addends, which differs by less than the rounding of its inputs.
Flow multiply_reals(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    if (!computes(*warp.launch)) {
        return Flow::next;
    }
    const Product product = unpacked(instruction.variant);
    const std::size_t halves = product.sixteen_rows ? 2U : 1U;
    Operands<double> operands;  // NOLINT: see there.
    read_reals(warp, instruction, product, operands);
    const Sums<double> sums = product_of(operands, 8 * halves, product.k);
    const std::uint16_t addend = instruction.sources[2].row;
    std::array<Row, 4> out;
    for (std::size_t half = 0; half < halves; ++half) {
        const LaneSums<double> first = sums_of_lanes(sums, half, 0), second = sums_of_lanes(sums, half, 1);
        if (product.half_result) {
            const Row old = product.no_addend ? Row{} : warp.rows[addend + half];
            for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                const std::uint32_t word = old.lane[lane];
                const float low = real_of_half(static_cast<std::uint16_t>(word));
                const float high = real_of_half(static_cast<std::uint16_t>(word >> 16U));
                out[half].lane[lane] =
                    std::uint32_t{half_of_real(first[lane] + static_cast<double>(low))} |
                    (std::uint32_t{half_of_real(second[lane] + static_cast<double>(high))} << 16U);
            }
            continue;
        }
        for (std::size_t part = 0; part < 2; ++part) {
            const LaneSums<double>& own = part == 0 ? first : second;
            const Row old = product.no_addend ? Row{} : warp.rows[addend + 2 * half + part];
            for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                const auto before = static_cast<double>(std::bit_cast<float>(old.lane[lane]));
                out[2 * half + part].lane[lane] =
                    std::bit_cast<std::uint32_t>(static_cast<float>(own[lane] + before));
            }
        }
    }
    const std::size_t rows = halves * (product.half_result ? 1U : 2U);
    for (std::size_t r = 0; r < rows; ++r) {
        warp.rows[instruction.destination + r] = out[r];
    }
    return Flow::next;
}

Flow multiply_integers(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    if (!computes(*warp.launch)) {
        return Flow::next;
    }
    const Product product = unpacked(instruction.variant);
    const std::size_t halves = product.sixteen_rows ? 2U : 1U;
    Operands<float> operands;  // NOLINT: see there.
    read_bytes(warp, instruction, product, operands);
    const Sums<float> sums = product_of(operands, 8 * halves, product.k);
    std::array<Row, 4> out;
    for (std::size_t i = 0; i < 2 * halves; ++i) {
        const LaneSums<float> own = sums_of_lanes(sums, i / 2, i % 2);
        const Row old = product.no_addend ? Row{} : warp.rows[instruction.sources[2].row + i];
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            const auto sum = static_cast<std::int32_t>(own[lane]);
            // Without saturation words wrap.
            out[i].lane[lane] = old.lane[lane] + static_cast<std::uint32_t>(sum);
            if (product.saturates) {
                const std::int64_t whole = std::int64_t{static_cast<std::int32_t>(old.lane[lane])} + sum;
                out[i].lane[lane] = static_cast<std::uint32_t>(
                    std::clamp<std::int64_t>(whole, std::numeric_limits<std::int32_t>::min(),
                                             std::numeric_limits<std::int32_t>::max()));
            }
        }
    }
    for (std::size_t r = 0; r < 2 * halves; ++r) {
        warp.rows[instruction.destination + r] = out[r];
    }
    return Flow::next;
}

double real64_of(const Warp& warp, std::size_t row, std::size_t lane) {
    return std::bit_cast<double>(std::uint64_t{warp.rows[row].lane[lane]} |
                                 (std::uint64_t{warp.rows[row + 1].lane[lane]} << 32U));
}

Flow multiply_doubles(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    if (!computes(*warp.launch)) {
        return Flow::next;
    }
    const Product product = unpacked(instruction.variant);
    Operands<double> operands;  // NOLINT: see there.
    const std::size_t halves = product.sixteen_rows ? 2U : 1U;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t step = 0; step < product.k / 4; ++step) {
            for (std::size_t half = 0; half < halves; ++half) {
                operands.a[lane / 4 + 8 * half][lane % 4 + 4 * step] =
                    real64_of(warp, instruction.sources[0].row + 2 * (step * halves + half), lane);
            }
            operands.b[lane % 4 + 4 * step][lane / 4] =
                real64_of(warp, instruction.sources[1].row + 2 * step, lane);
        }
    }
    std::array<Row, 8> out;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < 2 * halves; ++i) {
            double value =
                product.no_addend ? 0.0 : real64_of(warp, instruction.sources[2].row + 2 * i, lane);
            const std::size_t row = lane / 4 + 8 * (i / 2);
            const std::size_t column = 2 * (lane % 4) + i % 2;
            for (std::size_t e = 0; e < product.k; ++e) {
                value = std::fma(operands.a[row][e], operands.b[e][column], value);
            }
            const auto bits = std::bit_cast<std::uint64_t>(value);
            out[2 * i].lane[lane] = static_cast<std::uint32_t>(bits);
            out[2 * i + 1].lane[lane] = static_cast<std::uint32_t>(bits >> 32U);
        }
    }
    for (std::size_t r = 0; r < 4 * halves; ++r) {
        warp.rows[instruction.destination + r] = out[r];
    }
    return Flow::next;
}

bool is_nothing(const Operand& operand) {
    return operand.kind == OperandKind::general && operand.number == zero_register;
}

/// Rows and depth from "16816", "8816" or "8x8x4".
void set_shape(Decoder& decoder, Product& product) {
    struct Shape {
        std::string_view name;
        bool sixteen_rows;
        std::uint32_t k;
    };
    constexpr std::array shapes{
        Shape{"16816", true, 16}, Shape{"1688", true, 8},   Shape{"1684", true, 4},
        Shape{"16832", true, 32}, Shape{"8816", false, 16}, Shape{"8x8x4", false, 4},
        Shape{"16x8x4", true, 4}, Shape{"16x8x8", true, 8}, Shape{"16x8x16", true, 16}};
    for (const Shape& shape : shapes) {
        if (decoder.has(shape.name)) {
            product.sixteen_rows = shape.sixteen_rows;
            product.k = shape.k;
            return;
        }
    }
    decoder.refuse("a matrix product of this shape");
}

void set_operands(Decoder& decoder, Instruction& instruction, Product& product) {
    if (decoder.operands() < 4 || !decoder.is(3, OperandKind::general)) {
        decoder.refuse("a matrix product with such operands");
    }
    instruction.destination = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i].row = decoder.general_row(decoder.operand(i + 1).number);
    }
    product.no_addend = is_nothing(decoder.operand(3));
    instruction.variant = packed(product);
}

void set_types(const Decoder& decoder, Product& product) {
    const FactorTypes types = factor_types(decoder);
    product.a = types.a;
    product.b = types.b;
}

/// HMMA.16816.F32.BF16 Rd, Ra, Rb, Rc and QMMA.16832.F32.E4M3.E5M2 Rd, Ra, Rb, Rc
void decode_real_product(Decoder& decoder, Instruction& instruction) {
    Product product;
    set_shape(decoder, product);
    set_types(decoder, product);
    product.half_result = !decoder.has("F32");
    set_operands(decoder, instruction, product);
    instruction.execute = multiply_reals;
}

/// IMMA.16832.S8.S8[.SAT] Rd, Ra, Rb, Rc
void decode_integer_product(Decoder& decoder, Instruction& instruction) {
    Product product;
    set_shape(decoder, product);
    set_types(decoder, product);
    product.saturates = decoder.has("SAT");
    set_operands(decoder, instruction, product);
    instruction.execute = multiply_integers;
}

void decode_double_product(Decoder& decoder, Instruction& instruction) {
    Product product;
    set_shape(decoder, product);
    set_operands(decoder, instruction, product);
    instruction.execute = multiply_doubles;
}

// ---- moving 8 x 8 matrices of 16-bit elements

/// Element (row, column) of a matrix of which lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4.
std::uint16_t element_at(const Row& row, std::size_t matrix_row, std::size_t column) {
    const std::uint32_t word = row.lane[4 * matrix_row + column / 2];
    return static_cast<std::uint16_t>(word >> (16U * (column % 2)));
}

Row transposed(const Row& row) {
    Row out;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t first = 2 * (lane % 4);
        out.lane[lane] = std::uint32_t{element_at(row, first, lane / 4)} |
                         (std::uint32_t{element_at(row, first + 1, lane / 4)} << 16U);
    }
    return out;
}

constexpr std::uint32_t transposes = 1U;  ///< bit of variant; `width` holds the number of matrices

/// Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i.
template <bool stores>
Flow move_matrices(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    constexpr std::uint32_t row_bytes = 16;
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    const std::uint32_t matrices = instruction.width;
    const Mask givers = matrices == 4 ? all_lanes : (1U << (8U * matrices)) - 1U;
    check_shared(warp, instruction, addresses, givers, row_bytes, stores ? "write" : "read");
    count_shared(warp, instruction, addresses, givers, row_bytes,
                 stores ? AccessKind::store : AccessKind::load);
    const bool across = (instruction.variant & transposes) != 0;
    for (std::uint32_t m = 0; m < matrices; ++m) {
        if constexpr (stores) {
            const Row& held = warp.rows[instruction.sources[2].row + m];
            const Row row = across ? transposed(held) : held;
            for (std::size_t r = 0; r < 8; ++r) {
                std::memcpy(shared_memory(warp, addresses[8 * m + r]), row.lane.data() + 4 * r, row_bytes);
            }
        } else {
            Row row;
            for (std::size_t r = 0; r < 8; ++r) {
                std::memcpy(row.lane.data() + 4 * r, shared_memory(warp, addresses[8 * m + r]), row_bytes);
            }
            warp.rows[instruction.destination + m] = across ? transposed(row) : row;
        }
    }
    return Flow::next;
}

void decode_matrices(Decoder& decoder, Instruction& instruction, bool stores) {
    if (!decoder.has("16") || decoder.has("M88") == decoder.has("MT88")) {
        decoder.refuse("matrices of another form");
    }
    instruction.width = decoder.has("4") ? 4 : decoder.has("2") ? 2 : 1;
    instruction.variant |= decoder.has("MT88") ? transposes : 0U;
    if (stores) {
        decode_address(decoder, instruction, 0, false);
        instruction.sources[2].row = decoder.general_row(decoder.operand(1).number);
        instruction.execute = move_matrices<true>;
    } else {
        instruction.destination = decoder.destination(0);
        decode_address(decoder, instruction, 1, false);
        instruction.execute = move_matrices<false>;
    }
}
void decode_load_matrices(Decoder& decoder, Instruction& instruction) {
    decode_matrices(decoder, instruction, false);
}
void decode_store_matrices(Decoder& decoder, Instruction& instruction) {
    decode_matrices(decoder, instruction, true);
}

Flow transpose(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled != 0) {
        const Row source = warp.rows[instruction.sources[0].row];
        warp.rows[instruction.destination] = transposed(source);
    }
    return Flow::next;
}

void decode_transpose(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("16") || !decoder.has("MT88")) {
        decoder.refuse("a matrix of another form");
    }
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    instruction.execute = transpose;
}

constexpr std::array opcodes{
    Opcode{"HMMA", decode_real_product},       Opcode{"QMMA", decode_real_product},
    Opcode{"IMMA", decode_integer_product},    Opcode{"DMMA", decode_double_product},
    Opcode{"LDSM", decode_load_matrices},      Opcode{"STSM", decode_store_matrices},
    Opcode{"MOVM", decode_transpose},          Opcode{"HGMMA", decode_warpgroup_product},
    Opcode{"QGMMA", decode_warpgroup_product}, Opcode{"IGMMA", decode_warpgroup_product},
};

}  // namespace

std::span<const Opcode> matrix_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
