// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/would_help.hpp"

#include "bindings/reports/quantity_text.hpp"
#include "hw/key_rule.hpp"
#include "hw/quantity.hpp"
#include "model/system/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace warptime::reports {

namespace {

using Json = nlohmann::ordered_json;

using hw::us_per_s;
/// Savings below this part of the time are within the noise of any measurement.
constexpr double negligible_saving = 1e-3;

/// Every resource of hw/keys.toml with its keys, in the order of each resource's first key. Rates that the
/// GPU lacks are none: twice nothing is nothing.
std::vector<WouldHelp> all_resources(const hw::Gpu& gpu) {
    std::vector<WouldHelp> resources;
    for (std::size_t key = 0; key < hw::key_count; ++key) {
        const std::string_view resource = hw::rule_of(key).resource;
        const bool lacks = hw::rule_of(key).better == hw::Better::more && hw::key_value(gpu, key) == 0.0;
        if (resource.empty() || lacks) {
            continue;
        }
        auto known = std::find_if(resources.begin(), resources.end(),
                                  [resource](const WouldHelp& r) { return r.resource == resource; });
        if (known == resources.end()) {
            known = resources.insert(resources.end(), WouldHelp{std::string(resource), {}, 0.0, 0.0});
        }
        known->keys.emplace_back(hw::key_info[key].name);
    }
    return resources;
}

std::string keys_text(const std::vector<std::string>& keys) {
    constexpr std::size_t shown = 6;
    const std::size_t count = std::min(keys.size(), shown);
    std::string text = fmt::format(
        "gpu.{}", fmt::join(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), ", gpu."));
    return keys.size() > shown ? fmt::format("{} and {} more", text, keys.size() - shown) : text;
}

hw::Gpu with_twice(hw::Gpu gpu, const WouldHelp& resource) {
    for (const std::string& name : resource.keys) {
        const std::size_t key = hw::key_index(name);
        const double factor = hw::rule_of(key).better == hw::Better::more ? 2.0 : 0.5;
        hw::set_key_value(gpu, key, hw::key_value(gpu, key) * factor);
    }
    return gpu;
}

}  // namespace

std::vector<WouldHelp> twice_as_fast(const model::kernel::Program& program,
                                     const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                     const model::prediction::Conditions& conditions, double time) {
    std::vector<WouldHelp> helpful;
    for (WouldHelp& resource : all_resources(gpu)) {
        const hw::Gpu changed = with_twice(gpu, resource);
        const auto stages = engine.make_stages(changed);
        resource.time = model::system::evaluate(program, *stages, conditions).time;
        resource.saved = time - resource.time;
        if (resource.saved >= negligible_saving * time) {
            helpful.push_back(std::move(resource));
        }
    }
    std::stable_sort(helpful.begin(), helpful.end(),
                     [](const WouldHelp& a, const WouldHelp& b) { return a.saved > b.saved; });
    return helpful;
}

std::string would_help_text(const std::vector<WouldHelp>& helpful, double time) {
    std::string text = "\nwhat would help: a resource twice as fast, the kernels as they are\n";
    if (helpful.empty()) {
        return text + "  none would save a thousandth of the time\n";
    }
    const auto saving = [time](const WouldHelp& r) {
        return fmt::format("  {:<18}{:>10}  {:>6}", r.resource, time_text(r.saved),
                           percent_text(r.saved / time));
    };
    for (const WouldHelp& resource : helpful) {
        text += saving(resource) + "\n";
    }
    const WouldHelp& first = helpful.front();
    text += fmt::format("next        twice the speed of {} would save {} ({}): {}\n", first.resource,
                        time_text(first.saved), percent_text(first.saved / time), keys_text(first.keys));
    return text;
}

std::string with_would_help_json(const std::string& json, const std::vector<WouldHelp>& helpful, int indent) {
    Json report = Json::parse(json);
    report["would_help"] = Json::array();
    for (const WouldHelp& resource : helpful) {
        report["would_help"].push_back({{"resource", resource.resource},
                                        {"keys", resource.keys},
                                        {"time_us", resource.time * us_per_s},
                                        {"saved_us", resource.saved * us_per_s}});
    }
    return report.dump(indent);
}

}  // namespace warptime::reports
