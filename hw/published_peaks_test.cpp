// Sheets against the vendor's printed figures: CUDA cores, peak rates, bandwidth, cache.
// Independent of checks.cpp: the figures below are typed from data sheets and white papers, not derived from
// the sheets.
// Source: the documents that each sheet names in its [sources].
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "hw/tensor_rate.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace warptime::hw {
namespace {

/// Dense TFLOP/s (TOP/s for int8), GB/s, GB, MiB, W; 0: the product lacks the feature.
struct Published {
    const char* id;
    const char* capability;
    int cuda_cores;
    double fp32, fp64, fp16, bf16, tf32, fp8, int8;
    double gigabytes_per_s;
    double gigabytes;
    double l2_mebibytes;
    double watts;
    double rounding = 0.02;  // of peaks that are published to two digits
};

// Tensor peaks of GeForce boards are those with fp32 accumulation, as the keys define them.
constexpr Published products[] = {
    {"v100-sxm", "7.0", 5120, 15.7, 7.8, 125, 0, 0, 0, 0, 900, 16, 6, 300},
    {"t4", "7.5", 2560, 8.1, 0.25, 65, 0, 0, 0, 130, 320, 16, 4, 70},
    {"a10", "8.6", 9216, 31.2, 0.49, 125, 125, 62.5, 0, 250, 600, 24, 6, 150},
    {"a100-sxm-40gb", "8.0", 6912, 19.5, 9.7, 312, 312, 156, 0, 624, 1555, 40, 40, 400},
    {"a100-sxm-80gb", "8.0", 6912, 19.5, 9.7, 312, 312, 156, 0, 624, 2039, 80, 40, 400},
    {"a100-pcie-40gb", "8.0", 6912, 19.5, 9.7, 312, 312, 156, 0, 624, 1555, 40, 40, 250},
    {"a100-pcie-80gb", "8.0", 6912, 19.5, 9.7, 312, 312, 156, 0, 624, 1935, 80, 40, 300},
    {"rtx-3090", "8.6", 10496, 35.6, 0.56, 71, 71, 35.6, 0, 284, 936, 24, 6, 350},
    {"l4", "8.9", 7424, 30.3, 0.47, 121, 121, 60, 242.5, 242.5, 300, 24, 48, 72},
    {"l40s", "8.9", 18176, 91.6, 1.43, 362, 362, 183, 733, 733, 864, 48, 96, 350},
    {"rtx-4090", "8.9", 16384, 82.6, 1.29, 165.2, 165.2, 82.6, 330.3, 660.6, 1008, 24, 72, 450},
    {"h100-sxm", "9.0", 16896, 66.9, 33.5, 989.4, 989.4, 494.7, 1979, 1979, 3350, 80, 50, 700},
    {"h100-pcie", "9.0", 14592, 51.2, 25.6, 756, 756, 378, 1513, 1513, 2039, 80, 50, 350},
    {"h200-sxm", "9.0", 16896, 66.9, 33.5, 989.4, 989.4, 494.7, 1979, 1979, 4800, 141, 60, 700},
    {"gh200", "9.0", 16896, 66.9, 33.5, 989.4, 989.4, 494.7, 1979, 1979, 4000, 96, 60, 900},
    {"b200", "10.0", 18944, 75, 37, 2250, 2250, 1125, 4500, 4500, 7672, 192, 126.5, 1000},
    {"gb200", "10.0", 19456, 80, 40, 2500, 2500, 1250, 5000, 5000, 7928, 198, 129.25, 1200},
    {"b300", "10.3", 18944, 75, 1.25, 2250, 2250, 1125, 4500, 150, 7936, 297, 129.25, 1100, 0.07},
    {"gb300", "10.3", 19456, 80, 1.3, 2500, 2500, 1250, 5000, 160, 7928, 297, 129.25, 1400, 0.04},
    {"rtx-pro-6000", "12.0", 24064, 125, 1.95, 500, 500, 250, 1000, 1000, 1792, 103, 128, 600},
    {"rtx-5090", "12.0", 21760, 104.8, 1.64, 209.5, 209.5, 104.8, 419, 838, 1792, 32, 96, 575},
};

TEST_CASE("every sheet of the design exists, and no other") {
    std::set<std::string> expected;
    for (const Published& product : products) {
        expected.insert(product.id);
    }
    std::set<std::string> present;
    for (const SheetSummary& sheet : list_sheets()) {
        present.insert(sheet.id);
        CHECK(sheet.calibrated == (sheet.id == "h200-sxm"));
    }
    CHECK(present == expected);
}

TEST_CASE("SMs x lanes are the CUDA cores, and rate x SMs x clock the published peaks") {
    for (const Published& product : products) {
        CAPTURE(std::string(product.id));
        const Gpu gpu = load_gpu(product.id);
        CHECK(std::to_string(gpu.compute_major) + "." + std::to_string(gpu.compute_minor) ==
              product.capability);
        const double sms = gpu.sm.count.value();
        CHECK(sms * gpu.fp32.lanes.value() == product.cuda_cores);
        const auto near = [&product](double published) {
            return doctest::Approx(published).epsilon(product.rounding);
        };
        const double boost = gpu.clock.boost.value();
        CHECK(2e-12 * sms * gpu.fp32.lanes.value() * boost == near(product.fp32));
        CHECK(2e-12 * sms * gpu.fp64.lanes.value() * boost == near(product.fp64));
        const auto tensor = [&](Dtype dtype) {
            return 1e-12 * tensor_rate(dtype, gpu).value() * sms * gpu.clock.tensor_peak.value();
        };
        CHECK(tensor(Dtype::fp16) == near(product.fp16));
        CHECK(tensor(Dtype::bf16) == near(product.bf16));
        CHECK(tensor(Dtype::tf32) == near(product.tf32));
        CHECK(tensor(Dtype::fp8) == near(product.fp8));
        CHECK(tensor(Dtype::int8) == near(product.int8));
        CHECK(gpu.tensor.published_bf16.value() * 1e-12 == near(product.bf16));
    }
}

TEST_CASE("memory, cache and power are those of the product") {
    for (const Published& product : products) {
        CAPTURE(std::string(product.id));
        const Gpu gpu = load_gpu(product.id);
        CHECK(gpu.dram.bandwidth.value() * 1e-9 == doctest::Approx(product.gigabytes_per_s).epsilon(0.005));
        CHECK(gpu.dram.capacity.value() * 1e-9 == doctest::Approx(product.gigabytes).epsilon(0.005));
        CHECK(gpu.l2.capacity.value() == product.l2_mebibytes * 1024 * 1024);
        CHECK(gpu.power.limit.value() == product.watts);
    }
}

TEST_CASE("instructions appear with the architecture that brought them") {
    for (const Published& product : products) {
        CAPTURE(std::string(product.id));
        const Gpu gpu = load_gpu(product.id);
        const int capability = gpu.compute_major * 10 + gpu.compute_minor;
        CHECK(gpu.isa == "sm_" + std::to_string(capability));
        const auto has = [&gpu](InstructionClass cls) { return gpu.instructions[cls].supported; };
        CHECK(has(InstructionClass::mma_sync));
        CHECK(has(InstructionClass::ldmatrix) == (capability >= 75));
        CHECK(has(InstructionClass::cp_async) == (capability >= 80));
        CHECK(has(InstructionClass::redux) == (capability >= 80));
        CHECK(has(InstructionClass::mbarrier_try_wait) == (capability >= 80));
        CHECK(has(InstructionClass::cp_async_bulk_tensor) == (capability >= 90));
        CHECK(has(InstructionClass::cluster_barrier) == (capability >= 90));
        CHECK(has(InstructionClass::wgmma) == (capability == 90));
        CHECK((gpu.cluster.ctas_max.value() > 1) == (capability >= 90));
        CHECK((gpu.latency.tma_extra.value() > 0) == (capability >= 90));
        CHECK(has(InstructionClass::tcgen05_mma) == (capability / 10 == 10));
        CHECK(has(InstructionClass::tcgen05_ld) == (capability / 10 == 10));
    }
}

TEST_CASE("the types of the tensor cores, for messages") {
    CHECK(tensor_dtypes(load_gpu("v100-sxm")) == "fp16");
    CHECK(tensor_dtypes(load_gpu("t4")) == "fp16, int8");
    CHECK(tensor_dtypes(load_gpu("a100-sxm-40gb")) == "bf16, fp16, tf32, int8, fp64");
    CHECK(tensor_dtypes(load_gpu("rtx-5090")) == "bf16, fp16, tf32, fp8, int8, mxfp8, mxfp6, mxfp4, nvfp4");
}

TEST_CASE("peaks with block scales are the printed ones, dense") {
    struct Scaled {
        const char* id;
        double fp4;       // TFLOP/s
        double of_mxfp8;  // fp4 over mxfp8
    };
    for (const Scaled& board : {Scaled{"b200", 9000, 2},
                                {"gb200", 10000, 2},
                                {"b300", 13500, 3},
                                {"gb300", 15000, 3},
                                {"rtx-5090", 1676, 2},
                                {"rtx-pro-6000", 2000, 2}}) {
        CAPTURE(board.id);
        const Gpu gpu = load_gpu(board.id);
        const double chip = gpu.sm.count.value() * gpu.clock.tensor_peak.value() * 1e-12;
        CHECK(gpu.tensor.fp4.value() * chip == doctest::Approx(board.fp4).epsilon(0.02));
        CHECK(gpu.tensor.fp4.value() == board.of_mxfp8 * gpu.tensor.mxfp8.value());
    }
}

}  // namespace
}  // namespace warptime::hw
