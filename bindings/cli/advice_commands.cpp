// what-if and advise: a change of the GPU or the kernel, elasticities, and the remedies that apply.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/advise.hpp"
#include "bindings/advice/elasticities.hpp"
#include "bindings/advice/what_if.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "workloads/condition_values.hpp"

#include <fmt/format.h>

#include <optional>

namespace warptime::cli {

namespace {

/// The options of both commands, with those of the operator before them.
CommandSpec spec_of(const char* name, const char* meaning, const std::string& arguments,
                    const std::vector<OptionSpec>& own) {
    std::vector<OptionSpec> options = predicting_options();
    options.insert(options.end(), own.begin(), own.end());
    CommandSpec spec{
        name,
        meaning,
        fmt::format("warptime {} gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm{}", name, arguments),
        options,
        {},
        "operator"};
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        std::string example(info.example);
        example.replace(example.find("predict"), std::string_view("predict").size(), name);
        const bool of_gemm = arguments.find("kernel.stages") != std::string::npos && !info.tiled;
        CommandSpec of_operator{std::string(info.name),
                                std::string(info.meaning),
                                example + (of_gemm ? " --change gpu.dram.bandwidth=2x" : arguments),
                                operation_options(info, Parameters::all),
                                {},
                                ""};
        for (OptionSpec option : options) {
            option.group = "Changes, GPU, conditions and engine";
            of_operator.options.push_back(std::move(option));
        }
        spec.subcommands.push_back(std::move(of_operator));
    }
    return spec;
}

/// What both commands read before they differ.
struct Asked {
    explicit Asked(const Arguments& arguments)
        : settings(read_settings(arguments)),
          operation(read_operation(arguments, settings)),
          engine(make_engine(arguments.get("engine").value_or(std::string(default_engine)))),
          chooser(make_engine(default_engine)),
          conditions(read_conditions(arguments)),
          gpu(load_requested_gpu(required_gpu(arguments), settings)) {
        workloads::check_conditions(conditions, gpu);
    }

    [[nodiscard]] advice::Question question() const {
        return {operation, &gpu, conditions, engine.get(), chooser.get()};
    }

    std::vector<hw::Setting> settings;
    workloads::Operation operation;
    std::unique_ptr<model::prediction::Engine> engine, chooser;
    model::prediction::Conditions conditions;
    hw::Gpu gpu;
};

int run_elasticities(const Arguments& arguments) {
    if (arguments.has("change") || arguments.has("on")) {
        throw UsageError("elasticities", arguments.has("change") ? arguments.all("change").front() : "--on",
                         "no --change and no --on beside --elasticities; --set changes what they start from");
    }
    const Asked asked(arguments);
    const advice::Elasticities answer = advice::elasticities(asked.question());
    print(arguments.has("json") ? advice::elasticities_json(answer) + "\n"
                                : advice::elasticities_text(answer));
    return exit_fine;
}

int run_what_if(const Arguments& arguments) {
    if (arguments.has("elasticities")) return run_elasticities(arguments);
    const workloads::OperatorInfo& info = workloads::find_operator(arguments.commands.at(1));
    const std::vector<std::string> changes = arguments.all("change");
    const std::optional<std::string> on = arguments.get("on");
    if (!on || !changes.empty()) {
        as_usage([&] { static_cast<void>(advice::parse_changes(changes, info)); });
    }
    const Asked asked(arguments);
    std::optional<hw::Gpu> other;
    if (on) {
        other = load_requested_gpu(*on, {});
        if (other->id == asked.gpu.id && changes.empty()) {
            throw UsageError("on", *on, "another GPU than --gpu, or a --change");
        }
    }
    const advice::WhatIf answer =
        as_usage([&] { return advice::what_if(asked.question(), changes, other ? &*other : nullptr); });
    print(arguments.has("json") ? advice::what_if_json(answer) + "\n" : advice::what_if_text(answer));
    return exit_fine;
}

int run_advise(const Arguments& arguments) {
    const Asked asked(arguments);
    const advice::Advice answer = advice::advise(asked.question());
    print(arguments.has("json") ? advice::advice_json(answer) + "\n" : advice::advice_text(answer));
    return exit_fine;
}

}  // namespace

Command what_if_command() {
    return {
        spec_of(
            "what-if", "Time before and after a change of the GPU or of the kernel, and what it saves",
            " --change gpu.l2.capacity=2x --change kernel.stages=3",
            {{"change",
              "What changes: gpu.l2.capacity=2x, gpu.sm.count=144, kernel.stages=5, kernel.pad_shared=4; "
              "repeatable",
              OptionKind::repeated, "KEY=VALUE"},
             {"on", "The GPU after the change, where it is another", OptionKind::value, "ID|PATH"},
             {"elasticities",
              "Instead of changes: per cent of time for a per cent of each number of the GPU and each size",
              OptionKind::flag}}),
        run_what_if};
}

Command advise_command() {
    return {
        spec_of("advise", "Every remedy that applies, by the time that it saves, and how to do it", "", {}),
        run_advise};
}

}  // namespace warptime::cli
