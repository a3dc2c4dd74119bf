// Words of the conditions, in both directions.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/conditions.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <array>
#include <span>
#include <string>

namespace warptime::model::prediction {

namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 3> cache_words{"cold", "flushed", "warm"};
constexpr std::array<std::string_view, 2> duty_words{"isolated", "sustained"};
constexpr std::array<std::string_view, 2> data_words{"random", "zeros"};
constexpr std::array<std::string_view, 3> ecc_words{"as shipped", "on", "off"};

std::size_t index_of(std::string_view text, std::string_view parameter,
                     std::span<const std::string_view> words) {
    if (const auto index = hw::find_name(text, words)) {
        return *index;
    }
    throw Error(std::string(parameter), std::string(text), hw::expected_names(text, words));
}

}  // namespace

double touched_between(const Conditions& conditions, const kernel::Name& operand) {
    if (!(conditions.between > 0.0)) return 0.0;
    for (const kernel::Name& name : conditions.in_turn) {
        if (name == kernel::Name()) return &name == conditions.in_turn.data() ? conditions.between : 0.0;
        if (hw::same_name(name.view(), operand.view())) return conditions.between;
    }
    return 0.0;
}

std::string in_turn_text(const Conditions& conditions) {
    std::string text;
    for (const kernel::Name& name : conditions.in_turn) {
        if (name == kernel::Name()) break;
        text += text.empty() ? "" : "+";
        text += name.view();
    }
    return text;
}

std::string_view to_string(Cache cache) {
    return cache_words.at(static_cast<std::size_t>(cache));
}
std::string_view to_string(Duty duty) {
    return duty_words.at(static_cast<std::size_t>(duty));
}
std::string_view to_string(OperandData data) {
    return data_words.at(static_cast<std::size_t>(data));
}
std::string_view to_string(Ecc ecc) {
    return ecc_words.at(static_cast<std::size_t>(ecc));
}

Cache parse_cache(std::string_view text) {
    return static_cast<Cache>(index_of(text, "cache", cache_words));
}
Duty parse_duty(std::string_view text) {
    return static_cast<Duty>(index_of(text, "duty", duty_words));
}
OperandData parse_operand_data(std::string_view text) {
    return static_cast<OperandData>(index_of(text, "data", data_words));
}
Ecc parse_ecc(std::string_view text) {
    return static_cast<Ecc>(1 + index_of(text, "ecc", std::span(ecc_words).subspan(1)));
}

}  // namespace warptime::model::prediction
