// A sheet of one's own, written and read back: the numbers that were set, and all others as they were.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/gpu_sheet_text.hpp"

#include "hw/sheet.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <vector>

using namespace warptime;

TEST_CASE("what is written reads back to the last digit") {
    const std::vector<hw::Setting> settings{
        hw::parse_setting("gpu.dram.bandwidth=880GB/s"), hw::parse_setting("gpu.sm.count=141"),
        hw::parse_setting("gpu.l2.capacity=0.37x"), hw::parse_setting("gpu.latency.dram=+7%")};
    const hw::Gpu changed = hw::load_gpu("l40s", settings);
    const workloads::frontends::process::TemporaryFolder folder;
    const std::string path = (folder.path() / "mine.toml").string();
    std::ofstream(path) << reports::sheet_text(changed, "l40s", "mine");
    const hw::Gpu read = hw::load_gpu(path);
    CHECK(read.name == "mine");
    CHECK(read.isa == changed.isa);
    CHECK(read.dram.bandwidth.value() == 880e9);
    std::vector<double> one, two;
    const auto collect = [](const hw::Gpu& gpu, std::vector<double>& values) {
        hw::visit_keys(gpu, [&](std::size_t, const auto& field) {
            if constexpr (!hw::is_key_list<std::remove_cvref_t<decltype(field)>>)
                values.push_back(field.value());
        });
    };
    collect(changed, one);
    collect(read, two);
    REQUIRE(one.size() == two.size());
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == doctest::Approx(two[i]).epsilon(1e-14));
}
