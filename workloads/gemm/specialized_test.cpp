// Warp-specialised main loops: roles, stages, and the shape and number of their matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/parts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <utility>

using namespace warptime::workloads::gemm;
using namespace fixture;

namespace {

Config specialized(int m, int n, Specialization specialization, bool transposed = false) {
    Config c = tile_of(m, n, 64);
    c.stages = 3;
    c.warps = 8;
    c.specialization = specialization;
    c.transposed = transposed;
    return c;
}

}  // namespace

TEST_CASE("a producer warp, its idle neighbours, and the consumers") {
    const mk::Kernel together =
        lowered(problem_of(512, 512, 512), specialized(128, 128, Specialization::cooperative)).kernels[0];
    REQUIRE(together.roles.size() == 3);
    CHECK(together.roles[0].warps + together.roles[1].warps == 4);
    CHECK(together.roles[2].warps == 8);
    CHECK_FALSE(together.roles[2].alternate);
    const mk::Kernel turns =
        lowered(problem_of(512, 512, 512), specialized(64, 128, Specialization::pingpong)).kernels[0];
    CHECK(turns.roles[2].warps == 4);
    CHECK(turns.roles[2].instances == 2);
    CHECK(turns.roles[2].alternate);
    CHECK(turns.cta.x == 384);
}

TEST_CASE("full and empty barriers have one phase a stage, and the empty ones start with credit") {
    Config c = specialized(128, 128, Specialization::cooperative);
    for (const int stages : {1, 2, 5}) {
        c.stages = stages;
        const mk::Kernel kernel = lowered(problem_of(512, 512, 512), c).kernels[0];
        REQUIRE(kernel.tokens.size() >= 2);
        CHECK(kernel.tokens[0].depth == stages);
        CHECK(kernel.tokens[1].depth == stages);
        CHECK(kernel.tokens[0].initial == 0);
        CHECK(kernel.tokens[1].initial == stages);
        CHECK(kernel.dynamic_shared >= stages * 2 * 128 * 64 * 2);
    }
}

TEST_CASE("the products of one stage cover the tile's stage, whichever way it is turned") {
    CHECK(rc::check("shape, count and warpgroups", [] {
        const bool transposed = *rc::gen::arbitrary<bool>();
        const int groups = pick({1, 2});
        const int along_m = 64 * pick({1, 2, 3, 4}) * groups;
        const int along_n = 8 * *rc::gen::inRange(1, 33);
        const Config c = specialized(transposed ? along_n : along_m, transposed ? along_m : along_n,
                                     Specialization::cooperative, transposed);
        Problem p = problem_of(512, 512, 512);
        p.a = p.b = *rc::gen::element(Dtype::bf16, Dtype::fp8, Dtype::tf32);
        mk::Kernel kernel;
        mk::Builder builder(kernel);
        builder.role("warps", 4);
        Parts parts{p, c, builder};
        const mk::Op op = add_wgmma_of_stage(parts, groups);
        RC_ASSERT(op.cls == mk::InstructionClass::wgmma);
        RC_ASSERT(op.shape[0] == 64);
        RC_ASSERT(op.shape[1] >= 8);
        RC_ASSERT(op.shape[1] <= 256);
        RC_ASSERT(op.shape[2] * warptime::hw::bytes_of(p.a) == 32);
        const std::int64_t done = op.count * op.shape[0] * op.shape[1] * op.shape[2] * groups;
        RC_ASSERT(done == std::int64_t{along_m} * along_n * c.cta_k);
    }));
}

TEST_CASE("sums of 8-bit floats are added up in registers behind each trip's products, no others") {
    for (const auto& [specialization, lanes] :
         {std::pair{Specialization::cooperative, 256}, std::pair{Specialization::pingpong, 128}}) {
        const Config c = specialized(128, 96, specialization);
        Problem p = problem_of(512, 512, 512);
        for (const Dtype dtype : {Dtype::fp8, Dtype::bf16, Dtype::int8}) {
            p.a = p.b = dtype;
            const mk::Kernel kernel = lowered(p, c).kernels[0];
            int additions = 0;
            for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
                const mk::Op& op = kernel.ops[i];
                if (op.cls != mk::InstructionClass::add_f32) continue;
                ++additions;
                CHECK(op.count * lanes == 128 * 96);
                REQUIRE(op.dep_count == 1);
                CHECK(kernel.ops[static_cast<std::size_t>(op.deps[0].op)].cls == mk::InstructionClass::wgmma);
            }
            CHECK(additions == (dtype == Dtype::fp8 ? 1 : 0));
            // Lanes load both scales after the loop.
            std::int64_t loads = 0;
            for (const mk::Op& op : kernel.ops)
                loads += op.cls == mk::InstructionClass::ld_global ? op.count : 0;
            CHECK(loads == (dtype == Dtype::fp8 ? 2 : 0));
        }
    }
}
