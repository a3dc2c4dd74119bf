// gpus: the list of sheets, or every number of one sheet with its source.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/sheet.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <type_traits>

namespace warptime::cli {

namespace {

using Json = nlohmann::ordered_json;

int list_all(bool json) {
    Json list = Json::array();
    std::string text = fmt::format("{:<18}{:<34}{:<14}{}\n", "id", "name", "architecture", "calibrated");
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        list.push_back({{"id", sheet.id},
                        {"name", sheet.name},
                        {"architecture", sheet.architecture},
                        {"calibrated", sheet.calibrated},
                        {"board", sheet.board}});
        text += fmt::format("{:<18}{:<34}{:<14}{}\n", sheet.id, sheet.name, sheet.architecture,
                            sheet.calibrated ? "yes" : "no");
    }
    const Json object{{"schema", "warptime.gpus/1"}, {"gpus", std::move(list)}};
    print(json ? object.dump(2) + "\n" : text);
    return exit_fine;
}

std::vector<double> values_of(const hw::Gpu& gpu, std::size_t key) {
    std::vector<double> values;
    hw::visit_keys(gpu, [&](std::size_t index, const auto& field) {
        if (index != key) {
            return;
        }
        if constexpr (hw::is_key_list<std::remove_cvref_t<decltype(field)>>) {
            for (const auto& value : field) {
                values.push_back(value.value());
            }
        } else {
            values.push_back(field.value());
        }
    });
    return values;
}

int show_one(const std::string& id, const std::vector<hw::Setting>& settings, bool json) {
    const hw::Gpu gpu = load_requested_gpu(id, settings);
    Json keys = Json::array();
    std::string text = fmt::format("{}: {}, {}, compute capability {}.{}, {}\n", gpu.id, gpu.name,
                                   gpu.architecture, gpu.compute_major, gpu.compute_minor, gpu.memory_type);
    for (std::size_t key = 0; key < hw::key_info.size(); ++key) {
        const hw::KeyInfo& info = hw::key_info[key];
        const hw::Provenance& from = gpu.provenance[key];
        const std::vector<double> values = values_of(gpu, key);
        std::string shown;
        for (const double value : values) {
            shown += (shown.empty() ? "" : ", ") + hw::format_value(value, info.unit);
        }
        text +=
            fmt::format("{:<34}{:<22} {:<10}{}\n", info.name, shown, hw::to_string(from.origin), from.source);
        keys.push_back({{"key", info.name},
                        {"value", info.list ? Json(values) : Json(values.front())},
                        {"unit", info.unit},
                        {"meaning", info.meaning},
                        {"origin", hw::to_string(from.origin)},
                        {"confidence", hw::to_string(from.confidence)},
                        {"source", from.source},
                        {"sheet", from.sheet},
                        {"rows", from.rows},
                        {"date", from.date}});
    }
    const Json object{{"schema", "warptime.gpu/1"},
                      {"id", gpu.id},
                      {"name", gpu.name},
                      {"architecture", gpu.architecture},
                      {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                      {"memory_type", gpu.memory_type},
                      {"calibrated", gpu.calibrated},
                      {"keys", std::move(keys)}};
    print(json ? object.dump(2) + "\n" : text);
    return exit_fine;
}

int run_gpus(const Arguments& arguments) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    if (const auto id = arguments.get("gpu")) {
        return show_one(*id, settings, arguments.has("json"));
    }
    return list_all(arguments.has("json"));
}

}  // namespace

Command gpus_command() {
    CommandSpec spec{"gpus",
                     "The GPUs that are known, or every number of one with its source",
                     "warptime gpus h200-sxm --set gpu.l2.capacity=2x",
                     gpu_options(),
                     {},
                     ""};
    spec.options.front() = {"gpu", "Sheet id or path; without it all sheets are listed",
                            OptionKind::positional, "ID|PATH"};
    return {std::move(spec), run_gpus};
}

}  // namespace warptime::cli
