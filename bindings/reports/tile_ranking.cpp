// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/tile_ranking.hpp"

#include "bindings/reports/prediction_json.hpp"
#include "hw/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace warptime::reports {

namespace {

using namespace workloads::choice::tiles;
using Json = nlohmann::ordered_json;

using hw::us_per_s;

Json json_of(const Parameters& parameters) {
    Json object = Json::object();
    for (const auto& [name, value] : parameters) {
        const bool number = value.find_first_not_of("0123456789") == std::string::npos;
        object[name] = number ? Json(std::stoll(value)) : Json(value);
    }
    return object;
}

/// The problem in words, as "gemm m=4096 n=4096 k=4096 dtype=bf16".
std::string problem_of(const ReportContext& request) {
    std::string text = request.op;
    for (const ReportParameter& parameter : request.parameters) {
        if (!parameter.is_default) {
            text += fmt::format(" {}={}", parameter.name, parameter.text);
        }
    }
    return text;
}

/// The command that explains one tile.
std::string explain_command(const RankingContext& context, const Candidate& candidate) {
    std::string text = "warptime explain " + context.operation.op;
    for (const char* size : {"m", "n", "k"}) {
        text += " " + context.operation.parameters.at(size);
    }
    text += " --gpu " + context.request.gpu;
    const auto add = [&text](std::string name, const std::string& value) {
        std::replace(name.begin(), name.end(), '_', '-');
        text += fmt::format(" --{} {}", name, value);
    };
    for (const auto& [name, value] : context.operation.parameters) {
        if (name != "m" && name != "n" && name != "k") {
            add(name, value);
        }
    }
    for (const auto& [name, value] : parameters_of(candidate)) {
        add(name, value);
    }
    return text;
}

Json json_of(const LibraryKernel& kernel) {
    return {{"kernel", short_name(kernel.candidate)},
            {"parameters", json_of(parameters_of(kernel.candidate))},
            {"time_us", kernel.time * us_per_s}};
}

std::span<const std::size_t> alike_of(const RankingContext& context, std::size_t rank) {
    return rank < context.alike.size() ? std::span<const std::size_t>(context.alike[rank])
                                       : std::span<const std::size_t>();
}

std::string alike_text(std::span<const std::size_t> alike) {
    return alike.empty() ? "" : fmt::format(", and {} alike", alike.size());
}

/// Reasons by parameter, most frequent first, each with its first tile.
std::string dropped_text(const Ranking& ranking, std::span<const Candidate> space,
                         const RankingContext& context, const hw::Gpu& gpu) {
    struct Reason {
        std::string parameter;
        std::string first;
        std::size_t count = 0;
    };
    std::vector<Reason> reasons;
    for (const std::size_t index : ranking.dropped) {
        const Error why = why_dropped(context.operation, space[index], gpu);
        auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&why](const Reason& r) { return r.parameter == why.parameter(); });
        if (known == reasons.end()) {
            reasons.push_back(
                {why.parameter(), fmt::format("{}: {}", short_name(space[index]), why.what()), 0});
            known = reasons.end() - 1;
        }
        ++known->count;
    }
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const Reason& a, const Reason& b) { return a.count > b.count; });
    std::string text = fmt::format("dropped     {} of {} tiles\n", ranking.dropped.size(), space.size());
    for (const Reason& reason : reasons) {
        text += fmt::format("  {:>6}  {}, first {}\n", reason.count, reason.parameter, reason.first);
    }
    return text;
}

}  // namespace

std::string short_name(const Candidate& candidate) {
    Parameters parameters = parameters_of(candidate);
    std::string text = parameters["cta_tile"];
    for (const auto& [name, value] : parameters) {
        if (name != "cta_tile" && name != "implementation") {
            text += fmt::format(" {}={}", name, value);
        }
    }
    return text;
}

