// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/comparison.hpp"

#include "bindings/checks/comparison_report.hpp"
#include "bindings/checks/difference_noise.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace warptime::checks;
using warptime::Error;

namespace {

Case make_case(const std::string& name, double time_us) {
    Case one;
    one.name = name;
    one.gpu = "h200-sxm";
    one.input = hash_text(name);
    one.time_us = time_us;
    one.low_us = 0.8 * time_us;
    one.high_us = 1.2 * time_us;
    one.limiter = "dram";
    one.occupancy_limit = "threads";
    one.numbers = {
        {"instructions", 1000.0}, {"l2_sectors", 500.0}, {"registers", 32.0}, {"warps_per_sm", 64.0}};
    one.bounds = {{"dram", 0.9 * time_us}, {"issue", 0.3 * time_us}};
    return one;
}

Case failed_case(const std::string& name) {
    Case one;
    one.name = name;
    one.gpu = "h200-sxm";
    one.error = "no such file";
    return one;
}

Baseline baseline_of(std::vector<Case> cases) {
    return {"0.1.0", "analytical", "cache=flushed", {}, {{"h200-sxm", "1234"}}, std::move(cases)};
}

Verdict verdict_of(Case before, Case after, const Limits& limits = {0.05, 0.1}) {
    return compare(baseline_of({std::move(before)}), baseline_of({std::move(after)}), limits)
        .cases.front()
        .verdict;
}

}  // namespace

TEST_CASE("a regression is above the threshold and above the noise") {
    rc::check("verdict", [] {
        const double before = *rc::gen::inRange(1, 100000) * 1e-2;
        const double factor = *rc::gen::inRange(50, 200) * 1e-2;
        const Limits limits{*rc::gen::inRange(0, 40) * 1e-2, *rc::gen::inRange(0, 40) * 1e-2};
        const Verdict verdict = verdict_of(make_case("a", before), make_case("a", factor * before), limits);
        const double ratio = factor * before / before;
        const bool above_threshold = ratio - 1.0 > limits.threshold;
        const bool above_noise = ratio > std::exp(limits.noise);
        RC_ASSERT((verdict == Verdict::regressed) == (above_threshold && above_noise));
        RC_ASSERT((verdict == Verdict::slower) == (above_threshold && !above_noise));
        RC_ASSERT((verdict == Verdict::faster) == (ratio * (1.0 + limits.threshold) < 1.0));
    });
}

TEST_CASE("cases that come, go, fail and are repaired") {
    CHECK(verdict_of(make_case("a", 1.0), failed_case("a")) == Verdict::failed);
    CHECK(verdict_of(failed_case("a"), failed_case("a")) == Verdict::refused);
    CHECK(verdict_of(failed_case("a"), make_case("a", 1.0)) == Verdict::added);
    const Comparison comparison =
        compare(baseline_of({make_case("old", 1.0), make_case("a", 1.0)}),
                baseline_of({make_case("new", 1.0), failed_case("wrong"), make_case("a", 2.0)}), {0.05, 0.1});
    std::vector<std::string> names;
    for (const CaseComparison& one : comparison.cases) {
        names.push_back(std::string(to_string(one.verdict)) + " " + one.name);
    }
    CHECK(names == std::vector<std::string>{"regressed a", "refused wrong", "new new", "missing old"});
    CHECK(comparison.is_bad());
    CHECK_FALSE(
        compare(baseline_of({make_case("old", 1.0)}), baseline_of({make_case("new", 1.0)}), {}).is_bad());
}

TEST_CASE("launches count") {
    Case twice = make_case("a", 1.0);
    twice.launches = 2;
    CHECK(verdict_of(make_case("a", 1.0), twice) == Verdict::regressed);
    twice.time_us = 0.5;
    CHECK(verdict_of(make_case("a", 1.0), twice) == Verdict::same);
}

TEST_CASE("the cause stands first: what goes the way of the time, the largest before") {
    Case after = make_case("a", 20.0);
    after.input = "other";
    after.limiter = "issue";
    after.numbers = {
        {"instructions", 3000.0}, {"l2_sectors", 100.0}, {"registers", 40.0}, {"warps_per_sm", 16.0}};
    after.bounds = {{"dram", 9.0}, {"issue", 19.0}};
    const auto comparison = compare(baseline_of({make_case("a", 10.0)}), baseline_of({after}), {0.05, 0.1});
    const CaseComparison& one = comparison.cases.front();
    CHECK_FALSE(one.same_input);
    CHECK(changes_text(one) ==
          "bound of issue +533.3 % (3.00 us -> 19.00 us), warps_per_sm -75.0 % (64 -> 16), instructions "
          "+200.0 % "
          "(1000 -> 3000), registers +25.0 % (32 -> 40), l2_sectors -80.0 % (500 -> 100), limiter dram -> "
          "issue");
    CHECK(text_report(comparison).find("20.00 us, +100.0 %") != std::string::npos);
    // The same the other way round: the time falls, and the same changes explain it.
    const auto back = compare(baseline_of({after}), baseline_of({make_case("a", 10.0)}), {0.05, 0.1});
    CHECK(back.cases.front().verdict == Verdict::faster);
    CHECK(back.cases.front().changes.front().what == "bound of issue");
    CHECK(back.cases.front().changes[4].what == "l2_sectors");
}

