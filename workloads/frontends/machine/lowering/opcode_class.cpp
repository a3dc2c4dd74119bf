// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/opcode_class.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

using hw::Dtype;
using hw::InstructionClass;

struct Entry {
    std::string_view opcode;
    InstructionClass cls;
};

/// Opcodes whose class follows from the name alone. The uniform datapath's take the class of their twins.
constexpr std::array entries{
    Entry{"FADD", InstructionClass::add_f32},
    Entry{"FADD32I", InstructionClass::add_f32},
    Entry{"FMUL", InstructionClass::mul_f32},
    Entry{"FMUL32I", InstructionClass::mul_f32},
    Entry{"FFMA", InstructionClass::fma_f32},
    Entry{"FFMA32I", InstructionClass::fma_f32},
    Entry{"FSEL", InstructionClass::compare_select},
    Entry{"FMNMX", InstructionClass::compare_select},
    Entry{"FSETP", InstructionClass::set_predicate},
    Entry{"FSET", InstructionClass::compare_select},
    Entry{"FCHK", InstructionClass::mufu},
    Entry{"FSWZADD", InstructionClass::add_f32},
    Entry{"MUFU", InstructionClass::mufu},
    Entry{"FRND", InstructionClass::convert},
    Entry{"F2F", InstructionClass::convert},
    Entry{"F2I", InstructionClass::convert},
    Entry{"I2F", InstructionClass::convert},
    Entry{"I2FP", InstructionClass::add_s32},
    Entry{"F2FP", InstructionClass::convert_pack},
    Entry{"F2IP", InstructionClass::convert},
    Entry{"I2I", InstructionClass::convert},
    Entry{"I2IP", InstructionClass::convert_pack},
    Entry{"DADD", InstructionClass::fma_f64},
    Entry{"DMUL", InstructionClass::fma_f64},
    Entry{"DFMA", InstructionClass::fma_f64},
    Entry{"DSETP", InstructionClass::fma_f64},
    Entry{"DMNMX", InstructionClass::fma_f64},
    Entry{"HADD2", InstructionClass::fma_f16x2},
    Entry{"HMUL2", InstructionClass::fma_f16x2},
    Entry{"HFMA2", InstructionClass::fma_f16x2},
    Entry{"HMNMX2", InstructionClass::compare_select},
    Entry{"HSETP2", InstructionClass::set_predicate},
    Entry{"HSET2", InstructionClass::compare_select},
    Entry{"IADD3", InstructionClass::add_s32},
    Entry{"IADD", InstructionClass::add_s32},
    Entry{"VIADD", InstructionClass::add_s32},
    Entry{"IMAD", InstructionClass::mad_s32},
    Entry{"IMUL", InstructionClass::mad_s32},
    Entry{"LEA", InstructionClass::add_s32},
    Entry{"ISETP", InstructionClass::set_predicate},
    Entry{"SEL", InstructionClass::compare_select},
    Entry{"IMNMX", InstructionClass::compare_select},
    Entry{"VIMNMX", InstructionClass::compare_select},
    Entry{"VHMNMX", InstructionClass::compare_select},
    Entry{"VIMNMX3", InstructionClass::compare_select},
    Entry{"VIADDMNMX", InstructionClass::compare_select},
    Entry{"IABS", InstructionClass::add_s32},
    Entry{"IDP", InstructionClass::mad_s32},
    Entry{"VABSDIFF", InstructionClass::add_s32},
    Entry{"VABSDIFF4", InstructionClass::add_s32},
    Entry{"LOP3", InstructionClass::logic},
    Entry{"LOP", InstructionClass::logic},
    Entry{"PLOP3", InstructionClass::logic},
    Entry{"SHF", InstructionClass::shift},
    Entry{"PRMT", InstructionClass::logic},
    Entry{"POPC", InstructionClass::convert},
    Entry{"FLO", InstructionClass::convert},
    Entry{"BREV", InstructionClass::convert},
    Entry{"BMSK", InstructionClass::shift},
    Entry{"SGXT", InstructionClass::shift},
    Entry{"P2R", InstructionClass::logic},
    Entry{"R2P", InstructionClass::logic},
    Entry{"MOV", InstructionClass::move},
    Entry{"MOV32I", InstructionClass::move},
    Entry{"CS2R", InstructionClass::move},
    Entry{"S2R", InstructionClass::move},
    Entry{"S2UR", InstructionClass::move},
    Entry{"R2UR", InstructionClass::move},
    Entry{"B2R", InstructionClass::move},
    Entry{"BMOV", InstructionClass::move},
    Entry{"NOP", InstructionClass::move},
    Entry{"SHFL", InstructionClass::shfl},
    Entry{"VOTE", InstructionClass::vote},
    Entry{"VOTEU", InstructionClass::vote},
    Entry{"MATCH", InstructionClass::vote},
    Entry{"REDUX", InstructionClass::redux},
    Entry{"ELECT", InstructionClass::vote},
    Entry{"HMMA", InstructionClass::mma_sync},
    Entry{"IMMA", InstructionClass::mma_sync},
    Entry{"DMMA", InstructionClass::mma_sync},
    Entry{"QMMA", InstructionClass::mma_sync},
    Entry{"BMMA", InstructionClass::mma_sync},
    Entry{"HGMMA", InstructionClass::wgmma},
    Entry{"IGMMA", InstructionClass::wgmma},
    Entry{"QGMMA", InstructionClass::wgmma},
    Entry{"BGMMA", InstructionClass::wgmma},
    Entry{"WARPGROUP", InstructionClass::wgmma_fence},
    Entry{"LDG", InstructionClass::ld_global},
    Entry{"TEX", InstructionClass::ld_global},
    Entry{"TLD", InstructionClass::ld_global},
    Entry{"TLD4", InstructionClass::ld_global},
    Entry{"SULD", InstructionClass::ld_global},
    Entry{"SUST", InstructionClass::st_global},
    Entry{"LD", InstructionClass::ld_global},
    Entry{"STG", InstructionClass::st_global},
    Entry{"ST", InstructionClass::st_global},
    Entry{"LDS", InstructionClass::ld_shared},
    Entry{"STS", InstructionClass::st_shared},
    Entry{"LDSM", InstructionClass::ldmatrix},
    Entry{"STSM", InstructionClass::stmatrix},
    Entry{"MOVM", InstructionClass::shfl},
    Entry{"LDL", InstructionClass::ld_local},
    Entry{"STL", InstructionClass::st_local},
    Entry{"LDC", InstructionClass::ld_constant},
    Entry{"LDCU", InstructionClass::ld_constant},
    Entry{"ULDC", InstructionClass::move},
    Entry{"ATOM", InstructionClass::atom_global},
    Entry{"ATOMG", InstructionClass::atom_global},
    Entry{"RED", InstructionClass::red_global},
    Entry{"REDG", InstructionClass::red_global},
    Entry{"ATOMS", InstructionClass::atom_shared},
    Entry{"LDGSTS", InstructionClass::cp_async},
    Entry{"LDGDEPBAR", InstructionClass::cp_async_commit},
    Entry{"UBLKCP", InstructionClass::cp_async_bulk},
    Entry{"UTMALDG", InstructionClass::cp_async_bulk_tensor},
    Entry{"UTMASTG", InstructionClass::cp_async_bulk_store},
    Entry{"UTMAREDG", InstructionClass::cp_async_bulk_store},
    Entry{"UBLKRED", InstructionClass::cp_async_bulk_store},
    Entry{"UBLKPF", InstructionClass::cp_async_bulk},
    Entry{"UTMAPF", InstructionClass::cp_async_bulk_tensor},
    Entry{"UTMACMDFLUSH", InstructionClass::bulk_commit},
    Entry{"SYNCS", InstructionClass::mbarrier_arrive},
    Entry{"ARRIVES", InstructionClass::mbarrier_arrive},
    Entry{"BAR", InstructionClass::bar_sync},
    Entry{"UCGABAR_ARV", InstructionClass::cluster_barrier},
    Entry{"UCGABAR_WAIT", InstructionClass::cluster_barrier},
    Entry{"MEMBAR", InstructionClass::fence},
    Entry{"FENCE", InstructionClass::fence},
    // What follows a fence in the code, and what makes the L1 forget, wait for nothing themselves.
    Entry{"ERRBAR", InstructionClass::move},
    Entry{"CGAERRBAR", InstructionClass::move},
    Entry{"QSPC", InstructionClass::move},
    Entry{"CCTL", InstructionClass::move},
    Entry{"CCTLL", InstructionClass::move},
    Entry{"UTMACCTL", InstructionClass::fence},
    Entry{"DEPBAR", InstructionClass::move},
    Entry{"ACQBULK", InstructionClass::move},
    Entry{"PREEXIT", InstructionClass::move},
    Entry{"NANOSLEEP", InstructionClass::nanosleep},
    Entry{"BRA", InstructionClass::branch},
    Entry{"BRX", InstructionClass::branch},
    Entry{"BRXU", InstructionClass::branch},
    Entry{"JMP", InstructionClass::branch},
    Entry{"JMX", InstructionClass::branch},
    Entry{"CALL", InstructionClass::branch},
    Entry{"RET", InstructionClass::branch},
    Entry{"BSSY", InstructionClass::branch},
    Entry{"BSYNC", InstructionClass::branch},
    Entry{"BREAK", InstructionClass::branch},
    Entry{"WARPSYNC", InstructionClass::branch},
    Entry{"YIELD", InstructionClass::branch},
    Entry{"ENDCOLLECTIVE", InstructionClass::branch},
    Entry{"EXIT", InstructionClass::exit},
    Entry{"KILL", InstructionClass::exit},
    Entry{"BPT", InstructionClass::exit},
    Entry{"USETMAXREG", InstructionClass::setmaxnreg},
};

