// Cycles of a trip by the analytical engine against laws that were measured on an H200.
// Source: Nsight Compute counters of flash2 (6 cycles a product and 1 an instruction) and of cuDNN's tiles;
// the kernels run on recorded hardware, the figures are rounded.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace mk = warptime::model::kernel;
namespace ma = warptime::model::analytical;
using namespace warptime::workloads;

namespace {

/// Analysis of the first kernel of an operation without a mask: 8192 queries and keys of 33 x 4 heads, so
/// that the blocks fill 132 SMs evenly.
ma::Analysis analysed(const char* head_dim, const char* implementation, const warptime::hw::Gpu& gpu) {
    const libraries::Libraries data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation("attention", {{"batch", "4"},
                                     {"heads", "33"},
                                     {"sq", "8192"},
                                     {"head_dim", head_dim},
                                     {"implementation", implementation}}),
        data, gpu, [](const mk::Program&, double) { return 1.0; }, program);
    return ma::analyse(program.kernels[0], gpu, warptime::model::prediction::Conditions{});
}

/// Cycles of the main loop for each trip of a CTA, on an SM that works on `resident` CTAs at a time.
double cycles_of_trip(const ma::Analysis& a) {
    const double items_of_sm = static_cast<double>(a.items) / static_cast<double>(a.sms);
    return a.exposure.main_loop.value() / (items_of_sm * a.item.trips);
}

}  // namespace

TEST_CASE("flash2: products and all other instructions add up at the issue slots") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    // 128 x 64: 256 products of 1220 instructions; 128 x 128: 256 of 1676 (SASS).
    CHECK(cycles_of_trip(analysed("128", "flash2", gpu)) == doctest::Approx(6 * 256 + 1220).epsilon(0.12));
    CHECK(cycles_of_trip(analysed("64", "flash2", gpu)) == doctest::Approx(6 * 256 + 1676).epsilon(0.12));
}

TEST_CASE("cuDNN: a part of the exponentials stays exposed") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    // Two warpgroups of 64 x 128 scores: 1402 cycles each with heads of 128, and 946 with 64.
    for (const auto& [head_dim, measured] : std::map<std::string, double>{{"128", 1402.0}, {"64", 946.0}}) {
        CAPTURE(head_dim);
        const ma::Analysis a = analysed(head_dim.c_str(), "cudnn", gpu);
        CHECK(a.item.side_by_side == 2);
        CHECK(cycles_of_trip(a) == doctest::Approx(2 * measured).epsilon(0.1));
        // Neither all nor nothing of the softmax hides behind products.
        const double products = a.item.loop.demand[warptime::model::machine::Server::tensor].value();
        const double special = a.item.loop.demand[warptime::model::machine::Server::sfu].value();
        CHECK(cycles_of_trip(a) > products);
        CHECK(cycles_of_trip(a) > special);
    }
}

TEST_CASE("a causal mask leaves SMs idle at the end, and more than half of the time goes") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const libraries::Libraries data = libraries::load_libraries();
    const auto analysis = [&](const char* causal) {
        mk::Program program;
        choice::lower(
            make_operation("attention", {{"batch", "1"},
                                         {"heads", "64"},
                                         {"sq", "4096"},
                                         {"head_dim", "128"},
                                         {"causal", causal},
                                         {"implementation", "flash2"}}),
            data, gpu, [](const mk::Program&, double) { return 1.0; }, program);
        return ma::analyse(program.kernels[0], gpu, warptime::model::prediction::Conditions{});
    };
    const ma::Analysis full = analysis("0");
    const ma::Analysis masked = analysis("1");
    // Blocks of 128 queries see 2, 4, ... 64 blocks of 64 keys.
    CHECK(masked.item.trips == doctest::Approx(33.0));
    CHECK(full.item.trips == 64.0);
    CHECK(masked.time.value() > 0.5 * full.time.value());
    CHECK(masked.time.value() < 0.75 * full.time.value());
    // Nsight Compute: SMs are at work for 0.865 of the time.
    const double at_work = 1.0 - masked.exposure.tail.value() / masked.exposure.makespan().value();
    CHECK(at_work == doctest::Approx(0.865).epsilon(0.08));
}
