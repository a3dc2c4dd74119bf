// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/demangle.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace warptime::workloads::frontends::machine {

std::string demangled(std::string_view name) {
    if (!name.starts_with("_Z")) {
        return std::string(name);  // The demangler would take "f" for the type float.
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string plain_name(std::string_view name) {
    const std::string full = demangled(name);
    // Template arguments may hold parentheses and colons: only what stands outside of them counts.
    std::string outside;
    int depth = 0;
    constexpr std::string_view anonymous = "(anonymous namespace)::";
    for (std::size_t i = 0; i < full.size(); ++i) {
        if (std::string_view(full).substr(i).starts_with(anonymous)) {
            i += anonymous.size() - 1;
            continue;
        }
        depth += full[i] == '<' ? 1 : 0;
        if (depth == 0 && full[i] == '(') {
            break;
        }
        if (depth == 0) {
            outside.push_back(full[i]);
        }
        depth -= full[i] == '>' ? 1 : 0;
    }
    // What stands before a space is the type of the result.
    const std::size_t space = outside.rfind(' ');
    const std::string qualified = space == std::string::npos ? outside : outside.substr(space + 1);
    const std::size_t colons = qualified.rfind("::");
    return colons == std::string::npos ? qualified : qualified.substr(colons + 2);
}

}  // namespace warptime::workloads::frontends::machine
