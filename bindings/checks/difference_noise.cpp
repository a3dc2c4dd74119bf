// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/difference_noise.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/toml_file.hpp"

#include <array>
#include <optional>
#include <span>

namespace warptime::checks {

std::span<const hw::EmbeddedFile> embedded_noise();

namespace {

double number_of(const toml::table& table, const char* field) {
    const std::optional<double> value = table[field].value<double>();
    if (!value || !(*value > 0.0))
        throw Error(std::string("difference_noise.toml ") + field, "", "a number above 0");
    return *value;
}

DifferenceNoise read() {
    const hw::EmbeddedFile& file = embedded_noise().front();
    const toml::table table = hw::parse_toml(file.content, file.name);
    constexpr std::array<std::string_view, 6> fields{"noise", "spread",   "sign",
                                                     "pairs", "programs", "source"};
    hw::refuse_unknown_fields(table, fields, "difference_noise.toml");
    return {number_of(table, "noise"),
            number_of(table, "spread"),
            number_of(table, "sign"),
            static_cast<int>(number_of(table, "pairs")),
            static_cast<int>(number_of(table, "programs")),
            hw::required_text(table, "source", "difference_noise.toml")};
}

}  // namespace

const DifferenceNoise& difference_noise() {
    static const DifferenceNoise noise = read();
    return noise;
}

}  // namespace warptime::checks
