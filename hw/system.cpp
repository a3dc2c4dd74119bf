// Reader of the sheets of boxes, after the rules of the sheets of GPUs. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/system.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/toml_file.hpp"
#include "hw/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace warptime::hw {
namespace {

constexpr std::string_view system_folder = "hw/systems/";
constexpr std::string_view box_calibration_folder = "hw/systems/calibrations/";
constexpr std::string_view toml_ending = ".toml";
constexpr int most_inherited = 8;

struct SystemMember {
    std::string_view name;
    double& (*of)(System&);
};

// clang-format off
constexpr std::array system_members{
    SystemMember{"box.gpus", [](System& s) -> double& { return s.box.gpus; }},
    SystemMember{"box.most_gpus", [](System& s) -> double& { return s.box.most_gpus; }},
    SystemMember{"nvlink.links", [](System& s) -> double& { return s.nvlink.links; }},
    SystemMember{"nvlink.bandwidth", [](System& s) -> double& { return s.nvlink.bandwidth; }},
    SystemMember{"nvlink.reduction", [](System& s) -> double& { return s.nvlink.reduction; }},
    SystemMember{"pcie.generation", [](System& s) -> double& { return s.pcie.generation; }},
    SystemMember{"pcie.lanes", [](System& s) -> double& { return s.pcie.lanes; }},
    SystemMember{"pcie.bandwidth", [](System& s) -> double& { return s.pcie.bandwidth; }},
    SystemMember{"host.memory", [](System& s) -> double& { return s.host.memory; }},
    SystemMember{"flag.start", [](System& s) -> double& { return s.flag.start; }},
    SystemMember{"flag.hop", [](System& s) -> double& { return s.flag.hop; }},
    SystemMember{"flag.rate", [](System& s) -> double& { return s.flag.rate; }},
    SystemMember{"line.start", [](System& s) -> double& { return s.line.start; }},
    SystemMember{"line.hop", [](System& s) -> double& { return s.line.hop; }},
    SystemMember{"line.rate", [](System& s) -> double& { return s.line.rate; }},
    SystemMember{"line.most", [](System& s) -> double& { return s.line.most; }},
    SystemMember{"bulk.start", [](System& s) -> double& { return s.bulk.start; }},
    SystemMember{"bulk.hop", [](System& s) -> double& { return s.bulk.hop; }},
    SystemMember{"bulk.fill", [](System& s) -> double& { return s.bulk.fill; }},
    SystemMember{"bulk.efficiency", [](System& s) -> double& { return s.bulk.efficiency; }},
    SystemMember{"bulk.copy_rate", [](System& s) -> double& { return s.bulk.copy_rate; }},
    SystemMember{"switch.start", [](System& s) -> double& { return s.in_switch.start; }},
    SystemMember{"switch.fill", [](System& s) -> double& { return s.in_switch.fill; }},
    SystemMember{"switch.efficiency", [](System& s) -> double& { return s.in_switch.efficiency; }},
    SystemMember{"peer.start", [](System& s) -> double& { return s.peer.start; }},
    SystemMember{"peer.each", [](System& s) -> double& { return s.peer.each; }},
    SystemMember{"peer.flag_rate", [](System& s) -> double& { return s.peer.flag_rate; }},
    SystemMember{"peer.bulk_start", [](System& s) -> double& { return s.peer.bulk_start; }},
    SystemMember{"peer.channel_rate", [](System& s) -> double& { return s.peer.channel_rate; }},
    SystemMember{"peer.drain_rate", [](System& s) -> double& { return s.peer.drain_rate; }},
    SystemMember{"peer.fill", [](System& s) -> double& { return s.peer.fill; }},
    SystemMember{"peer.own_rate", [](System& s) -> double& { return s.peer.own_rate; }},
    SystemMember{"peer.efficiency", [](System& s) -> double& { return s.peer.efficiency; }},
    SystemMember{"call.gap", [](System& s) -> double& { return s.call.gap; }},
    SystemMember{"network.bandwidth", [](System& s) -> double& { return s.network.bandwidth; }},
    SystemMember{"network.flag_hop", [](System& s) -> double& { return s.network.flag_hop; }},
    SystemMember{"network.line_hop", [](System& s) -> double& { return s.network.line_hop; }},
    SystemMember{"network.bulk_hop", [](System& s) -> double& { return s.network.bulk_hop; }},
    SystemMember{"network.efficiency", [](System& s) -> double& { return s.network.efficiency; }},
    SystemMember{"band.exchange", [](System& s) -> double& { return s.band.exchange; }},
};
// clang-format on

double& field_of(System& system, std::string_view key) {
    const auto found = std::find_if(system_members.begin(), system_members.end(),
                                    [key](const SystemMember& f) { return f.name == key; });
    if (found == system_members.end()) {
        throw Error("system key", std::string(key), expected_names(key, system_fields()));
    }
    return found->of(system);
}

std::vector<SystemKey> read_system_keys(std::string_view text) {
    const std::string owner = "hw/system_keys.toml";
    const toml::table root = parse_toml(text, owner);
    std::vector<SystemKey> keys;
    const toml::array* list = root["key"].as_array();
    if (list == nullptr) throw Error(owner, "nothing", "tables [[key]]");
    for (const toml::node& node : *list) {
        const toml::table& row = *node.as_table();
        constexpr std::array<std::string_view, 8> allowed{"name",  "unit", "kind",    "meaning",
                                                          "least", "most", "or_zero", "integer"};
        refuse_unknown_fields(row, allowed, owner);
        SystemKey key;
        key.name = required_text(row, "name", owner);
        key.unit = required_text(row, "unit", owner);
        key.meaning = required_text(row, "meaning", owner);
        const std::string kind = required_text(row, "kind", owner);
        if (kind != "vendor" && kind != "fitted") throw Error(owner, kind, "vendor or fitted");
        key.kind = kind == "vendor" ? KeyKind::vendor : KeyKind::fitted;
        key.least = row["least"].value_or(0.0);
        key.most = row["most"].value_or(0.0);
        key.or_zero = row["or_zero"].value_or(false);
        key.integer = row["integer"].value_or(false);
        keys.push_back(std::move(key));
    }
    return keys;
}

std::size_t system_key_index(std::string_view name, const std::string& id) {
    std::vector<std::string_view> names;
    for (const SystemKey& key : system_keys()) names.push_back(key.name);
    if (const auto index = find_name(name, names)) return *index;
    throw Error(id + " key", std::string(name), expected_names(name, names));
}

double read_system_number(const toml::table& row, const SystemKey& key, const std::string& owner) {
    const toml::node* node = row.get("value");
    if (node == nullptr) throw Error(owner, "nothing", "a field 'value'");
    double value = 0.0;
    std::string given;
    if (const auto text = node->value_exact<std::string>()) {
        value = parse_value(*text, key.unit, owner);
        given = *text;
    } else if (const auto number = node->value<double>()) {
        given = fmt::format("{}", *number);
        if (key.unit != "1") throw Error(owner, given, fmt::format("text with the unit {}", key.unit));
        value = *number;
    } else {
        throw Error(owner, "neither a number nor text", fmt::format("a value in {}", key.unit));
    }
    const bool inside = value >= key.least && value <= key.most && std::isfinite(value);
    const bool whole = !key.integer || value == std::floor(value);
    if (!(inside && whole) && !(key.or_zero && value == 0.0)) {
        throw Error(owner, given,
                    fmt::format("{}{} from {} to {}", key.or_zero ? "0 or " : "",
                                key.integer ? "a whole number" : "a value", format_value(key.least, key.unit),
                                format_value(key.most, key.unit)));
    }
    return value;
}

/// Reads one file's keys into the system; `rows` gets the most recorded rows behind a value.
int read_system_values(const toml::table& root, const std::string& id, KeyKind kind, Origin origin,
                       System& system, std::vector<bool>& given) {
    int most_rows = 0;
    for (const auto& [group, node] : root) {
        if (group == "system" || group == "calibration" || group == "sources") continue;
        if (!node.is_table()) throw Error(id, std::string(group.str()), "tables of keys, as [nvlink]");
        for (const auto& [field, entry] : *node.as_table()) {
            const std::size_t index = system_key_index(fmt::format("{}.{}", group.str(), field.str()), id);
            const SystemKey& key = system_keys()[index];
            const std::string owner = fmt::format("{} {}", id, key.name);
            if (!entry.is_table()) throw Error(owner, "a plain value", "{ value, confidence, source }");
            const toml::table& row = *entry.as_table();
            constexpr std::array<std::string_view, 6> names{"value", "source",   "confidence",
                                                            "rows",  "residual", "date"};
            refuse_unknown_fields(row, std::span(names).first(kind == KeyKind::fitted ? 6 : 3), owner);
            if (key.kind != kind) {
                throw Error(owner, fmt::format("a {} key", to_string(key.kind)),
                            key.kind == KeyKind::fitted
                                ? "vendor keys in a sheet; fitted ones belong in its calibration"
                                : "fitted keys in a calibration; vendor ones belong in the sheet");
            }
            field_of(system, key.name) = read_system_number(row, key, owner);
            given[index] = true;
            Provenance& from = system.provenance[index];
            from = Provenance{};
            from.origin = origin;
            from.sheet = id;
            from.source = full_citation(root, required_text(row, "source", owner));
            from.confidence =
                parse_confidence(required_text(row, "confidence", owner), owner + " confidence");
            if (kind != KeyKind::fitted) continue;
            const auto rows = row["rows"].value<std::int64_t>();
            const auto residual = row["residual"].value<double>();
            const auto date = row["date"].value<std::string>();
            if (!rows || !residual || !date || *rows < 0 || !(*residual >= 0.0)) {
                throw Error(owner, "no rows, residual or date", "rows, residual and date of the fit");
            }
            from.rows = static_cast<int>(*rows);
            from.residual = *residual;
            from.date = *date;
            most_rows = std::max(most_rows, from.rows);
        }
    }
    return most_rows;
}

void require_sound_system(const System& system) {
    const auto refuse = [&](std::string_view key, double value, const std::string& expected) {
        throw Error(fmt::format("{} {}", system.id, key), fmt::format("{:.6g}", value), expected);
    };
    // One lane carries 8, 16, 32 GT/s in generations 3 to 5 with 128/130 line code; 64 GT/s and more in
    // flits (PCI Express Base Specification 6.0, section 1.1).
    const double transfers = 8e9 * std::pow(2.0, system.pcie.generation - 3.0);
    const double code = system.pcie.generation < 6.0 ? 128.0 / 130.0 : 242.0 / 256.0;
    const double pcie = transfers * system.pcie.lanes / 8.0 * code;
    if (std::abs(system.pcie.bandwidth / pcie - 1.0) > 0.03) {
        refuse("pcie.bandwidth", system.pcie.bandwidth,
               fmt::format("{:.4g} B/s, by generation and lanes", pcie));
    }
    if ((system.nvlink.links > 0.0) != (system.nvlink.bandwidth > 0.0)) {
        refuse("nvlink.links", system.nvlink.links, "links and bandwidth both, or neither");
    }
    if (system.nvlink.reduction > 0.0 && !(system.nvlink.links > 0.0)) {
        refuse("nvlink.reduction", system.nvlink.reduction, "0 without NVLink");
    }
    if (system.box.most_gpus < system.box.gpus) {
        refuse("box.most_gpus", system.box.most_gpus, "at least box.gpus");
    }
    if (system.box.most_gpus > system.box.gpus && !(system.network.bandwidth > 0.0)) {
        refuse("network.bandwidth", system.network.bandwidth, "a network where there is more than one box");
    }
}

std::optional<std::string_view> system_text(std::string_view folder, std::string_view id) {
    const std::string name = fmt::format("{}{}{}", folder, id, toml_ending);
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.name == name) return file.content;
    }
    return std::nullopt;
}

