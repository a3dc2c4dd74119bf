// Turning assembly lines into instructions: what the opcode tables of the handlers' files use, and those
// tables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"
#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// How a source's modifiers act on its bits.
enum class SourceType : std::uint8_t { integer, real32, real64, half2 };

/// Banks of constants that lie in none: a value of the code, and an address that is known when the code is
/// loaded (`offset` numbers the relocations of the code; an immediate operand has this bank then).
inline constexpr int value_bank = -1;
inline constexpr int relocated_bank = -2;

/// A row that holds a constant for the whole launch: a value, or a word of a constant bank, known at launch.
struct ConstantRow {
    int bank = value_bank;     ///< or value_bank, or relocated_bank
    std::uint32_t offset = 0;  ///< bytes into the bank
    std::uint32_t value = 0;
};

/// The rows of a warp's file: `general` rows of registers, 4 rows of zeros, 4 rows that take writes to RZ, 64
/// uniform ones, then constants.
struct RowLayout {
    std::uint16_t general = 0;
    std::vector<ConstantRow> constants;

    static constexpr std::uint16_t uniform_rows = 64;
    [[nodiscard]] std::uint16_t zero() const { return general; }
    [[nodiscard]] std::uint16_t sink() const { return static_cast<std::uint16_t>(general + 4); }
    [[nodiscard]] std::uint16_t uniform() const { return static_cast<std::uint16_t>(general + 8); }
    [[nodiscard]] std::uint16_t first_constant() const {
        return static_cast<std::uint16_t>(general + 8 + uniform_rows);
    }
    [[nodiscard]] std::size_t rows() const { return first_constant() + constants.size(); }
};

/// Reads the operands of one line. Every method throws Error naming the line when the operand is of another
/// kind.
class Decoder {
  public:
    Decoder(const AssemblyLine& line, RowLayout& layout,
            std::map<std::uint64_t, std::uint16_t>& known_constants, std::uint32_t first_instruction)
        : line_(line),
          layout_(layout),
          known_constants_(known_constants),
          first_instruction_(first_instruction) {}

    [[nodiscard]] const AssemblyLine& line() const { return line_; }
    [[nodiscard]] std::size_t operands() const { return line_.operands.size(); }
    [[nodiscard]] const Operand& operand(std::size_t i) const;
    [[nodiscard]] bool has(std::string_view modifier) const { return line_.has(modifier); }
    [[nodiscard]] bool is(std::size_t i, OperandKind kind) const {
        return i < operands() && operand(i).kind == kind;
    }

    /// Source operand i: a general or uniform register, an immediate or a constant-bank word; 64-bit sources
    /// (real64, or `words` 2) are in two rows. Sets negated, inverted, keep and flip by the operand's
    /// modifiers and the type.
    [[nodiscard]] Source source(std::size_t i, SourceType type = SourceType::integer, int words = 1);
    /// The row of a register operand that is written; the sink for RZ and URZ.
    [[nodiscard]] std::uint16_t destination(std::size_t i) const;
    /// The row of general register `number` (zeros for 255), or of a uniform one.
    [[nodiscard]] std::uint16_t general_row(int number) const;
    [[nodiscard]] std::uint16_t uniform_row(int number) const;
    [[nodiscard]] std::uint8_t predicate_out(std::size_t i) const;
    [[nodiscard]] PredicateSource predicate_in(std::size_t i) const;
    /// A row that holds the 32-bit value in every lane.
    [[nodiscard]] std::uint16_t constant_row(std::uint32_t value);
    [[nodiscard]] std::uint16_t constant_pair(std::uint64_t value);
    /// Row of the word of a constant bank, and of the next one behind it where `words` is 2.
    [[nodiscard]] std::uint16_t constant_bank_row(int bank, std::uint32_t offset, int words);
    /// Index of the instruction at the byte address of operand i, an OperandKind::target.
    [[nodiscard]] std::uint32_t target(std::size_t i) const;
    [[noreturn]] void refuse(std::string_view what) const;

  private:
    [[nodiscard]] std::uint16_t row_of(const ConstantRow& first, const ConstantRow* second);

    const AssemblyLine& line_;
    RowLayout& layout_;
    std::map<std::uint64_t, std::uint16_t>& known_constants_;
    std::uint32_t first_instruction_;
};

/// Fills `instruction` (guard, index, target and control are set already) from the line. Throws Error, naming
/// opcode and modifier, for what the handlers do not do: nothing runs as something else.
using Decode = void (*)(Decoder& decoder, Instruction& instruction);

struct Opcode {
    std::string_view name;  ///< before the first dot
    Decode decode = nullptr;
};

/// The opcodes of each family of handlers.
[[nodiscard]] std::span<const Opcode> control_opcodes();
[[nodiscard]] std::span<const Opcode> integer_opcodes();
[[nodiscard]] std::span<const Opcode> uniform_opcodes();
[[nodiscard]] std::span<const Opcode>
warp_opcodes();  ///< shuffles, votes, matches, reductions, special registers
[[nodiscard]] std::span<const Opcode> real_opcodes();    ///< fp32, fp64, conversions, special functions
[[nodiscard]] std::span<const Opcode> half_opcodes();    ///< fp16 and bf16 pairs
[[nodiscard]] std::span<const Opcode> memory_opcodes();  ///< loads, stores, atomics, constants
[[nodiscard]] std::span<const Opcode> matrix_opcodes();  ///< mma, ldmatrix, stmatrix, wgmma
[[nodiscard]] std::span<const Opcode>
asynchronous_opcodes();  ///< cp.async, bulk copies, mbarriers, clusters, fences

[[nodiscard]] std::span<const Opcode> texture_opcodes();  ///< textures and surfaces

/// The decoder of an opcode, or null.
[[nodiscard]] Decode find_opcode(std::string_view name);

}  // namespace warptime::workloads::frontends::machine
