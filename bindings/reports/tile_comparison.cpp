// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/tile_comparison.hpp"

#include "bindings/reports/tile_ranking.hpp"
#include "hw/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace warptime::reports {

namespace {

using Json = nlohmann::ordered_json;
using model::prediction::Prediction;
using workloads::choice::tiles::bound_differences;
using workloads::choice::tiles::Difference;
using workloads::choice::tiles::ExplainedTile;
using workloads::choice::tiles::share_differences;

using hw::us_per_s;
/// Differences below this part of the time are not reported.
constexpr double negligible_difference = 5e-4;

std::string line(const Difference& d) {
    return fmt::format("  {:<22}{:>12.2f}{:>12.2f}{:>+12.2f}\n", d.name, d.first * us_per_s,
                       d.second * us_per_s, d.more() * us_per_s);
}

std::string resident(const Prediction& p) {
    return fmt::format("{} CTAs and {} warps per SM (limit {}), {:.2f} waves", p.occupancy.ctas_per_sm,
                       p.occupancy.warps_per_sm, p.occupancy.limit, p.waves);
}

std::string refusal_text(const ExplainedTile& tile) {
    return fmt::format("{} cannot run: {}\n", short_name(tile.candidate), tile.refusal->what());
}

Json tile_json(const ExplainedTile& tile) {
    Json parameters = Json::object();
    for (const auto& [name, value] : parameters_of(tile.candidate)) {
        parameters[name] = value;
    }
    Json json{{"parameters", std::move(parameters)}};
    if (tile.prediction) {
        const Prediction& p = *tile.prediction;
        json.update({{"time_us", p.time * us_per_s},
                     {"limiter", to_string(p.limiter)},
                     {"ctas_per_sm", p.occupancy.ctas_per_sm},
                     {"warps_per_sm", p.occupancy.warps_per_sm},
                     {"waves", p.waves}});
    } else {
        json["error"] = {{"parameter", tile.refusal->parameter()},
                         {"value", tile.refusal->value()},
                         {"expected", tile.refusal->expected()}};
    }
    return json;
}

Json differences_json(const std::vector<Difference>& differences) {
    Json list = Json::array();
    for (const Difference& d : differences) {
        list.push_back({{"name", d.name}, {"us", {d.first * us_per_s, d.second * us_per_s}}});
    }
    return list;
}

}  // namespace

std::string comparison_text(const ExplainedTile& first, const ExplainedTile& second) {
    if (!first.prediction || !second.prediction) {
        return (first.prediction ? "" : refusal_text(first)) +
               (second.prediction ? "" : refusal_text(second));
    }
    const Prediction& a = *first.prediction;
    const Prediction& b = *second.prediction;
    std::string text = fmt::format("first       {}\nsecond      {}\n\n{:<24}{:>12}{:>12}{:>12}\n",
                                   short_name(first.candidate), short_name(second.candidate), "us", "first",
                                   "second", "more");
    text += line({"time", a.time, b.time});
    text += "where the time goes\n";
    for (const Difference& d : share_differences(a, b)) {
        text += line(d);
    }
    text += "bounds: the time if this alone held the kernel back\n";
    for (const Difference& d : bound_differences(a, b)) {
        text += line(d);
    }
    text += fmt::format("limiter     first {}, second {}\nresident    first {}\n            second {}\n",
                        to_string(a.limiter), to_string(b.limiter), resident(a), resident(b));
    return text;
}

std::string comparison_json(const ExplainedTile& first, const ExplainedTile& second, int indent) {
    Json json{{"schema", "warptime.tile_comparison/1"}, {"tiles", {tile_json(first), tile_json(second)}}};
    const bool both = first.prediction && second.prediction;
    json["shares"] =
        both ? differences_json(share_differences(*first.prediction, *second.prediction)) : Json::array();
    json["bounds"] =
        both ? differences_json(bound_differences(*first.prediction, *second.prediction)) : Json::array();
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string why_first_text(const ExplainedTile& first, std::span<const ExplainedTile> others) {
    if (!first.prediction) {
        return refusal_text(first);
    }
    const Prediction& a = *first.prediction;
    std::string text = "why the first: what each of the others takes more, and its highest bounds (us)\n";
    std::size_t rank = 1;
    for (const ExplainedTile& other : others) {
        ++rank;
        if (!other.prediction) {
            text += refusal_text(other);
            continue;
        }
        const Prediction& b = *other.prediction;
        std::string causes;
        for (const Difference& d : share_differences(a, b)) {
            if (std::abs(d.more()) > negligible_difference * a.time) {
                causes +=
                    fmt::format("{}{} {:+.2f}", causes.empty() ? "" : ", ", d.name, d.more() * us_per_s);
            }
        }
        text += fmt::format("{:>4}  {:+.2f}: {}\n", rank, (b.time - a.time) * us_per_s,
                            causes.empty() ? "nothing by more than 0.05 %" : causes);
        std::string bounds;
        std::size_t shown = 0;
        for (const Difference& d : bound_differences(a, b)) {
            if (shown++ == 3) break;
            bounds += fmt::format("{}{} {:.2f} ({:+.2f})", bounds.empty() ? "" : ", ", d.name,
                                  d.second * us_per_s, d.more() * us_per_s);
        }
        text += fmt::format("      bounds {}\n", bounds);
    }
    return text;
}

}  // namespace warptime::reports
