// The registry as data: sorted, unique, complete, and consistent with the checks on operations.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

using warptime::workloads::find_operator;
using warptime::workloads::make_operation;
using warptime::workloads::operators;
using warptime::workloads::ParameterInfo;
using warptime::workloads::ParameterKind;

TEST_CASE("operators are sorted and have distinct, documented parameters") {
    const auto all = operators();
    CHECK(
        std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const auto& info : all) {
        CAPTURE(info.name);
        CHECK_FALSE(info.meaning.empty());
        CHECK(info.example.starts_with(std::string("warptime predict ") + std::string(info.name) + " "));
        std::set<std::string_view> names;
        bool optional_seen = false;
        for (const ParameterInfo& parameter : info.parameters) {
            CAPTURE(parameter.name);
            CHECK(names.insert(parameter.name).second);
            CHECK_FALSE(parameter.name.empty());
            CHECK_FALSE(parameter.meaning.empty());
            CHECK(std::all_of(parameter.name.begin(), parameter.name.end(), [](char c) {
                return c == '_' || std::islower(static_cast<unsigned char>(c)) != 0;
            }));
            optional_seen = optional_seen || !parameter.required;
            CHECK_FALSE((parameter.required && optional_seen));  // positional parameters come first
            const bool of_words =
                parameter.kind == ParameterKind::choice || parameter.kind == ParameterKind::dtype;
            CHECK(parameter.choices.empty() != of_words);
        }
    }
}

TEST_CASE("every default and every choice is accepted") {
    for (const auto& info : operators()) {
        std::map<std::string, std::string, std::less<>> required;
        for (const ParameterInfo& parameter : info.parameters) {
            if (parameter.required) {
                required.emplace(parameter.name, "64");
            }
        }
        for (const ParameterInfo& parameter : info.parameters) {
            auto given = required;
            if (!parameter.default_value.empty()) {
                given.insert_or_assign(std::string(parameter.name), std::string(parameter.default_value));
                CHECK_NOTHROW(static_cast<void>(make_operation(info.name, given)));
            }
            for (const std::string_view choice : parameter.choices) {
                given.insert_or_assign(std::string(parameter.name), std::string(choice));
                CHECK_NOTHROW(static_cast<void>(make_operation(info.name, given)));
            }
        }
    }
}

TEST_CASE("useful work is counted once: operations, and every operand and result") {
    const auto work = [](const char* op, const std::map<std::string, std::string, std::less<>>& parameters) {
        return find_operator(op).work(make_operation(op, parameters));
    };
    const auto gemm = work("gemm", {{"m", "2"}, {"n", "3"}, {"k", "5"}, {"batch", "7"}, {"dtype", "fp8"}});
    CHECK(gemm.operations == 2.0 * 2 * 3 * 5 * 7);
    CHECK(gemm.bytes == 7.0 * (2 * 5 + 3 * 5 + 2 * 2 * 3));  // the output of fp8 is bf16
    CHECK(work("copy", {{"n", "10"}, {"dtype", "fp32"}}).bytes == 80.0);
    CHECK(work("add", {{"n", "10"}, {"dtype", "bf16"}}).bytes == 60.0);
    const auto seen = work(
        "attention",
        {{"batch", "2"}, {"heads", "4"}, {"kv_heads", "2"}, {"sq", "3"}, {"head_dim", "8"}, {"causal", "1"}});
    CHECK(seen.operations == 2.0 * 4 * 4 * 8 * (1 + 2 + 3));
    CHECK(seen.bytes == 2.0 * 2 * 3 * 8 * (2 * 4 + 2 * 2));
    const auto grouped = work("grouped_gemm", {{"experts", "8"}, {"tokens", "3"}, {"n", "16"}, {"k", "32"}});
    CHECK(grouped.operations == 2.0 * 3 * 16 * 32);
    CHECK(grouped.bytes == 2.0 * (3 * 16 * 32 + 3 * 16 + 3 * 32));  // five experts have no rows
    const auto conv =
        work("conv2d",
             {{"batch", "2"}, {"channels", "8"}, {"out_channels", "16"}, {"size", "4"}, {"kernel", "3"}});
    CHECK(conv.operations == 2.0 * 2 * 4 * 4 * 8 * 16 * 9);
    CHECK(conv.bytes == 2.0 * (2 * 4 * 4 * 8 + 16 * 8 * 9 + 2 * 4 * 4 * 16));
}
