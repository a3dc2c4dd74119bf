// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/record.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace warptime::workloads::arrays {

namespace {

/// Largest number of elements for which all byte counts of a description stay whole in 64 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 53;

void require_product(const ArrayOperator& op, std::int64_t a, std::int64_t b, std::string_view names) {
    if (a > most_elements / b) {
        throw Error(fmt::format("{} {}", op.name, names), fmt::format("{} x {}", a, b),
                    "a product of at most 2^53 elements");
    }
}

/// Arrays that no kernel of the operator has touched before the one that reads them.
bool is_fresh(std::string_view kernel, std::string_view buffer) {
    static constexpr std::string_view names[] = {
        "b",       "mask",    "table", "targets", "weight",        "parameters", "gradients",
        "moment1", "moment2", "bias",  "indices", "rows_gradient", "sums",       "source"};
    if (kernel == "pad") return buffer == "in";
    return std::find(std::begin(names), std::end(names), buffer) != std::end(names);
}

/// Bytes of the arrays that a step touches.
double bytes_touched(const model::kernel::Program& program, const model::kernel::Step& step) {
    namespace mk = model::kernel;
    if (step.kind == mk::StepKind::memcpy)
        return 2.0 * static_cast<double>(program.memcpys[step.payload].bytes);
    if (step.kind != mk::StepKind::kernel) return 0.0;
    double all = 0.0;
    for (const mk::Buffer& buffer : program.kernels[step.payload].buffers) {
        if (buffer.space == mk::Space::global) all += static_cast<double>(buffer.bytes());
    }
    return all;
}

/// Whether a step touches an array of as many bytes.
bool touches(const model::kernel::Program& program, const model::kernel::Step& step, std::int64_t bytes) {
    namespace mk = model::kernel;
    if (step.kind == mk::StepKind::memcpy) return program.memcpys[step.payload].bytes == bytes;
    if (step.kind != mk::StepKind::kernel) return false;
    const auto& buffers = program.kernels[step.payload].buffers;
    return std::any_of(buffers.begin(), buffers.end(), [&](const mk::Buffer& buffer) {
        return buffer.space == mk::Space::global && buffer.bytes() == bytes;
    });
}

/// What has been touched since a step before number `step` went over an array of so many bytes: half of that
/// step's other arrays, and all of the steps between. Nothing where the L2 cannot hold the array until then:
/// neither that step nor one since may have gone over more than fits.
std::optional<double> touched_since(const hw::Gpu& gpu, const model::kernel::Program& program,
                                    std::size_t step, std::int64_t bytes) {
    double between = 0.0;
    for (std::size_t before = step; before-- > 0;) {
        const double all = bytes_touched(program, program.steps[before]);
        if (all > gpu.l2.capacity.value()) return std::nullopt;
        if (touches(program, program.steps[before], bytes))
            return between + 0.5 * (all - static_cast<double>(bytes));
        between += all;
    }
    return std::nullopt;
}

/// Says of each kernel but the first which of its arrays an earlier step has left in the L2. Arrays of one
/// size are taken to be one, save those that come into use late.
void say_what_is_left(const hw::Gpu& gpu, model::kernel::Program& program) {
    namespace mk = model::kernel;
    for (std::size_t step = 1; step < program.steps.size(); ++step) {
        if (program.steps[step].kind != mk::StepKind::kernel) continue;
        mk::Kernel& kernel = program.kernels[program.steps[step].payload];
        if (bytes_touched(program, program.steps[step]) > gpu.l2.capacity.value()) continue;
        for (mk::Buffer& buffer : kernel.buffers) {
            if (buffer.space != mk::Space::global || is_fresh(kernel.name, buffer.name.view())) continue;
            const std::optional<double> since = touched_since(gpu, program, step, buffer.bytes());
            if (!since) continue;
            buffer.since_bytes = static_cast<std::int64_t>(*since);
            buffer.before = mk::Before::warm;
            buffer.contents = mk::Contents::written_by;
            buffer.written_by_step = static_cast<mk::Id>(step - 1);
        }
    }
}

template <std::int64_t Sizes::*Field>
bool set(Request& request, std::int64_t value) {
    Sizes& sizes = static_cast<ArrayRequest&>(request).sizes;
    sizes.*Field = value;
    if constexpr (Field == &Sizes::rows) sizes.matrix = true;
    return true;
}

}  // namespace

void ArrayRequest::check(const hw::Gpu& gpu) const {
    const Sizes& s = sizes;
    require_product(operator_, s.rows, s.cols, "rows x cols");
    require_product(operator_, s.indices, s.cols, "indices x cols");
    if (operator_.check != nullptr) operator_.check(s);
    const double bytes = operator_.work(s).memory;
    if (bytes > gpu.dram.capacity.value()) {
        throw Error(
            fmt::format("{} size", operator_.name), fmt::format("{:.3g} GB", bytes / 1e9),
            fmt::format("arrays that fit the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
    }
}

void ArrayRequest::lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
                         model::kernel::Program& program) const {
    if (is_open()) {
        throw Error(fmt::format("{} implementation", operator_.name), "torch",
                    "a kernel that workloads/choice finds for a library");
    }
    operator_.lower(sizes, {libraries, gpu, program, nullptr});
    say_what_is_left(gpu, program);
}

SetNumber setter_of(std::string_view parameter) {
    static constexpr std::pair<std::string_view, SetNumber> setters[] = {
        {"n", set<&Sizes::n>},
        {"rows", set<&Sizes::rows>},
        {"cols", set<&Sizes::cols>},
        {"k", set<&Sizes::k>},
        {"indices", set<&Sizes::indices>},
        {"size", set<&Sizes::size>},
        {"radius", set<&Sizes::radius>},
        {"tensors", set<&Sizes::tensors>},
        {"inputs", set<&Sizes::inputs>},
        {"flops", set<&Sizes::flops>},
        {"outputs", set<&Sizes::outputs>},
        {"bins", set<&Sizes::bins>},
        {"heads", set<&Sizes::heads>},
        {"dims", set<&Sizes::dims>},
        {"row", set<&Sizes::row>},
        {"repeated", set<&Sizes::repeated>},
    };
    for (const auto& [name, setter] : setters) {
        if (name == parameter) return setter;
    }
    return nullptr;
}

std::string why_unused(const Operation& operation, std::string_view parameter) {
    const auto given = [&](std::string_view name) {
        return operation.parameters.find(name) != operation.parameters.end();
    };
    if (parameter == "n" && given("rows")) return "n alone, or rows and cols";
    if (parameter == "cols" && given("n")) return "n alone, or rows and cols";
    if (parameter == "rows" && !given("cols")) return "rows and cols together";
    if (parameter == "cols" && !given("rows")) return "rows and cols together";
    return "";
}

DataCount count_data(const ArrayOperator& op, const Operation& operation,
                     const libraries::Libraries& libraries, const hw::Gpu& gpu) {
    std::vector<const libraries::KernelRule*> used;
    model::kernel::Program program;
    op.lower(read_sizes(operation, op.parameters), {libraries, gpu, program, &used});
    DataCount count;
    for (const libraries::KernelRule* rule : used) count.library += rule->numbers;
    return count;
}

std::string default_of(const Operation& operation, std::string_view parameter) {
    if (parameter != "out_dtype") return "";
    const auto given = operation.parameters.find("dtype");
    const hw::Dtype dtype =
        given == operation.parameters.end() ? hw::Dtype::bf16 : hw::parse_dtype(given->second);
    return std::string(hw::to_string(usual_cast(dtype)));
}

}  // namespace warptime::workloads::arrays
