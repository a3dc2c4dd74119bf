// Every program of the memory probes is a sound description and predicts the probe's law for its row.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace warptime::validate::microbench {
namespace {

struct Case {
    std::string suite, op;
    Parameters parameters;
};

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm", {});
    return loaded;
}

double value_of(const Case& c, const char* quantity,
                model::prediction::Cache cache = model::prediction::Cache::warm) {
    static const auto engine = model::analytical::make_engine();
    const Family* family = find_family("microbench_" + c.suite, c.op);
    REQUIRE(family != nullptr);
    model::prediction::Conditions conditions;
    conditions.cache = cache;
    return predict(family->make(c.parameters, gpu()), quantity, *engine, gpu(), conditions).value;
}

Parameters move(const char* way, const char* level, const char* width, const char* threads,
                const char* turns) {
    return {{"way", way},           {"level", level},         {"width", width},    {"unroll", "4"},
            {"threads", threads},   {"ctas", "132"},          {"cluster", "1"},    {"turns", turns},
            {"bytes", "553648128"}, {"footprint", "8650752"}, {"shared", "122880"}};
}

Parameters tile_loop(const char* bn, const char* fma) {
    return {{"bm", "64"},       {"bn", bn},        {"bk", "64"},      {"stages", "3"},
            {"threads", "128"}, {"tiles_m", "11"}, {"tiles_n", "12"}, {"group", "8"},
            {"k", "4096"},      {"fma", fma},      {"resident", "1"}, {"waves", "1"}};
}

Parameters tensor_box(const char* ctas, const char* inside) {
    return {{"rows", "128"}, {"inside", inside}, {"row_bytes", "128"}, {"stages", "2"},
            {"ctas", ctas},  {"share", "all"},   {"copies", "96"}};
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"latency", "chase_global", {{"working_set", "8192"}, {"path", "ca"}}},
        {"latency", "l2_line", {{"percentile", "50"}, {"lines", "4096"}}},
        {"l1_footprint", "chase_l1", {{"working_set", "65536"}, {"carveout", "50"}, {"shared", "0"}}},
        {"l1_footprint",
         "stream_l1",
         {{"working_set", "65536"},
          {"carveout", "-1"},
          {"shared", "0"},
          {"threads", "256"},
          {"unroll", "4"},
          {"rounds", "64"}}},
        {"carveout",
         "carveout_l1",
         {{"working_set", "65536"}, {"preference", "50"}, {"shared", "0"}, {"stride", "128"}}},
        {"dsmem",
         "dsmem_read",
         {{"cluster", "4"},
          {"clusters", "16"},
          {"distance", "1"},
          {"bytes", "16"},
          {"loads", "4"},
          {"warps", "8"}}},
        {"l2_halves", "chase_l2", {{"working_set", "4194304"}, {"by", "all"}}},
        {"l2_halves",
         "stream_halves",
         {{"footprint", "8650752"}, {"ctas", "132"}, {"share", "own"}, {"threads", "1024"}}},
        {"tlb_reach", "chase_pages", {{"span", "1073741824"}, {"stride", "2097152"}, {"lines", "512"}}},
        {"latency", "chase_loaded", {{"threads", "256"}, {"loads_in_flight", "4"}, {"streaming_sms", "131"}}},
        {"cold_load", "next_touch", {{"stride", "4096"}, {"count", "63"}}},
        {"cold_load",
         "first_touch",
         {{"way", "async"}, {"ctas", "132"}, {"threads", "256"}, {"bytes", "16384"}}},
        {"cold_load",
         "first_touch",
         {{"way", "bulk"}, {"ctas", "132"}, {"threads", "32"}, {"bytes", "16384"}}},
        {"cold_load", "first_touch", {{"way", "load"}, {"ctas", "1"}, {"threads", "32"}, {"bytes", "16"}}},
        {"dram_in_flight",
         "stream_add",
         {{"bytes", "67108864"}, {"threads", "256"}, {"loads_in_flight", "2"}, {"ctas", "1056"}}},
        {"l2_footprint",
         "l2_read",
         {{"footprint", "16777216"}, {"sms", "132"}, {"share", "all"}, {"bytes", "1107296256"}}},
        {"read_write_mix",
         "mix",
         {{"bytes", "67108864"}, {"reads", "3"}, {"slots", "8"}, {"threads", "512"}, {"ctas", "264"}}},
        {"bandwidth_in_flight", "move", move("load", "l1", "16", "256", "256")},
        {"bandwidth_in_flight", "move", move("store", "l2", "4", "256", "1024")},
        {"bandwidth_in_flight", "move", move("async", "l2", "16", "256", "1024")},
        {"bandwidth_in_flight", "move", move("bulk", "l2", "4096", "32", "1024")},
        {"coalescing",
         "warp_load",
         {{"level", "l1"},
          {"width", "4"},
          {"unroll", "4"},
          {"warps", "16"},
          {"ctas", "1"},
          {"stride", "8"},
          {"offset", "0"},
          {"region", "1024"},
          {"gather", "0"},
          {"rounds", "128"}}},
        {"bank_conflicts",
         "shared_access",
         {{"way", "load"},
          {"width", "16"},
          {"warps", "4"},
          {"unroll", "8"},
          {"rounds", "256"},
          {"columns", "1"},
          {"pitch", "128"},
          {"stride", "0"},
          {"swizzle", "1"}}},
        {"bulk_copy", "copy_latency", {{"kind", "tensor"}, {"bytes", "2048"}}},
        {"bulk_copy",
         "copy_stream",
         {{"kind", "load"},
          {"ctas", "1"},
          {"copies", "64"},
          {"stages", "4"},
          {"threads", "128"},
          {"bytes", "2048"}}},
        {"request_merging",
         "burst",
         {{"way", "bulk"}, {"readers", "4"}, {"shared_by", "2"}, {"delay", "0"}, {"bytes", "1048576"}}},
        {"request_merging", "tile_loop", tile_loop("64", "0")},
        {"tensor_boxes", "tensor_box", tensor_box("132", "64")},
        {"cp_async_rows",
         "cp_async_rows",
         {{"row_bytes", "64"},
          {"tile_bytes", "8192"},
          {"stages", "3"},
          {"warps", "4"},
          {"ctas_per_sm", "2"},
          {"bytes", "1109458944"}}},
        {"cp_async_rows",
         "cp_async_rows",
         {{"row_bytes", "64"},
          {"tile_bytes", "8192"},
          {"pitch_bytes", "8208"},
          {"stages", "3"},
          {"warps", "8"},
          {"ctas_per_sm", "2"},
          {"bytes", "1109458944"}}},
        {"epilogue",
         "tile_store",
         {{"way", "pairs"},
          {"ctas", "132"},
          {"tiles", "4"},
          {"threads", "256"},
          {"wait", "each"},
          {"columns", "4096"}}},
    };
    return all;
}

}  // namespace