TEST_CASE("a time without a changed number says so") {
    const auto comparison = compare(baseline_of({make_case("a", 10.0)}), baseline_of({[] {
                                        Case one = make_case("a", 12.0);
                                        one.bounds = make_case("a", 10.0).bounds;
                                        return one;
                                    }()}),
                                    {0.05, 0.1});
    CHECK(changes_text(comparison.cases.front()) == "no number of the kernel");
}

TEST_CASE("reports of every form hold every case, and names with signs of the form are safe") {
    Case slow = make_case("a|b <c> & \"d\"", 2.0);
    const auto comparison =
        compare(baseline_of({make_case(slow.name, 1.0), make_case("same", 1.0)}),
                baseline_of({slow, make_case("same", 1.0), failed_case("wrong\nname")}), {0.05, 0.1});
    const std::string junit = junit_report(comparison);
    CHECK(junit.find("a|b &lt;c&gt; &amp; &quot;d&quot;") != std::string::npos);
    CHECK(junit.find("tests=\"3\" failures=\"1\" errors=\"1\"") != std::string::npos);
    const std::string markdown = markdown_report(comparison);
    CHECK(markdown.find("| **regressed** | `a\\|b <c> & \"d\"` | 1.00 us | 2.00 us | +100.0 % |") !=
          std::string::npos);
    CHECK(markdown.find("`wrong; name`") != std::string::npos);
    const auto json = nlohmann::json::parse(json_report(comparison, baseline_of({})));
    CHECK(json["cases"].size() == 3);
    CHECK(json["counts"]["regressed"] == 1);
    CHECK(json["cases"][0]["ratio"] == 2.0);
    CHECK(text_report(comparison).find("3 cases: 1 regressed, 1 refused, 1 same") != std::string::npos);
}

TEST_CASE("the noise is below the band of a described kernel and right in nine of ten pairs") {
    const DifferenceNoise& noise = difference_noise();
    CHECK(noise.noise > 0.05);
    CHECK(noise.noise < 0.25);
    CHECK(noise.sign >= 0.9);
    CHECK(noise.pairs >= 100);
    CHECK(noise.source.find("validate/recorded") != std::string::npos);
}

TEST_CASE("a baseline is read as it was written") {
    Baseline baseline = baseline_of({make_case("a", 1.25), failed_case("b")});
    baseline.settings = {"gpu.l2.capacity=2x"};
    const std::string text = to_json(baseline);
    CHECK(to_json(read_baseline(text, "b.json")) == text);
    CHECK_NOTHROW(require_comparable(baseline, baseline, "b.json"));
}

TEST_CASE("a baseline of something else is refused with both named") {
    const Baseline before = baseline_of({});
    const auto refused = [&before](auto change, const char* what, const char* now, const char* then) {
        Baseline other = before;
        change(other);
        try {
            require_comparable(before, other, "b.json");
            FAIL("accepted");
        } catch (const Error& error) {
            CHECK(error.parameter() == what);
            CHECK(error.value() == now);
            CHECK(error.expected().find(then) != std::string::npos);
            CHECK(error.expected().find("b.json") != std::string::npos);
        }
    };
    refused([](Baseline& b) { b.version = "0.2.0"; }, "version", "0.2.0", "'0.1.0'");
    refused([](Baseline& b) { b.gpus = {{"t4", "1"}}; }, "gpu", "t4", "'h200-sxm'");
    refused([](Baseline& b) { b.gpus[0].data = "5678"; }, "data of h200-sxm", "5678", "'1234'");
    refused([](Baseline& b) { b.engine = "simulation"; }, "engine", "simulation", "'analytical'");
    refused([](Baseline& b) { b.conditions = "cache=warm"; }, "conditions", "cache=warm", "'cache=flushed'");
    refused([](Baseline& b) { b.settings = {"gpu.l2.capacity=2x"}; }, "settings", "gpu.l2.capacity=2x", "''");
}

TEST_CASE("a text that is no baseline is refused with its field") {
    const std::string good = to_json(baseline_of({make_case("a", 1.25)}));
    const auto refused = [&good](const std::string& from, const std::string& to) {
        std::string text = good;
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        CAPTURE(to);
        CHECK_THROWS_AS(static_cast<void>(read_baseline(text, "b.json")), Error);
    };
    refused("{", "[");
    refused("warptime.baseline/1", "warptime.baseline/2");
    refused("\"version\": \"0.1.0\"", "\"version\": 1");
    refused("\"time_us\": 1.25", "\"time_us\": -1");
    refused("\"time_us\": 1.25", "\"time_us\": \"x\"");
    refused("\"launches\": 1", "\"launches\": 0");
    refused("\"limiter\"", "\"limit\"");
    refused("\"numbers\": {", "\"numbers\": {\"x\": null, ");
    CHECK_THROWS_AS(static_cast<void>(read_baseline("", "b.json")), Error);
    CHECK_THROWS_AS(static_cast<void>(read_baseline("[]", "b.json")), Error);
}
