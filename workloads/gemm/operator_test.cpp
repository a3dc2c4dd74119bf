// The record of gemm: its work in closed form, and the amount of data behind each kind of kernel.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/operator.hpp"

#include "hw/error.hpp"
#include "workloads/compilers/triton.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime::workloads;
using gemm::gemm_operator;

namespace {

Operation product(std::map<std::string, std::string, std::less<>> more = {}) {
    more.insert({{"m", "1000"}, {"n", "200"}, {"k", "300"}});
    return {"gemm", std::move(more)};
}

}  // namespace

TEST_CASE("a product does 2 m n k operations on each operand read once and its result written once") {
    const UsefulWork work = gemm_operator().work(product());
    CHECK(work.operations == 2.0 * 1000 * 200 * 300);
    CHECK(work.bytes == 2.0 * (1000 * 300 + 300 * 200 + 1000 * 200));
    CHECK(work.memory == work.bytes);
    const UsefulWork batch = gemm_operator().work(product({{"batch", "3"}, {"dtype", "fp32"}}));
    CHECK(*batch.operations == 3.0 * *work.operations);
    CHECK(batch.bytes == 6.0 * work.bytes);
}

TEST_CASE("a tile by Triton rests on the compiler's numbers, a library's choice on its rules and trees") {
    const auto libraries = libraries::load_libraries();
    const auto data = [&](const Operation& operation, const char* on = "h200-sxm") {
        return gemm_operator().data(operation, libraries, gemm::fixture::gpu(on));
    };
    const DataCount tile = data(product({{"cta_tile", "128x64x64"}, {"implementation", "triton"}}));
    CHECK(tile.compiler == compilers::triton().numbers);
    CHECK(tile.compiler > 0);
    CHECK(tile.library + tile.learned == 0);
    const DataCount own = data(product({{"cta_tile", "128x64x64"}, {"implementation", "cutlass"}}));
    CHECK(own.compiler + own.library + own.learned == 0);
    const DataCount chosen = data(product());
    CHECK(chosen.compiler == 0);
    CHECK(chosen.library > 0);
    CHECK(chosen.learned > 0);
    // No launches were recorded on an A100.
    CHECK(data(product(), "a100-sxm-80gb").learned == 0);
    CHECK(data(product(), "a100-sxm-80gb").library > 0);
}

TEST_CASE("the record reads what the library chooses as open, and a tile as whole") {
    CHECK(gemm_operator().read(product())->is_open());
    CHECK_FALSE(gemm_operator().read(product({{"cta_tile", "64x64x64"}}))->is_open());
    CHECK_THROWS_AS(static_cast<void>(gemm_operator().read(product({{"dtype", "bf17"}}))), warptime::Error);
    CHECK(static_cast<bool>(gemm_operator().number("m")));
    CHECK_FALSE(static_cast<bool>(gemm_operator().number("dtype")));
    CHECK(gemm_operator().tiled);
}
