// Registers, spills and shared bytes of compiled Triton kernels for unaligned rows, against the model.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_gathers.hpp"

#include "hw/sheet.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/triton_loop_fixture_test.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace warptime::workloads::gemm {
namespace {

Config loop_of(int m, int n, int k, int warps) {
    Config config = fixture::loop_of(m, n, k, 1, warps);
    config.copy_bytes = 2;
    config.pipeline = Pipeline::sync;
    return config;
}

}  // namespace

TEST_CASE("only single elements by plain loads are gathers") {
    Config config = loop_of(64, 64, 32, 8);
    CHECK(gathers_as_triton(config));
    config.copy_bytes = 16;
    CHECK_FALSE(gathers_as_triton(config));
    config = loop_of(64, 64, 32, 8);
    config.strides_by_16 = false;
    CHECK_FALSE(gathers_as_triton(config));
}

TEST_CASE("one operand is gathered while the other's stages are copied") {
    Config config = fixture::loop_of(64, 128, 128, 4, 8);
    CHECK_FALSE(gathers_beside_copies(config));
    config.copy_bytes_b = 2;
    CHECK(gathers_beside_copies(config));
    CHECK(gathers_as_triton(config));
    CHECK(gathered_by_lane(config) == 64);
    config.copy_bytes = config.copy_bytes_b;
    config.copy_bytes_b = 16;
    CHECK(gathered_by_lane(config) == 32);
    // Constant strides leave less to compute.
    config.strides_known = true;
    CHECK_FALSE(gathers_beside_copies(config));
    CHECK_FALSE(gathers_beside_copies(loop_of(64, 128, 128, 8)));
}

TEST_CASE("shared memory holds the stages of the copied operand and one of the gathered") {
    struct Kernel {
        int m, n, k, stages, warps;
        bool gathers_a;
        std::int64_t bytes;
    };
    // Shared bytes as recorded (triton_bf16_third).
    for (const Kernel& kernel :
         {Kernel{16, 256, 64, 3, 4, true, 67584}, Kernel{16, 256, 64, 4, 4, true, 100352},
          Kernel{64, 128, 128, 4, 4, true, 147456}, Kernel{128, 128, 64, 3, 4, false, 65536}}) {
        CAPTURE(kernel.bytes);
        Config config = fixture::loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps);
        (kernel.gathers_a ? config.copy_bytes : config.copy_bytes_b) = 2;
        if (kernel.gathers_a) config.copy_bytes_b = 16;
        CHECK(gather_shared_bytes(Problem{}, config) == kernel.bytes);
    }
}

TEST_CASE("beside copies, pointers of one operand are held and spilled") {
    struct Kernel {
        int m, n, k, stages, warps;
        bool gathers_a;
        int registers, loads;
    };
    // Registers and loads as compiled.
    for (const Kernel& kernel :
         {Kernel{128, 64, 64, 4, 8, true, 161, 0}, Kernel{128, 128, 128, 3, 4, true, 255, 502},
          Kernel{32, 128, 32, 3, 4, true, 92, 0}, Kernel{16, 256, 64, 4, 4, true, 162, 0},
          Kernel{64, 64, 64, 4, 4, false, 128, 0}, Kernel{256, 64, 32, 2, 8, false, 153, 0},
          Kernel{16, 128, 128, 3, 4, false, 32, 1226}, Kernel{32, 128, 64, 2, 8, false, 164, 0}}) {
        CAPTURE(kernel.registers);
        CAPTURE(kernel.loads);
        Config config = fixture::loop_of(kernel.m, kernel.n, kernel.k, kernel.stages, kernel.warps);
        (kernel.gathers_a ? config.copy_bytes : config.copy_bytes_b) = 2;
        if (kernel.gathers_a) config.copy_bytes_b = 16;
        CHECK(std::abs(gather_registers(config) - kernel.registers) <= 40);
        CHECK(std::abs(gather_spills(config).loads - kernel.loads) <= kernel.loads / 5);
    }
}

TEST_CASE("pointers in uniform registers leave room for more CTAs") {
    constexpr int of_sm = 65536;
    struct Kernel {
        int m, n, k, warps, ctas;
    };
    // CTAs an SM as compiled; in the last three kernels each thread holds A's pointers.
    for (const Kernel& kernel :
         {Kernel{64, 64, 32, 4, 5}, Kernel{64, 16, 64, 8, 5}, Kernel{64, 16, 128, 8, 2},
          Kernel{128, 16, 32, 8, 5}, Kernel{64, 32, 32, 4, 4}, Kernel{128, 32, 32, 4, 2},
          Kernel{128, 32, 32, 8, 2}}) {
        CAPTURE(kernel.m);
        CAPTURE(kernel.n);
        const Config config = loop_of(kernel.m, kernel.n, kernel.k, kernel.warps);
        const int registers = registers_with_room(gather_registers(config), config, of_sm);
        CHECK(of_sm / ((registers + 7) / 8 * 8 * 32 * kernel.warps) == kernel.ctas);
    }
}

