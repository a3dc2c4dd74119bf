// Reads suites.toml and looks for probes beside it.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/suite_list.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/text_file.hpp"
#include "hw/toml_file.hpp"
#include "validate/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace warptime::validate::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view probe_prefix = "microbench_";
constexpr std::array<std::string_view, 4> known_needs{"nvcc", "torch", "triton", "ncu"};

const fs::path list_file = fs::path("validate") / "record" / "suites.toml";

std::vector<fs::path> files_in(const fs::path& folder, std::initializer_list<std::string_view> extensions) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folder)) return found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string extension = entry.path().extension().string();
        if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end())
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> words(const toml::table& table, std::string_view field, const std::string& owner) {
    std::vector<std::string> found;
    const toml::node* node = table.get(field);
    if (node == nullptr) return found;
    if (!node->is_array()) throw Error(owner + " " + std::string(field), "no list", "a list of words");
    for (const toml::node& element : *node->as_array()) {
        const auto word = element.value_exact<std::string>();
        if (!word) throw Error(owner + " " + std::string(field), "an element that is no text", "words");
        found.push_back(*word);
    }
    return found;
}

Suite suite_of(const toml::table& table, const std::string& file) {
    constexpr std::array<std::string_view, 6> fields{"name",       "needs",   "seconds",
                                                     "capability", "command", "suites"};
    Suite suite;
    suite.name = hw::required_text(table, "name", file);
    const std::string owner = file + " " + suite.name;
    hw::refuse_unknown_fields(table, fields, owner);
    suite.needs = words(table, "needs", owner);
    for (const std::string& need : suite.needs) {
        if (std::find(known_needs.begin(), known_needs.end(), need) == known_needs.end())
            throw Error(owner + " needs", need, hw::expected_names(need, known_needs));
    }
    suite.command = words(table, "command", owner);
    suite.suites = words(table, "suites", owner);
    if (suite.suites.empty()) suite.suites = {suite.name};
    suite.seconds = table["seconds"].value_or(suite.seconds);
    if (!(suite.seconds > 0.0)) throw Error(owner + " seconds", fmt::to_string(suite.seconds), "above 0");
    if (const toml::node* node = table.get("capability")) {
        const auto text = node->value_exact<std::string>();
        const std::size_t dot = text ? text->find('.') : std::string::npos;
        if (!text || dot == std::string::npos || text->find_first_not_of("0123456789.") != std::string::npos)
            throw Error(owner + " capability", text.value_or("no text"), "text as \"9.0\"");
        suite.capability = static_cast<int>(std::lround(std::stod(*text) * 10.0));
    }
    return suite;
}

/// A whole name means one suite, even where other names begin with it.
bool is_chosen(const Suite& suite, const std::string& name, bool is_group) {
    if (name == "all" || suite.name == name) return true;
    return is_group && suite.name.size() > name.size() && suite.name.compare(0, name.size(), name) == 0 &&
           suite.name[name.size()] == '_';
}

}  // namespace

std::vector<Suite> read_suites(const fs::path& sources) {
    const std::string file = list_file.string();
    const toml::table root = hw::parse_toml(hw::read_text_file((sources / list_file).string(), "file"), file);
    const toml::array* list = root["suite"].as_array();
    if (list == nullptr) throw Error(file, "nothing", "entries [[suite]]");
    const fs::path folder = sources / "validate" / "microbench";
    std::vector<Suite> suites;
    std::set<std::string> names;
    const auto add_probe = [&](Suite suite) {
        suite.probe = folder / (suite.name.substr(probe_prefix.size()) + ".cu");
        suite.needs.insert(suite.needs.begin(), "nvcc");
        if (!fs::is_regular_file(suite.probe))
            throw Error(file + " " + suite.name, "no " + suite.probe.string(), "a probe that is there");
        suites.push_back(std::move(suite));
    };
    for (const toml::node& node : *list) {
        if (!node.is_table()) throw Error(file, "a plain value", "entries [[suite]]");
        Suite suite = suite_of(*node.as_table(), file);
        if (!names.insert(suite.name).second) throw Error(file + " " + suite.name, "two entries", "one");
        if (!suite.command.empty()) {
            suites.push_back(std::move(suite));
        } else if (suite.name.compare(0, probe_prefix.size(), probe_prefix) == 0) {
            add_probe(std::move(suite));
        } else {
            throw Error(file + " " + suite.name, "no command", "a command, or the name of a probe");
        }
    }
    // Probes without an entry come after probes with an entry, and before the commands that follow.
    const auto after =
        std::find_if(suites.rbegin(), suites.rend(), [](const Suite& s) { return !s.probe.empty(); });
    const auto position = suites.rend() - after;
    const auto listed = static_cast<std::ptrdiff_t>(suites.size());
    for (const fs::path& probe : files_in(folder, {".cu"})) {
        Suite suite;
        suite.name = std::string(probe_prefix) + probe.stem().string();
        suite.suites = {suite.name};
        if (names.insert(suite.name).second) add_probe(std::move(suite));
    }
    std::rotate(suites.begin() + position, suites.begin() + listed, suites.end());
    return suites;
}

std::vector<Suite> choose_suites(const std::vector<Suite>& all, const std::vector<std::string>& names) {
    std::vector<std::string_view> known{"all", "microbench"};
    for (const Suite& suite : all) known.push_back(suite.name);
    std::vector<bool> taken(all.size(), false);
    for (const std::string& name : names) {
        const bool is_group =
            std::none_of(all.begin(), all.end(), [&](const Suite& s) { return s.name == name; });
        bool any = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!is_chosen(all[i], name, is_group)) continue;
            taken[i] = true;
            any = true;
        }
        if (!any) throw Error("--suite", name, hw::expected_names(name, known));
    }
    std::vector<Suite> chosen;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (taken[i]) chosen.push_back(all[i]);
    }
    return chosen;
}

std::string fingerprint_of(const Suite& suite, const fs::path& sources) {
    std::vector<fs::path> files;
    if (suite.probe.empty()) {
        files = files_in(sources / "validate" / "recorders", {".py"});
    } else {
        files = files_in(sources / "validate" / "microbench", {".cuh"});
        files.push_back(suite.probe);
    }
    std::string text;
    for (const fs::path& file : files)
        text += file.filename().string() + "\n" + hw::read_text_file(file.string(), "file");
    return fmt::format("{:016x}", fnv1a_64(text));
}

}  // namespace warptime::validate::record
