// gpus: the list of sheets, every number of one sheet with its source, two sheets side by side, or a new
// sheet.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/own_sheet.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/gpu_comparison.hpp"
#include "bindings/reports/gpu_sheet_text.hpp"
#include "hw/sheet.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

namespace warptime::cli {

namespace {

using Json = nlohmann::ordered_json;

int list_all(bool json) {
    Json list = Json::array();
    std::string text = fmt::format("{:<18}{:<34}{:<17}{}\n", "id", "name", "architecture", "calibrated");
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        list.push_back({{"id", sheet.id},
                        {"name", sheet.name},
                        {"architecture", sheet.architecture},
                        {"calibrated", sheet.calibrated},
                        {"board", sheet.board}});
        text += fmt::format("{:<18}{:<34}{:<17}{}\n", sheet.id, sheet.name, sheet.architecture,
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

constexpr std::string_view new_sheet = "new";

/// Text that TOML takes between quotes.
void require_plain(const std::string& option, const std::string& text) {
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ';
    });
    if (!plain || text.empty())
        throw UsageError(option, text, "text without quotes, backslashes or line breaks");
}

/// The settings, with those that must follow so that the sheet agrees with itself: published peaks, and the
/// memory clock. A follower that is set itself stays.
std::vector<hw::Setting> with_followers(const std::string& id, const std::vector<hw::Setting>& settings) {
    const hw::Gpu base = load_requested_gpu(id, {});
    const hw::Gpu changed = load_requested_gpu(id, settings);
    struct Follower {
        const char* key;
        double (*follows)(const hw::Gpu&);
    };
    constexpr std::array<Follower, 3> followers{{
        {"tensor.published_bf16",
         [](const hw::Gpu& g) {
             return g.tensor.bf16.value() * g.sm.count.value() * g.clock.tensor_peak.value();
         }},
        {"fp32.published",
         [](const hw::Gpu& g) { return g.fp32.lanes.value() * g.sm.count.value() * g.clock.boost.value(); }},
        {"clock.memory",
         [](const hw::Gpu& g) { return g.dram.bandwidth.value() / g.dram.bus_width.value(); }},
    }};
    std::vector<hw::Setting> all = settings;
    for (const Follower& follower : followers) {
        const bool set = std::any_of(settings.begin(), settings.end(),
                                     [&](const hw::Setting& s) { return s.key == follower.key; });
        const double before = follower.follows(base), now = follower.follows(changed);
        if (set || !(before > 0.0) || now == before) continue;
        all.push_back(hw::parse_setting(fmt::format("gpu.{}={:.17g}x", follower.key, now / before)));
    }
    return all;
}

/// Writes a sheet of one's own.
int write_sheet(const Arguments& arguments, const std::vector<hw::Setting>& settings) {
    const auto like = arguments.get("like");
    if (!like) throw UsageError("like", "", "the id of the sheet to begin with: --like l40s");
    const std::string id = as_usage([&] { return hw::sheet_id_of(*like); });
    if (settings.empty()) throw UsageError("set", "", "at least one number that differs: --set KEY=VALUE");
    for (const hw::Setting& setting : settings) {
        if (setting.scope == hw::Setting::Scope::kernel)
            throw UsageError("set", "kernel." + setting.key, "numbers of a GPU, whose keys begin with gpu.");
    }
    const hw::Gpu gpu = load_requested_gpu(id, with_followers(id, settings));
    const std::string name = arguments.get("name").value_or(gpu.name + ", changed");
    require_plain("name", name);
    for (const auto& [key, value] : gpu.settings) require_plain("set", value);
    const std::string text = reports::sheet_text(gpu, id, name);
    const auto output = arguments.get("output");
    if (!output || *output == "-") {
        print(text);
        return exit_fine;
    }
    write_new_sheet(*output, text);
    return exit_fine;
}

int run_gpus(const Arguments& arguments) {
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const auto id = arguments.get("gpu");
    const bool json = arguments.has("json");
    const bool writes = id && *id == new_sheet;
    for (const char* option : {"like", "output", "name"}) {
        if (!writes && arguments.get(option))
            throw UsageError(option, *arguments.get(option), "`warptime gpus new --like ID --set KEY=VALUE`");
    }
    if (const auto base = arguments.get("compare")) {
        if (!id || writes) {
            throw UsageError("gpu", id.value_or(""), "two GPUs: `warptime gpus --compare h100-sxm b200`");
        }
        // Settings change the second GPU, so that a sheet can be compared with itself changed.
        const hw::Gpu one = load_requested_gpu(*base, {});
        const hw::Gpu two = load_requested_gpu(*id, settings);
        print(json ? reports::comparison_json(one, two) : reports::comparison_text(one, two));
        return exit_fine;
    }
    if (writes) return write_sheet(arguments, settings);
    return id ? show_one(*id, settings, json) : list_all(json);
}

}  // namespace

Command gpus_command() {
    CommandSpec spec{"gpus",
                     "The GPUs that are known, every number of one with its source, or two compared",
                     "warptime gpus h200-sxm --set gpu.l2.capacity=2x",
                     gpu_options(),
                     {},
                     ""};
    spec.options.front() = {
        "gpu", "Sheet id or path; without it all sheets are listed. new: write a sheet of one's own",
        OptionKind::positional, "ID|PATH|new"};
    spec.options.push_back(
        {"compare",
         "The sheet to compare the named one with: every bound and number side by side, and "
         "what a class of kernels gains",
         OptionKind::value, "ID|PATH"});
    spec.options.push_back(
        {"like", "With new: the sheet that gives what --set does not", OptionKind::value, "ID"});
    spec.options.push_back({"name", "With new: the name in the sheet", OptionKind::value});
    spec.options.push_back(
        {"output", "With new: where the sheet goes; default: stdout", OptionKind::value, "FILE.toml", 'o'});
    return {std::move(spec), run_gpus};
}

}  // namespace warptime::cli
