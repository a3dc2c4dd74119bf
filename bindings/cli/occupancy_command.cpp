// occupancy: how many CTAs of given resources are resident, what limits them, what would let in one more.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/occupancy_hint.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "model/occupancy/occupancy.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <limits>

namespace warptime::cli {

namespace {

namespace occupancy = model::occupancy;
using Json = nlohmann::ordered_json;

std::int64_t whole(const Arguments& arguments, std::string_view name, std::int64_t fallback) {
    const auto text = arguments.get(name);
    if (!text) {
        return fallback;
    }
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    std::int64_t value = -1;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 0 || value > largest) {
        throw UsageError(fmt::format("occupancy {}", name), *text,
                         fmt::format("a whole number from 0 to {}", largest));
    }
    return value;
}

occupancy::CtaResources read_resources(const Arguments& arguments) {
    if (!arguments.has("threads")) {
        throw UsageError("occupancy threads", "", "--threads with the threads of one CTA");
    }
    occupancy::CtaResources cta;
    cta.threads = static_cast<int>(whole(arguments, "threads", 0));
    cta.registers_per_thread = static_cast<int>(whole(arguments, "registers", 32));
    cta.dynamic_shared = whole(arguments, "shared_bytes", 0);
    cta.static_shared = whole(arguments, "static_shared_bytes", 0);
    cta.carveout_bytes = whole(arguments, "carveout_bytes", -1);
    cta.named_barriers = static_cast<int>(whole(arguments, "barriers", 1));
    return cta;
}

std::string count_text(int ctas) {
    return ctas == occupancy::unlimited ? "no limit" : fmt::format("{} CTAs", ctas);
}

std::string text_of(const hw::Gpu<double>& gpu, const occupancy::Occupancy& result,
                    const occupancy::SmLimits& limits, const std::vector<OccupancyHint>& hints) {
    const int warps_max = limits.threads / limits.threads_per_warp;
    std::string text = fmt::format(
        "{:<12}{}\n{:<12}{} CTAs and {} of {} warps per SM\n{:<12}{}, next {}\n{:<12}{} B per CTA allocated, "
        "{} B "
        "per SM carved out of L1\n\nCTAs that each resource alone allows\n",
        "gpu", gpu.id, "resident", result.ctas_per_sm, result.warps_per_sm, warps_max, "limit",
        to_string(result.limit), to_string(result.next_limit), "shared", result.shared_per_cta,
        result.shared_per_sm);
    for (std::size_t i = 0; i < occupancy::limit_count; ++i) {
        const auto limit = static_cast<occupancy::Limit>(i);
        text += fmt::format("  {:<12}{}\n", to_string(limit), count_text(result.ctas_by(limit)));
    }
    text += fmt::format("\nfor {} CTAs, all of\n", result.ctas_per_sm + 1);
    for (const OccupancyHint& hint : hints) {
        text += hint.largest ? fmt::format("  {:<14}at most {} instead of {}\n", hint.resource, *hint.largest,
                                           hint.given)
                             : fmt::format("  {:<14}cannot: the limit of the SM itself\n", hint.resource);
    }
    return text;
}

std::string json_of(const hw::Gpu<double>& gpu, const occupancy::CtaResources& cta,
                    const occupancy::Occupancy& result, const std::vector<OccupancyHint>& hints) {
    Json by_limit = Json::object();
    for (std::size_t i = 0; i < occupancy::limit_count; ++i) {
        const auto limit = static_cast<occupancy::Limit>(i);
        const int ctas = result.ctas_by(limit);
        by_limit[std::string(to_string(limit))] = ctas == occupancy::unlimited ? Json() : Json(ctas);
    }
    Json one_more = Json::object();
    for (const OccupancyHint& hint : hints) {
        one_more[hint.resource] = hint.largest ? Json(*hint.largest) : Json();
    }
    const Json object{{"schema", "warptime.occupancy/1"},
                      {"gpu", gpu.id},
                      {"cta",
                       {{"threads", cta.threads},
                        {"registers", cta.registers_per_thread},
                        {"shared_bytes", cta.dynamic_shared},
                        {"static_shared_bytes", cta.static_shared},
                        {"barriers", cta.named_barriers}}},
                      {"ctas_per_sm", result.ctas_per_sm},
                      {"warps_per_sm", result.warps_per_sm},
                      {"limit", to_string(result.limit)},
                      {"next_limit", to_string(result.next_limit)},
                      {"ctas_by_limit", std::move(by_limit)},
                      {"shared_per_cta", result.shared_per_cta},
                      {"shared_per_sm", result.shared_per_sm},
                      {"largest_for_one_more", std::move(one_more)}};
    return object.dump(2) + "\n";
}

int run(const Arguments& arguments) {
    const occupancy::CtaResources cta = read_resources(arguments);
    const hw::Gpu<double> gpu = load_requested_gpu(required_gpu(arguments), read_settings(arguments));
    const occupancy::SmLimits limits = occupancy::limits_of(gpu);
    occupancy::check(cta, limits);
    const occupancy::Occupancy result = occupancy::occupancy(cta, limits);
    const std::vector<OccupancyHint> hints = hints_for_one_more(cta, limits);
    print(arguments.has("json") ? json_of(gpu, cta, result, hints) : text_of(gpu, result, limits, hints));
    return exit_fine;
}

}  // namespace

Command occupancy_command() {
    CommandSpec spec{"occupancy",
                     "Resident CTAs per SM, the limit that binds, and what would let in one more",
                     "warptime occupancy --gpu h200-sxm --threads 256 --registers 128 --shared-bytes 98304",
                     gpu_options(),
                     {},
                     ""};
    const std::vector<OptionSpec> resources{
        {"threads", "Threads of one CTA; required", OptionKind::value, "N"},
        {"registers", "Registers per thread; default: 32", OptionKind::value, "N"},
        {"shared_bytes", "Dynamic shared memory of one CTA; default: 0", OptionKind::value, "N"},
        {"static_shared_bytes", "Static shared memory of one CTA; default: 0", OptionKind::value, "N"},
        {"carveout_bytes", "Preferred shared memory per SM; default: the driver's choice", OptionKind::value,
         "N"},
        {"barriers", "Named barriers of one CTA; default: 1", OptionKind::value, "N"}};
    spec.options.insert(spec.options.end(), resources.begin(), resources.end());
    return {std::move(spec), run};
}

}  // namespace warptime::cli
