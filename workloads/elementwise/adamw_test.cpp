// The fused optimizer: its launches against a list of chunks, its bytes, and elements that it takes one by
// one. SPDX-License-Identifier: Apache-2.0
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
    for (const int n : {64 * 256, 64 * 255, 3 * 70000, 1}) {
        const std::string tensors = n % 64 == 0 ? "64" : n % 3 == 0 ? "3" : "1";
        CAPTURE(n);
        const auto program =
            lowered("adamw", {{"n", std::to_string(n)}, {"tensors", tensors}, {"dtype", "fp32"}});
        double read = 0.0;
        double written = 0.0;
        for (std::size_t k = 0; k < program.kernel_count; ++k) {
            if (program.kernels[k].buffers.size() < 4) continue;  // the counters of steps
            read += moved(program.kernels[k], Direction::read);
            written += moved(program.kernels[k], Direction::write);
        }
        // Warps whose lanes lie beyond a tensor's end read up to a vector of each lane more.
        CHECK(read >= 4.0 * n * 4);
        CHECK(read == doctest::Approx(4.0 * n * 4).epsilon(0.01));
        CHECK(written == doctest::Approx(3.0 * n * 4).epsilon(0.01));
    }
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
