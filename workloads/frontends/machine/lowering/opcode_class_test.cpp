// Tests of instruction classes: families, matrix shapes and types, and a class for all that can run.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/opcode_class.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)
using hw::Dtype;
using hw::InstructionClass;

OpcodeClass class_of_text(std::string_view text) {
    return class_of(assembly_line(text, 0));
}

TEST_CASE("arithmetic goes to the class of its pipe") {
    struct Case {
        std::string_view text;
        InstructionClass cls;
    };
    for (const Case& own : {Case{"FFMA R1, R2, R3, R4", InstructionClass::fma_f32},
                            Case{"FADD.FTZ R1, R2, R3", InstructionClass::add_f32},
                            Case{"FMUL R1, R2, R3", InstructionClass::mul_f32},
                            Case{"DMUL R2, R4, R6", InstructionClass::fma_f64},
                            Case{"HFMA2.MMA R1, R2, R3, R4", InstructionClass::fma_f16x2},
                            // Moves, additions and shifts that a multiply-add does keep its pipe.
                            Case{"IMAD.MOV.U32 R1, RZ, RZ, R4", InstructionClass::mad_s32},
                            Case{"IMAD.IADD R1, R2, 0x1, R4", InstructionClass::mad_s32},
                            Case{"IMAD.WIDE.U32 R2, R4, 0x4, R6", InstructionClass::mad_wide_s32},
                            Case{"IMAD.HI.U32 R1, R2, R3, RZ", InstructionClass::mad_wide_s32},
                            Case{"UIMAD.WIDE UR4, UR5, 0x4, UR6", InstructionClass::mad_s32},
                            Case{"IADD3.X R1, R2, R3, R4, P0, !PT", InstructionClass::add_s32},
                            Case{"LOP3.LUT R1, R2, R3, R4, 0x80, !PT", InstructionClass::logic},
                            Case{"SHF.L.U32 R1, R2, R3, RZ", InstructionClass::shift},
                            Case{"ISETP.GE.AND P0, PT, R2, R3, PT", InstructionClass::set_predicate},
                            Case{"FSEL R1, R2, R3, P0", InstructionClass::compare_select},
                            Case{"MUFU.EX2 R1, R2", InstructionClass::mufu},
                            Case{"F2FP.BF16.F32.PACK_AB R1, R2, R3", InstructionClass::convert_pack},
                            Case{"F2I.TRUNC.NTZ R1, R2", InstructionClass::convert}}) {
        CAPTURE(own.text);
        CHECK(class_of_text(own.text).cls == own.cls);
        CHECK(class_of_text(own.text).known);
    }
}

TEST_CASE("spaces and kinds of memory accesses are told apart") {
    struct Case {
        std::string_view text;
        InstructionClass cls;
    };
    for (const Case& own :
         {Case{"LDG.E R1, desc[UR4][R2.64]", InstructionClass::ld_global},
          Case{"STG.E desc[UR4][R2.64], R1", InstructionClass::st_global},
          Case{"LDS R1, [R2]", InstructionClass::ld_shared},
          Case{"STS [R2], R1", InstructionClass::st_shared}, Case{"LDL R1, [R2]", InstructionClass::ld_local},
          Case{"STL [R2], R1", InstructionClass::st_local},
          Case{"LDC R1, c[0x3][R2]", InstructionClass::ld_constant},
          Case{"LDSM.16.M88.4 R4, [R2]", InstructionClass::ldmatrix},
          Case{"STSM.16.M88.4 [R2], R4", InstructionClass::stmatrix},
          Case{"ATOMG.E.ADD PT, R1, desc[UR4][R2.64], R3", InstructionClass::atom_global},
          Case{"REDG.E.ADD desc[UR4][R2.64], R3", InstructionClass::red_global},
          Case{"ATOMS.ADD R1, [R2], R3", InstructionClass::atom_shared},
          Case{"LDGSTS.E [R6], desc[UR4][R2.64]", InstructionClass::cp_async},
          Case{"LDGDEPBAR", InstructionClass::cp_async_commit},
          Case{"UTMALDG.2D [UR8], [UR4]", InstructionClass::cp_async_bulk_tensor}}) {
        CAPTURE(own.text);
        CHECK(class_of_text(own.text).cls == own.cls);
    }
}

TEST_CASE("modifiers that make another instruction change the class") {
    CHECK(class_of_text("BAR.SYNC.DEFER_BLOCKING 0x0").cls == InstructionClass::bar_sync);
    CHECK(class_of_text("BAR.ARV 0x1, 0x80").cls == InstructionClass::bar_arrive);
    CHECK(class_of_text("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ").cls == InstructionClass::mbarrier_arrive);
    CHECK(class_of_text("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3").cls ==
          InstructionClass::mbarrier_try_wait);
    CHECK(class_of_text("UBLKCP.S.G [UR8], [UR4], UR6").cls == InstructionClass::cp_async_bulk);
    CHECK(class_of_text("UBLKCP.G.S [UR8], [UR4], UR6").cls == InstructionClass::cp_async_bulk_store);
}

