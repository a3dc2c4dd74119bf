// What is fused with a product: instructions and bytes beyond those of the product alone.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/fused.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads::gemm;
using warptime::hw::InstructionClass;

namespace {

Config tile(int split_k = 1) {
    Config c;
    c.cta_m = 128;
    c.cta_n = 128;
    c.cta_k = 64;
    c.stages = 4;
    c.warps = 8;
    c.mma = MatrixInstruction::wgmma;
    c.pipeline = Pipeline::tma;
    c.specialization = Specialization::cooperative;
    c.split_k = split_k;
    return c;
}

mk::Program lowered(Epilogue epilogue, const Config& config) {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    Problem p;
    p.m = p.n = 256;
    p.k = 512;
    p.epilogue = epilogue;
    mk::Program program;
    lower(p, config, gpu, program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

/// The walk of the first tile of a program's kernel.
mk::WalkTotals walked(const mk::Kernel& kernel) {
    mk::WorkItem item;
    item.end = kernel.schedule.k_iterations;
    return mk::walk_totals(kernel, item);
}

}  // namespace

TEST_CASE("an epilogue adds its arithmetic for every sum of the tile") {
    const mk::WalkTotals plain = walked(lowered(Epilogue::none, tile()).kernels[0]);
    const double sums = 128.0 * 128 / 32;  // warp-instructions for one a sum
    const auto more = [&](Epilogue epilogue, InstructionClass cls) {
        return (walked(lowered(epilogue, tile()).kernels[0]).instructions_of(cls) -
                plain.instructions_of(cls)) /
               sums;
    };
    CHECK(more(Epilogue::bias, InstructionClass::add_f32) == 1.0);
    CHECK(more(Epilogue::relu, InstructionClass::compare_select) == 1.0);
    CHECK(more(Epilogue::scale, InstructionClass::mul_f32) == 1.0);
    CHECK(more(Epilogue::gelu, InstructionClass::mufu) == 1.0);
    CHECK(more(Epilogue::silu, InstructionClass::mufu) == 2.0);
    CHECK(more(Epilogue::residual, InstructionClass::fma_f32) == 1.0);
}

TEST_CASE("a bias is a vector and a residual a matrix like C") {
    const auto read = [](Epilogue epilogue) {
        return walked(lowered(epilogue, tile()).kernels[0])
            .traffic(mk::Space::global, mk::Direction::read)
            .inside_bytes;
    };
    const double plain = read(Epilogue::none);
    CHECK(read(Epilogue::bias) - plain == 128 * 2);
    CHECK(read(Epilogue::residual) - plain == 128 * 128 * 2);
    CHECK(read(Epilogue::relu) == plain);
    Problem p;
    p.m = 3;
    p.n = 5;
    p.k = 7;
    const double alone = p.bytes();
    p.epilogue = Epilogue::bias;
    CHECK(p.bytes() - alone == 5 * 2);
    p.epilogue = Epilogue::residual;
    CHECK(p.bytes() - alone == 15 * 2);
}

TEST_CASE("with K split, the kernel that adds the parts applies the epilogue once") {
    const mk::Program plain = lowered(Epilogue::none, tile(2));
    const mk::Program silu = lowered(Epilogue::silu, tile(2));
    REQUIRE(silu.kernel_count == 2);
    const auto special = [](const mk::Kernel& kernel) {
        return walked(kernel).instructions_of(InstructionClass::mufu);
    };
    CHECK(special(silu.kernels[0]) == special(plain.kernels[0]));
    CHECK(special(silu.kernels[1]) > special(plain.kernels[1]));
    Config atomic = tile(2);
    atomic.reduction = Reduction::atomic;
    CHECK_THROWS_WITH_AS((void)lowered(Epilogue::bias, atomic), doctest::Contains("gemm epilogue"),
                         warptime::Error);
    CHECK_THROWS_WITH_AS((void)parse_epilogue("tanh"), doctest::Contains("relu"), warptime::Error);
}
