// What-if, elasticities and advice as whole answers.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/advise.hpp"
#include "bindings/advice/elasticities.hpp"
#include "bindings/advice/kernel_changes.hpp"
#include "bindings/advice/remedy.hpp"
#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace warptime::advice {

namespace {

struct Asked {
    explicit Asked(const std::string& op, const std::map<std::string, std::string, std::less<>>& parameters)
        : question{workloads::make_operation(op, parameters), &gpu, {}, engine.get(), engine.get()} {}
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    std::unique_ptr<model::prediction::Engine> engine = engines::make_engine("analytical");
    Question question;
};

std::string refusal(const Question& question, const std::vector<std::string>& changes) {
    try {
        static_cast<void>(what_if(question, changes));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a what-if saves the difference of its two predictions") {
    const Asked asked("gemm", {{"m", "16"}, {"n", "8192"}, {"k", "8192"}});
    const WhatIf answer = what_if(asked.question, std::vector<std::string>{"gpu.dram.bandwidth=2x"});
    hw::Gpu fast = asked.gpu;
    hw::apply_setting(fast, hw::parse_setting("gpu.dram.bandwidth=2x"));
    Question direct = asked.question;
    direct.gpu = &fast;
    CHECK(answer.after.prediction.time == ask(direct).prediction.time);
    CHECK(answer.gain.saved == answer.before.prediction.time - answer.after.prediction.time);
    CHECK(answer.gain.low < answer.gain.saved);
    CHECK(answer.gain.high > answer.gain.saved);
    CHECK(answer.after.prediction.status == model::prediction::Status::what_if);
    const auto json = nlohmann::json::parse(what_if_json(answer));
    CHECK(json["saved_us"].get<double>() ==
          doctest::Approx(json["before"]["time_us"].get<double>() - json["after"]["time_us"].get<double>()));
}

TEST_CASE(
    "the band of a gain holds the errors of the ratio and of the time before, and what does not change is "
    "known") {
    using model::kernel::Evidence;
    model::prediction::Prediction before;
    before.time = before.low = before.high = 100.0;
    // A time before that is known leaves the error of the ratio, which is symmetric.
    const Gain gain = gain_of(before, 50.0, Evidence::any, ChangeOf::kernel);
    CHECK((100.0 - gain.low) * (100.0 - gain.high) == doctest::Approx(50.0 * 50.0));
    const Gain none = gain_of(before, 100.0, Evidence::any, ChangeOf::kernel);
    CHECK(none.low == 0.0);
    CHECK(none.high == 0.0);
    // On a changed GPU the sign is sure, and at most twice the change is saved.
    const Gain small = gain_of(before, 99.0, Evidence::any, ChangeOf::hardware);
    CHECK(small.low >= -1e-12);
    CHECK(half_width(0.01, Evidence::any) <= half_width(1.0, Evidence::any));
    CHECK(half_width(1.0, Evidence::own) < half_width(1.0, Evidence::any));
    // Where nearly all is saved, that is as unsure as the time before.
    before.low = 80.0;
    before.high = 130.0;
    const Gain most = gain_of(before, 0.1, Evidence::any, ChangeOf::kernel);
    CHECK(most.low == doctest::Approx(0.8 * 99.9).epsilon(1e-3));
    CHECK(most.high == doctest::Approx(1.3 * 99.9).epsilon(1e-3));
    const Gain wide = gain_of(before, 50.0, Evidence::any, ChangeOf::kernel);
    CHECK(wide.saved - wide.low == doctest::Approx(std::hypot(10.0, gain.saved - gain.low)));
    CHECK(wide.high - wide.saved == doctest::Approx(std::hypot(15.0, gain.high - gain.saved)));
    // What costs time costs more of a slower kernel.
    const Gain cost = gain_of(before, 150.0, Evidence::any, ChangeOf::hardware);
    CHECK(cost.low < -50.0 * 1.3);
    CHECK(cost.high <= 0.0);
}

TEST_CASE("changes that are none, unknown or impossible are refused by name") {
    const Asked asked("gemm", {{"m", "4096"},
                               {"n", "4096"},
                               {"k", "4096"},
                               {"cta_tile", "128x256x64"},
                               {"stages", "3"},
                               {"warps", "8"},
                               {"implementation", "triton"}});
    CHECK(refusal(asked.question, {"kernel.stage=5"}).find("nearest: kernel.stages") != std::string::npos);
    CHECK(refusal(asked.question, {"gpu.l2.capacty=2x"}).find("gpu.l2.capacity") != std::string::npos);
    CHECK(refusal(asked.question, {"l2.capacity=2x"}).find("gpu.l2.capacity") != std::string::npos);
    CHECK(refusal(asked.question, {"kernel.stages=3"}).find("it is 3 already") != std::string::npos);
    CHECK(refusal(asked.question, {"kernel.stages=8"}).find("shared memory") != std::string::npos);
    CHECK(refusal(asked.question, {"gpu.l2.capacity=1x"}).find("already") != std::string::npos);
    CHECK(refusal(asked.question, {}).find("at least one") != std::string::npos);
    CHECK(refusal(asked.question, {"kernel.stages=4"}).empty());
}

TEST_CASE("a library's product is asked about by the tile that it launches") {
    const Asked asked("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}});
    const WhatIf answer = what_if(asked.question, std::vector<std::string>{"kernel.stages=3"});
    const auto& parameters = answer.before.context.parameters;
    CHECK(std::any_of(parameters.begin(), parameters.end(),
                      [](const auto& p) { return p.name == "cta_tile" && !p.is_default; }));
}

TEST_CASE("elasticities of the sizes of a streaming kernel and of its bandwidth are close to one") {
    const Asked asked("copy", {{"n", "268435456"}});
    const Elasticities answer = elasticities(asked.question);
    const auto of = [&](const std::string& key) {
        const auto found = std::find_if(answer.rows.begin(), answer.rows.end(),
                                        [&](const Elasticity& row) { return row.key == key; });
        return found == answer.rows.end() ? 0.0 : found->elasticity;
    };
    CHECK(of("kernel.n") == doctest::Approx(1.0).epsilon(0.02));
    CHECK(of("gpu.dram.bandwidth") == doctest::Approx(-1.0).epsilon(0.05));
    CHECK(of("gpu.tensor.bf16") == 0.0);
    CHECK(
        std::is_sorted(answer.rows.begin(), answer.rows.end(), [](const Elasticity& a, const Elasticity& b) {
            return std::abs(a.elasticity) > std::abs(b.elasticity);
        }));
}

TEST_CASE("advice is ranked, and each time is that of the changed operation itself") {
    const Asked asked("gemm", {{"m", "64"},
                               {"n", "256"},
                               {"k", "16384"},
                               {"cta_tile", "64x64x64"},
                               {"stages", "3"},
                               {"implementation", "triton"}});
    const Advice advice = advise(asked.question);
    REQUIRE(!advice.remedies.empty());
    CHECK(advice.remedies.front().name == "split_k");
    for (std::size_t i = 1; i < advice.remedies.size(); ++i) {
        CHECK(advice.remedies[i - 1].gain.saved >= advice.remedies[i].gain.saved);
    }
    Question split = asked.question;
    split.operation.parameters["split_k"] = "16";
    CHECK(advice.remedies.front().where == "split_k=16");
    CHECK(advice.remedies.front().time == doctest::Approx(ask(split).prediction.time).scale(1e-6));
}

TEST_CASE("every remedy has the name of the contract, a sentence, and no name stands twice") {
    const std::set<std::string_view> names{"coalesce",
                                           "vectorize",
                                           "align",
                                           "pad_shared",
                                           "swizzle_shared",
                                           "raster",
                                           "tile",
                                           "stages",
                                           "async_copy",
                                           "bulk_copy",
                                           "warp_specialize",
                                           "wave_align",
                                           "split_k",
                                           "stream_k",
                                           "persistent",
                                           "occupancy",
                                           "unspill",
                                           "unroll",
                                           "converge",
                                           "tensor_cores",
                                           "lower_precision",
                                           "fast_math",
                                           "fuse",
                                           "recompute",
                                           "privatize_atomics",
                                           "aggregate_atomics",
                                           "read_only",
                                           "batch",
                                           "graph",
                                           "dependent_launch",
                                           "unserialize_wgmma"};
    std::set<std::string_view> seen;
    for (const Remedy& remedy : remedies()) {
        CHECK(names.count(remedy.name) == 1);
        CHECK(seen.insert(remedy.name).second);
        CHECK(remedy.how.ends_with('.'));
    }
    CHECK(seen.size() == names.size());
}

}  // namespace warptime::advice
