// Every sheet predicts: times lie near a roofline, or the refusal gives its reason.
// The times are at least the roofline and at most a small multiple. The test computes the roofline from the
// sheet's peaks, not by the engine.
// SPDX-License-Identifier: Apache-2.0
#include "hw/architecture_features.hpp"
#include "hw/error.hpp"
#include "hw/tensor_rate.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/operations_fixture_test.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace hw = warptime::hw;
namespace prediction = warptime::model::prediction;
using namespace warptime::workloads;

namespace {

prediction::Prediction explain(const hw::Gpu& gpu, const Operation& operation,
                               const prediction::Conditions& conditions = {}) {
    static const auto engine = warptime::model::analytical::make_engine();
    return Predictor(*engine, gpu).explain(operation, conditions);
}

/// The roofline of a 4096-cubed product; `feed` is the share of the dense rate that its instruction can
/// reach.
double gemm_roofline(const hw::Gpu& gpu, hw::Dtype dtype, double feed) {
    const double side = 4096.0;
    const double rate =
        hw::tensor_rate(dtype, gpu).value() * feed * gpu.sm.count.value() * gpu.clock.boost.value();
    const double bytes = 3.0 * side * side * hw::bytes_of(dtype);
    return std::max(2.0 * side * side * side / rate, bytes / gpu.dram.bandwidth.value());
}

Operation product(const std::string& dtype, fixture::Parameters more = {}) {
    more["dtype"] = dtype;
    return fixture::gemm(4096, 4096, 4096, std::move(more));
}

void check_sane(const prediction::Prediction& found, double roofline) {
    CHECK(found.time >= roofline);
    CHECK(found.time <= 3.0 * roofline);
    for (const double use :
         {found.utilization.tensor, found.utilization.fp32, found.utilization.issue, found.utilization.shared,
          found.utilization.l1, found.utilization.l2, found.utilization.dram}) {
        CHECK(use >= 0.0);
        CHECK(use <= 1.0);
    }
    CHECK(found.low < found.time);
    CHECK(found.high > found.time);
}

struct Refusal {
    std::string parameter, expected;
};

Refusal refusal_of(const hw::Gpu& gpu, const Operation& operation) {
    try {
        (void)explain(gpu, operation);
    } catch (const warptime::Error& error) {
        return {error.parameter(), error.expected()};
    }
    FAIL("not refused");
    return {};
}

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every sheet predicts an addition near its DRAM bandwidth") {
    constexpr std::int64_t elements = 100'000'000;
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        const auto found = explain(gpu, fixture::vector_operation("add", elements));
        check_sane(found, 3.0 * 2.0 * elements / gpu.dram.bandwidth.value());
        CHECK(found.status ==
              (sheet.calibrated ? prediction::Status::calibrated : prediction::Status::extrapolated));
    }
}

TEST_CASE("every sheet predicts a product with a given tile in the types that it has") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        const bool wgmma = gpu.instructions[hw::InstructionClass::wgmma].supported;
        const double feed = wgmma ? 1.0 : gpu.tensor.mma_sync_fraction.value();
        for (const hw::Dtype dtype : {hw::Dtype::bf16, hw::Dtype::fp16}) {
            const std::string name(hw::to_string(dtype));
            CAPTURE(name);
            const Operation operation =
                product(name, {{"cta_tile", "128x128x32"},
                               {"warps", "4"},
                               {"mma", hw::features_of(gpu.isa).tensor_memory ? "mma.sync" : "auto"}});
            if (hw::tensor_rate(dtype, gpu).value() > 0.0) {
                check_sane(explain(gpu, operation), gemm_roofline(gpu, dtype, feed));
            } else {
                const Refusal refusal = refusal_of(gpu, operation);
                CHECK(refusal.parameter == "gemm dtype");
                CHECK(mentions(refusal.expected, hw::tensor_dtypes(gpu)));
            }
        }
    }
}

