// SPDX-License-Identifier: Apache-2.0
#include "workloads/libraries/kernel_rule.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warptime::workloads::libraries {

Mix parse_mix(std::string_view text, const std::string& place) {
    Mix mix;
    std::size_t from = 0;
    while (from < text.size()) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        std::string_view part = text.substr(from, to - from);
        while (part.starts_with(' ')) part.remove_prefix(1);
        const std::size_t blank = part.find(' ');
        double count = 0.0;
        const char* end = part.data() + part.size();
        const auto read = blank == std::string_view::npos
                              ? std::from_chars_result{part.data(), std::errc::invalid_argument}
                              : std::from_chars(part.data() + blank + 1, end, count);
        if (read.ec != std::errc{} || read.ptr != end || !(count > 0.0)) {
            throw Error(place, std::string(text), "classes with numbers above 0, as \"mul_f32 4, mufu 2\"");
        }
        mix.push_back({hw::parse_instruction_class(part.substr(0, blank)), count});
        from = to + 1;
    }
    return mix;
}

double KernelRule::number(std::string_view field) const {
    const auto found = values.find(field);
    if (found == values.end()) {
        throw Error(fmt::format("library data {} {}", name, field), "nothing", "a number");
    }
    return found->second;
}

std::int64_t KernelRule::whole(std::string_view field) const {
    return static_cast<std::int64_t>(number(field));
}

bool KernelRule::has(std::string_view field) const {
    return values.find(field) != values.end() || mixes.find(field) != mixes.end();
}

const Mix& KernelRule::mix(std::string_view field) const {
    const auto found = mixes.find(field);
    if (found == mixes.end()) {
        throw Error(fmt::format("library data {} {}", name, field), "nothing", "instruction classes");
    }
    return found->second;
}

const KernelRule& find_rule(std::span<const KernelRule> rules, std::string_view name, hw::Dtype dtype) {
    const KernelRule* any = nullptr;
    for (const KernelRule& rule : rules) {
        if (rule.name != name) continue;
        if (std::find(rule.dtypes.begin(), rule.dtypes.end(), dtype) != rule.dtypes.end()) return rule;
        if (rule.dtypes.empty() && any == nullptr) any = &rule;
    }
    if (any == nullptr) {
        throw Error("library data", std::string(name),
                    fmt::format("a [[kernel]] rule of this name for {}", hw::to_string(dtype)));
    }
    return *any;
}

}  // namespace warptime::workloads::libraries
