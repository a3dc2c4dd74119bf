// The record of grouped_gemm: useful work expert by expert, numbers that sweeps set, and refusals by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/grouped/operator.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/grouped/problem.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

using Given = std::map<std::string, std::string, std::less<>>;

mk::Program lowered(const Given& given, const std::string& gpu = "h200-sxm") {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation("grouped_gemm", given), data, warptime::hw::load_gpu(gpu),
        [](const mk::Program&, double) { return 1.0; }, program);
    return program;
}

std::string refused(const Given& given, const std::string& gpu = "h200-sxm") {
    try {
        (void)lowered(given, gpu);
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("what cannot run is refused by the parameter's name") {
    const Given fits{{"experts", "4"}, {"tokens", "64"}, {"n", "128"}, {"k", "128"}};
    const auto with = [&](const char* name, const char* value) {
        Given given = fits;
        given[name] = value;
        return given;
    };
    CHECK(refused(fits) == "accepted");
    CHECK(refused(with("experts", "1024")) == "grouped_gemm experts");
    CHECK(refused(with("n", "129")) == "grouped_gemm n");
    CHECK(refused(with("k", "4")) == "grouped_gemm k");
    CHECK(refused(with("tokens", "1000000000")) != "accepted");
    CHECK(refused(fits, "a100-sxm-80gb") == "grouped_gemm gpu");
    CHECK(refused(with("dtype", "fp32")) == "grouped_gemm dtype");
}

TEST_CASE("useful work is that of each expert's rows; weights of idle experts are not read") {
    for (const int tokens : {298, 2, 3}) {
        const UsefulWork work = grouped::grouped_gemm_operator().work(make_operation(
            "grouped_gemm",
            {{"experts", "3"}, {"tokens", std::to_string(tokens)}, {"n", "320"}, {"k", "256"}}));
        double operations = 0.0;
        double bytes = 0.0;
        for (int expert = 0; expert < 3; ++expert) {
            const double rows = tokens / 3 + (expert < tokens % 3 ? 1 : 0);
            operations += 2.0 * rows * 320 * 256;
            bytes += rows == 0.0 ? 0.0 : 2 * (320.0 * 256 + rows * (320 + 256));
        }
        CHECK(work.operations.value() == operations);
        CHECK(work.bytes == bytes);
        CHECK(work.memory == 2 * (3 * 320.0 * 256 + tokens * (320.0 + 256)));
    }
}

TEST_CASE("a number set on a request changes what is launched as the parameter does") {
    const OperatorInfo& info = grouped::grouped_gemm_operator();
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto library = libraries::load_libraries();
    const Given base{{"experts", "8"}, {"tokens", "4096"}, {"n", "1024"}, {"k", "512"}};
    for (const char* name : {"experts", "tokens", "n", "k"}) {
        CAPTURE(std::string(name));
        const SetNumber set = info.number(name);
        REQUIRE((set != nullptr));
        const auto request = info.read(make_operation("grouped_gemm", base));
        REQUIRE(set(*request, 256));
        mk::Program changed;
        request->lower(library, gpu, changed);
        Given more = base;
        more[name] = "256";
        const mk::Program written = lowered(more);
        REQUIRE(changed.kernel_count == written.kernel_count);
        for (std::size_t k = 0; k < changed.kernel_count; ++k)
            CHECK(changed.kernels[k] == written.kernels[k]);
    }
    CHECK((info.number("dtype") == nullptr));
}
