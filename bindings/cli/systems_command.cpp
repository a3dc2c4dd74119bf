// systems: the boxes of several GPUs that are known, or every number of one with its source.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/system.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace warptime::cli {

namespace {

using Json = nlohmann::ordered_json;

int list_systems(bool json) {
    Json list = Json::array();
    std::string text = fmt::format("{:<16}{:<40}{:<8}{}\n", "id", "name", "GPUs", "of");
    for (const std::string_view id : hw::system_ids()) {
        const hw::System& system = hw::find_system(id);
        list.push_back({{"id", system.id},
                        {"name", system.name},
                        {"gpus", system.box.gpus},
                        {"of", system.gpus},
                        {"calibrated", system.calibrated}});
        text += fmt::format("{:<16}{:<40}{:<8}{}\n", system.id, system.name, system.box.gpus,
                            fmt::join(system.gpus, ", "));
    }
    const Json object{{"schema", "warptime.systems/1"}, {"systems", std::move(list)}};
    print(json ? object.dump(2) + "\n" : text);
    return exit_fine;
}

int show_system(const std::string& id, bool json) {
    const hw::System& system = as_usage([&]() -> const hw::System& { return hw::find_system(id); });
    Json keys = Json::array();
    std::string text = fmt::format("{}: {}, of {}\n", system.id, system.name, fmt::join(system.gpus, " or "));
    for (std::size_t i = 0; i < hw::system_keys().size(); ++i) {
        const hw::SystemKey& key = hw::system_keys()[i];
        const hw::Provenance& from = system.provenance[i];
        const double value = hw::system_value(system, key.name);
        text += fmt::format("{:<22}{:<16}{:<11}{}\n", key.name, hw::format_value(value, key.unit),
                            hw::to_string(from.origin), from.source);
        keys.push_back({{"key", key.name},
                        {"value", value},
                        {"unit", key.unit},
                        {"meaning", key.meaning},
                        {"origin", hw::to_string(from.origin)},
                        {"confidence", hw::to_string(from.confidence)},
                        {"source", from.source},
                        {"sheet", from.sheet},
                        {"rows", from.rows},
                        {"date", from.date}});
    }
    const Json object{{"schema", "warptime.system/1"},
                      {"id", system.id},
                      {"name", system.name},
                      {"gpus", system.gpus},
                      {"calibrated", system.calibrated},
                      {"keys", std::move(keys)}};
    print(json ? object.dump(2) + "\n" : text);
    return exit_fine;
}

int run_systems(const Arguments& arguments) {
    const auto id = arguments.get("system");
    return id ? show_system(*id, arguments.has("json")) : list_systems(arguments.has("json"));
}

}  // namespace

Command systems_command() {
    CommandSpec spec{
        "systems",
        "The boxes of several GPUs that are known, or every number of one with its source",
        "warptime systems hgx-h100-8",
        {{"system", "Id of the box; without it all are listed", OptionKind::positional, "ID"}, json_option()},
        {},
        ""};
    return {std::move(spec), run_systems};
}

}  // namespace warptime::cli