std::vector<CalibrationText> calibrations_of(const std::string& id) {
    std::vector<CalibrationText> chain;
    std::string next = id;
    while (!next.empty()) {
        const auto text = system_text(box_calibration_folder, next);
        if (!text) throw Error(id + " calibration", next, "a file in hw/systems/calibrations");
        if (chain.size() >= most_inherited) throw Error(id + " inherits", next, "inheritance that ends");
        chain.push_back({next, std::string(*text)});
        const toml::table root = parse_toml(*text, next);
        next = root["calibration"]["inherits"].value_or(std::string());
    }
    return chain;
}

const std::map<std::string, System, std::less<>>& all_systems() {
    static const auto systems = [] {
        std::map<std::string, System, std::less<>> read;
        for (const std::string_view id : system_ids()) {
            const std::string name(id);
            read.emplace(name, parse_system(*system_text(system_folder, id), name, calibrations_of(name)));
        }
        return read;
    }();
    return systems;
}

}  // namespace

std::span<const SystemKey> system_keys() {
    static const std::vector<SystemKey> keys = [] {
        for (const EmbeddedFile& file : embedded_files()) {
            if (file.name == "hw/system_keys.toml") return read_system_keys(file.content);
        }
        throw Error("hw/system_keys.toml", "nothing", "an embedded file");
    }();
    return keys;
}

