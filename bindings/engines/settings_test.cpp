// Every key of a GPU changed by a setting.
// An absurd value is refused or gives a finite time, and worse hardware is never faster.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"
#include "hw/checks.hpp"
#include "hw/error.hpp"
#include "hw/key_rule.hpp"
#include "hw/setting.hpp"
#include "hw/sheet.hpp"
#include "model/system/program.hpp"
#include "workloads/predict.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace hw = warptime::hw;
namespace prediction = warptime::model::prediction;
namespace workloads = warptime::workloads;
using Gpu = hw::Gpu;

/// Tests every key, or every sixteenth under sanitizers, where one key takes seconds.
#if defined(WARPTIME_SANITIZED)
constexpr std::size_t key_step = 16;
#else
constexpr std::size_t key_step = 1;
#endif

const Gpu& h200() {
    static const Gpu gpu = hw::load_gpu("h200-sxm");
    return gpu;
}

/// Large and thin products, given tiles of two compilers, and a stream of bytes.
std::vector<workloads::Operation> operations() {
    return {workloads::make_operation("gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}}),
            workloads::make_operation("gemm", {{"m", "16"}, {"n", "4096"}, {"k", "4096"}}),
            workloads::make_operation("gemm", {{"m", "4096"},
                                               {"n", "4096"},
                                               {"k", "1024"},
                                               {"implementation", "triton"},
                                               {"cta_tile", "128x128x64"},
                                               {"stages", "3"},
                                               {"warps", "8"},
                                               {"group_m", "8"}}),
            workloads::make_operation("copy", {{"n", "67108864"}})};
}

/// Operations that are small enough for the simulation.
std::vector<workloads::Operation> small_operations() {
    return {workloads::make_operation("gemm", {{"m", "256"},
                                               {"n", "256"},
                                               {"k", "128"},
                                               {"implementation", "triton"},
                                               {"cta_tile", "128x128x64"},
                                               {"stages", "3"},
                                               {"warps", "8"},
                                               {"group_m", "8"}}),
            workloads::make_operation("copy", {{"n", "100000"}})};
}

/// The GPU with one key changed by a setting; empty where the setting is refused.
std::optional<Gpu> with(const std::string& setting) {
    try {
        Gpu gpu = h200();
        hw::apply_setting(gpu, hw::parse_setting(setting));
        hw::require_possible(gpu);
        return gpu;
    } catch (const warptime::Error&) {
        return std::nullopt;
    }
}

/// The time on the GPU; empty where the operation cannot run there.
std::optional<double> time_of(const workloads::Operation& operation, const Gpu& gpu,
                              const prediction::Conditions& conditions = {},
                              std::string_view engine_name = "analytical") {
    const auto engine = warptime::engines::make_engine(engine_name);
    try {
        return workloads::Predictor(*engine, gpu).evaluate(operation, conditions).time;
    } catch (const warptime::Error&) {
        return std::nullopt;
    }
}

std::string with_unit(const std::string& number, std::size_t key) {
    const std::string unit(hw::key_info[key].unit);
    return unit == "1" ? number : number + " " + unit;
}

void require_finite(const workloads::Operation& operation, const Gpu& gpu, const char* engine) {
    const std::optional<double> time = time_of(operation, gpu, {}, engine);
    INFO(operation.op << " by " << engine);
    CHECK((!time || (std::isfinite(*time) && *time > 0.0)));
}

void require_finite(const std::string& setting) {
    const std::optional<Gpu> gpu = with(setting);
    if (!gpu) return;
    INFO(setting);
    for (const workloads::Operation& operation : operations()) require_finite(operation, *gpu, "analytical");
    for (const workloads::Operation& operation : small_operations())
        require_finite(operation, *gpu, "simulation");
}

}  // namespace

TEST_CASE("an absurd value of any key is refused, or the time is finite") {
    for (std::size_t key = 0; key < hw::key_count; ++key) {
        const std::string name = fmt::format("gpu.{}=", hw::key_info[key].name);
        for (const char* number : {"-1", "nan", "inf", "1e30", "1e300"}) {
            CHECK_FALSE(with(name + with_unit(number, key)));
        }
        if (hw::key_value(h200(), key) > 0.0) {
            CHECK_FALSE(with(name + "1e30x"));
        }
        if (hw::key_info[key].integer) {
            CHECK_FALSE(with(name + "1.5"));
        }
        if (key % key_step != 0) continue;
        require_finite(name + with_unit("0", key));
        require_finite(name + with_unit(fmt::format("{}", hw::rule_of(key).least), key));
        require_finite(name + with_unit(fmt::format("{}", hw::rule_of(key).most), key));
    }
}

TEST_CASE("worse hardware is never faster") {
    const std::vector<workloads::Operation> asked = operations();
    // A flush leaves more dirty lines in a larger L2, and the kernel must then write back these lines.
    prediction::Conditions warm;
    warm.cache = prediction::Cache::warm;
    std::vector<double> before, before_warm;
    for (const workloads::Operation& operation : asked) {
        before.push_back(*time_of(operation, h200()));
        before_warm.push_back(*time_of(operation, h200(), warm));
    }
    std::size_t compared = 0;
    for (std::size_t key = 0; key < hw::key_count; ++key) {
        const hw::Better better = hw::rule_of(key).better;
        if (better == hw::Better::either || key % key_step != 0) continue;
        for (const char* factor : {"0.5", "2"}) {
            const bool more = std::stod(factor) > 1.0;
            const std::string setting = fmt::format("gpu.{}={}x", hw::key_info[key].name, factor);
            const std::optional<Gpu> gpu = with(setting);
            if (!gpu) continue;
            const bool worse = more == (better == hw::Better::less);
            const bool clean = hw::key_info[key].name == "l2.capacity";
            for (std::size_t i = 0; i < asked.size(); ++i) {
                const std::optional<double> time =
                    time_of(asked[i], *gpu, clean ? warm : prediction::Conditions{});
                if (!time) continue;
                INFO(setting << " for " << asked[i].op << " " << i);
                const double was = clean ? before_warm[i] : before[i];
                CHECK((worse ? *time >= was * (1.0 - 1e-9) : *time <= was * (1.0 + 1e-9)));
                ++compared;
            }
        }
    }
    CHECK(compared > 1000 / key_step);
}

TEST_CASE("a chip of few SMs is as fast as as many SMs of a large one") {
    const workloads::Operation operation = operations()[2];
    for (const int sms : {1, 8, 66}) {
        CAPTURE(sms);
        prediction::Conditions conditions;
        conditions.available_sms = sms;
        const auto chip = with(fmt::format("gpu.sm.count={}", sms));
        REQUIRE(chip);
        const double small = *time_of(operation, *chip);
        const double part = *time_of(operation, h200(), conditions);
        CHECK(small == doctest::Approx(part).epsilon(0.05));
    }
}
