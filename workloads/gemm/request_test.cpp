// A GEMM as numbers: setting a number equals writing it as text.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/request.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

/// Requests are equal if they lower to the same text. A refusal is its message.
std::string lowered(const gemm::GemmRequest& request) {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    static const auto data = libraries::load_libraries();
    mk::Program program;
    try {
        choice::lower(
            gemm::gemm_operator(), request, data, gpu,
            [](const mk::Program& tried, double) { return tried.kernels[0].grid.x; }, program);
    } catch (const warptime::Error& error) {
        return error.what();
    }
    std::string text;
    for (std::size_t i = 0; i < program.kernel_count; ++i) text += to_text(program.kernels[i]);
    return text;
}

}  // namespace

TEST_CASE("a number that is set is the number that was written") {
    CHECK(rc::check("set(read(op), name, v) == read(op with name = v)", [] {
        constexpr std::array<const char*, 12> names{"m",     "n",       "k",       "batch",
                                                    "lda",   "ldb",     "ldc",     "stages",
                                                    "warps", "group_m", "split_k", "registers"};
        fixture::Parameters more;
        const bool tiled = *rc::gen::arbitrary<bool>();
        if (tiled) {
            more = {{"cta_tile", "128x64x32"},
                    {"implementation", fixture::word({"triton", "cutlass"})},
                    {"stages", "3"},
                    {"warps", "4"}};
        }
        const std::string name = *rc::gen::elementOf(names);
        const int value = *rc::gen::inRange(1, 3 << *rc::gen::inRange(0, 10));
        gemm::GemmRequest request = gemm::read_request(fixture::gemm(640, 320, 1280, more));
        const SetNumber set = gemm::find_number(name);
        RC_ASSERT(static_cast<bool>(set));
        RC_ASSERT(set(request, value));
        std::map<std::string, std::string, std::less<>> given = more;
        given.insert({{"m", "640"}, {"n", "320"}, {"k", "1280"}});
        given[name] = std::to_string(value);
        RC_ASSERT(lowered(request) == lowered(gemm::read_request(make_operation("gemm", given))));
    }));
}

TEST_CASE("sizes along K are set in numbers, whatever an element holds, and in whole blocks") {
    struct Case {
        const char* dtype;
        std::int64_t in_element, block;
    };
    for (const Case& c :
         {Case{"bf16", 1, 1}, {"mxfp8", 1, 32}, {"mxfp6", 1, 128}, {"mxfp4", 2, 32}, {"nvfp4", 2, 32}}) {
        CAPTURE(c.dtype);
        gemm::GemmRequest request = gemm::read_request(fixture::gemm(64, 64, 256, {{"dtype", c.dtype}}));
        CHECK(request.problem.k == 256 / c.in_element);
        for (const char* name : {"k", "lda", "ldb"}) CHECK(gemm::find_number(name)(request, 512));
        CHECK(request.problem.k == 512 / c.in_element);
        CHECK(request.problem.lda == 512 / c.in_element);
        CHECK(request.problem.ldb == 512 / c.in_element);
        CHECK(gemm::find_number("k")(request, 512 + c.block));
        CHECK(gemm::find_number("k")(request, 512 + c.block / 2) == (c.block == 1));
        // Other sizes are what they are.
        CHECK(gemm::find_number("m")(request, 65));
        CHECK(request.problem.m == 65);
    }
}

TEST_CASE("words are no numbers, and a tile's numbers have their limit") {
    CHECK_FALSE(static_cast<bool>(gemm::find_number("cta_tile")));
    CHECK_FALSE(static_cast<bool>(gemm::find_number("dtype")));
    CHECK_FALSE(static_cast<bool>(gemm::find_number("nope")));
    gemm::GemmRequest tiled = gemm::read_request(fixture::gemm(64, 64, 64, {{"cta_tile", "64x64x32"}}));
    CHECK_FALSE(gemm::find_number("stages")(tiled, gemm::most_of_a_tile + 1));
    CHECK(gemm::find_number("shared_bytes")(tiled, gemm::most_of_a_tile + 1));
    gemm::GemmRequest library = gemm::read_request(fixture::gemm(64, 64, 64));
    CHECK_FALSE(library.config.has_value());
    CHECK(gemm::find_number("stages")(library, 3));  // no effect where the library chooses
    CHECK_FALSE(library.config.has_value());
}

TEST_CASE("what cannot be in memory or in a row is refused when it is lowered") {
    gemm::GemmRequest request = gemm::read_request(fixture::gemm(64, 64, 64));
    request.problem.lda = 63;
    CHECK(lowered(request).find("gemm lda") != std::string::npos);
    request.problem.lda = 0;
    request.problem.m = request.problem.n = 1 << 20;
    CHECK(lowered(request).find("a problem that fits") != std::string::npos);
}
