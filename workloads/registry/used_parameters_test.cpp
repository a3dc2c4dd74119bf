// No given parameter is ignored: it changes the program, states a default, or is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

using Given = std::map<std::string, std::string, std::less<>>;

/// The program as text. Empty where a parameter is refused; `refused` then holds its name.
std::string lowered(std::string_view op, const Given& given, std::string* refused = nullptr) {
    static const auto gpu = warptime::hw::load_gpu("h200-sxm");
    static const auto data = libraries::load_libraries();
    const auto by_items = [](const mk::Program& program, double) {
        return program.kernel_count == 0 ? 0.0 : static_cast<double>(program.kernels[0].grid.volume());
    };
    mk::Program program;
    try {
        choice::lower(make_operation(op, given), data, gpu, by_items, program);
        (void)mk::to_text(program);  // checks the description
    } catch (const warptime::Error& error) {
        if (refused != nullptr) *refused = error.parameter();
        return "";
    }
    std::string text = mk::to_text(program);
    for (const auto& copy : program.memcpys) text += std::to_string(copy.bytes) + " ";
    return text;
}

std::vector<std::string> values_of(const ParameterInfo& parameter) {
    switch (parameter.kind) {
        case ParameterKind::size:
            return {"6144", "12288"};
        case ParameterKind::integer:
            return {"2", "3", "8", "104", "200000"};
        case ParameterKind::extent2:
            return {"2x1", "1x2"};
        case ParameterKind::extent3:
            return {"64x64x64", "64x128x32"};
        default:
            return {parameter.choices.begin(), parameter.choices.end()};
    }
}

void check_every_parameter(std::string_view op, const Given& base) {
    const std::string before = lowered(op, base);
    REQUIRE_FALSE(before.empty());
    for (const ParameterInfo& parameter : find_operator(op).parameters) {
        CAPTURE(parameter.name);
        // One box ships with the GPU, so its name states the default.
        if (parameter.name == "system") continue;
        int accepted = 0;
        bool changes = false;
        for (const std::string& value : values_of(parameter)) {
            Given given = base;
            given[std::string(parameter.name)] = value;
            if (value_or_default(make_operation(op, base), parameter.name) == value) continue;
            const std::string after = lowered(op, given);
            accepted += after.empty() ? 0 : 1;
            changes = changes || (!after.empty() && after != before);
        }
        CHECK((accepted == 0 || changes));
    }
}

}  // namespace

TEST_CASE("every parameter of every operator has an effect or is refused, alone and beside others") {
    const Given product{{"m", "4096"}, {"n", "4096"}, {"k", "4096"}};
    const auto with = [&product](Given more) {
        more.insert(product.begin(), product.end());
        return more;
    };
    check_every_parameter("gemm", product);
    for (const char* implementation : {"cublas", "cutlass", "triton", "inductor"}) {
        CAPTURE(std::string(implementation));
        check_every_parameter("gemm", with({{"cta_tile", "128x128x64"}, {"implementation", implementation}}));
        check_every_parameter(
            "gemm", with({{"cta_tile", "128x128x64"}, {"implementation", implementation}, {"split_k", "4"}}));
    }
    // These need sizes that go together.
    for (const char* op : {"attention", "attention_backward"}) {
        check_every_parameter(op, {{"batch", "1"}, {"heads", "2"}, {"sq", "1024"}, {"head_dim", "64"}});
    }
    check_every_parameter("grouped_gemm", {{"experts", "4"}, {"tokens", "256"}, {"n", "256"}, {"k", "256"}});
    check_every_parameter(
        "conv2d",
        {{"batch", "2"}, {"channels", "64"}, {"out_channels", "64"}, {"size", "16"}, {"kernel", "3"}});
    const std::set<std::string_view> done{"gemm", "attention", "attention_backward", "grouped_gemm",
                                          "conv2d"};
    for (const OperatorInfo& info : operators()) {
        if (done.count(info.name) > 0 || info.parameters.front().name == "file") continue;
        CAPTURE(info.name);
        Given base;
        for (const ParameterInfo& parameter : info.parameters) {
            if (parameter.required)
                base[std::string(parameter.name)] = parameter.kind == ParameterKind::choice
                                                        ? parameter.choices.front()
                                                    : parameter.name == "size"  ? "128"
                                                    : parameter.name == "gpus"  ? "8"
                                                    : parameter.name == "bytes" ? "268435456"
                                                                                : "4096";
        }
        check_every_parameter(info.name, base);
    }
}

TEST_CASE("a kernel's parameters are refused where the library chooses, by their names") {
    for (const auto& [name, value] : Given{{"split_k", "8"},
                                           {"stages", "2"},
                                           {"mma", "mma.sync"},
                                           {"implementation", "triton"},
                                           {"registers", "128"},
                                           {"schedule", "persistent"},
                                           {"acc_dtype", "fp16"}}) {
        CAPTURE(name);
        std::string refused;
        CHECK(lowered("gemm", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {name, value}}, &refused).empty());
        CHECK(refused == "gemm " + name);
    }
    // A given value that holds anyway is no error.
    for (const auto& [name, value] :
         Given{{"implementation", "cublas"}, {"mma", "auto"}, {"acc_dtype", "fp32"}}) {
        CAPTURE(name);
        CHECK_FALSE(lowered("gemm", {{"m", "512"}, {"n", "512"}, {"k", "512"}, {name, value}}).empty());
    }
}