std::string ranking_text(const Ranking& ranking, std::span<const Candidate> space,
                         const RankingContext& context, const hw::Gpu& gpu, std::size_t top) {
    std::string text =
        fmt::format("{} on {}: {} of {} tiles of {}\n\n", problem_of(context.request), context.request.gpu,
                    std::min(top, ranking.tiles.size()), space.size(), context.space);
    for (const auto& [key, value] : context.request.settings) {
        text += fmt::format("setting     {}={}\n", key, value);
    }
    text += context.request.settings.empty() ? "" : "\n";
    std::size_t width = 4;
    const std::size_t shown = std::min(top, ranking.tiles.size());
    for (std::size_t i = 0; i < shown; ++i) {
        width = std::max(width, short_name(space[ranking.tiles[i].candidate]).size());
    }
    text += fmt::format("{:>4}  {:<{}}  {:>10}  {:>8}  {:>21}  {}\n", "rank", "tile", width, "time",
                        "to best", "80 % band", "limiter");
    for (std::size_t i = 0; i < shown; ++i) {
        const RankedTile& tile = ranking.tiles[i];
        const auto& e = tile.estimate;
        text += fmt::format("{:>4}  {:<{}}  {:>7.2f} us  {:>+7.1f}%  {:>8.2f} to {:>7.2f} us  {}{}\n", i + 1,
                            short_name(space[tile.candidate]), width, e.time * us_per_s, tile.gap * 100.0,
                            e.low * us_per_s, e.high * us_per_s, to_string(e.limiter),
                            alike_text(alike_of(context, i)));
    }
    text += "\n";
    if (context.library) {
        text += fmt::format("library     {:.2f} us: the kernel that cuBLAS would choose, {}\n",
                            context.library->time * us_per_s, short_name(context.library->candidate));
    }
    if (!ranking.dropped.empty()) {
        text += dropped_text(ranking, space, context, gpu);
    }
    text += fmt::format("why         {}\n", explain_command(context, space[ranking.tiles.front().candidate]));
    return text;
}

std::string ranking_json(const Ranking& ranking, std::span<const Candidate> space,
                         const RankingContext& context, const hw::Gpu& gpu, std::size_t top, int indent) {
    Json json{{"schema", "warptime.tiles/1"}};
    json.update(Json::parse(request_json(context.request)));
    for (const workloads::ParameterInfo& parameter :
         workloads::find_operator(context.operation.op).parameters) {
        if (!parameter.part_of_key) {
            json["operation"].erase(std::string(parameter.name));  // each tile has its own
        }
    }
    json["space"] = context.space;
    json["candidates"] = space.size();
    json["library_time_us"] = context.library ? Json(context.library->time * us_per_s) : Json();
    json["library"] = context.library ? json_of(*context.library) : Json();
    json["tiles"] = Json::array();
    for (std::size_t i = 0; i < std::min(top, ranking.tiles.size()); ++i) {
        const RankedTile& tile = ranking.tiles[i];
        json["tiles"].push_back({{"rank", i + 1},
                                 {"parameters", json_of(parameters_of(space[tile.candidate]))},
                                 {"time_us", tile.estimate.time * us_per_s},
                                 {"low_us", tile.estimate.low * us_per_s},
                                 {"high_us", tile.estimate.high * us_per_s},
                                 {"limiter", to_string(tile.estimate.limiter)},
                                 {"gap", tile.gap},
                                 {"alike", Json::array()}});
        for (const std::size_t other : alike_of(context, i)) {
            json["tiles"].back()["alike"].push_back(json_of(parameters_of(space[other])));
        }
    }
    json["dropped"] = Json::array();
    for (const std::size_t index : ranking.dropped) {
        const Error why = why_dropped(context.operation, space[index], gpu);
        json["dropped"].push_back({{"parameters", json_of(parameters_of(space[index]))},
                                   {"parameter", why.parameter()},
                                   {"value", why.value()},
                                   {"expected", why.expected()}});
    }
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warptime::reports
