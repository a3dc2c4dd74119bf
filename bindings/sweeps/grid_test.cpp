// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/grid_fixture_test.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>

using namespace warptime::sweeps;
using warptime::Error;

TEST_CASE("points are all combinations, the last axis fastest") {
    const Grid grid = fixture::small_grid();
    CHECK(grid.points() == 2 * 2 * 3 * 2 * 3);
    CHECK(grid.points_per_setup() == 3 * 2 * 3);
    CHECK(grid.header() == "op,gpu,gpu.l2.capacity,cache,m,n,k,time_us,low_us,high_us,limiter,status,error");
    std::uint64_t point = 0;
    for (const char* gpu : {"h200-sxm", "a100-sxm-80gb"}) {
        for (const char* l2 : {"1x", "2x"}) {
            for (const char* cache : {"", "warm", "cold"}) {
                for (const char* m : {"128", "100"}) {
                    for (const char* n : {"64", "4096", "8192"}) {
                        std::string cells;
                        grid.append_cells(cells, point++);
                        CHECK(cells == std::string("gemm,") + gpu + ',' + l2 + ',' + cache + ',' + m + ',' +
                                           n + ",512,");
                    }
                }
            }
        }
    }
}

TEST_CASE("a setup has its GPU with its changes") {
    const Grid grid = fixture::small_grid();
    const Setup last = grid.setup(3);
    const auto changed = grid.gpu_of(last);
    CHECK(changed->id == "a100-sxm-80gb");
    CHECK(changed->l2.capacity.value() == 2 * warptime::hw::load_gpu("a100-sxm-80gb").l2.capacity.value());
    CHECK(grid.gpu_of(grid.setup(0))->l2.capacity.value() ==
          warptime::hw::load_gpu("h200-sxm").l2.capacity.value());
    CHECK(grid.engine_of(last) == "analytical");
}

TEST_CASE("faults are found before the first point") {
    const std::vector<GivenAxis> sizes{{"m", {"1"}}, {"n", {"1"}}, {"k", {"1"}}};
    const auto refused = [&sizes](GivenAxis more, const char* owner, const char* value) {
        std::vector<GivenAxis> axes = sizes;
        axes.push_back(std::move(more));
        try {
            const Grid grid = fixture::gemm_grid(std::move(axes));
            FAIL("accepted");
        } catch (const Error& error) {
            CHECK(error.parameter() == owner);
            CHECK(error.value() == value);
            CHECK(!error.expected().empty());
        }
    };
    refused({"stagse", {"3"}}, "gemm parameter", "stagse");
    refused({"dtype", {"bf16", "bf17"}}, "gemm dtype", "bf17");
    refused({"batch", {"2", "0"}}, "gemm batch", "0");
    refused({"cache", {"warm", "hot"}}, "cache", "hot");
    refused({"M", {"2"}}, "gemm m", "given twice");
    refused({"dtype", {}}, "gemm dtype", "no value");
    refused({"stages", {"3", "4"}}, "gemm stages", "3");
    refused({"gpu.l2.capacty", {"2x"}}, "GPU key", "l2.capacty");
    refused({"gpu.l2.capacity", {"2x", "5 GHz"}}, "gpu.l2.capacity", "5 GHz");
    CHECK_THROWS_AS(fixture::gemm_grid({{"m", {"1"}}, {"n", {"1"}}}), Error);
    CHECK_THROWS_AS(fixture::gemm_grid(sizes, {}), Error);
    CHECK_THROWS_AS(fixture::gemm_grid(sizes, {"t4"}, {"analytcal"}), Error);
    const std::vector<std::string> many(1'000'001, "1");
    CHECK_THROWS_AS(fixture::gemm_grid({{"m", many}, {"n", many}, {"k", {"1"}}}), Error);
}

TEST_CASE("a parameter that only some words need is no fault") {
    const Grid grid = fixture::gemm_grid(
        {{"m", {"1"}}, {"n", {"1"}}, {"k", {"1"}}, {"cta_tile", {"", "128x128x64"}}, {"stages", {"3", "4"}}});
    CHECK(grid.points() == 4);
}

TEST_CASE("texts of a command line") {
    const auto& gemm = warptime::workloads::find_operator("gemm");
    using Values = std::vector<std::string>;
    CHECK(values_of(gemm, "m", "1:3:1") == Values{"1", "2", "3"});
    CHECK(values_of(gemm, "cta-tile", "128x128x64,64x64x64") == Values{"128x128x64", "64x64x64"});
    CHECK(values_of(gemm, "clock_mhz", "1000:1500:250") == Values{"1000", "1250", "1500"});
    CHECK(values_of(gemm, "gpu.dram.bandwidth", "+0%:+20%:+20%") == Values{"+0%", "+20%"});
    const auto& kernel = warptime::workloads::find_operator("kernel");
    CHECK(values_of(kernel, "args", "4096 1.5f,buffer:4:1") == Values{"4096 1.5f,buffer:4:1"});
}
