// tiles: every tile of a space in the order of its predicted time.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/operation_options.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/context.hpp"
#include "bindings/reports/tile_comparison.hpp"
#include "bindings/reports/tile_ranking.hpp"
#include "bindings/reports/what_if.hpp"
#include "workloads/choice/tiles/fold.hpp"
#include "workloads/choice/tiles/library_kernel.hpp"
#include "workloads/choice/tiles/problem_file.hpp"
#include "workloads/choice/tiles/space.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warptime::cli {

namespace {

namespace tiles = workloads::choice::tiles;
using Json = nlohmann::ordered_json;

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

/// Data that all problems share.
struct Question {
    const hw::Gpu& gpu;
    const model::prediction::Engine& engine;
    model::prediction::Conditions conditions;
    std::string space;
    std::size_t top = default_top;
    bool explain = false;
    bool json = false;
    bool unfold = false;  ///< lists near-duplicates one by one
    const std::vector<hw::Setting>& settings;
};

/// Each shown tile with its whole prediction.
std::vector<tiles::ExplainedTile> explained(const workloads::Operation& operation,
                                            const tiles::Ranking& ranking,
                                            std::span<const tiles::Candidate> space, const Question& asked) {
    std::vector<tiles::ExplainedTile> shown;
    for (std::size_t i = 0; i < std::min(asked.top, ranking.tiles.size()); ++i) {
        shown.push_back(tiles::explain_tile(operation, space[ranking.tiles[i].candidate], asked.engine,
                                            asked.gpu, asked.conditions));
    }
    return shown;
}

std::string answer(const workloads::Operation& operation, const Question& asked) {
    const auto space = as_usage([&] { return tiles::space_named(asked.space, operation, asked.gpu); });
    const tiles::FoldedRanking folded =
        asked.unfold
            ? tiles::FoldedRanking{tiles::rank(operation, space, asked.engine, asked.gpu, asked.conditions,
                                               asked.top),
                                   {}}
            : tiles::rank_folded(operation, space, asked.engine, asked.gpu, asked.conditions, asked.top);
    const tiles::Ranking& ranking = folded.ranking;
    const auto chooser = make_engine(default_engine);
    reports::RankingContext context{
        operation, asked.space,
        reports::make_report_context(operation, asked.gpu, asked.conditions, asked.engine.name()),
        tiles::library_kernel(operation, asked.engine, *chooser, asked.gpu, asked.conditions), folded.alike};
    reports::add_kernel_settings(asked.settings, context.request);
    std::vector<tiles::ExplainedTile> shown;
    if (asked.explain) shown = explained(operation, ranking, space, asked);
    if (!asked.json) {
        std::string text = reports::ranking_text(ranking, space, context, asked.gpu, asked.top);
        if (shown.size() > 1)
            text += "\n" + reports::why_first_text(shown.front(), std::span(shown).subspan(1));
        return text;
    }
    Json json = Json::parse(reports::ranking_json(ranking, space, context, asked.gpu, asked.top));
    for (std::size_t i = 1; i < shown.size(); ++i) {
        json["comparisons"].push_back(Json::parse(reports::comparison_json(shown.front(), shown[i])));
    }
    return json.dump(2);
}

/// Answers every problem of a list in CUTLASS's format. Refused problems come at the end.
int answer_list(const std::string& path, const Question& asked) {
    const auto problems = as_usage([&path] { return workloads::choice::tiles::read_problem_file(path); });
    Json answers = Json::array();
    std::string text;
    bool failed = false;
    for (const workloads::choice::tiles::ListedProblem& problem : problems) {
        try {
            if (problem.refusal) throw *problem.refusal;
            const std::string told = answer(*problem.operation, asked);
            if (asked.json) answers.push_back(Json::parse(told));
            text += (text.empty() ? "" : "\n") + told;
        } catch (const Error& error) {
            failed = true;
            answers.push_back({{"error",
                                {{"parameter", error.parameter()},
                                 {"value", error.value()},
                                 {"expected", error.expected()},
                                 {"message", error.what()}}}});
            text += fmt::format("{}refused: {}\n", text.empty() ? "" : "\n", error.what());
        }
    }
    const Json object{{"schema", "warptime.tile_problems/1"}, {"problems", std::move(answers)}};
    print(asked.json ? object.dump(2) + "\n" : text);
    return failed ? exit_some_rows_failed : exit_fine;
}

/// Throws UsageError for sizes and types beside a list, which has its own.
void check_alone(const Arguments& arguments) {
    for (const workloads::ParameterInfo& parameter :
         tiles::require_tiled(arguments.commands.at(1)).parameters) {
        const std::string name(parameter.name);
        if (arguments.get(name)) {
            throw UsageError(name, *arguments.get(name), "nothing with --problems, whose file says it");
        }
    }
}

int run_tiles(const Arguments& arguments) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const std::optional<std::string> problems = arguments.get("problems");
    std::optional<workloads::Operation> operation;
    if (problems) {
        check_alone(arguments);
    } else {
        operation = read_operation(arguments, settings);
    }
    const model::prediction::Conditions conditions = read_conditions(arguments);
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const std::size_t top = read_top(arguments);
    const hw::Gpu gpu = load_requested_gpu(required_gpu(arguments), settings);
    workloads::check_conditions(conditions, gpu);
    const Question asked{gpu,
                         *engine,
                         conditions,
                         arguments.get("space").value_or("triton"),
                         top,
                         arguments.has("explain"),
                         arguments.has("json"),
                         arguments.has("unfold"),
                         settings};
    if (problems) return answer_list(*problems, asked);
    print(answer(*operation, asked) + (asked.json ? "\n" : ""));
    return exit_fine;
}

CommandSpec spec_of(const workloads::OperatorInfo& info, const std::vector<OptionSpec>& options) {
    std::string example(info.example);
    example.replace(example.find("predict"), std::string_view("predict").size(), "tiles");
    CommandSpec spec{std::string(info.name),
                     std::string(info.meaning),
                     example + " --space triton --top 10",
                     operation_options(info, Parameters::problem),
                     {},
                     ""};
    for (OptionSpec option : options) {
        option.group = "Tiles, GPU, conditions and engine";
        spec.options.push_back(std::move(option));
    }
    return spec;
}

}  // namespace

Command tiles_command() {
    const char* example =
        "warptime tiles gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm --space triton --top 10";
    std::vector<OptionSpec> options = predicting_options();
    options.push_back({"space", "triton, cutlass, or a JSON list of tiles; default: triton",
                       OptionKind::value, "NAME|FILE.json"});
    options.push_back({"top", "How many to show; default: 10", OptionKind::value, "N|all"});
    options.push_back(
        {"explain", "Say why the first and not each of the others that are shown", OptionKind::flag});
    options.push_back(
        {"unfold",
         "Show tiles apart that are as fast within 0.2 % and differ in group_m, raster or stages only",
         OptionKind::flag});
    options.push_back({"problems",
                       "Instead of M N K: a JSON list of problems, as CUTLASS's heuristics read it",
                       OptionKind::value, "FILE.json"});
    std::vector<CommandSpec> operators;
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        if (info.tiled) operators.push_back(spec_of(info, options));
    }
    return {{"tiles", "The tiles to try first: a whole space ranked by predicted time", example,
             std::move(options), std::move(operators), "operator"},
            run_tiles};
}

}  // namespace warptime::cli
