// operators: the operators that can be predicted, with the parameters of each.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warptime::cli {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const workloads::OperatorInfo& info) {
    Json parameters = Json::array();
    for (const workloads::ParameterInfo& p : info.parameters) {
        parameters.push_back({{"name", p.name},
                              {"kind", to_string(p.kind)},
                              {"required", p.required},
                              {"default", p.default_value.empty() ? Json() : Json(p.default_value)},
                              {"choices", std::vector<std::string>(p.choices.begin(), p.choices.end())},
                              {"part_of_key", p.part_of_key},
                              {"meaning", p.meaning}});
    }
    return {{"name", info.name},
            {"meaning", info.meaning},
            {"example", info.example},
            {"parameters", std::move(parameters)}};
}

std::string text_of(const workloads::OperatorInfo& info) {
    std::string text = fmt::format("{}: {}\n  {}\n", info.name, info.meaning, info.example);
    for (const workloads::ParameterInfo& p : info.parameters) {
        const std::string form =
            p.choices.empty() ? std::string(to_string(p.kind)) : fmt::format("{}", fmt::join(p.choices, "|"));
        const std::string usual = p.required                ? "required"
                                  : p.default_value.empty() ? "worked out"
                                                            : std::string(p.default_value);
        text += fmt::format("  {:<15}{:<11} {}; {}\n", p.name, usual, p.meaning, form);
    }
    return text;
}

int run_operators(const Arguments& arguments) {
    std::vector<workloads::OperatorInfo> chosen;
    if (const auto name = arguments.get("operator")) {
        chosen.push_back(as_usage([&name] { return workloads::find_operator(*name); }));
    } else {
        const auto all = workloads::operators();
        chosen.assign(all.begin(), all.end());
    }
    Json list = Json::array();
    std::string text;
    for (const workloads::OperatorInfo& info : chosen) {
        list.push_back(json_of(info));
        if (!text.empty()) {
            text += '\n';
        }
        text += text_of(info);
    }
    const Json object{{"schema", "warptime.operators/1"}, {"operators", std::move(list)}};
    print(arguments.has("json") ? object.dump(2) + "\n" : text);
    return exit_fine;
}

}  // namespace

Command operators_command() {
    return {{"operators",
             "The operators that can be predicted, with their parameters",
             "warptime operators gemm",
             {{"operator", "Only this one", OptionKind::positional, "NAME"}, json_option()},
             {},
             ""},
            run_operators};
}

}  // namespace warptime::cli