std::span<const std::string_view> system_fields() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> list;
        for (const SystemMember& field : system_members) list.push_back(field.name);
        return list;
    }();
    return names;
}

double system_value(const System& system, std::string_view key) {
    return field_of(const_cast<System&>(system), key);
}

std::span<const std::string_view> system_ids() {
    static const std::vector<std::string_view> ids = [] {
        std::vector<std::string_view> list;
        for (const EmbeddedFile& file : embedded_files()) {
            if (!file.name.starts_with(system_folder) || file.name.starts_with(box_calibration_folder))
                continue;
            list.push_back(file.name.substr(system_folder.size(),
                                            file.name.size() - system_folder.size() - toml_ending.size()));
        }
        std::sort(list.begin(), list.end());
        return list;
    }();
    return ids;
}

const System& find_system(std::string_view id) {
    const auto found = all_systems().find(id);
    if (found == all_systems().end()) {
        throw Error("system", std::string(id), expected_names(id, system_ids()));
    }
    return found->second;
}

const System& system_of_gpu(std::string_view gpu, std::string_view parameter) {
    const System* only = nullptr;
    std::string choices;
    for (const auto& [id, system] : all_systems()) {
        if (std::find(system.gpus.begin(), system.gpus.end(), gpu) == system.gpus.end()) continue;
        choices += (choices.empty() ? "" : ", ") + id;
        only = choices == id ? &system : nullptr;
    }
    if (only != nullptr) return *only;
    if (choices.empty()) {
        throw Error(std::string(parameter), fmt::format("none, and no box has a {}", gpu),
                    fmt::format("one of {}", fmt::join(system_ids(), ", ")));
    }
    throw Error(std::string(parameter), fmt::format("none, and several boxes have a {}", gpu),
                fmt::format("one of {}", choices));
}