const Entry* find(std::string_view opcode) {
    const auto found = std::ranges::find(entries, opcode, &Entry::opcode);
    return found == entries.end() ? nullptr : &*found;
}

/// "16816" is m16n8k16, "64x128x16" what it says.
std::array<std::int32_t, 3> shape_of(const AssemblyLine& line) {
    struct Shape {
        std::string_view text;
        std::array<std::int32_t, 3> shape;
    };
    constexpr std::array known{
        Shape{"16816", {16, 8, 16}}, Shape{"1688", {16, 8, 8}}, Shape{"16832", {16, 8, 32}},
        Shape{"884", {8, 8, 4}},     Shape{"8816", {8, 8, 16}}, Shape{"8832", {8, 8, 32}},
        Shape{"16864", {16, 8, 64}}, Shape{"1684", {16, 8, 4}}, Shape{"168128", {16, 8, 128}},
    };
    for (const std::string& modifier : line.modifiers) {
        for (const Shape& shape : known) {
            if (modifier == shape.text) {
                return shape.shape;
            }
        }
        const std::size_t first = modifier.find('x');
        const std::size_t second = first == std::string::npos ? first : modifier.find('x', first + 1);
        if (second != std::string::npos) {
            return {std::atoi(modifier.c_str()), std::atoi(modifier.c_str() + first + 1),
                    std::atoi(modifier.c_str() + second + 1)};
        }
    }
    return line.opcode == "DMMA" ? std::array<std::int32_t, 3>{8, 8, 4} : std::array<std::int32_t, 3>{};
}

