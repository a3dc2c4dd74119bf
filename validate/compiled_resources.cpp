// SPDX-License-Identifier: Apache-2.0
#include "validate/compiled_resources.hpp"

#include <charconv>
#include <string>

namespace warptime::validate {

namespace {

/// The number behind " name=", if there is one.
std::optional<std::int64_t> number_of(std::string_view step, std::string_view name) {
    const std::string word = " " + std::string(name) + "=";
    const std::size_t at = step.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view text = step.substr(at + word.size());
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size() || *end == ' ';
    if (error != std::errc() || !whole) return std::nullopt;
    return value;
}

}  // namespace

std::optional<CompiledResources> compiled_resources(std::string_view steps) {
    constexpr std::string_view between = " | ";
    const std::size_t last = steps.rfind(between);
    const std::string_view step =
        last == std::string_view::npos ? steps : steps.substr(last + between.size());
    const auto registers = number_of(step, "registers");
    const auto shared = number_of(step, "shared");
    if (!registers || !shared) return std::nullopt;
    return CompiledResources{*registers, *shared};
}

}  // namespace warptime::validate
