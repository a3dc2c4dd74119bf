// Stream-K and split-K as descriptions: their items together do the whole product once.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/examples/check_example.hpp"
#include "model/kernel/examples/split_gemm.hpp"
#include "model/kernel/walk.hpp"

#include <doctest/doctest.h>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

TEST_CASE("stream-K: shares of any length add up to the product; each cut tile is handed over once") {
    for (const std::int64_t ctas : {1, 2, 3, 4, 7}) {
        SplitGemm problem;
        problem.ctas = ctas;
        Kernel kernel;
        stream_k(kernel, problem);
        check_example(kernel);
        double flop = 0.0;
        double stored = 0.0;
        double handed = 0.0;
        double fetched = 0.0;
        for (const WorkItem& item : kernel.schedule.items) {
            const WalkTotals totals = walk_totals(kernel, item);
            flop += totals.vector_flop - totals.instructions_of(InstructionClass::add_f32) * 32;
            stored += totals.traffic_of_buffer(0, Direction::write).inside_bytes;
            handed += totals.traffic_of_buffer(1, Direction::write).inside_bytes;
            fetched += totals.traffic_of_buffer(1, Direction::read).inside_bytes;
            CHECK(totals.traffic_of_buffer(2, Direction::read).inside_bytes ==
                  static_cast<double>((item.end - item.begin) * 32 * 64 * 4));
        }
        CHECK(flop == 2.0 * 128 * 64 * 320);
        CHECK(stored == 128 * 64 * 4);
        const auto cuts =
            static_cast<double>(static_cast<std::int64_t>(kernel.schedule.items.size()) - problem.tiles());
        CHECK(handed == cuts * 64 * 64 * 4);
        CHECK(fetched <= handed);
        CHECK((cuts == 0.0 || fetched > 0.0));
    }
}

TEST_CASE("split-K: the parts do the product, the reduction reads each part once") {
    Program program;
    const SplitGemm problem;
    split_k(program, problem);
    CHECK_NOTHROW(check(program));
    const Kernel& gemm = program.kernels[0];
    const Kernel& reduce = program.kernels[1];
    check_example(gemm);
    check_example(reduce);
    double flop = 0.0;
    double written = 0.0;
    for (std::int64_t part = 0; part < problem.split_k; ++part) {
        for (std::int64_t tile = 0; tile < 2; ++tile) {
            WorkItem item = item_of(tile);
            item.begin = part * 3;
            item.end = std::min<std::int64_t>(item.begin + 3, problem.k_iterations());
            const WalkTotals totals = walk_totals(gemm, item);
            flop += totals.vector_flop;
            written += totals.traffic_of_buffer(0, Direction::write).inside_bytes;
        }
    }
    CHECK(flop == 2.0 * 128 * 64 * 320);
    CHECK(written == 4 * 128 * 64 * 4);
    double read = 0.0;
    double stored = 0.0;
    for (std::int64_t cta = 0; cta < reduce.grid.x; ++cta) {
        const WalkTotals totals = walk_totals(reduce, item_of(cta));
        read += totals.traffic_of_buffer(0, Direction::read).inside_bytes;
        stored += totals.traffic_of_buffer(1, Direction::write).inside_bytes;
    }
    CHECK(read == written);
    CHECK(stored == 128 * 64 * 4);
}

TEST_CASE("a program reads back as it was written") {
    Program program;
    split_k(program, {});
    program.add_memset(4096);
    program.add_memcpy({1 << 20, Link::host_to_device, false});
    program.steps.back().after = {0, 2};
    const std::string text = to_text(program);
    const Program again = parse_program_text(text);
    REQUIRE(again.kernel_count == 2);
    CHECK(again.kernels[0] == program.kernels[0]);
    CHECK(again.kernels[1] == program.kernels[1]);
    CHECK(again.steps == program.steps);
    CHECK(again.memsets == program.memsets);
    CHECK(again.memcpys == program.memcpys);
    program.steps[1].after[0] = 1;
    CHECK_THROWS_AS(check(program), warptime::Error);
}

}  // namespace
