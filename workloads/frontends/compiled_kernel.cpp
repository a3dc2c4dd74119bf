// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/compiled_kernel.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/frontends/launch_arguments.hpp"
#include "workloads/frontends/machine/interpreter/run.hpp"
#include "workloads/frontends/machine/lowering/lower.hpp"
#include "workloads/frontends/machine/tools/cuda_tools.hpp"
#include "workloads/frontends/machine/tools/demangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace warptime::workloads::frontends {

namespace {

constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 38U;

machine::Chip readable_chip(const hw::Gpu& gpu) {
    const machine::Chip chip = machine::chip_of(gpu);
    if (chip.architecture < 80) {
        throw Error("kernel file", fmt::format("sm_{}", chip.architecture),
                    "a GPU from sm_80 on: older machine code is not read");
    }
    return chip;
}

machine::Compiled compile(const CompiledLaunch& launch, int architecture) {
    // Instructions of Hopper's own kind need the specific target.
    const std::string target = fmt::format("sm_{}{}", architecture, architecture == 90 ? "a" : "");
    const std::string extension = std::filesystem::path(launch.file).extension().string();
    if (extension == ".cu") {
        return machine::compile_cuda(launch.file, target);
    }
    const std::string bytes = hw::read_text_file(launch.file, "kernel", "a file that can be read");
    if (extension == ".ptx") {
        return machine::compile_ptx(bytes, target);
    }
    machine::Compiled compiled;
    compiled.cubin.resize(bytes.size());
    std::ranges::transform(bytes, compiled.cubin.begin(), [](char c) { return static_cast<std::byte>(c); });
    return compiled;
}

int find_kernel(const machine::Code& code, const CompiledLaunch& launch) {
    std::vector<std::string> names;
    std::vector<int> matches;
    for (std::size_t i = 0; i < code.module.functions.size(); ++i) {
        const machine::Function& function = code.module.functions[i];
        if (!function.kernel) {
            continue;
        }
        const std::string plain = machine::plain_name(function.name);
        names.push_back(plain);
        if (launch.name.empty() || launch.name == function.name || launch.name == plain ||
            launch.name == machine::demangled(function.name)) {
            matches.push_back(static_cast<int>(i));
        }
    }
    if (matches.size() != 1) {
        std::ranges::sort(names);
        throw Error("kernel name", launch.name, fmt::format("one of {}", fmt::join(names, ", ")));
    }
    return matches.front();
}

}  // namespace

bool is_compiled(std::string_view file) {
    return file.ends_with(".cu") || file.ends_with(".ptx") || file.ends_with(".cubin");
}

void check_launch(const CompiledLaunch& launch) {
    (void)parse_shape("kernel grid", launch.grid);
    (void)parse_shape("kernel block", launch.block);
    if (!launch.cluster.empty()) {
        (void)parse_shape("kernel cluster", launch.cluster);
    }
    (void)parse_bytes("kernel dynamic_shared", launch.dynamic_shared);
    (void)parse_arguments(launch.args);
}

DescribedLaunch describe_launch(const CompiledLaunch& launch, const hw::Gpu& gpu, std::uint64_t budget) {
    check_launch(launch);
    const machine::Chip chip = readable_chip(gpu);
    machine::Compiled compiled = compile(launch, chip.architecture);
    const machine::Code code = machine::decode_cubin(compiled.cubin, launch.file);
    if (code.module.architecture / 10 != chip.architecture / 10 ||
        code.module.architecture > chip.architecture) {
        throw Error(
            "kernel file", fmt::format("sm_{} code", code.module.architecture),
            fmt::format("code for sm_{}, or PTX or source, which can be compiled for it", chip.architecture));
    }
    const int kernel = find_kernel(code, launch);
    const machine::Function& function = code.module.functions[static_cast<std::size_t>(kernel)];
    machine::LaunchShape shape;
    shape.grid = parse_shape("kernel grid", launch.grid);
    shape.block = parse_shape("kernel block", launch.block);
    if (!launch.cluster.empty()) {
        shape.cluster = parse_shape("kernel cluster", launch.cluster);
    } else if (function.cluster[0] > 0) {
        for (std::size_t d = 0; d < 3; ++d) {
            shape.cluster[d] = static_cast<std::uint32_t>(std::max(1, function.cluster[d]));
        }
    }
    shape.dynamic_shared = parse_bytes("kernel dynamic_shared", launch.dynamic_shared);
    machine::DeviceMemory memory(memory_bytes);
    const std::vector<std::byte> parameters = place_arguments(parse_arguments(launch.args), function, memory);
    const machine::LoadedCode loaded = machine::load_code(code, memory);
    machine::TraceRecorder trace;
    machine::RunOptions options;
    options.chip = chip;
    options.budget = budget;
    options.observer = &trace;
    options.traced_ctas = 12;
    const machine::LaunchCounts counts =
        machine::run_launch(loaded, kernel, shape, parameters, memory, options);
    if (!counts.error.empty()) {
        throw Error(fmt::format("kernel '{}'", machine::plain_name(function.name)), counts.error,
                    "a launch that runs to its end");
    }
    DescribedLaunch described;
    described.kernel =
        machine::lower({&code, kernel, shape, &counts, &trace, &memory, chip.cache, chip.l2.room});
    described.kernel.name = machine::plain_name(function.name);
    described.warnings = std::move(compiled.warnings);
    model::kernel::check(described.kernel);
    return described;
}

}  // namespace warptime::workloads::frontends
