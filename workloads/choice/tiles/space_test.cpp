// The spaces: every tile is unique, and sizes lie within their ranges.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/space.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/gemm/from_parameters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;

namespace {

Operation problem(const char* dtype = "bf16") {
    return make_operation("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", dtype}});
}

const warptime::hw::Gpu& h200() {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    return gpu;
}

}  // namespace

TEST_CASE("no tile comes twice") {
    for (const char* id : {"h200-sxm", "a100-sxm-80gb", "l40s"}) {
        const auto gpu = warptime::hw::load_gpu(id);
        for (const char* name : {"triton", "cutlass"}) {
            std::set<Parameters> seen;
            const auto space = space_named(name, problem(), gpu);
            CHECK(space.size() >= 50);
            for (const Candidate& candidate : space) {
                CHECK(seen.insert(parameters_of(candidate)).second);
            }
        }
    }
}

TEST_CASE("of tiles that differ in stages alone one is listed where Triton compiles them to one kernel") {
    const auto stages = [](const char* n, const char* dtype) {
        const Operation asked =
            make_operation("gemm", {{"m", "1400"}, {"n", n}, {"k", "2504"}, {"dtype", dtype}});
        std::set<int> seen;
        for (const Candidate& candidate : space_named("triton", asked, h200())) {
            seen.insert(candidate.config.stages);
        }
        return seen;
    };
    CHECK(stages("1528", "bf16") == std::set<int>{2});
    // Elements of 4 bytes are copied asynchronously even one by one.
    CHECK(stages("1528", "tf32") == std::set<int>{2, 3, 4, 5});
    const auto aligned = space_named("triton", problem(), h200());
    CHECK(
        std::any_of(aligned.begin(), aligned.end(), [](const Candidate& c) { return c.config.stages == 5; }));
}

TEST_CASE("K goes by bytes") {
    for (const auto& [dtype, k] : {std::pair{"bf16", 32}, std::pair{"fp8", 64}, std::pair{"fp32", 16}}) {
        const auto space = triton_space(gemm::problem_of(problem(dtype)), h200());
        CHECK(space.front().config.cta_k == k);
        CHECK(space.back().config.cta_k == 4 * k);
    }
}

TEST_CASE("Hopper's CUTLASS kernels are specialised, others are not") {
    for (const Candidate& candidate : cutlass_space(gemm::problem_of(problem()), h200())) {
        CHECK(candidate.config.specialization != gemm::Specialization::none);
        CHECK(candidate.config.stages >= 2);
    }
    const auto a100 = warptime::hw::load_gpu("a100-sxm-80gb");
    for (const Candidate& candidate : cutlass_space(gemm::problem_of(problem()), a100)) {
        CHECK(candidate.config.specialization == gemm::Specialization::none);
    }
}

TEST_CASE("a space that is not there") {
    CHECK_THROWS_WITH_AS(static_cast<void>(space_named("tritn", problem(), h200())),
                         "space: got 'tritn', expected triton, cutlass, or the path of a JSON list of tiles",
                         warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(space_named("./missing.json", problem(), h200())), warptime::Error);
}