TEST_CASE("the programs of the memory probes pass the checks and can be predicted") {
    for (const Case& c : cases()) {
        CAPTURE(c.suite);
        CAPTURE(c.op);
        const Family* family = find_family("microbench_" + c.suite, c.op);
        REQUIRE(family != nullptr);
        const Probe probe = family->make(c.parameters, gpu());
        for (std::size_t i = 0; i < probe.program.kernel_count; ++i) {
            CHECK_NOTHROW(model::kernel::check(probe.program.kernels[i]));
        }
        const bool whole = probe.without.steps.empty();
        CHECK(value_of(c, whole ? "kernel_us" : "region_cycles") > 0.0);
        CHECK_THROWS_AS((void)family->make({}, gpu()), Error);
    }
}

TEST_CASE("readers of a burst wait for the last of them, and tiles for their multiply-adds") {
    const auto burst = [](const char* delay) {
        return value_of({"request_merging",
                         "burst",
                         {{"way", "async"},
                          {"readers", "2"},
                          {"shared_by", "1"},
                          {"delay", delay},
                          {"bytes", "1048576"}}},
                        "kernel_us");
    };
    // 2048 bursts, each a thousand cycles longer.
    const double cycles = (burst("2000") - burst("1000")) * 1e-6 * gpu().clock.boost.value() / 2048.0;
    CHECK(cycles == doctest::Approx(1000.0).epsilon(0.05));
    const auto loop = [](const char* bn, const char* fma) {
        return value_of({"request_merging", "tile_loop", tile_loop(bn, fma)}, "kernel_us",
                        model::prediction::Cache::cold);
    };
    CHECK(loop("128", "0") > loop("64", "0"));
    CHECK(loop("64", "400") > loop("64", "64") + 50.0);
}

TEST_CASE("rows outside of a matrix cost all SMs more than rows inside, and one SM no more") {
    const auto box = [](const char* ctas, const char* inside) {
        return value_of({"tensor_boxes", "tensor_box", tensor_box(ctas, inside)}, "region_cycles");
    };
    CHECK(box("132", "0") > 2.0 * box("132", "128"));
    CHECK(box("1", "0") == doctest::Approx(box("1", "128")).epsilon(0.05));
}

