// The ranking: sorted, complete, with the times of predict, and a reason for each dropped tile.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/rank.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "workloads/choice/tiles/space.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <memory>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;

namespace {

const warptime::hw::Gpu& gpu_named(const std::string& id) {
    static const auto h200 = warptime::hw::load_gpu("h200-sxm");
    static const auto a100 = warptime::hw::load_gpu("a100-sxm-80gb");
    return id == "h200-sxm" ? h200 : a100;
}

const auto& engine() {
    static const auto made = warptime::model::analytical::make_engine();
    return *made;
}

Operation gemm_of(int m, int n, int k, const char* dtype = "bf16") {
    return make_operation(
        "gemm",
        {{"m", std::to_string(m)}, {"n", std::to_string(n)}, {"k", std::to_string(k)}, {"dtype", dtype}});
}

}  // namespace

TEST_CASE("every candidate is ranked or dropped, once, in order of time") {
    CHECK(rc::check([] {
        const std::string id = *rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb");
        const auto& gpu = gpu_named(id);
        const Operation operation =
            gemm_of(*rc::gen::inRange(1, 5000), *rc::gen::inRange(1, 5000), *rc::gen::inRange(1, 5000));
        const auto space = space_named(*rc::gen::element("triton", "cutlass"), operation, gpu);
        const Ranking ranking = rank(operation, space, engine(), gpu, {});
        std::vector<std::size_t> all = ranking.dropped;
        for (std::size_t i = 0; i < ranking.tiles.size(); ++i) {
            all.push_back(ranking.tiles[i].candidate);
            // RC_ASSERT without extra parentheses would evaluate both sides even for the first tile.
            RC_ASSERT((i == 0 || ranking.tiles[i - 1].estimate.time <= ranking.tiles[i].estimate.time));
            RC_ASSERT(ranking.tiles[i].gap >= 0.0);
        }
        std::sort(all.begin(), all.end());
        RC_ASSERT(all.size() == space.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            RC_ASSERT(all[i] == i);
        }
        RC_ASSERT(ranking.tiles.front().gap == 0.0);
    }));
}

