// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/record.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <array>
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

template <std::int64_t Sizes::* Field>
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
        throw Error(fmt::format("{} size", operator_.name), fmt::format("{:.3g} GB", bytes / 1e9),
                    fmt::format("arrays that fit the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
    }
}

void ArrayRequest::lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
                         model::kernel::Program& program) const {
    operator_.lower(sizes, {libraries, gpu, program, nullptr});
}

SetNumber setter_of(std::string_view parameter) {
    static constexpr std::pair<std::string_view, SetNumber> setters[] = {
        {"n", set<&Sizes::n>},           {"rows", set<&Sizes::rows>},       {"cols", set<&Sizes::cols>},
        {"k", set<&Sizes::k>},           {"indices", set<&Sizes::indices>}, {"size", set<&Sizes::size>},
        {"radius", set<&Sizes::radius>}, {"tensors", set<&Sizes::tensors>}, {"inputs", set<&Sizes::inputs>},
        {"flops", set<&Sizes::flops>},   {"outputs", set<&Sizes::outputs>}, {"bins", set<&Sizes::bins>},
        {"heads", set<&Sizes::heads>},
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