TEST_CASE("a chase takes the latency of the level that holds it") {
    const auto chase = [](const char* bytes, const char* path) {
        return value_of({"latency", "chase_global", {{"working_set", bytes}, {"path", path}}},
                        "cycles_per_instruction");
    };
    CHECK(chase("65536", "ca") == doctest::Approx(gpu().latency.l1.value()).epsilon(0.01));
    const double near = 0.5 * (gpu().latency.l2_near.value() + gpu().latency.l2_far.value());
    CHECK(chase("65536", "cg") == doctest::Approx(near).epsilon(0.01));
    CHECK(chase("1048576", "ca") == doctest::Approx(near).epsilon(0.01));
    CHECK(chase("1073741824", "cg") > 0.9 * gpu().latency.dram.value());
}

TEST_CASE("many warps read other CTAs' memory at the rate of the way, their own at that of the banks") {
    const auto read = [](const char* distance, const char* bytes) {
        return value_of({"dsmem",
                         "dsmem_read",
                         {{"cluster", "2"},
                          {"clusters", "32"},
                          {"distance", distance},
                          {"bytes", bytes},
                          {"loads", "1"},
                          {"warps", "32"}}},
                        "cycles_per_instruction");
    };
    const double rate = gpu().shared.cluster_bandwidth.value();
    CHECK(read("1", "16") == doctest::Approx(512.0 / rate).epsilon(0.02));
    CHECK(read("1", "8") == doctest::Approx(256.0 / rate).epsilon(0.1));
    CHECK(read("0", "16") < 8.0);
}

TEST_CASE("a chase that a carveout leaves room for hits the L1, and a longer one does not") {
    const auto chase = [](const char* preference) {
        return value_of(
            {"carveout",
             "carveout_l1",
             {{"working_set", "65536"}, {"preference", preference}, {"shared", "0"}, {"stride", "128"}}},
            "cycles_per_instruction");
    };
    CHECK(chase("0") < 1.3 * gpu().latency.l1.value());
    CHECK(chase("100") > gpu().latency.l2_near.value());
}

TEST_CASE("shared memory takes a cycle a pass when all sub-partitions are at it") {
    const auto load = [](const char* stride) {
        return value_of({"bank_conflicts",
                         "shared_access",
                         {{"way", "load"},
                          {"width", "4"},
                          {"warps", "16"},
                          {"unroll", "8"},
                          {"rounds", "256"},
                          {"columns", "0"},
                          {"pitch", "0"},
                          {"stride", stride},
                          {"swizzle", "0"}}},
                        "cycles_per_instruction");
    };
    CHECK(load("1") == doctest::Approx(16.0).epsilon(0.01));
    CHECK(load("33") == doctest::Approx(16.0).epsilon(0.01));
    CHECK(load("8") == doctest::Approx(8.0 * 16.0).epsilon(0.01));
    CHECK(load("32") == doctest::Approx(32.0 * 16.0).epsilon(0.01));
}

TEST_CASE("a chase waits longer beside a load that keeps DRAM busy, and what is loaded is said, too") {
    const auto beside = [](const char* threads, const char* loads, const char* quantity) {
        return value_of({"latency",
                         "chase_loaded",
                         {{"threads", threads}, {"loads_in_flight", loads}, {"streaming_sms", "131"}}},
                        quantity, model::prediction::Cache::cold);
    };
    const double idle = beside("32", "1", "cycles_per_instruction");
    CHECK(idle == doctest::Approx(gpu().latency.dram.value()).epsilon(0.02));
    CHECK(beside("256", "8", "cycles_per_instruction") > 1.3 * idle);
    CHECK(beside("1024", "8", "cycles_per_instruction") > 3.0 * idle);
    CHECK(beside("1024", "8", "bytes_per_s") > 0.8 * gpu().dram.bandwidth.value());
    CHECK(beside("32", "1", "bytes_per_s") < 0.1 * gpu().dram.bandwidth.value());
}

TEST_CASE("of CTAs of 1024 threads two to an SM, half end as if they were alone") {
    const auto touch = [](const char* ctas, const char* threads) {
        return value_of({"cold_load",
                         "first_touch",
                         {{"way", "load"}, {"ctas", ctas}, {"threads", threads}, {"bytes", "16384"}}},
                        "region_cycles");
    };
    const double alone = touch("132", "1024");
    CHECK(touch("264", "1024") > alone);
    CHECK(touch("264", "1024") < 1.5 * alone);
    CHECK(touch("264", "256") > 1.4 * touch("132", "256"));
}

}  // namespace warptime::validate::microbench