TEST_CASE("the library's own kernel is predicted in every type that tensor cores or fp32 units have") {
    using hw::Dtype;
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::tf32, Dtype::fp8, Dtype::int8}) {
            const std::string name(hw::to_string(dtype));
            CAPTURE(name);
            if (hw::tensor_rate(dtype, gpu).value() > 0.0) {
                check_sane(explain(gpu, product(name)), gemm_roofline(gpu, dtype, 1.0));
            } else {
                CHECK(refusal_of(gpu, product(name)).parameter == "gemm dtype");
            }
        }
        for (const char* name : {"fp32", "fp64"}) {
            CAPTURE(std::string(name));
            CHECK(explain(gpu, product(name)).time > 0.0);
        }
    }
}

TEST_CASE(
    "products with block scales are answered where tensor cores have them, and refused by name elsewhere") {
    const char* const dtypes[] = {"mxfp8", "mxfp6", "mxfp4", "nvfp4"};
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        for (const char* dtype : dtypes) {
            CAPTURE(dtype);
            if (gpu.tensor.fp4.value() == 0.0) {
                const Refusal refusal = refusal_of(gpu, product(dtype));
                CHECK(refusal.parameter == "gemm dtype");
                CHECK(mentions(refusal.expected, hw::tensor_dtypes(gpu)));
                continue;
            }
            const auto found = explain(gpu, product(dtype));
            CHECK(found.status == prediction::Status::extrapolated);
            CHECK(found.flops_per_s == doctest::Approx(2.0 * std::pow(4096.0, 3) / found.time).epsilon(0.01));
            const double rate = dtype == std::string("mxfp8")   ? gpu.tensor.mxfp8.value()
                                : dtype == std::string("mxfp6") ? gpu.tensor.mxfp6.value()
                                                                : gpu.tensor.fp4.value();
            CHECK(found.flops_per_s < rate * gpu.sm.count.value() * gpu.clock.boost.value());
            CHECK(found.time < explain(gpu, product("bf16")).time);
        }
        if (gpu.tensor.fp4.value() == 0.0) continue;
        CHECK(explain(gpu, product("mxfp4")).time < explain(gpu, product("mxfp8")).time);
        // Scales of 16 numbers are twice as many bytes as those of 32.
        const Operation few = fixture::gemm(16, 8192, 8192, {{"dtype", "mxfp4"}});
        const Operation more = fixture::gemm(16, 8192, 8192, {{"dtype", "nvfp4"}});
        CHECK(explain(gpu, few).time < explain(gpu, more).time);
    }
}

TEST_CASE("products with block scales name what they take") {
    const auto gpu = hw::load_gpu("b200");
    const auto refused = [&gpu](int k, fixture::Parameters more) {
        return refusal_of(gpu, fixture::gemm(256, 256, k, std::move(more)));
    };
    CHECK(refused(1000, {{"dtype", "nvfp4"}}).parameter == "gemm k");
    CHECK(refused(1000, {{"dtype", "nvfp4"}}).expected == "a multiple of 32 for nvfp4");
    CHECK(refused(1056, {{"dtype", "mxfp6"}}).expected == "a multiple of 128 for mxfp6");
    CHECK(refused(1024, {{"dtype", "mxfp8"}, {"dtype_b", "bf16"}}).parameter == "gemm dtype_b");
    CHECK(refused(1024, {{"dtype", "mxfp8"}, {"b_major", "n"}}).parameter == "gemm b_major");
    const fixture::Parameters tile{{"dtype", "mxfp8"}, {"cta_tile", "128x128x128"}};
    fixture::Parameters triton = tile, simt = tile, ragged = tile;
    triton["implementation"] = "triton";
    simt["mma"] = "simt";
    ragged["cta_tile"] = "128x128x48";
    CHECK(refused(1024, triton).parameter == "gemm implementation");
    CHECK(refused(1024, simt).parameter == "gemm mma");
    CHECK(refused(1024, ragged).parameter == "gemm cta_tile");
}

