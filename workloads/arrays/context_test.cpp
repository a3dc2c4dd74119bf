// Rules by name and type, counted once each, and a name that no rule has.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/context.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace warptime::workloads;
using warptime::hw::Dtype;

TEST_CASE("a rule is counted once, however often it is read, and once for each type that has its own") {
    libraries::Libraries libraries;
    libraries.kernel_rules.resize(3);
    libraries.kernel_rules[0].name = libraries.kernel_rules[1].name = "twice";
    libraries.kernel_rules[1].dtypes = {Dtype::bf16};
    libraries.kernel_rules[2].name = "once";
    const warptime::hw::Gpu gpu = warptime::hw::load_gpu("h200-sxm");
    warptime::model::kernel::Program program;
    std::vector<const libraries::KernelRule*> used;
    const arrays::Context context{libraries, gpu, program, &used};
    CHECK(&context.rule("twice", Dtype::bf16) == &libraries.kernel_rules[1]);
    CHECK(&context.rule("twice", Dtype::fp32) == &libraries.kernel_rules[0]);
    CHECK(&context.rule("twice", Dtype::fp64) == &libraries.kernel_rules[0]);
    CHECK(&context.rule("once", Dtype::bf16) == &libraries.kernel_rules[2]);
    CHECK(used == std::vector<const libraries::KernelRule*>{
                      &libraries.kernel_rules[1], &libraries.kernel_rules[0], &libraries.kernel_rules[2]});
    const arrays::Context uncounted{libraries, gpu, program};
    CHECK(&uncounted.rule("once", Dtype::fp16) == &libraries.kernel_rules[2]);
    CHECK(used.size() == 3);
    CHECK_THROWS_AS(static_cast<void>(context.rule("never", Dtype::bf16)), warptime::Error);
    CHECK(used.size() == 3);
}
