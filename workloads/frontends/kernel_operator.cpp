// Useful work of a described kernel is what the description executes: no shape says what padding is.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_operator.hpp"

#include "hw/architecture_features.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/kernel_text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace warptime::workloads::frontends {

namespace mk = model::kernel;

namespace {

constexpr std::array<ParameterInfo, 1> parameters{{
    {"file", ParameterKind::text, true, "", {}, "description of a kernel (docs/kernel-text.md)", true},
}};

double bytes_of(const mk::Kernel& kernel) {
    double bytes = 0.0;
    for (const mk::Buffer& buffer : kernel.buffers) {
        if (buffer.space == mk::Space::global) {
            bytes += static_cast<double>(buffer.elements()) * hw::bytes_of(buffer.dtype);
        }
    }
    return bytes;
}

class KernelRequest final : public Request {
  public:
    explicit KernelRequest(mk::Program read) : program_(std::move(read)) {}

    [[nodiscard]] const mk::Kernel& kernel() const { return program_.kernels.front(); }

    void check(const hw::Gpu& gpu) const override { require_runs_on(kernel(), gpu); }

    void lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& /*gpu*/,
               mk::Program& program) const override {
        program.add_kernel() = kernel();
    }

  private:
    mk::Program program_;
};

KernelRequest request_of(const Operation& operation) {
    return KernelRequest(read_kernel_file(operation.parameters.at("file")));
}

std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<KernelRequest>(request_of(operation));
}

UsefulWork work_of(const Operation& operation) {
    const double bytes = bytes_of(request_of(operation).kernel());
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
                                   nullptr,
                                   work_of,
                                   no_data,
                                   read,
                                   no_number,
                                   nullptr,
                                   false};
    return info;
}

}  // namespace warptime::workloads::frontends
