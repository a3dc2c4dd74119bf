// SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_params.hpp"

#include "hw/error.hpp"

#include <algorithm>

namespace warptime::validate {

std::map<std::string, std::string, std::less<>> parse_params(std::string_view params) {
    std::map<std::string, std::string, std::less<>> result;
    const std::string expected = "name=value words sorted by name, one space between";
    std::string_view last;
    std::size_t from = 0;
    while (!params.empty() && from <= params.size()) {
        const std::size_t to = std::min(params.find(' ', from), params.size());
        const std::string_view word = params.substr(from, to - from);
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
            throw Error("params", std::string(params), expected);
        }
        const std::string_view name = word.substr(0, equals);
        if (!result.empty() && name <= last) throw Error("params", std::string(params), expected);
        result.emplace(name, word.substr(equals + 1));
        last = name;
        from = to + 1;
    }
    return result;
}

}  // namespace warptime::validate