TEST_CASE("the fastest alone are the first of all, and what cannot run is dropped all the same") {
    CHECK(rc::check([] {
        const auto& gpu = gpu_named(*rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb"));
        const int most = *rc::gen::element(300, 2000, 9000);
        const Operation operation =
            gemm_of(*rc::gen::inRange(1, most), *rc::gen::inRange(1, most), *rc::gen::inRange(1, most),
                    *rc::gen::element("bf16", "tf32", "int8"));
        auto space = space_named(*rc::gen::element("triton", "cutlass"), operation, gpu);
        if (*rc::gen::arbitrary<bool>()) std::reverse(space.begin(), space.end());
        warptime::model::prediction::Conditions conditions;
        conditions.cache = *rc::gen::element(warptime::model::prediction::Cache::warm,
                                             warptime::model::prediction::Cache::flushed);
        const auto top = *rc::gen::inRange<std::size_t>(1, 40);
        const Ranking all = rank(operation, space, engine(), gpu, conditions);
        const Ranking some = rank(operation, space, engine(), gpu, conditions, top);
        RC_ASSERT(some.dropped == all.dropped);
        RC_ASSERT(some.tiles.size() == std::min(top, all.tiles.size()));
        for (std::size_t i = 0; i < some.tiles.size(); ++i) {
            RC_ASSERT(some.tiles[i].candidate == all.tiles[i].candidate);
            RC_ASSERT(some.tiles[i].estimate.time == all.tiles[i].estimate.time);
            RC_ASSERT(some.tiles[i].gap == all.tiles[i].gap);
        }
    }));
}

TEST_CASE("no tile is faster than the least that its kernel takes") {
    using warptime::model::prediction::Cache;
    double closest = 0.0;
    const bool holds = rc::check([&] {
        const auto& gpu = gpu_named(*rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb"));
        const int most = *rc::gen::element(300, 2000, 9000);
        const auto multiple = *rc::gen::element(1, 8, 128);
        const auto size = [&] { return multiple * *rc::gen::inRange(1, 1 + most / multiple); };
        const int m = size(), n = size(), k = size();
        const Operation operation = gemm_of(m, n, k, *rc::gen::element("bf16", "tf32", "int8", "fp32"));
        const auto space = space_named(*rc::gen::element("triton", "cutlass"), operation, gpu);
        warptime::model::prediction::Conditions conditions;
        conditions.cache = *rc::gen::element(Cache::warm, Cache::flushed, Cache::cold);
        conditions.available_sms = *rc::gen::element(0, 1, 20, 100);
        if (*rc::gen::arbitrary<bool>()) conditions.clock_hz = 1e9;
        warptime::model::kernel::Program program;
        const auto stages = engine().make_stages(gpu);
        const Ranking all = predict_each(operation, space, engine(), gpu, conditions);
        for (std::size_t i = 0; i < all.tiles.size(); i += 7) {
            program.clear();
            gemm::lower(gemm::problem_of(operation), space[all.tiles[i].candidate].config, gpu, program);
            const double least = stages->least_time(program.kernels.front(), conditions,
                                                    std::numeric_limits<double>::infinity());
            const double share = least / all.tiles[i].estimate.time;
            RC_ASSERT(least > 0.0);
            RC_ASSERT(share <= 1.0);
            closest = std::max(closest, share);
        }
    });
    CHECK(holds);
    CHECK(closest > 0.8);
}

TEST_CASE("predict with a tile's parameters gives the time of the ranking bit for bit") {
    for (const char* name : {"triton", "cutlass"}) {
        const auto& gpu = gpu_named("h200-sxm");
        const Operation operation = gemm_of(1000, 3000, 777);
        const auto space = space_named(name, operation, gpu);
        const Ranking ranking = rank(operation, space, engine(), gpu, {});
        Predictor predictor(engine(), gpu);
        for (std::size_t i = 0; i < ranking.tiles.size(); i += 3) {
            Parameters parameters = operation.parameters;
            parameters.merge(parameters_of(space[ranking.tiles[i].candidate]));
            CHECK(predictor.evaluate(make_operation("gemm", parameters), {}).time ==
                  ranking.tiles[i].estimate.time);
        }
    }
}

TEST_CASE("what is dropped has a reason, and what is ranked has none") {
    const auto& gpu = gpu_named("h200-sxm");
    const Operation operation = gemm_of(4096, 4096, 4096);
    const auto space = space_named("triton", operation, gpu);
    const Ranking ranking = rank(operation, space, engine(), gpu, {});
    REQUIRE(!ranking.dropped.empty());
    for (const std::size_t i : ranking.dropped) {
        const warptime::Error why = why_dropped(operation, space[i], gpu);
        CHECK(!why.expected().empty());
        // A count by hand: stages of A and B exceed the 227 KiB of a CTA, or accumulators leave no registers.
        const gemm::Config& c = space[i].config;
        const bool too_large = c.stages * (c.cta_m + c.cta_n) * c.cta_k * 2 > 227 * 1024;
        const bool too_many = c.cta_m * c.cta_n / (c.warps * 32) > 128;
        CHECK((too_large || too_many));
        CHECK(why.parameter() == (too_large ? "gemm cta_tile" : "gemm registers"));
    }
    CHECK_THROWS_AS(static_cast<void>(why_dropped(operation, space[ranking.tiles[0].candidate], gpu)),
                    warptime::Error);
}

TEST_CASE("one by one, in the order of the space: the times of the ranking") {
    const auto& gpu = gpu_named("h200-sxm");
    const Operation operation = gemm_of(1000, 3000, 777);
    const auto space = space_named("triton", operation, gpu);
    const Ranking ranking = rank(operation, space, engine(), gpu, {});
    const Ranking each = predict_each(operation, space, engine(), gpu, {});
    CHECK(each.dropped == ranking.dropped);
    REQUIRE(each.tiles.size() == ranking.tiles.size());
    for (std::size_t i = 1; i < each.tiles.size(); ++i) {
        CHECK(each.tiles[i - 1].candidate < each.tiles[i].candidate);
    }
    for (const RankedTile& tile : ranking.tiles) {
        const auto same = std::find_if(each.tiles.begin(), each.tiles.end(), [&tile](const RankedTile& t) {
            return t.candidate == tile.candidate;
        });
        REQUIRE(same != each.tiles.end());
        CHECK(same->estimate.time == tile.estimate.time);
    }
    for (std::size_t i = 0; i < space.size(); ++i) {
        const bool dropped = std::binary_search(each.dropped.begin(), each.dropped.end(), i);
        CHECK(fits(operation, space[i], gpu) == !dropped);
    }
    const std::vector<Candidate> none{
        candidate_of(operation, {{"cta_tile", "256x256x256"}, {"stages", "5"}})};
    CHECK(predict_each(operation, none, engine(), gpu, {}).dropped.size() == 1);
}

TEST_CASE("nothing left is an error with the reason") {
    const auto& gpu = gpu_named("a100-sxm-80gb");
    const Operation operation = gemm_of(4096, 4096, 4096);
    const std::vector<Candidate> space{
        candidate_of(operation, {{"cta_tile", "128x128x64"}, {"mma", "wgmma"}})};
    CHECK_THROWS_AS(static_cast<void>(rank(operation, space, engine(), gpu, {})), warptime::Error);
}

namespace {

namespace prediction = warptime::model::prediction;
using prediction::Conditions;
using warptime::model::kernel::Program;
using warptime::model::kernel::Step;

/// Refuses every kernel, as an engine refuses a kernel that it does not model.
class RefusingStages final : public prediction::Stages {
  public:
    [[nodiscard]] prediction::Estimate evaluate(const Program&, const Step&, const Conditions&,
                                                prediction::BodyNumber) override {
        throw warptime::Error("duty", "sustained", "isolated");
    }
};

class Refusing final : public prediction::Engine {
  public:
    [[nodiscard]] std::string_view name() const override { return "refusing"; }
    [[nodiscard]] std::unique_ptr<prediction::Stages> make_stages(const warptime::hw::Gpu&) const override {
        return std::make_unique<RefusingStages>();
    }
    [[nodiscard]] warptime::model::prediction::Prediction explain(const Program&, const Step&,
                                                                  const warptime::hw::Gpu&,
                                                                  const Conditions&) const override {
        throw warptime::Error("duty", "sustained", "isolated");
    }
};

}  // namespace

TEST_CASE("what the engine refuses is not taken for a tile that does not fit") {
    const auto& gpu = gpu_named("h200-sxm");
    const Operation operation = gemm_of(4096, 4096, 4096);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(rank(operation, space_named("triton", operation, gpu), Refusing(), gpu, {})),
        doctest::Contains("duty"), warptime::Error);
}
