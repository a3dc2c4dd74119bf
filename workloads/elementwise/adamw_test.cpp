// The fused optimizer: its launches against a list of chunks, its bytes, and elements that it takes one by
// one.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/adamw.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>
#include <string>
#include <vector>

using namespace warptime::workloads;
using fixture::lowered;
using fixture::moved;
using Direction = warptime::model::kernel::Direction;
using warptime::hw::InstructionClass;

TEST_CASE("chunks of tensors: all are launched, within the limits") {
    CHECK(rc::check("any tensors", [] {
        const auto tensors = *rc::gen::inRange<std::int64_t>(1, 400);
        const auto length = *rc::gen::inRange<std::int64_t>(1, 3000);
        const auto chunk = *rc::gen::inRange<std::int64_t>(1, 700);
        const auto all = elementwise::chunk_launches(tensors, length, chunk, 320, 36);
        RC_ASSERT(std::accumulate(all.begin(), all.end(), std::int64_t{0}) ==
                  tensors * ((length + chunk - 1) / chunk));
        for (const std::int64_t ctas : all) {
            RC_ASSERT(ctas >= 1 && ctas <= 320);
        }
        if (length <= chunk) {
            RC_ASSERT(static_cast<std::int64_t>(all.size()) == (tensors + 35) / 36);
        }
    }));
}

TEST_CASE("launches end where a list of chunks, walked one by one, is full") {
    CHECK(rc::check("any tensors", [] {
        const auto tensors = *rc::gen::inRange<std::int64_t>(1, 120);
        const auto length = *rc::gen::inRange<std::int64_t>(1, 2000);
        const auto chunk = *rc::gen::inRange<std::int64_t>(1, 300);
        const auto most_ctas = *rc::gen::inRange<std::int64_t>(1, 40);
        const auto most_tensors = *rc::gen::inRange<std::int64_t>(1, 20);
        // multi_tensor_apply of PyTorch: a list of tensors and of (tensor, chunk), sent when either is full.
        std::vector<std::int64_t> sent;
        std::int64_t blocks = 0;
        std::int64_t listed = 0;
        const std::int64_t chunks = (length + chunk - 1) / chunk;
        for (std::int64_t tensor = 0; tensor < tensors; ++tensor) {
            ++listed;
            for (std::int64_t c = 0; c < chunks; ++c) {
                ++blocks;
                const bool last = c == chunks - 1;
                if (blocks == most_ctas || (listed == most_tensors && last)) {
                    sent.push_back(blocks);
                    blocks = 0;
                    listed = last ? 0 : 1;
                }
            }
        }
        if (blocks > 0) sent.push_back(blocks);
        RC_ASSERT(elementwise::chunk_launches(tensors, length, chunk, most_ctas, most_tensors) == sent);
    }));
}

TEST_CASE("four arrays are read and three written, whatever the length of the tensors") {
    // 255 and 70000 are no whole vectors; the last of a CTA's warps read up to a warp's elements too many.
    for (const auto& [n, tensors] : {std::pair{64 * 256, 64}, std::pair{64 * 255, 64},
                                     std::pair{3 * 70000, 3}, std::pair{1, 1}, std::pair{6 * 65536, 6}}) {
        CAPTURE(n);
        const auto program = lowered(
            "adamw", {{"n", std::to_string(n)}, {"tensors", std::to_string(tensors)}, {"dtype", "fp32"}});
        double read = 0.0;
        double written = 0.0;
        double ctas = 0.0;
        for (std::size_t k = 0; k < program.kernel_count; ++k) {
            if (program.kernels[k].buffers.size() < 4) continue;  // the counters of steps
            read += moved(program.kernels[k], Direction::read);
            written += moved(program.kernels[k], Direction::write);
            ctas += static_cast<double>(program.kernels[k].grid.x);
        }
        // Chunks are as long as their mean; long ones end at whole trips of 2048 elements.
        const double more = ctas * (n == 3 * 70000 ? 2048 : 32);
        CHECK(read >= 4.0 * n * 4);
        CHECK(read <= 4.0 * (n + more) * 4);
        CHECK(written >= 3.0 * n * 4);
        CHECK(written <= 3.0 * (n + more) * 4);
    }
}

TEST_CASE("zeros behind the end of a tensor take the slow paths of roots and quotients") {
    const auto branches = [](const char* n) {
        const auto program = lowered("adamw", {{"n", n}, {"dtype", "fp32"}});
        const warptime::model::kernel::Kernel& kernel = program.kernels[program.kernel_count - 1];
        return warptime::model::kernel::walk_totals(kernel, warptime::model::kernel::WorkItem{})
                   .instructions_of(InstructionClass::branch) /
               16;
    };
    // A trip of 512 threads has four elements each: 2047 leave one element of the last warp out.
    CHECK(branches("1023") - branches("2047") == 2 * 22);
    CHECK(branches("511") - branches("2047") == 3 * 22);
}

TEST_CASE("tensors that are not whole vectors take four accesses where others take one") {
    const auto loads = [](const char* n) {
        const auto program = lowered("adamw", {{"n", n}, {"dtype", "fp32"}});
        const warptime::model::kernel::Kernel& kernel = program.kernels[program.kernel_count - 1];
        warptime::model::kernel::WorkItem item;
        return warptime::model::kernel::walk_totals(kernel, item)
            .instructions_of(InstructionClass::ld_global);
    };
    CHECK(loads("65535") == 4 * loads("65536"));
}

TEST_CASE("more launches than can be written out are refused") {
    CHECK(fixture::refused("adamw", {{"n", "1000000000000"}}) != "");
    CHECK(fixture::refused("adamw", {{"n", "2000000"}, {"tensors", "2000000"}}) == "adamw tensors");
}
