// Convolutions lowered as a user asks for them; of the candidates, that with the fewest tiles. For tests
// only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <map>
#include <string>

namespace warptime::workloads::convolution::fixture {

namespace mk = model::kernel;

using Given = std::map<std::string, std::string, std::less<>>;

inline mk::Program lowered(const Given& given, const std::string& gpu = "h200-sxm") {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation("conv2d", given), data, hw::load_gpu(gpu),
        [](const mk::Program& candidate, double) {
            return static_cast<double>(candidate.kernels[0].schedule.item_count());
        },
        program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

inline Given sizes(const char* batch, const char* channels, const char* out, const char* size,
                   const char* kernel, Given more = {}) {
    more.insert({{"batch", batch},
                 {"channels", channels},
                 {"out_channels", out},
                 {"size", size},
                 {"kernel", kernel}});
    return more;
}

inline std::string refused(const Given& given, const std::string& gpu = "h200-sxm") {
    try {
        (void)lowered(given, gpu);
    } catch (const Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace warptime::workloads::convolution::fixture
