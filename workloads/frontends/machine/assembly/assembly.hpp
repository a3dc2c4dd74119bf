// Machine instructions as a disassembler prints them, taken apart: opcode, operands, predicate, control
// fields.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

enum class OperandKind : std::uint8_t {
    general,            ///< R5, RZ (number 255)
    uniform,            ///< UR4, URZ (number 255)
    predicate,          ///< P0, PT (number 7)
    uniform_predicate,  ///< UP0, UPT (number 7)
    barrier,            ///< B0: a convergence barrier register
    scoreboard,         ///< SB0
    immediate,          ///< 0x10, -3, 1.5, +INF: the bits are in `value`
    constant,           ///< c[0x0][0x210], c[0x3][R4+0x10], c[0x0][UR4]
    address,            ///< [R2.64+UR4+0x10], desc[UR6][R6.64], gdesc[UR4]
    special,            ///< SR_TID.X, SRZ: the name is in `text`
    target,             ///< an address of code: `value`
    text                ///< anything else, by its text
};

/// Number of the registers RZ and URZ, whose value is always zero, and of the predicates PT and UPT.
inline constexpr int zero_register = 255;
inline constexpr int zero_uniform_register = 63;  ///< before sm_100
inline constexpr int true_predicate = 7;

struct Operand {
    OperandKind kind = OperandKind::text;
    std::uint8_t number = 0;  ///< of a register or predicate
    bool negated = false;     ///< -R4, !P0, -c[0][0]
    bool absolute = false;    ///< |R4|
    bool inverted = false;    ///< ~R4
    /// Immediates: the integer, or the bits of the number as printed for the instruction's type (32 bits of
    /// an fp32, the upper 32 bits of an fp64). Targets: the address. Constants and addresses: the byte
    /// offset, signed.
    std::int64_t value = 0;
    bool is_real = false;     ///< the immediate was printed as a real number
    double real = 0.0;        ///< that number
    int bank = -1;            ///< constant: the bank; -1 where a uniform register names it (cx[UR4][0x10])
    int base = -1;            ///< address, constant: the general register added, or -1
    int uniform_base = -1;    ///< address, constant: the uniform register added, or -1
    int descriptor = -1;      ///< desc[URn], cx[URn], gdesc[URn]: the uniform register, or -1
    bool base_is_64 = false;  ///< [R2.64]: a pair of registers
    bool base_is_unsigned = false;       ///< [R2.U32+UR4]: zero-extended 32 bits beside a 64-bit uniform base
    int scale = 1;                       ///< [R2.X4], [R2.X8], [R2.X16]
    std::vector<std::string> modifiers;  ///< of the operand: {"H0_H0"}, {"X8"}, {"64"}, without "reuse"
    std::string text;                    ///< as printed, for messages and special registers
};

/// Scheduling fields of an instruction, from bit 105 of its encoding (Jia et al., arXiv:1804.06826,
/// section 2.1).
struct Control {
    std::uint8_t stall = 0;  ///< cycles until the next instruction of the warp
    bool yield = false;
    std::uint8_t write_barrier = 7;  ///< scoreboard set when the result is written; 7: none
    std::uint8_t read_barrier = 7;   ///< scoreboard set when the sources have been read; 7: none
    std::uint8_t wait_mask = 0;      ///< scoreboards waited for
    std::uint8_t reuse = 0;
};

struct AssemblyLine {
    std::uint32_t address = 0;           ///< bytes from the start of the function
    int guard = true_predicate;          ///< @P0: 0
    bool guard_negated = false;          ///< @!P0
    bool guard_uniform = false;          ///< @UP0
    std::string opcode;                  ///< "IMAD"
    std::vector<std::string> modifiers;  ///< {"WIDE", "U32"}
    std::vector<Operand> operands;
    Control control;
    std::array<std::uint64_t, 2> encoding{};
    std::string text;  ///< "@P0 IMAD.WIDE.U32 R2, R3, 0x4, R6", for messages

    [[nodiscard]] bool has(std::string_view modifier) const {
        for (const std::string& own : modifiers) {
            if (own == modifier) {
                return true;
            }
        }
        return false;
    }
};

struct AssemblyFunction {
    std::string name;
    std::vector<AssemblyLine> lines;  ///< line i is at address 16 i
};

}  // namespace warptime::workloads::frontends::machine