TEST_CASE(
    "data-centre Blackwell multiplies by tcgen05 in specialised warps, and by nothing else in silence") {
    const auto b200 = hw::load_gpu("b200");
    const auto with = [](const char* key, const char* value, const char* dtype = "bf16") {
        return product(dtype, {{"cta_tile", "128x128x64"}, {key, value}});
    };
    Refusal refusal = refusal_of(b200, with("mma", "wgmma"));
    CHECK(refusal.parameter == "gemm mma");
    CHECK(mentions(refusal.expected, "compute capability 10.0 has no wgmma"));
    refusal = refusal_of(b200, with("mma", "tcgen05"));
    CHECK(refusal.parameter == "gemm mma");
    CHECK(mentions(refusal.expected, "specialised warps and for Triton"));
    // mma.sync runs 8-bit types far below its share of the peak in the sheet.
    refusal = refusal_of(b200, with("mma", "mma.sync", "fp8"));
    CHECK(refusal.parameter == "gemm dtype");
    CHECK(mentions(refusal.expected, "bf16, fp16 or tf32"));
    CHECK(explain(b200, with("mma", "mma.sync", "tf32")).time > 0.0);
    // On this GPU CUTLASS multiplies by tcgen05, so the model must not answer with another kernel.
    for (const char* implementation : {"cutlass", "cublas"}) {
        refusal = refusal_of(b200, with("implementation", implementation));
        CHECK(refusal.parameter == "gemm mma");
        CHECK(mentions(refusal.expected, "tcgen05"));
    }
    CHECK(explain(b200, with("mma", "simt", "fp32")).time > 0.0);
    // A tile of specialised warps takes tcgen05 by itself, well beyond what mma.sync reaches.
    const auto own = explain(b200, with("specialization", "pingpong"));
    CHECK(1.5 * own.time < explain(b200, with("mma", "mma.sync")).time);

    const auto geforce = hw::load_gpu("rtx-5090");
    for (const char* mma : {"wgmma", "tcgen05"}) {
        refusal = refusal_of(geforce, with("mma", mma));
        CHECK(refusal.parameter == "gemm mma");
        CHECK(mentions(refusal.expected, std::string("compute capability 12.0 has no ") + mma));
    }
    CHECK(explain(geforce, with("mma", "mma.sync", "fp8")).time > 0.0);
}

TEST_CASE("Triton multiplies by tcgen05 on data-centre Blackwell, and by mma.sync where its compiler does") {
    const auto b200 = hw::load_gpu("b200");
    const auto with = [](const char* tile, fixture::Parameters more = {}, const char* dtype = "bf16") {
        more.insert({{"implementation", "triton"}, {"cta_tile", tile}, {"stages", "3"}, {"warps", "4"}});
        return product(dtype, more);
    };
    // Compiled for sm_100, 128x128x64 has tcgen05; tiles of 32 rows, 16 warps and int8 have mma.sync.
    const double fast = explain(b200, with("128x128x64")).time;
    CHECK(fast < explain(b200, with("128x128x64", {{"mma", "mma.sync"}})).time);
    CHECK(explain(b200, with("128x128x64", {{"mma", "tcgen05"}})).time == fast);
    CHECK(explain(b200, with("32x128x64")).time ==
          explain(b200, with("32x128x64", {{"mma", "mma.sync"}})).time);
    CHECK(explain(b200, with("128x128x64", {{"warps", "16"}})).time ==
          explain(b200, with("128x128x64", {{"warps", "16"}, {"mma", "mma.sync"}})).time);
    CHECK(refusal_of(b200, with("128x128x64", {}, "int8")).parameter == "gemm dtype");
    // What was not looked at is refused by its name.
    CHECK(refusal_of(b200, with("128x128x64", {{"pipeline", "tma"}})).parameter == "gemm pipeline");
    CHECK(refusal_of(b200, with("128x128x64", {{"stages", "1"}})).parameter == "gemm stages");
    CHECK(refusal_of(b200, with("128x128x64", {{"b_major", "n"}}, "fp8")).parameter == "gemm dtype");
    CHECK(refusal_of(b200, with("128x128x64", {{"lda", "4098"}})).parameter == "gemm k");
}