System parse_system(std::string_view sheet, const std::string& id,
                    std::span<const CalibrationText> calibrations) {
    System system;
    system.id = id;
    system.provenance.resize(system_keys().size());
    std::vector<bool> given(system_keys().size(), false);
    const toml::table root = parse_toml(sheet, id);
    const toml::table* header = root["system"].as_table();
    if (header == nullptr) throw Error(id, "nothing", "a table [system]");
    constexpr std::array<std::string_view, 2> header_fields{"name", "gpus"};
    refuse_unknown_fields(*header, header_fields, id + " [system]");
    system.name = required_text(*header, "name", id);
    const toml::array* gpus = (*header)["gpus"].as_array();
    if (gpus == nullptr || gpus->empty()) throw Error(id + " gpus", "nothing", "a list of sheets of GPUs");
    for (const toml::node& gpu : *gpus) {
        const auto text = gpu.value<std::string>();
        if (!text || text->empty()) throw Error(id + " gpus", "no text", "ids of sheets");
        system.gpus.push_back(*text);
    }
    // The most remote calibration comes first, so that nearer ones replace its values.
    for (std::size_t i = calibrations.size(); i-- > 0;) {
        const CalibrationText& file = calibrations[i];
        const toml::table table = parse_toml(file.text, file.id);
        const toml::table* top = table["calibration"].as_table();
        if (top == nullptr) throw Error(file.id, "nothing", "a table [calibration]");
        constexpr std::array<std::string_view, 2> top_fields{"system", "inherits"};
        refuse_unknown_fields(*top, top_fields, file.id + " [calibration]");
        if (required_text(*top, "system", file.id) != file.id) {
            throw Error(file.id + " system", required_text(*top, "system", file.id), "the name of the file");
        }
        const bool own = i == 0;
        const int rows = read_system_values(table, file.id, KeyKind::fitted,
                                            own ? Origin::fitted : Origin::inherited, system, given);
        if (own) system.calibrated = rows > 0;
    }
    read_system_values(root, id, KeyKind::vendor, Origin::vendor, system, given);
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (!given[i]) {
            const SystemKey& key = system_keys()[i];
            throw Error(fmt::format("{} {}", id, key.name), "nothing", "a value: " + key.meaning);
        }
    }
    require_sound_system(system);
    return system;
}

}  // namespace warptime::hw
