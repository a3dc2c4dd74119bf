// Boxes of A, B and C: a walk of the whole kernel reads and writes each element the right number of times.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

using namespace warptime::workloads::gemm;
using namespace fixture;

namespace {

double area(std::int64_t rows, std::int64_t columns, Dtype dtype, std::int64_t times) {
    return static_cast<double>(rows * columns * times) * warptime::hw::bytes_of(dtype);
}

void check_coverage(const Problem& p, const Config& c) {
    const mk::Program program = lowered(p, c);
    const mk::Kernel& kernel = program.kernels[0];
    const Moved moved = moved_by(kernel);
    const std::int64_t tiles_m = ceil_div(p.m, c.cta_m);
    const std::int64_t tiles_n = ceil_div(p.n, c.cta_n);
    CAPTURE(p.m);
    CAPTURE(p.n);
    CAPTURE(p.k);
    CHECK(moved.read[0] == area(p.m, p.k, p.a, tiles_n * p.batch));
    CHECK(moved.read[1] == area(p.n, p.k, p.b, tiles_m * p.batch));
    if (c.split_k > 1 && c.reduction == Reduction::workspace) {
        CHECK(moved.written[2] == 0.0);
        CHECK(moved.written[3] == area(p.m, p.n, Dtype::fp32, p.batch * kernel.schedule.split_k));
    } else {
        CHECK(moved.written[2] == area(p.m, p.n, p.out, p.batch * kernel.schedule.split_k));
    }
}

}  // namespace

TEST_CASE("every pipeline covers A, B and C exactly, odd sizes included") {
    for (const Specialization s :
         {Specialization::none, Specialization::cooperative, Specialization::pingpong}) {
        for (const auto& [m, n, k] :
             {std::array<int, 3>{256, 256, 256}, {200, 333, 257}, {1, 65, 300}, {65, 1, 193}}) {
            Config c = tile_of(64, 64, 64);
            c.stages = 2;
            c.warps = s == Specialization::pingpong ? 8 : 4;
            c.specialization = s;
            check_coverage(problem_of(m, n, k), c);
        }
    }
    Config c = tile_of(64, 32, 32);
    c.warps = 4;
    for (const MatrixInstruction mma : {MatrixInstruction::mma_sync, MatrixInstruction::simt}) {
        c.mma = mma;
        for (const Pipeline pipeline : {Pipeline::sync, Pipeline::cp_async}) {
            c.pipeline = pipeline;
            for (const int stages : {1, 2, 4}) {
                c.stages = stages;
                check_coverage(problem_of(130, 70, 203), c);
            }
        }
    }
}

TEST_CASE("majors, pitches, batches and element sizes move what is read, not how much") {
    Config c = tile_of(64, 64, 32);
    c.stages = 3;
    for (const Major a : {Major::k, Major::other}) {
        for (const Major b : {Major::k, Major::other}) {
            Problem p = problem_of(150, 100, 230, 3);
            p.a_major = a;
            p.b_major = b;
            p.lda = 256;
            p.ldb = 264;
            p.ldc = 128;
            p.b = Dtype::fp8;
            p.out = Dtype::fp32;
            check_coverage(p, c);
        }
    }
}

TEST_CASE("splits share the k-iterations and each writes its own slice") {
    Config c = tile_of(64, 64, 32);
    c.stages = 2;
    for (const Reduction reduction : {Reduction::workspace, Reduction::atomic}) {
        c.reduction = reduction;
        for (const int split : {2, 3, 4}) {
            c.split_k = split;
            check_coverage(problem_of(100, 70, 384, 2), c);
        }
    }
}

TEST_CASE("a box stays inside its tile's rows and columns") {
    CHECK(rc::check("origins and extents", [] {
        const Problem p = any_problem();
        const Config c = any_config();
        mk::Program program;
        try {
            lower(p, c, gpu(), program);
        } catch (const warptime::Error&) {
            RC_DISCARD("refused");
        }
        for (const mk::Op& op : program.kernels[0].ops) {
            for (const mk::Access& access : program.kernels[0].accesses_of(op)) {
                if (access.buffer > 1) {
                    continue;
                }
                const bool is_a = access.buffer == 0;
                const bool along_k = (is_a ? p.a_major : p.b_major) == Major::k;
                RC_ASSERT(access.box[along_k ? 0 : 1] == c.cta_k);
                const int extent = is_a ? c.cta_m : c.cta_n;
                // Shares are rounded to the nearest row where a tile does not divide among its sharers.
                const std::int64_t brought = access.box[along_k ? 1 : 0] * access.multicast_ctas;
                RC_ASSERT(2 * std::abs(brought - extent) <= access.multicast_ctas);
                RC_ASSERT(extent % access.multicast_ctas != 0 || brought == extent);
                RC_ASSERT(access.bounds == mk::Bounds::zero_fill);
            }
        }
    }));
}

TEST_CASE("twelve CTAs of a cluster bring a tile of 64 rows by five each, for all of them") {
    Config c = tile_of(64, 64, 32);
    c.warps = 8;
    c.specialization = Specialization::pingpong;
    c.cluster_n = 12;
    const mk::Program program = lowered(problem_of(64, 768, 128), c);
    for (const mk::Op& op : program.kernels[0].ops) {
        for (const mk::Access& access : program.kernels[0].accesses_of(op)) {
            if (access.buffer == 0) {
                CHECK(access.multicast_ctas == 12);
                CHECK(access.box[1] == 5);
            }
            if (access.buffer == 1) {
                CHECK(access.multicast_ctas == 1);
            }
        }
    }
}

TEST_CASE("the CTAs of a cluster that share a tile fetch each row of it once") {
    for (const auto& [along_m, along_n] :
         {std::array<int, 2>{1, 2}, {2, 1}, {1, 4}, {4, 1}, {2, 4}, {4, 2}, {2, 2}}) {
        Config c = tile_of(64, 64, 64);
        c.warps = 8;
        c.specialization = Specialization::pingpong;
        c.cluster_m = along_m;
        c.cluster_n = along_n;
        const Problem p = problem_of(64 * along_m, 64 * along_n, 128);
        const mk::Program program = lowered(p, c);
        const mk::Kernel& kernel = program.kernels[0];
        Moved moved(kernel);
        for (int rank = 0; rank < along_m * along_n; ++rank) {
            mk::WorkItem item;
            item.tile = {rank % along_m, rank / along_m, 0, 0};
            item.end = kernel.schedule.k_iterations;
            mk::walk(kernel, std::span<const mk::WorkItem>(&item, 1), moved, rank);
        }
        CAPTURE(along_m);
        CAPTURE(along_n);
        // With multicast each CTA asks only for its share, so every element is asked for once.
        CHECK(moved.read[0] == area(p.m, p.k, p.a, 1));
        CHECK(moved.read[1] == area(p.n, p.k, p.b, 1));
    }
}
