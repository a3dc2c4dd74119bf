// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_text.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "model/kernel/text.hpp"

#include <fmt/format.h>

namespace warptime::workloads::frontends {

model::kernel::Program program_of_text(std::string_view text, std::string_view origin) {
    model::kernel::Program program;
    try {
        program.add_kernel() = model::kernel::parse_text(text);
    } catch (const Error& error) {
        throw Error(fmt::format("{} {}", origin, error.parameter()), error.value(), error.expected());
    }
    return program;
}

model::kernel::Program read_kernel_file(const std::string& path) {
    return program_of_text(hw::read_text_file(path, "kernel", "a .kernel file that can be read"), path);
}

}  // namespace warptime::workloads::frontends
