// CUTLASS's list of problems: its own example, the letters of layouts, and refusals of a problem or a file.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/problem_file.hpp"

#include "workloads/gemm/from_parameters.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;
using warptime::Error;
using warptime::hw::Dtype;

namespace {

// The first problem of the example in media/docs/cpp/heuristics.md.
const std::string example =
    R"({"m": 4096, "n": 2048, "k": 1024, "batch_count": 3, "layout": "tnn", "dtype_a": "f16", "dtype_b": "f16",
        "dtype_c": "f16", "dtype_acc": "f32", "dtype_d": "f16", "beta": 0.0, "use_fast_acc": false})";

std::string changed(const std::string& from, const std::string& to) {
    std::string text = example;
    text.replace(text.find(from), from.size(), to);
    return text;
}

ListedProblem only(const std::string& problem) {
    return parse_problem_list("[" + problem + "]", "list").at(0);
}

gemm::Problem read(const std::string& problem) {
    const ListedProblem listed = only(problem);
    REQUIRE(listed.operation);
    return gemm::problem_of(*listed.operation);
}

std::string refusal(const std::string& problem) {
    const ListedProblem listed = only(problem);
    REQUIRE(listed.refusal);
    CHECK_FALSE(listed.operation);
    return listed.refusal->what();
}

}  // namespace

TEST_CASE("CUTLASS's example is read as it means") {
    const gemm::Problem p = read(example);
    CHECK(p.m == 4096);
    CHECK(p.n == 2048);
    CHECK(p.k == 1024);
    CHECK(p.batch == 3);
    CHECK(p.a == Dtype::fp16);
    CHECK(p.b == Dtype::fp16);
    CHECK(p.accumulator == Dtype::fp32);
    CHECK(p.out == Dtype::fp16);
    CHECK(p.a_major == gemm::Major::k);
    CHECK(p.b_major == gemm::Major::k);
}

TEST_CASE("t is row-major: k runs fastest in A, n in B") {
    CHECK(read(changed("tnn", "ntt")).a_major == gemm::Major::other);
    CHECK(read(changed("tnn", "ntt")).b_major == gemm::Major::other);
    CHECK(read(changed("tnn", "ttn")).b_major == gemm::Major::other);
    CHECK(read(changed("tnn", "TNT")).a_major == gemm::Major::k);
}

TEST_CASE("types by CUTLASS's names, operands of two types, and floats as the tensor cores take them") {
    const std::string mixed =
        changed(R"("dtype_a": "f16", "dtype_b": "f16")", R"("dtype_a": "bf16", "dtype_b": "e4m3")");
    CHECK(read(mixed).a == Dtype::bf16);
    CHECK(read(mixed).b == Dtype::fp8);
    const std::string floats =
        changed(R"("dtype_a": "f16", "dtype_b": "f16")", R"("dtype_a": "f32", "dtype_b": "f32")");
    CHECK(read(floats).a == Dtype::tf32);
    CHECK(read(changed(R"("dtype_d": "f16")", R"("dtype_d": "f32")")).out == Dtype::fp32);
    CHECK(read(changed(R"("batch_count": 3, )", "")).batch == 1);
}

TEST_CASE("a problem that cannot be taken is refused alone") {
    CHECK(refusal(changed("0.0", "1.0")).find("problem 0 beta: got '1.0', expected 0") == 0);
    CHECK(refusal(changed("tnn", "tn")).find("problem 0 layout: got 'tn'") == 0);
    CHECK(refusal(changed("4096", "0")).find("gemm m: got '0'") != std::string::npos);
    CHECK(refusal(changed("4096", "40.5")).find("m: got '40.5', expected a whole number") !=
          std::string::npos);
    CHECK(refusal(changed(R"("k": 1024, )", "")).find("problem 0 k: got ''") == 0);
    CHECK(refusal(changed("layout", "layuot")).find("nearest: 'layout'") != std::string::npos);
    CHECK(refusal(changed(R"("dtype_a": "f16")", R"("dtype_a": "f17")")).find("nearest: 'f16'") !=
          std::string::npos);
    CHECK(refusal("5").find("an object") != std::string::npos);
    const auto both = parse_problem_list("[" + changed("0.0", "1.0") + ", " + example + "]", "list");
    CHECK(both.at(0).refusal);
    CHECK(both.at(1).operation);
}

TEST_CASE("what is no list is an error that names the file") {
    for (const char* text : {"", "{}", "[]", "[1,", "5"}) {
        CHECK_THROWS_WITH_AS(static_cast<void>(parse_problem_list(text, "some.json")),
                             doctest::Contains("problems some.json"), Error);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(read_problem_file("/nowhere/p.json")),
                         doctest::Contains("/nowhere/p.json"), Error);
}