TEST_CASE("a warp waits for words of which some are spilled a few at a time") {
    struct Kernel {
        int m, n, k, warps, rounds;
    };
    // Walks through compiled loops in program order. A load takes longer than all instructions between two
    // loads.
    for (const Kernel& kernel : {Kernel{128, 128, 32, 4, 32}, Kernel{256, 64, 64, 4, 188},
                                 Kernel{128, 128, 128, 8, 99}, Kernel{256, 32, 128, 4, 358}}) {
        CAPTURE(kernel.rounds);
        const Spills spills = gather_spills(loop_of(kernel.m, kernel.n, kernel.k, kernel.warps));
        CHECK(std::abs(spills.rounds - kernel.rounds) <= kernel.rounds / 4);
    }
}

TEST_CASE("registers are about those that the compiler gave") {
    struct Kernel {
        int m, n, k, warps, registers;
    };
    for (const Kernel& kernel :
         {Kernel{128, 128, 32, 8, 192}, Kernel{128, 64, 32, 4, 254}, Kernel{256, 64, 32, 8, 244},
          Kernel{64, 64, 128, 8, 232}, Kernel{16, 64, 64, 4, 140}, Kernel{32, 128, 32, 4, 164}}) {
        CAPTURE(kernel.registers);
        const Config config = loop_of(kernel.m, kernel.n, kernel.k, kernel.warps);
        CHECK(std::abs(gather_registers(config) - kernel.registers) <= 40);
        CHECK(gather_spills(config).words == 0);
    }
}

TEST_CASE("a tenth of the registers is given up for a CTA more") {
    constexpr int of_sm = 65536;
    // Kernels of mma.sync, compiled to 40 and 79 registers: six and three CTAs of eight warps.
    CHECK(registers_with_room(gather_registers(loop_of(16, 32, 32, 8)), loop_of(16, 32, 32, 8), of_sm) == 40);
    CHECK(registers_with_room(88, loop_of(16, 128, 32, 8), of_sm) == 80);
    // The first is too far from 80. The second has the same number of CTAs anyway.
    CHECK(registers_with_room(90, loop_of(16, 128, 32, 8), of_sm) == 90);
    CHECK(registers_with_room(64, loop_of(64, 32, 32, 8), of_sm) == 64);
}

TEST_CASE("registers wanted slightly beyond what there is are no spills") {
    CHECK(gather_spills(loop_of(64, 16, 128, 4)).words == 0);
    CHECK(gather_spills(loop_of(128, 32, 128, 8)).words == 0);
    CHECK(gather_spills(loop_of(128, 32, 64, 4)).words == 42);
}

TEST_CASE("what does not fit is spilled, and where not even the pointers do, nearly all") {
    struct Kernel {
        int m, n, k, warps, words, loads, stores;
    };
    for (const Kernel& kernel :
         {Kernel{128, 16, 128, 4, 210, 354, 207}, Kernel{256, 16, 64, 4, 206, 357, 203},
          Kernel{64, 128, 128, 4, 518, 797, 480}, Kernel{128, 256, 128, 8, 506, 973, 593}}) {
        CAPTURE(kernel.words);
        const Config config = loop_of(kernel.m, kernel.n, kernel.k, kernel.warps);
        const Spills spills = gather_spills(config);
        CHECK(gather_registers(config) == 255);
        CHECK(std::abs(spills.words - kernel.words) <= kernel.words / 4);
        CHECK(std::abs(spills.loads - kernel.loads) <= kernel.loads / 4);
        CHECK(std::abs(spills.stores - kernel.stores) <= kernel.stores / 4);
    }
    const Config given_up = loop_of(32, 256, 64, 4);
    CHECK(gather_registers(given_up) == 32);
    CHECK(std::abs(gather_spills(given_up).words - 1100) <= 200);
    // The same elements with wgmma, which needs no registers for fragments.
    CHECK(gather_registers(loop_of(64, 64, 128, 4)) == 255);
}

TEST_CASE("spilled words are local memory that a trip loads and stores") {
    const auto gpu = hw::load_gpu("h200-sxm");
    Config config;
    config.cta_m = 128;
    config.cta_n = 16;
    config.cta_k = 128;
    config.warps = 4;
    config.strides_by_16 = true;
    const Problem problem{.m = 1000, .n = 1000, .k = 1000, .b_major = Major::other};
    model::kernel::Program program;
    lower(problem, config, gpu, program);
    const model::kernel::Kernel& kernel = program.kernels.at(0);
    const auto ops = [&](model::kernel::InstructionClass cls) {
        std::int64_t count = 0;
        for (const model::kernel::Op& op : kernel.ops) count += op.cls == cls ? op.count : 0;
        return count;
    };
    const Spills spills = gather_spills(loop_of(128, 16, 128, 4));
    CHECK(ops(model::kernel::InstructionClass::ld_local) == spills.loads);
    CHECK(ops(model::kernel::InstructionClass::st_local) == spills.stores);
    bool local = false;
    for (const model::kernel::Buffer& buffer : kernel.buffers) {
        if (buffer.space != model::kernel::Space::local) continue;
        local = true;
        CHECK(buffer.elements() == std::int64_t{spills.words} * 32 * 4);
    }
    CHECK(local);
}

}  // namespace warptime::workloads::gemm
