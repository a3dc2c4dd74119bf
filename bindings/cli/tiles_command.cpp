// tiles: every tile of a space in the order of its predicted time.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"
#include "workloads/report_context.hpp"
#include "workloads/tiles/report.hpp"
#include "workloads/tiles/space.hpp"

#include <limits>

namespace warptime::cli {

namespace {

namespace tiles = workloads::tiles;

constexpr std::size_t default_top = 10;

std::size_t read_top(const Arguments& arguments) {
    const auto text = arguments.get("top");
    if (!text) {
        return default_top;
    }
    if (*text == "all") {
        return std::numeric_limits<std::size_t>::max();
    }
    return as_usage([&text] {
        try {
            return static_cast<std::size_t>(workloads::parse_size(*text, "top"));
        } catch (const Error& error) {
            throw Error(error.parameter(), error.value(), error.expected() + ", or all");
        }
    });
}

/// Nothing where the library's kernels for this GPU or data type are not known.
std::optional<double> library_time(const workloads::Operation& operation,
                                   const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
                                   const model::prediction::Conditions& conditions) {
    try {
        return workloads::Predictor(engine, gpu).evaluate(operation, conditions).time;
    } catch (const Error&) {
        return std::nullopt;
    }
}

int run(const Arguments& arguments) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const workloads::Operation operation = read_operation(arguments, settings);
    const model::prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const std::size_t top = read_top(arguments);
    const hw::Gpu<double> gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_available_sms(conditions, static_cast<int>(gpu.sm.count.value()));
    const std::string name = arguments.get("space").value_or("triton");
    const auto space = as_usage([&] { return tiles::space_named(name, operation, gpu); });

    const tiles::Ranking ranking = tiles::rank(operation, space, *engine, gpu, conditions);
    const tiles::RankingContext context{
        operation, name, workloads::make_report_context(operation, gpu.id, conditions, engine->name()),
        library_time(operation, *engine, gpu, conditions)};
    print(arguments.has("json") ? tiles::ranking_json(ranking, space, context, gpu, top) + "\n"
                                : tiles::ranking_text(ranking, space, context, gpu, top));
    return exit_fine;
}

}  // namespace

Command tiles_command() {
    const char* example =
        "warptime tiles gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm --space triton --top 10";
    std::vector<OptionSpec> options = predicting_options();
    options.push_back({"space", "triton, cutlass, or a JSON list of tiles; default: triton",
                       OptionKind::value, "NAME|FILE.json"});
    options.push_back({"top", "How many to show; default: 10", OptionKind::value, "N|all"});
    const workloads::OperatorInfo& info = workloads::find_operator("gemm");
    CommandSpec gemm{std::string(info.name),
                     std::string(info.meaning),
                     example,
                     operation_options(info, Parameters::problem),
                     {},
                     ""};
    for (OptionSpec option : options) {
        option.group = "Tiles, GPU, conditions and engine";
        gemm.options.push_back(std::move(option));
    }
    return {{"tiles",
             "The tiles to try first: a whole space ranked by predicted time",
             example,
             std::move(options),
             {std::move(gemm)},
             "operator"},
            run};
}

}  // namespace warptime::cli
