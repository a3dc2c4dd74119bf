// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/modifiers.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

using std::string_view;

constexpr string_view in_order = "accesses are done in order, each before the next instruction begins";
constexpr string_view meets_anyway = "lanes always meet where the code says";
constexpr std::array table{
    // ---- control flow
    KnownModifiers{.opcodes = "NOP YIELD ENDCOLLECTIVE EXIT KILL BRX BRXU JMX"},
    KnownModifiers{.opcodes = "BRA JMP",
                   .acts = "DIV CONV ANY",
                   .harmless = "U",
                   .why = "a predicate that all lanes share lets all of them branch",
                   .signs = "~"},
    KnownModifiers{.opcodes = "CALL RET",
                   .acts = "REL ABS",
                   .harmless = "NOINC NODEC",
                   .why = "nothing reads the depth of calls"},
    KnownModifiers{.opcodes = "BSSY BSYNC BREAK", .harmless = "RECONVERGENT RELIABLE", .why = meets_anyway},
    KnownModifiers{.opcodes = "BMOV",
                   .acts = "32",
                   .harmless = "CLEAR",
                   .why = "a barrier that was emptied is set again before it is used"},
    KnownModifiers{
        .opcodes = "WARPSYNC", .acts = "ALL EXCLUSIVE", .harmless = "COLLECTIVE", .why = meets_anyway},
    KnownModifiers{.opcodes = "BPT", .acts = "TRAP"},
    KnownModifiers{.opcodes = "BAR",
                   .acts = "SYNC SYNCALL ARV RED AND OR POPC",
                   .harmless = "DEFER_BLOCKING",
                   .why = "a warp that waits gives its turn away at once"},
    KnownModifiers{.opcodes = "B2R", .acts = "RESULT"},

    // ---- integers
    KnownModifiers{.opcodes = "MOV MOV32I"},
    KnownModifiers{.opcodes = "UMOV", .acts = "64"},
    KnownModifiers{.opcodes = "IADD3", .acts = "X", .signs = "- ~"},
    KnownModifiers{.opcodes = "UIADD3", .acts = "X 64", .signs = "- ~"},
    KnownModifiers{.opcodes = "VIADD", .acts = "16x2", .signs = "- ~"},
    KnownModifiers{.opcodes = "IADD UVIADD", .signs = "- ~"},
    KnownModifiers{.opcodes = "IMAD UIMAD",
                   .acts = "WIDE HI X U32 MOV IADD",
                   .harmless = "SHL",
                   .why = "the factor says how far",
                   .signs = "- ~"},
    KnownModifiers{.opcodes = "IMUL", .acts = "WIDE HI U32", .signs = "-"},
    KnownModifiers{.opcodes = "LEA ULEA", .acts = "HI X SX32", .signs = "- ~"},
    KnownModifiers{
        .opcodes = "ISETP UISETP", .acts = "F LT EQ LE GT NE GE T U32 EX AND OR XOR", .signs = "-"},
    KnownModifiers{.opcodes = "SEL USEL", .signs = "~"},
    KnownModifiers{.opcodes = "IMNMX UIMNMX", .acts = "U32", .signs = "- ~"},
    KnownModifiers{.opcodes = "VIMNMX", .acts = "U32 U16x2 S16x2 RELU", .signs = "- ~"},
    KnownModifiers{.opcodes = "VIMNMX3", .acts = "U32 U16x2 S16x2 RELU"},
    KnownModifiers{.opcodes = "VIADDMNMX", .acts = "U32 U16x2 S16x2 RELU", .signs = "- ~"},
    KnownModifiers{.opcodes = "IABS UIABS"},
    KnownModifiers{.opcodes = "IDP", .acts = "4A 2A HI U8 S8 U16 S16", .harmless = "LO", .why = "not HI"},
    KnownModifiers{.opcodes = "VABSDIFF", .acts = "U32", .harmless = "S32", .why = "not U32"},
    KnownModifiers{.opcodes = "VABSDIFF4", .acts = "U8 ACC", .harmless = "S8", .why = "not U8"},
    KnownModifiers{.opcodes = "LOP LOP3 ULOP3", .acts = "LUT PAND", .signs = "~"},
    KnownModifiers{.opcodes = "PLOP3 UPLOP3", .harmless = "LUT", .why = "there is no other kind"},
    KnownModifiers{.opcodes = "SHF USHF",
                   .acts = "R HI W S32 U64 S64",
                   .harmless = "L U32",
                   .why = "not R, not S32",
                   .signs = ""},
    KnownModifiers{.opcodes = "PRMT UPRMT BREV UBREV"},
    KnownModifiers{.opcodes = "POPC UPOPC", .signs = "~"},
    KnownModifiers{.opcodes = "FLO UFLO", .acts = "U32 SH", .signs = "~"},
    KnownModifiers{.opcodes = "BMSK UBMSK", .acts = "W", .harmless = "C", .why = "not W"},
    KnownModifiers{.opcodes = "SGXT USGXT", .acts = "U32 W", .harmless = "C", .why = "not W"},
    KnownModifiers{.opcodes = "P2R", .acts = "B1 B2 B3"},
    KnownModifiers{.opcodes = "R2P", .acts = "B1 B2 B3", .operands = "B1 B2 B3"},
    KnownModifiers{.opcodes = "R2UR", .acts = "OR"},

    // ---- lanes and special registers
    KnownModifiers{.opcodes = "SHFL", .acts = "UP DOWN BFLY", .harmless = "IDX", .why = "not the others"},
    KnownModifiers{
        .opcodes = "VOTE VOTEU", .acts = "ANY ALL", .harmless = "EQ", .why = "neither ANY nor ALL"},
    KnownModifiers{.opcodes = "MATCH", .acts = "ALL U64", .harmless = "ANY", .why = "not ALL"},
    KnownModifiers{.opcodes = "REDUX",
                   .acts = "SUM MIN MAX OR XOR S32",
                   .harmless = "AND U32",
                   .why = "what is meant where nothing is said"},
    KnownModifiers{.opcodes = "S2R S2UR"},
    KnownModifiers{.opcodes = "CS2R", .acts = "32"},

    // ---- reals
    KnownModifiers{.opcodes = "FMUL",
                   .acts = "FTZ SAT RM RP RZ D2 D4 D8 M2 M4 M8",
                   .harmless = "RN",
                   .why = "the rounding where none is named",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "FADD FADD32I FMUL32I FFMA FFMA32I",
                   .acts = "FTZ SAT RM RP RZ",
                   .harmless = "RN",
                   .why = "the rounding where none is named",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "FSETP FSET",
                   .acts = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T FTZ AND OR XOR BF",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "DSETP",
                   .acts = "MIN MAX F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "FSEL", .signs = "- |"},
    KnownModifiers{.opcodes = "FMNMX", .acts = "FTZ NAN", .signs = "- |"},
    KnownModifiers{.opcodes = "FCHK", .signs = "- |"},
    KnownModifiers{
        .opcodes = "F2F", .acts = "F16 BF16 F32 F64 FTZ RN RM RP RZ TRUNC FLOOR CEIL ROUND", .signs = "- |"},
    KnownModifiers{.opcodes = "FRND", .acts = "F16 BF16 F64 FTZ TRUNC FLOOR CEIL", .signs = "- |"},
    KnownModifiers{.opcodes = "F2I",
                   .acts = "F16 BF16 F64 FTZ U8 S8 U16 S16 U32 S32 U64 S64 TRUNC FLOOR CEIL",
                   .harmless = "NTZ",
                   .why = "what is no number gives what the PTX ISA says with it and without it",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "I2F I2FP",
                   .acts = "F16 BF16 F32 F64 U8 S8 U16 S16 U32 S32 U64 S64 RM RP RZ",
                   .harmless = "RN",
                   .why = "the rounding where none is named",
                   .operands = "B0 B1 B2 B3 H0 H1",
                   .signs = "-"},
    KnownModifiers{.opcodes = "F2FP",
                   .acts = "F16 BF16 TF32 E4M3 E5M2 RELU RZ PACK_B UNPACK_B PACK_AB_MERGE_C UNPACK_B_MERGE_C",
                   .harmless = "F32 PACK_AB RN SATFINITE",
                   .why = "what is meant where nothing else is said; bytes are always kept finite",
                   .operands = "H1",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "MUFU",
                   .acts = "RCP RCP64H RSQ RSQ64H SQRT EX2 LG2 SIN COS TANH F16 BF16",
                   .operands = "H0 H1",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "DADD DMUL DFMA",
                   .acts = "RM RP RZ",
                   .harmless = "RN",
                   .why = "the rounding where none is named",
                   .signs = "- |"},
    KnownModifiers{.opcodes = "DMNMX", .signs = "- |"},

    // ---- halves
    KnownModifiers{.opcodes = "HADD2 HMUL2 HFMA2",
                   .acts = "BF16_V2 BF16 F32 FTZ RELU SAT",
                   .harmless = "MMA",
                   .why = "the unit that does it",
                   .operands = "H0_H0 H1_H1 F32",
                   .signs = "- |"},
    KnownModifiers{
        .opcodes = "HMNMX2 VHMNMX", .acts = "BF16_V2 FTZ NAN", .operands = "H0_H0 H1_H1", .signs = "- |"},
    KnownModifiers{
        .opcodes = "HSETP2",
        .acts = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR H_AND BF16_V2 FTZ",
        .operands = "H0_H0 H1_H1",
        .signs = "- |"},

    // ---- memory
    KnownModifiers{.opcodes = "LDG STG LD ST LDS STS LDL STL",
                   .acts = "U8 S8 U16 S16 64 128",
                   .harmless =
                       "32 E U EF EL LU EU NA CONSTANT PRIVATE STRONG WEAK CTA SM GPU SYS MMIO LTC64B "
                       "LTC128B LTC256B",
                   .why = in_order},
    KnownModifiers{.opcodes = "QSPC",
                   .acts = "S L",
                   .harmless = "E G",
                   .why = "addresses have 64 bits; neither S nor L"},
    KnownModifiers{.opcodes = "TEX TLD", .harmless = "LL LZ", .why = "an image has one level"},
    KnownModifiers{.opcodes = "TLD4", .acts = "R G B A"},
    KnownModifiers{.opcodes = "SULD SUST",
                   .acts = "1D 2D 3D 1D_ARRAY 2D_ARRAY U8 U16 64 128 IGN TRAP",
                   .harmless = "D BA WEAK STRONG SM CTA GPU SYS",
                   .why = in_order},
    KnownModifiers{.opcodes = "LDC ULDC LDCU", .acts = "U8 S8 U16 S16 64 128"},
    KnownModifiers{.opcodes = "RED REDG ATOM ATOMG",
                   .acts = "ADD MIN MAX INC DEC AND OR XOR EXCH CAS FTZ F16x2 F16x4 F16x8 BF16x2 BF16x4 "
                           "BF16x8 BF16_V2 F32 F64 F32x2 F32x4 "
                           "S32 64 U64 S64 128",
                   .harmless = "E U32 STRONG GPU SYS CTA SM RN",
                   .why = in_order},
    KnownModifiers{.opcodes = "ATOMS",
                   .acts = "ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST SPIN POPC S32 64 U64 S64",
                   .harmless = "32 U32",
                   .why = "not wide, not S32"},
    KnownModifiers{.opcodes = "CCTL CCTLL",
                   .harmless = "E U C D I PF1 PF2 WB IV IVALL RS WBALL PML2 DML2 RML2",
                   .why = "caches hold no values here"},
    KnownModifiers{
        .opcodes = "MEMBAR FENCE", .harmless = "SC ALL CTA SM GPU SYS VC VIEW ASYNC S G T", .why = in_order},
    KnownModifiers{.opcodes = "ERRBAR CGAERRBAR"},
    KnownModifiers{.opcodes = "LDGSTS",
                   .acts = "64 128 ZFILL",
                   .harmless = "E BYPASS ACCESS EF EL LU NA EU LTC64B LTC128B LTC256B",
                   .why = in_order},
    KnownModifiers{.opcodes = "LDGDEPBAR ACQBULK PREEXIT UTMACMDFLUSH UCGABAR_ARV UCGABAR_WAIT ELECT"},
    KnownModifiers{.opcodes = "NANOSLEEP", .acts = "SYNCS"},
    KnownModifiers{.opcodes = "DEPBAR WARPGROUP", .harmless = "LE ARRIVE DEPBAR", .why = in_order},
    KnownModifiers{.opcodes = "USETMAXREG",
                   .acts = "TRY_ALLOC",
                   .harmless = "DEALLOC CTAPOOL",
                   .why = "every warp has all registers of the file from the start"},
    KnownModifiers{.opcodes = "UTMACCTL UTMAPF UBLKPF",
                   .harmless = "PF IV L2 1D 2D 3D 4D 5D",
                   .why = "caches hold no values here"},
    KnownModifiers{.opcodes = "SYNCS",
                   .acts = "CCTL EXCH 64 PHASECHK TRANS64 TRYWAIT ARRIVE A1T0 ART0 A0TR A0TX A0T1 OPTOUT",
                   .harmless = "IV RED A1TR",
                   .why = "what is meant where nothing else is said"},
    KnownModifiers{
        .opcodes = "ARRIVES", .acts = "LDGSTSBAR ARVCNT", .harmless = "64 TRANSCNT", .why = "not ARVCNT"},
    KnownModifiers{.opcodes = "UBLKCP", .acts = "S G MULTICAST"},
    KnownModifiers{.opcodes = "UBLKRED UTMAREDG",
                   .acts = "S G ADD MIN MAX AND OR XOR F32 F64 F16 BF16 S32 U64 64 S64",
                   .harmless = "U32 RN 1D 2D 3D 4D 5D",
                   .why = "the map has the number of dimensions; not another type"},
    KnownModifiers{.opcodes = "UTMALDG UTMASTG",
                   .acts = "MULTICAST",
                   .harmless = "1D 2D 3D 4D 5D",
                   .why = "the map has the number of dimensions"},

    // ---- matrices
    KnownModifiers{.opcodes = "HMMA",
                   .acts = "16816 1688 1684 F32 BF16 TF32",
                   .harmless = "F16",
                   .why = "neither F32 nor another type"},
    KnownModifiers{
        .opcodes = "QMMA", .acts = "16816 16832 F32 E4M3 E5M2", .harmless = "F16", .why = "not F32"},
    KnownModifiers{.opcodes = "IMMA", .acts = "8816 16816 16832 S8 U8 SAT", .operands = "ROW COL"},
    KnownModifiers{.opcodes = "DMMA", .acts = "8x8x4 16x8x4 16x8x8 16x8x16"},
    KnownModifiers{
        .opcodes = "LDSM STSM", .acts = "16 M88 MT88 2 4", .harmless = "1", .why = "neither 2 nor 4"},
    KnownModifiers{.opcodes = "MOVM", .acts = "16 MT88"},
    KnownModifiers{.opcodes = "HGMMA",
                   .acts = "64x* F32 BF16 TF32",
                   .harmless = "F16",
                   .why = "not F32",
                   .operands = "tnspA tnspB negA negB"},
    KnownModifiers{.opcodes = "QGMMA",
                   .acts = "64x* F32 E4M3 E5M2",
                   .harmless = "F16",
                   .why = "not F32",
                   .operands = "negA negB"},
    KnownModifiers{.opcodes = "IGMMA", .acts = "64x* S8 U8"},
};

/// Calls with each name of a list until one call returns true; returns whether one did.
template <class Call>
bool any_name(string_view names, Call call) {
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        if (end > 0 && call(names.substr(0, end))) {
            return true;
        }
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
}

[[noreturn]] void refuse(const AssemblyLine& line, const std::string& what) {
    throw Error(
        fmt::format("instruction at {:#x}", line.address), line.text,
        fmt::format("one whose modifiers the interpreter knows; {} of {} is none", what, line.opcode));
}

void check_operand(const AssemblyLine& line, const Operand& operand, const KnownModifiers& known) {
    for (const std::string& modifier : operand.modifiers) {
        if (!is_listed(known.operands, modifier)) {
            refuse(line, fmt::format("'.{}' of operand '{}'", modifier, operand.text));
        }
    }
    // Of other kinds the sign belongs to the number, or turns a predicate around.
    if (operand.kind != OperandKind::general && operand.kind != OperandKind::uniform &&
        operand.kind != OperandKind::constant) {
        return;
    }
    const std::array signs{std::pair{operand.negated, "-"}, std::pair{operand.absolute, "|"},
                           std::pair{operand.inverted, "~"}};
    for (const auto& [given, sign] : signs) {
        if (given && !is_listed(known.signs, sign)) {
            refuse(line, fmt::format("'{}' of operand '{}'", sign, operand.text));
        }
    }
}

}  // namespace

std::span<const KnownModifiers> known_modifiers() {
    return table;
}

bool is_listed(string_view names, string_view name) {
    return any_name(names, [name](string_view own) {
        return own.ends_with('*') ? name.starts_with(own.substr(0, own.size() - 1)) : own == name;
    });
}

const KnownModifiers* modifiers_of(string_view opcode) {
    for (const KnownModifiers& known : table) {
        if (is_listed(known.opcodes, opcode)) {
            return &known;
        }
    }
    return nullptr;
}

void check_modifiers(const AssemblyLine& line) {
    const KnownModifiers* const found = modifiers_of(line.opcode);
    const KnownModifiers known = found == nullptr ? KnownModifiers{} : *found;
    for (const std::string& modifier : line.modifiers) {
        if (!is_listed(known.acts, modifier) && !is_listed(known.harmless, modifier)) {
            refuse(line, fmt::format("'.{}'", modifier));
        }
    }
    for (const Operand& operand : line.operands) {
        check_operand(line, operand, known);
    }
}

}  // namespace warptime::workloads::frontends::machine
