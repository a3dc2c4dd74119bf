// The sheets pass every check, and a change of each fact fails the check that guards it.
// SPDX-License-Identifier: Apache-2.0
#include "hw/checks.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace warptime::hw {
namespace {

std::set<std::string> failures(const Gpu& gpu) {
    std::set<std::string> names;
    for (const Finding& finding : check_gpu(gpu)) {
        if (!finding.ok) {
            names.insert(std::string(finding.check));
        }
    }
    return names;
}

TEST_CASE("the sheets pass every check") {
    for (const SheetSummary& sheet : list_sheets()) {
        CAPTURE(sheet.id);
        CHECK(failures(load_gpu(sheet.id)).empty());
    }
}

struct Mutation {
    const char* key;
    double factor;
    const char* check;
};

TEST_CASE("a change of one fact fails the check that guards it") {
    const Mutation mutations[] = {
        {"dram.bandwidth", 1.1, "bus width x 2 x memory clock is the DRAM bandwidth"},
        {"dram.bus_width", 0.9, "bus width x 2 x memory clock is the DRAM bandwidth"},
        {"clock.memory", 1.1, "bus width x 2 x memory clock is the DRAM bandwidth"},
        {"tensor.published_bf16", 1.05, "tensor rate x SMs x clock is the published peak"},
        {"tensor.bf16", 0.5, "tensor rate x SMs x clock is the published peak"},
        {"sm.count", 1.05, "tensor rate x SMs x clock is the published peak"},
        {"clock.tensor_peak", 0.95, "tensor rate x SMs x clock is the published peak"},
        {"fp32.published", 1.05, "fp32 lanes x 2 x SMs x clock is the published peak"},
        {"fp32.lanes", 0.5, "fp32 lanes x 2 x SMs x clock is the published peak"},
        {"clock.boost", 0.9, "fp32 lanes x 2 x SMs x clock is the published peak"},
        {"sm.threads_max", 0.5, "threads are 32 x warps"},
        {"sm.warps_max", 0.5, "threads are 32 x warps"},
        {"cta.threads_max", 4, "a CTA fits on an SM"},
        {"shared.per_cta_optin", 1.1, "opt-in and reserved shared memory fit on an SM"},
        {"shared.reserved_per_cta", 2, "opt-in and reserved shared memory fit on an SM"},
        {"shared.per_cta_default", 10, "the default shared memory is no more than opt-in"},
        {"shared.carveouts", 0.5, "the largest carveout is the shared capacity"},
        {"shared.capacity", 0.5, "the largest carveout is the shared capacity"},
        {"l1.capacity", 0.5, "shared memory is part of the L1"},
        {"shared.bandwidth", 0.5, "banks x width is the shared bandwidth"},
        {"shared.banks", 0.5, "banks x width is the shared bandwidth"},
        {"shared.bank_width", 2, "banks x width is the shared bandwidth"},
        {"l1.sector", 1.5, "a line is a whole number of sectors"},
        {"l1.line", 0.2, "a line is a whole number of sectors"},
        {"sm.registers", 1.001, "registers divide into sub-partitions and allocation units"},
        {"sm.register_allocation_unit", 1.5, "registers divide into sub-partitions and allocation units"},
        {"gpc.count", 20, "every GPC has at least one TPC"},
        {"tpc.sms", 20, "every GPC has at least one TPC"},
        {"cluster.ctas_portable_max", 4, "the portable cluster is no more than the largest"},
        {"cluster.ctas_max", 0.25, "the portable cluster is no more than the largest"},
        {"clock.tensor_peak", 1.2, "the tensor peak clock is no more than boost"},
        {"latency.l2_near", 2, "near L2 is no slower than far"},
        {"latency.l1", 10, "L1 is no slower than L2"},
        {"latency.dram", 0.3, "L2 is no slower than DRAM"},
        {"clock.tensor_base", 2, "a share lies in (0, 1]"},
        {"clock.plain", 0, "a share lies in (0, 1]"},
        {"dram.read_efficiency", 1.2, "a share lies in (0, 1]"},
        {"dram.write_efficiency", 0, "a share lies in (0, 1]"},
        {"tensor.mma_sync_fraction", 2, "a share lies in (0, 1]"},
        {"l2.dirty_capacity", 3, "a share lies in (0, 1]"},
    };
    const Gpu sound = load_gpu("h200-sxm");
    std::set<std::string> seen;
    for (const Mutation& mutation : mutations) {
        CAPTURE(mutation.key);
        Gpu gpu = sound;
        const std::size_t key = key_index(mutation.key);
        set_key_value(gpu, key, key_value(gpu, key) * mutation.factor);
        CHECK(failures(gpu).count(mutation.check) == 1);
        CHECK_THROWS_AS(require_sound(gpu), Error);
        seen.insert(mutation.check);
    }
    for (const Finding& finding : check_gpu(sound)) {
        CAPTURE(finding.check);
        CHECK((seen.count(std::string(finding.check)) == 1 || finding.check == "a divisor is more than 0" ||
               finding.check == "groups of SMs fit on the chip"));
    }
}

TEST_CASE("groups of clusters with more SMs than the chip are found") {
    Gpu gpu = load_gpu("h200-sxm");
    CHECK(failures(gpu).count("groups of SMs fit on the chip") == 0);
    gpu.cluster.groups.push_back(Number(2));
    CHECK(failures(gpu).count("groups of SMs fit on the chip") == 1);
}

TEST_CASE("tensor cores without bf16 have no bf16 peak") {
    Gpu gpu = load_gpu("v100-sxm");
    CHECK(failures(gpu).empty());
    gpu.tensor.published_bf16 = OperationsPerSecond(125e12);
    CHECK(failures(gpu).count("tensor rate x SMs x clock is the published peak") == 1);
    gpu = load_gpu("h200-sxm");
    gpu.tensor.bf16 = OperationsPerCycle(0.0);
    CHECK(failures(gpu).count("tensor rate x SMs x clock is the published peak") == 1);
}

TEST_CASE("a zero where a formula divides is found") {
    for (const char* name : {"sm.count", "sm.sub_partitions", "sm.ctas_max", "l2.capacity", "dram.capacity",
                             "sfu.lanes", "l2.bandwidth", "overlap.exponent", "l2.partitions"}) {
        CAPTURE(name);
        Gpu gpu = load_gpu("h200-sxm");
        set_key_value(gpu, key_index(name), 0.0);
        CHECK(failures(gpu).count("a divisor is more than 0") == 1);
    }
}

TEST_CASE("the error names the GPU, the key and the check") {
    Gpu gpu = load_gpu("h200-sxm");
    gpu.sm.threads_max = Number(1024);
    CHECK_THROWS_WITH_AS(require_sound(gpu), doctest::Contains("h200-sxm sm.threads_max"), Error);
}

}  // namespace
}  // namespace warptime::hw
