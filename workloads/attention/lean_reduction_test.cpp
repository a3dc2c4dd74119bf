// The sum of cuDNN's split keys: each query's parts once, through the shared memory of its own CTA.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/lean_reduction.hpp"

#include "workloads/attention/lowered_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using attention::fixture::lowered;
using attention::fixture::moved;
using attention::fixture::sizes;

namespace {

mk::Kernel reduction(const attention::Problem& p, int splits) {
    mk::Kernel kernel;
    attention::lower_lean_reduction(p, splits, kernel);
    mk::check(kernel);
    return kernel;
}

/// Ops of a class, each with its count.
std::int64_t count_of(const mk::Kernel& kernel, mk::InstructionClass cls) {
    std::int64_t count = 0;
    for (const mk::Op& op : kernel.ops) count += op.cls == cls ? op.count : 0;
    return count;
}

}  // namespace

TEST_CASE("every query's parts are read once, and its result is written once") {
    CHECK(rc::check("heads, queries, sizes and parts", [] {
        attention::Problem p;
        p.batch = *rc::gen::inRange<std::int64_t>(1, 4);
        p.heads = p.kv_heads = *rc::gen::inRange<std::int64_t>(1, 17);
        p.sq = *rc::gen::inRange<std::int64_t>(1, 4);
        p.sk = 4096;
        p.head_dim = 8 * *rc::gen::inRange<std::int64_t>(4, 33);
        const int splits = *rc::gen::element(2, 4, 8, 16, 32);
        const mk::Kernel kernel = reduction(p, splits);
        const auto queries = static_cast<double>(p.batch * p.heads * p.sq);
        const auto head = static_cast<double>(p.head_dim);
        RC_ASSERT(static_cast<double>(kernel.grid.x) == queries);
        RC_ASSERT(moved(kernel, 0, mk::Direction::read) == queries * head * splits * 4.0);
        RC_ASSERT(moved(kernel, 1, mk::Direction::read) == queries * splits * 4.0);
        RC_ASSERT(moved(kernel, 2, mk::Direction::write) == queries * head * 2.0);
        // Each part with its maximum and its sum of exponentials.
        RC_ASSERT(kernel.dynamic_shared == (p.head_dim + 2) * splits * 4);
        RC_ASSERT(count_of(kernel, mk::InstructionClass::fma_f32) == splits);
        RC_ASSERT(count_of(kernel, mk::InstructionClass::mufu) == splits);
    }));
}

TEST_CASE("the parts have just been written, and all warps meet before they add them up") {
    attention::Problem p;
    p.heads = p.kv_heads = 8;
    p.sq = 1;
    p.sk = 8192;
    p.head_dim = 128;
    const mk::Kernel kernel = reduction(p, 4);
    for (const std::size_t buffer : {0U, 1U}) {
        CHECK(kernel.buffers[buffer].before == mk::Before::warm);
        CHECK(kernel.buffers[buffer].written_by_step == 0);
    }
    CHECK(kernel.buffers[2].before != mk::Before::warm);
    CHECK(count_of(kernel, mk::InstructionClass::bar_sync) == 1);
}

TEST_CASE("cuDNN adds up the parts of one query behind its kernel, and only where there are parts") {
    const mk::Program few =
        lowered("attention", sizes("1", "8", "1", "128", {{"sk", "16384"}, {"implementation", "cudnn"}}));
    REQUIRE(few.kernel_count == 2);
    CHECK(few.kernels[1].name == "lean_reduction");
    CHECK(few.kernels[1].grid == mk::Dim3{8, 1, 1});
    const mk::Program many =
        lowered("attention", sizes("64", "32", "1", "128", {{"sk", "16384"}, {"implementation", "cudnn"}}));
    CHECK(many.kernel_count == 1);
}