TEST_CASE("rare control, prefetches and reductions by the copy engine have the class of their kin") {
    struct Case {
        std::string_view text;
        InstructionClass cls;
    };
    for (const Case& own :
         {Case{"UTMAREDG.2D.ADD [UR8], [UR4]", InstructionClass::cp_async_bulk_store},
          Case{"UBLKRED.G.S.ADD [UR8], [UR4], UR6", InstructionClass::cp_async_bulk_store},
          Case{"UBLKPF [UR4], UR6", InstructionClass::cp_async_bulk},
          Case{"UTMAPF.L2.2D [UR8], [UR4]", InstructionClass::cp_async_bulk_tensor},
          Case{"UTMACCTL.IV [UR4]", InstructionClass::fence},
          // A fence of the GPU waits. What the compiler puts behind it, or within a CTA, does not.
          Case{"MEMBAR.SC.GPU", InstructionClass::fence}, Case{"MEMBAR.ALL.SYS", InstructionClass::fence},
          Case{"MEMBAR.ALL.CTA", InstructionClass::move}, Case{"ERRBAR", InstructionClass::move},
          Case{"CGAERRBAR", InstructionClass::move}, Case{"CCTL.IVALL", InstructionClass::move},
          Case{"CCTLL.IVALL", InstructionClass::move}, Case{"KILL", InstructionClass::exit},
          Case{"BPT.TRAP 0x1", InstructionClass::exit}, Case{"BRXU UR4 0x10", InstructionClass::branch},
          Case{"JMX R4 0x10", InstructionClass::branch}, Case{"ENDCOLLECTIVE", InstructionClass::branch},
          Case{"LOP.AND R1, R2, R3", InstructionClass::logic},
          // Of launches that depend on one another: the issue slot alone, as for DEPBAR.
          Case{"ACQBULK", InstructionClass::move}, Case{"PREEXIT", InstructionClass::move}}) {
        CAPTURE(own.text);
        CHECK(class_of_text(own.text).known);
        CHECK(class_of_text(own.text).cls == own.cls);
    }
}

TEST_CASE("the uniform datapath takes the class of its twins") {
    for (const std::string name : {"IADD3", "IMAD", "LOP3", "SHF", "ISETP", "SEL", "MOV", "LEA", "PRMT"}) {
        CAPTURE(name);
        AssemblyLine own;
        own.opcode = name;
        AssemblyLine uniform;
        uniform.opcode = "U" + name;
        CHECK(class_of(uniform).known);
        CHECK(class_of(uniform).cls == class_of(own).cls);
    }
}

TEST_CASE("matrix instructions have the shape that their modifier spells") {
    using Shape = std::array<std::int32_t, 3>;
    struct Case {
        std::string_view text;
        Shape shape;
        Dtype dtype;
    };
    for (const Case& own : {Case{"HMMA.16816.F32 R4, R8, R12, R4", {16, 8, 16}, Dtype::fp16},
                            Case{"HMMA.1688.F32.BF16 R4, R8, R12, R4", {16, 8, 8}, Dtype::bf16},
                            Case{"HMMA.1684.F32.TF32 R4, R8, R12, R4", {16, 8, 4}, Dtype::tf32},
                            Case{"IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", {16, 8, 32}, Dtype::int8},
                            Case{"IMMA.8816.S8.S8 R4, R8.ROW, R12.COL, R4", {8, 8, 16}, Dtype::int8},
                            Case{"QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4", {16, 8, 32}, Dtype::fp8},
                            Case{"BMMA.168128.AND.POPC R4, R8.ROW, R12.COL, R4", {16, 8, 128}, Dtype::b1},
                            Case{"DMMA.16x8x4 R4, R8, R12, R4", {16, 8, 4}, Dtype::fp64},
                            Case{"DMMA R4, R8, R12, R4", {8, 8, 4}, Dtype::fp64}}) {
        CAPTURE(own.text);
        CHECK(class_of_text(own.text).cls == InstructionClass::mma_sync);
        CHECK(class_of_text(own.text).shape == own.shape);
        CHECK(class_of_text(own.text).dtype == own.dtype);
    }
    for (std::int32_t n = 8; n <= 256; n += 8) {
        const OpcodeClass cls =
            class_of_text(fmt::format("QGMMA.64x{}x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24", n));
        CHECK(cls.cls == InstructionClass::wgmma);
        CHECK(cls.shape == Shape{64, n, 32});
        CHECK(cls.dtype == Dtype::fp8);
    }
    CHECK(class_of_text("FFMA R4, R8, R12, R4").shape == Shape{0, 0, 0});
}

TEST_CASE("an opcode of no class says so") {
    for (const std::string name : {"TXD", "SUATOM", "", "U", "FFM", "FFMAX", "UTXD"}) {
        CAPTURE(name);
        AssemblyLine line;
        line.opcode = name;
        CHECK_FALSE(class_of(line).known);
    }
}

TEST_CASE("every opcode that the interpreter runs has a class") {
    for (const auto opcodes :
         {control_opcodes(), integer_opcodes(), uniform_opcodes(), warp_opcodes(), real_opcodes(),
          half_opcodes(), memory_opcodes(), matrix_opcodes(), asynchronous_opcodes()}) {
        CHECK_FALSE(opcodes.empty());
        for (const Opcode& opcode : opcodes) {
            CAPTURE(opcode.name);
            AssemblyLine line;
            line.opcode = std::string(opcode.name);
            CHECK(class_of(line).known);
        }
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
