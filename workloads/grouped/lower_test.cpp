// Grouped products: rows of each expert, tiles of the list, launches as recorded, work by the walk.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/grouped/lower.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

using Given = std::map<std::string, std::string, std::less<>>;

mk::Program lowered(const Given& given, const std::string& gpu = "h200-sxm") {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation("grouped_gemm", given), data, warptime::hw::load_gpu(gpu),
        [](const mk::Program&, double) { return 1.0; }, program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

}  // namespace

TEST_CASE("experts share the rows, and the first take what is left over") {
    CHECK(rc::check("all rows have an expert", [] {
        grouped::Problem p;
        p.experts = *rc::gen::inRange<std::int64_t>(1, 40);
        p.tokens = *rc::gen::inRange<std::int64_t>(1, 400);
        std::int64_t rows = 0;
        std::int64_t busy = 0;
        for (std::int64_t e = 0; e < p.experts; ++e) {
            rows += p.rows_of(e);
            busy += p.rows_of(e) > 0 ? 1 : 0;
            RC_ASSERT(p.rows_of(e) <= p.rows_of(0));
        }
        RC_ASSERT(rows == p.tokens);
        RC_ASSERT(busy == p.busy_experts());
    }));
}

TEST_CASE("launches are those that PyTorch makes") {
    // Fit rows of torch_grouped.
    const mk::Program small = lowered({{"experts", "16"}, {"tokens", "1600"}, {"n", "5120"}, {"k", "8192"}});
    REQUIRE(small.kernel_count == 2);
    CHECK(small.kernels[0].grid == mk::Dim3{1, 1, 1});
    CHECK(small.kernels[0].cta.x == 16);
    CHECK(small.kernels[0].registers_per_thread == 38);
    CHECK(small.kernels[1].grid == mk::Dim3{132, 1, 1});
    CHECK(small.kernels[1].cta.x == 384);
    CHECK(small.kernels[1].registers_per_thread == 168);
    CHECK(small.kernels[1].dynamic_shared == 206848);
    const mk::Program large = lowered({{"experts", "4"}, {"tokens", "4096"}, {"n", "1024"}, {"k", "1024"}});
    CHECK(large.kernels[1].dynamic_shared == 215040);
    CHECK(large.kernels[1].grid == mk::Dim3{128, 1, 1});
}

TEST_CASE("every tile of every expert is listed once, in whole clusters") {
    // 100 and 99 rows an expert, tiles of 64 x 128 in clusters of two along m.
    const mk::Program program = lowered({{"experts", "3"}, {"tokens", "298"}, {"n", "320"}, {"k", "256"}});
    const mk::Kernel& kernel = program.kernels[1];
    std::map<std::array<std::int64_t, 3>, int> times;
    double flop = 0.0;
    for (const mk::WorkItem& item : kernel.schedule.items) {
        ++times[{item.tile[0], item.tile[1], item.tile[2]}];
        CHECK(item.end == 2);
        CHECK(item.problem == item.tile[2]);
        flop += mk::walk_totals(kernel, item).matrix_flop;
    }
    CHECK(times.size() == 3 * 2 * 3);
    for (const auto& [tile, count] : times) CHECK(count == 1);
    // Padded rows and columns are multiplied too; ping-pong consumers take an item each in turn.
    CHECK(flop == 3 * 2 * 3 * (2.0 * 64 * 128 * 256));
}

TEST_CASE("producer and consumers rewrite their maps behind fences, consumers once more behind their loop") {
    const mk::Program program = lowered({{"experts", "4"}, {"tokens", "64"}, {"n", "1024"}, {"k", "1024"}});
    const mk::Kernel& kernel = program.kernels[1];
    std::vector<std::int64_t> fences;
    for (const mk::Op& op : kernel.ops) {
        if (op.cls == warptime::hw::InstructionClass::fence) fences.push_back(op.count);
    }
    CHECK(fences == std::vector<std::int64_t>{4, 1, 1});
    for (const mk::Buffer& buffer : kernel.buffers) {
        if (buffer.name.view() == "problems") CHECK(buffer.before == mk::Before::warm);
    }
}
