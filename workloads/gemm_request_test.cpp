// A GEMM as numbers: setting one number is the same as writing it as text.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm_request.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"
#include "workloads/gemm_from_parameters.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

/// Equal requests, compared by what they lower to; a refusal is its text.
std::string lowered(const GemmRequest& request) {
    static const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    static const auto data = libraries::load_libraries();
    mk::Program program;
    try {
        lower_gemm(
            request, data, gpu, [](const mk::Program& tried, double) { return tried.kernels[0].grid.x; },
            program);
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
        GemmRequest request = read_gemm(fixture::gemm(640, 320, 1280, more));
        const GemmNumber set = find_gemm_number(name);
        RC_ASSERT(static_cast<bool>(set));
        RC_ASSERT(set(request, value));
        std::map<std::string, std::string, std::less<>> given = more;
        given.insert({{"m", "640"}, {"n", "320"}, {"k", "1280"}});
        given[name] = std::to_string(value);
        RC_ASSERT(lowered(request) == lowered(read_gemm(make_operation("gemm", given))));
    }));
}

TEST_CASE("words are no numbers, and a tile's numbers have their limit") {
    CHECK_FALSE(static_cast<bool>(find_gemm_number("cta_tile")));
    CHECK_FALSE(static_cast<bool>(find_gemm_number("dtype")));
    CHECK_FALSE(static_cast<bool>(find_gemm_number("nope")));
    GemmRequest tiled = read_gemm(fixture::gemm(64, 64, 64, {{"cta_tile", "64x64x32"}}));
    CHECK_FALSE(find_gemm_number("stages")(tiled, most_of_a_tile + 1));
    CHECK(find_gemm_number("shared_bytes")(tiled, most_of_a_tile + 1));
    GemmRequest library = read_gemm(fixture::gemm(64, 64, 64));
    CHECK_FALSE(library.config.has_value());
    CHECK(find_gemm_number("stages")(library, 3));  // nothing to set where the library chooses
    CHECK_FALSE(library.config.has_value());
}

TEST_CASE("what cannot be in memory or in a row is refused when it is lowered") {
    GemmRequest request = read_gemm(fixture::gemm(64, 64, 64));
    request.problem.lda = 63;
    CHECK(lowered(request).find("gemm lda") != std::string::npos);
    request.problem.lda = 0;
    request.problem.m = request.problem.n = 1 << 20;
    CHECK(lowered(request).find("a problem that fits") != std::string::npos);
}
