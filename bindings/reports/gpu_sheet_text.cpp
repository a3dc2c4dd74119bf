// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/gpu_sheet_text.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <type_traits>

namespace warptime::reports {

namespace {

/// The number in its base unit, so that it is read back to the last digit.
std::string value_text(double value, std::string_view unit) {
    return unit == "1" ? fmt::format("{:.17g}", value) : fmt::format("\"{:.17g} {}\"", value, unit);
}

}  // namespace

std::string sheet_text(const hw::Gpu& gpu, const std::string& like, const std::string& name,
                       const std::string& source) {
    std::string settings;
    for (const auto& [key, value] : gpu.settings)
        settings += fmt::format("{}{}={}", settings.empty() ? "" : ", ", key, value);
    std::string text = fmt::format(
        "# A GPU like {}, with the numbers below in place of its own. Every other number is inherited.\n\n"
        "[sheet]\ninherits = \"{}\"\nname = \"{}\"\n",
        like, like, name);
    // Keys of one group do not all follow one another, but TOML has each table once.
    std::map<std::string, std::string> groups;
    hw::visit_keys(gpu, [&](std::size_t key, const auto& field) {
        if (gpu.provenance[key].origin != hw::Origin::set) return;
        const hw::KeyInfo& info = hw::key_info[key];
        const std::string_view full = info.name;
        const std::size_t dot = full.find('.');
        std::string values;
        if constexpr (hw::is_key_list<std::remove_cvref_t<decltype(field)>>) {
            for (const auto& value : field)
                values += (values.empty() ? "" : ", ") + value_text(value.value(), info.unit);
            values = "[" + values + "]";
        } else {
            values = value_text(field.value(), info.unit);
        }
        groups[std::string(full.substr(0, dot))] +=
            fmt::format("{} = {{ value = {}, confidence = \"inferred\", source = \"{}\" }}\n",
                        full.substr(dot + 1), values, source.empty() ? "set: " + settings : source);
    });
    for (const auto& [group, lines] : groups) text += fmt::format("\n[{}]\n{}", group, lines);
    return text;
}

}  // namespace warptime::reports