/// What an atomic operation adds or compares: integers unless the suffix says otherwise.
Dtype atomic_dtype(const AssemblyLine& line) {
    for (const auto& [suffix, dtype] :
         {std::pair{"F64", Dtype::fp64}, std::pair{"F32", Dtype::fp32}, std::pair{"F32x2", Dtype::fp32},
          std::pair{"F32x4", Dtype::fp32}, std::pair{"F16x2", Dtype::fp16}, std::pair{"F16", Dtype::fp16},
          std::pair{"BF16_V2", Dtype::bf16}, std::pair{"F16_V2", Dtype::fp16},
          std::pair{"BF16x2", Dtype::bf16}, std::pair{"BF16", Dtype::bf16}, std::pair{"64", Dtype::int64},
          std::pair{"U64", Dtype::int64}, std::pair{"S64", Dtype::int64}}) {
        if (line.has(suffix)) {
            return dtype;
        }
    }
    return Dtype::int32;
}

Dtype matrix_dtype(const AssemblyLine& line) {
    if (line.opcode == "DMMA") {
        return Dtype::fp64;
    }
    if (line.opcode.starts_with("I")) {
        return Dtype::int8;
    }
    if (line.opcode.starts_with("Q")) {
        return Dtype::fp8;
    }
    if (line.opcode.starts_with("B")) {
        return Dtype::b1;
    }
    return line.has("TF32") ? Dtype::tf32 : line.has("BF16") ? Dtype::bf16 : Dtype::fp16;
}

}  // namespace

OpcodeClass class_of(const AssemblyLine& line) {
    const std::string_view opcode = line.opcode;
    const Entry* entry = find(opcode);
    if (entry == nullptr && opcode.starts_with("U")) {
        entry = find(opcode.substr(1));
    }
    OpcodeClass result;
    if (entry == nullptr) {
        result.known = false;
        return result;
    }
    result.cls = entry->cls;
    if (result.cls == InstructionClass::mma_sync || result.cls == InstructionClass::wgmma) {
        result.shape = shape_of(line);
        result.dtype = matrix_dtype(line);
    }
    if (opcode.starts_with("ATOM") || opcode == "RED" || opcode == "REDG") {
        result.dtype = atomic_dtype(line);
    }
    if (result.cls == InstructionClass::mad_s32 && !opcode.starts_with("U") &&
        (line.has("WIDE") || line.has("HI"))) {
        result.cls = InstructionClass::mad_wide_s32;
    }
    // Multiply-adds that the compiler uses as moves, additions and shifts keep the multiplier's pipe.
    if (opcode == "BAR" && line.has("ARV")) {
        result.cls = InstructionClass::bar_arrive;
    }
    // The threads of a CTA share an L1: such a fence waits for nothing.
    if (opcode == "MEMBAR" && line.has("CTA")) {
        result.cls = InstructionClass::move;
    }
    if (opcode == "SYNCS" && line.has("PHASECHK")) {
        result.cls = InstructionClass::mbarrier_try_wait;
    }
    if (opcode == "UBLKCP" && !line.modifiers.empty() && line.modifiers.front() == "G") {
        result.cls = InstructionClass::cp_async_bulk_store;
    }
    return result;
}

}  // namespace warptime::workloads::frontends::machine
