// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_text.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "model/kernel/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::frontends {

namespace {

/// Whether the first word that is no comment is `program`.
bool is_program(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
        if (!text.starts_with("//")) return text.starts_with("program");
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
}

}  // namespace

model::kernel::Program program_of_text(std::string_view text, std::string_view origin) {
    model::kernel::Program program;
    try {
        if (is_program(text)) {
            program = model::kernel::parse_program_text(text);
        } else {
            program.add_kernel() = model::kernel::parse_text(text);
        }
    } catch (const Error& error) {
        throw Error(fmt::format("{} {}", origin, error.parameter()), error.value(), error.expected());
    }
    return program;
}

model::kernel::Program read_kernel_file(const std::string& path) {
    return program_of_text(hw::read_text_file(path, "kernel", "a .kernel file that can be read"), path);
}

}  // namespace warptime::workloads::frontends
