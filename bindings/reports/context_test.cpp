// The parameters that a report lists.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/context.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using warptime::reports::make_report_context;
using warptime::reports::ReportParameter;
using warptime::workloads::make_operation;

TEST_CASE("defaults are filled in and marked; what the library chooses is left out") {
    const auto operation =
        make_operation("gemm", {{"m", "1"}, {"n", "2"}, {"k", "3"}, {"dtype", "fp8"}, {"stages", "4"}});
    const auto context = make_report_context(operation, warptime::hw::load_gpu("h200-sxm"), {}, "analytical");
    const auto find = [&context](std::string_view name) -> const ReportParameter* {
        const auto at = std::find_if(context.parameters.begin(), context.parameters.end(),
                                     [name](const ReportParameter& p) { return p.name == name; });
        return at == context.parameters.end() ? nullptr : &*at;
    };
    CHECK(context.op == "gemm");
    CHECK(context.gpu == "h200-sxm");
    CHECK(context.engine == "analytical");
    CHECK(context.parameters.front().name == "m");
    REQUIRE(find("out_dtype") != nullptr);
    CHECK(find("out_dtype")->text == "bf16");
    CHECK(find("out_dtype")->is_default);
    CHECK_FALSE(find("out_dtype")->number);
    REQUIRE(find("stages") != nullptr);
    CHECK(find("stages")->number);
    CHECK_FALSE(find("stages")->is_default);
    CHECK_FALSE(find("dtype")->is_default);
    CHECK(find("cta_tile") == nullptr);
}