TEST_CASE("sums that tensor memory cannot hold are refused with their columns") {
    const auto b200 = hw::load_gpu("b200");
    const Refusal refusal =
        refusal_of(b200, product("bf16", {{"cta_tile", "256x256x64"}, {"specialization", "pingpong"}}));
    CHECK(refusal.parameter == "gemm cta_tile");
    CHECK(mentions(refusal.expected, "1024 columns"));
    CHECK(
        explain(b200, product("bf16", {{"cta_tile", "256x256x64"}, {"specialization", "cooperative"}})).time >
        0.0);
}

TEST_CASE("products of a B200 take the published times of cuBLAS within 12 %") {
    // Back to back in bf16: pytorch/ao pull request 2427, and gau-nernst/learn-cuda 02e_matmul_sm100 at
    // 1c1863e.
    struct Published {
        int size;
        double time;
    };
    const auto b200 = hw::load_gpu("b200");
    for (const Published& row :
         {Published{2048, 15.2e-6}, {3072, 38.4e-6}, {4096, 97.4e-6}, {8192, 774e-6}}) {
        CAPTURE(row.size);
        prediction::Conditions conditions;
        conditions.duty = prediction::Duty::sustained;
        conditions.cache = prediction::Cache::warm;
        const auto found = explain(b200, fixture::gemm(row.size, row.size, row.size, {}), conditions);
        CHECK(std::abs(found.time - row.time) < 0.12 * row.time);
    }
}

TEST_CASE("a schedule that the architecture lacks is refused with its compute capability") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        const auto asked = product("fp16", {{"cta_tile", "128x128x32"},
                                            {"warps", "4"},
                                            {"mma", "mma.sync"},
                                            {"schedule", "cluster_launch_control"}});
        if (gpu.compute_major >= 10) {
            CHECK(explain(gpu, asked).time > 0.0);
            continue;
        }
        const Refusal refusal = refusal_of(gpu, asked);
        CHECK(refusal.parameter == "gemm schedule");
        CHECK(mentions(refusal.expected, "compute capability"));
    }
}

TEST_CASE("rows that no library kernel takes are refused by their size, not by their type") {
    const auto gpu = hw::load_gpu("rtx-3090");
    // Products of int8 need rows of whole words (cublasLtMatmul); those of 16 bits may be of any length.
    auto asked = product("int8");
    asked.parameters["k"] = "4095";
    Refusal refusal = refusal_of(gpu, asked);
    CHECK(refusal.parameter == "gemm k");
    CHECK(mentions(refusal.expected, "bytes"));
    asked.parameters["k"] = "4096";
    asked.parameters["lda"] = "4099";
    refusal = refusal_of(gpu, asked);
    CHECK(refusal.parameter == "gemm lda");
    CHECK(mentions(refusal.expected, "of int8"));
    auto odd = product("bf16");
    odd.parameters["n"] = "4095";
    CHECK(explain(gpu, odd).time > explain(gpu, product("bf16")).time);
}

TEST_CASE("copies that an architecture lacks are refused by name") {
    const auto with = [](const char* pipeline) {
        return product("fp16", {{"cta_tile", "128x128x32"}, {"warps", "4"}, {"pipeline", pipeline}});
    };
    for (const char* id : {"v100-sxm", "t4"}) {
        const auto gpu = hw::load_gpu(id);
        for (const char* pipeline : {"cp.async", "tma"}) {
            const Refusal refusal = refusal_of(gpu, with(pipeline));
            CHECK(refusal.parameter == "gemm pipeline");
            CHECK(mentions(refusal.expected, "sync on "));
        }
        CHECK(explain(gpu, with("sync")).time > 0.0);
    }
    CHECK(mentions(refusal_of(hw::load_gpu("a10"), with("tma")).expected, "sync or cp.async on a10"));
}
