// The kernel of a convolution: the best score of all candidates, the library of products for one tap,
// refusals.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/convolution_choice.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/convolution/lower.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace warptime::workloads;
namespace mk = warptime::model::kernel;

namespace {

const libraries::Libraries& data() {
    static const auto loaded = libraries::load_libraries();
    return loaded;
}

convolution::Problem problem(std::int64_t kernel) {
    convolution::Problem p;
    p.batch = 8;
    p.channels = 128;
    p.out_channels = 256;
    p.size = 28;
    p.kernel = kernel;
    return p;
}

/// A score without a pattern in tile sizes, so that no order of candidates is lucky.
double uneven(const mk::Program& program, double /*limit*/) {
    const mk::Kernel& kernel = program.kernels[0];
    const double mixed = static_cast<double>(kernel.schedule.item_count()) * 0.618 +
                         static_cast<double>(kernel.cta.x) * 0.271 +
                         static_cast<double>(kernel.dynamic_shared) * 0.0137;
    return 1.0 + mixed - std::floor(mixed);
}

}  // namespace

TEST_CASE("no candidate has a better score than the chosen one") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    std::vector<double> seen;
    const choice::Score score([&](const mk::Program& program, double limit) {
        seen.push_back(uneven(program, limit));
        return seen.back();
    });
    choice::ChoiceMemory memory(gpu);
    const gemm::Config best = choice::choose_convolution(problem(3), data(), gpu, score, memory);
    REQUIRE(seen.size() > 3);
    mk::Program program;
    convolution::lower_convolution(problem(3), best, gpu, program);
    CHECK(uneven(program, 0.0) == *std::min_element(seen.begin(), seen.end()));
    CHECK(memory.calls() == seen.size());
    CHECK(seen[memory.chosen_call()] == *std::min_element(seen.begin(), seen.end()));
}

TEST_CASE("each tile of each family that knows the type is a candidate") {
    for (const char* id : {"h200-sxm", "a100-sxm-80gb"}) {
        const auto gpu = warptime::hw::load_gpu(id);
        for (const auto dtype : {warptime::hw::Dtype::bf16, warptime::hw::Dtype::fp32}) {
            std::size_t tiles = 0;
            for (const libraries::GemmFamily& family : data().convolution_families) {
                const bool knows =
                    std::find(family.dtypes.begin(), family.dtypes.end(), dtype) != family.dtypes.end();
                if (knows && family.runs_on(gpu)) tiles += family.tiles.size();
            }
            choice::ChoiceMemory memory(gpu);
            convolution::Problem p = problem(3);
            p.dtype = dtype;
            (void)choice::choose_convolution(p, data(), gpu, choice::Score(uneven), memory);
            CHECK(memory.calls() == tiles);
        }
    }
}

TEST_CASE("families that want more channels than there are, are no candidates") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    std::size_t tiles = 0;
    for (const libraries::GemmFamily& family : data().convolution_families) {
        const bool knows = std::find(family.dtypes.begin(), family.dtypes.end(), warptime::hw::Dtype::bf16) !=
                           family.dtypes.end();
        if (knows && family.runs_on(gpu) && family.channels_least <= 33) tiles += family.tiles.size();
    }
    choice::ChoiceMemory memory(gpu);
    convolution::Problem p = problem(3);
    p.channels = 33;
    (void)choice::choose_convolution(p, data(), gpu, choice::Score(uneven), memory);
    CHECK(tiles > 0);
    CHECK(memory.calls() == tiles);
}

TEST_CASE("one tap of whole words is the library's own product") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    choice::ChoiceMemory memory(gpu), of_product(gpu);
    const convolution::Problem p = problem(1);
    const gemm::Config chosen = choice::choose_convolution(p, data(), gpu, choice::Score(uneven), memory);
    const gemm::Config product = choice::choose_vendor_kernel(convolution::as_product(p), data(), gpu,
                                                              choice::Score(uneven), of_product);
    CHECK(chosen == product);
}

TEST_CASE("a GPU without known kernels is refused by name, as is one where no score is finite") {
    const auto t4 = warptime::hw::load_gpu("t4");
    choice::ChoiceMemory memory(t4);
    CHECK_THROWS_AS((void)choice::choose_convolution(problem(3), data(), t4, choice::Score(uneven), memory),
                    warptime::Error);
    const auto h200 = warptime::hw::load_gpu("h200-sxm");
    choice::ChoiceMemory other(h200);
    const choice::Score never(
        [](const mk::Program&, double) { return std::numeric_limits<double>::infinity(); });
    CHECK_THROWS_AS((void)choice::choose_convolution(problem(3), data(), h200, never, other),
                    warptime::Error);
}
