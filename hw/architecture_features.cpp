// Reads the features of every architecture from the embedded instruction tables.
// SPDX-License-Identifier: Apache-2.0
#include "hw/architecture_features.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/toml_file.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace warptime::hw {

namespace {

constexpr std::string_view folder = "hw/isa/";
constexpr std::string_view extension = ".toml";
constexpr std::string_view of_ptx = "ptx";  // a table of mnemonics, not of an architecture

std::vector<std::pair<std::string, ArchitectureFeatures>> read_all() {
    std::vector<std::pair<std::string, ArchitectureFeatures>> all;
    for (const EmbeddedFile& file : embedded_files()) {
        if (!file.name.starts_with(folder) || !file.name.ends_with(extension)) continue;
        const std::string_view path = file.name;
        const std::string_view name =
            path.substr(folder.size(), path.size() - folder.size() - extension.size());
        if (name != of_ptx) all.emplace_back(name, parse_features(file.content, name));
    }
    return all;
}

}  // namespace

ArchitectureFeatures parse_features(std::string_view text, std::string_view file) {
    const std::string owner = fmt::format("{} features", file);
    const toml::table root = parse_toml(text, file);
    const toml::table* features = root["features"].as_table();
    if (features == nullptr) {
        throw Error(owner, "nothing", "a table with tensor_memory, cluster_launch_control and source");
    }
    constexpr std::array<std::string_view, 3> fields{"tensor_memory", "cluster_launch_control", "source"};
    refuse_unknown_fields(*features, fields, owner);
    (void)required_text(*features, "source", owner);
    const auto required = [&](std::string_view field) {
        const auto value = (*features)[field].value_exact<bool>();
        if (!value) throw Error(fmt::format("{} {}", owner, field), "", "true or false");
        return *value;
    };
    return {required("tensor_memory"), required("cluster_launch_control")};
}

const ArchitectureFeatures& features_of(std::string_view isa) {
    static const auto all = read_all();
    for (const auto& [name, features] : all) {
        if (name == isa) return features;
    }
    throw Error("isa", std::string(isa), "an instruction table of hw/isa");
}

}  // namespace warptime::hw
