// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/gemm/lower.hpp"

#include <doctest/doctest.h>

namespace warptime::workloads::gemm {

namespace {

namespace mk = model::kernel;

Config of_rows(int rows) {
    Config config;
    config.cta_m = rows;
    config.cta_n = 8;
    config.cta_k = 256;
    config.warps = 4;
    config.stages = 1;
    config.mma = MatrixInstruction::simt;
    config.pipeline = Pipeline::sync;
    config.dot_products = true;
    return config;
}

mk::Program lowered(int rows) {
    Problem problem;
    problem.m = rows;
    problem.n = 4096;
    problem.k = 1024;
    problem.a = problem.b = problem.out = Dtype::fp32;
    mk::Program program;
    lower(problem, of_rows(rows), hw::load_gpu("h200-sxm"), program);
    return program;
}

const mk::Op& loads_of_columns(const mk::Kernel& kernel) {
    const mk::Op* last = nullptr;
    for (const mk::Op& op : kernel.ops) {
        if (op.cls == hw::InstructionClass::ld_global) {
            last = &op;
        }
    }
    REQUIRE(last != nullptr);
    return *last;
}

}  // namespace

TEST_CASE("a CTA takes eight columns, sixteen lanes each, over all of K") {
    const mk::Program program = lowered(1);
    const mk::Kernel& kernel = program.kernels[0];
    CHECK(kernel.grid.x == 4096 / 8);
    CHECK(kernel.schedule.k_iterations == 4);
    CHECK(loads_of_columns(kernel).count == 16);
}

TEST_CASE("each row multiplies what is loaded once") {
    for (const int rows : {1, 2, 4, 8}) {
        const mk::Program program = lowered(rows);
        double products = 0.0;
        for (const mk::Op& op : program.kernels[0].ops) {
            products += op.cls == hw::InstructionClass::fma_f32 ? static_cast<double>(op.count) : 0.0;
        }
        CHECK(products == 16.0 * rows);
    }
}

TEST_CASE("more than four rows leave registers for a quarter of the loads at a time") {
    CHECK(loads_of_columns(lowered(4).kernels[0]).chain == 1);
    CHECK(loads_of_columns(lowered(8).kernels[0]).chain == 4);
}

}  // namespace warptime::workloads::gemm
