// Useful work of a kernel is what the description executes: no shape says what padding is.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_operator.hpp"

#include "hw/architecture_features.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/compiled_kernel.hpp"
#include "workloads/frontends/kernel_text.hpp"
#include "workloads/frontends/launch_arguments.hpp"
#include "workloads/frontends/machine/chip/chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace warptime::workloads::frontends {

namespace mk = model::kernel;

namespace {

constexpr std::array<ParameterInfo, 7> parameters{{
    {"file",
     ParameterKind::text,
     true,
     "",
     {},
     "description (.kernel), source (.cu), PTX (.ptx) or machine code (.cubin)",
     true},
    {"name", ParameterKind::text, false, "", {}, "kernel of the file, where it has several", true},
    {"grid", ParameterKind::text, false, "", {}, "CTAs, as 64x64; of compiled kernels", true},
    {"block", ParameterKind::text, false, "", {}, "threads of a CTA, as 256 or 32x8", true},
    {"cluster", ParameterKind::text, false, "", {}, "CTAs of a cluster, as 2x1", true},
    {"dynamic_shared", ParameterKind::text, false, "", {}, "bytes of dynamic shared memory", true},
    {"args",
     ParameterKind::text,
     false,
     "",
     {},
     "arguments: buffer:BYTES[:zeros|random|iota|file=PATH], 4096, 1.5f, "
     "map:BYTES:CONTENTS:TYPE:EXTENTS:STRIDES:BOX:SWIZZLE",
     true},
}};

/// Bytes of a kernel's buffers in global memory.
double bytes_of(const mk::Kernel& kernel) {
    double bytes = 0.0;
    for (const mk::Buffer& buffer : kernel.buffers) {
        if (buffer.space == mk::Space::global) {
            bytes += static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
        }
    }
    return bytes;
}

/// One kernel in the text form, or a program of several.
class KernelRequest final : public Request {
  public:
    explicit KernelRequest(mk::Program read) : program_(std::move(read)) {}

    [[nodiscard]] double bytes() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < program_.kernel_count; ++i) sum += bytes_of(program_.kernels[i]);
        return sum;
    }

    void check(const hw::Gpu& gpu) const override {
        for (std::size_t i = 0; i < program_.kernel_count; ++i) require_runs_on(program_.kernels[i], gpu);
    }

    void lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& /*gpu*/,
               mk::Program& program) const override {
        program = program_;
    }

  private:
    mk::Program program_;
};

/// A kernel in machine code. Its description depends on what code sees of the chip, so it is made when a GPU
/// asks, and kept for GPUs that look alike.
class CompiledRequest final : public Request {
  public:
    explicit CompiledRequest(CompiledLaunch launch) : launch_(std::move(launch)) { check_launch(launch_); }

    void check(const hw::Gpu& gpu) const override { require_runs_on(described(gpu).kernel, gpu); }

    void lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& gpu,
               mk::Program& program) const override {
        const DescribedLaunch& launch = described(gpu);
        program.add_kernel() = launch.kernel;
        program.warnings = launch.warnings;
    }

  private:
    const DescribedLaunch& described(const hw::Gpu& gpu) const {
        const std::lock_guard<std::mutex> lock(guard_);
        const machine::Chip chip = machine::chip_of(gpu);
        const auto known =
            std::ranges::find_if(described_, [&chip](const auto& entry) { return entry.first == chip; });
        if (known != described_.end()) {
            return known->second;
        }
        return described_.emplace_back(chip, describe_launch(launch_, gpu)).second;
    }

    CompiledLaunch launch_;
    mutable std::mutex guard_;
    mutable std::deque<std::pair<machine::Chip, DescribedLaunch>> described_;
};

std::string given(const Operation& operation, const std::string& parameter) {
    const auto found = operation.parameters.find(parameter);
    return found == operation.parameters.end() ? std::string{} : found->second;
}

std::unique_ptr<Request> read(const Operation& operation) {
    const std::string file = given(operation, "file");
    if (!is_compiled(file)) {
        return std::make_unique<KernelRequest>(KernelRequest(read_kernel_file(file)));
    }
    return std::make_unique<CompiledRequest>(CompiledLaunch{
        file, given(operation, "name"), given(operation, "grid"), given(operation, "block"),
        given(operation, "cluster"), given(operation, "dynamic_shared"), given(operation, "args")});
}

std::string why_unused(const Operation& operation, std::string_view parameter) {
    const bool described = !is_compiled(given(operation, "file"));
    return described && parameter != "file" ? "no value: a .kernel file says it itself" : std::string{};
}

UsefulWork work_of(const Operation& operation) {
    const std::string file = given(operation, "file");
    double bytes = 0.0;
    if (is_compiled(file)) {
        for (const LaunchArgument& argument : parse_arguments(given(operation, "args"))) {
            bytes += static_cast<double>(argument.bytes);
        }
    } else {
        bytes = KernelRequest(read_kernel_file(file)).bytes();
    }
    return {std::nullopt, bytes, bytes};
}

DataCount no_data(const Operation& /*operation*/, const libraries::Libraries& /*libraries*/,
                  const hw::Gpu& /*gpu*/) {
    return {};
}

SetNumber no_number(std::string_view /*parameter*/) {
    return nullptr;
}

}  // namespace

void require_runs_on(const mk::Kernel& kernel, const hw::Gpu& gpu) {
    const auto refuse = [&kernel](const char* what, std::string value, std::string expected) {
        throw Error(fmt::format("kernel '{}' {}", kernel.name, what), std::move(value), std::move(expected));
    };
    for (const mk::Op& op : kernel.ops) {
        if (!gpu.instructions[op.cls].supported) {
            refuse("instruction", std::string(hw::to_string(op.cls)),
                   fmt::format("one that {} has; it is {}", gpu.id, gpu.isa));
        }
    }
    const bool clusters = gpu.instructions[hw::InstructionClass::cluster_barrier].supported;
    if (kernel.cluster.volume() > 1 && !clusters) {
        refuse("cluster", std::to_string(kernel.cluster.volume()),
               fmt::format("1: {} is {}, which has no clusters", gpu.id, gpu.isa));
    }
    if (kernel.schedule.kind == mk::ScheduleKind::cluster_launch_control &&
        !hw::features_of(gpu.isa).cluster_launch_control) {
        refuse("schedule", "cluster_launch_control",
               fmt::format("a schedule that {} has; it is {}", gpu.id, gpu.isa));
    }
    const double bytes = bytes_of(kernel);
    if (bytes > gpu.dram.capacity.value()) {
        refuse("buffers", fmt::format("{:.3g} GB", bytes / 1e9),
               fmt::format("at most the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
    }
}

const OperatorInfo& kernel_operator() {
    static const OperatorInfo info{"kernel",
                                   "a kernel by its description: grid, buffers, and what its warps execute",
                                   "warptime predict kernel examples/kernels/saxpy.kernel --gpu h200-sxm",
                                   parameters,
                                   nullptr,
                                   why_unused,
                                   work_of,
                                   no_data,
                                   read,
                                   no_number,
                                   nullptr,
                                   false};
    return info;
}

}  // namespace warptime::workloads::frontends
