// Copy and add, by PyTorch's kernels and launch rules, or by an ideal kernel.
// The ideal kernel is the best that the description can express.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/operator.hpp"

#include "hw/error.hpp"
#include "workloads/elementwise/lower.hpp"

#include <algorithm>
#include <array>

namespace warptime::workloads::elementwise {

namespace {

constexpr std::array<std::string_view, 8> dtypes{"bf16", "fp16", "fp32",  "fp64",
                                                 "fp8",  "int8", "int32", "int64"};
constexpr std::array<std::string_view, 2> implementations{"torch", "ideal"};

constexpr std::array<ParameterInfo, 3> parameters{{
    required_size("n", "elements of each array"),
    {"dtype", ParameterKind::dtype, false, "bf16", dtypes, "element type", true},
    {"implementation", ParameterKind::choice, false, "torch", implementations,
     "torch: PyTorch's own kernel; ideal: the best kernel the model can write", false},
}};

std::string value_of(const Operation& operation, std::string_view parameter) {
    const auto given = operation.parameters.find(parameter);
    return given != operation.parameters.end() ? given->second
                                               : default_value_of(operation, parameter, parameters, nullptr);
}

LaunchRule rule_of(const libraries::Libraries& libraries, std::string_view op, hw::Dtype dtype) {
    for (const libraries::ElementwiseRule& rule : libraries.elementwise_rules) {
        if (rule.op != op) {
            continue;
        }
        const bool narrow = hw::bytes_of(dtype) < hw::bytes_of(hw::Dtype::fp32);
        const int per_access = std::max(1, rule.bytes_per_access / hw::bytes_of(dtype));
        const int accesses = std::max(1, rule.elements_per_thread / per_access);
        const int overhead = narrow ? rule.overhead_narrow : rule.overhead;
        return {rule.threads, rule.bytes_per_access, accesses,
                narrow ? rule.registers_narrow : rule.registers, static_cast<double>(overhead) / accesses};
    }
    throw Error("library data", std::string(op), "an [[elementwise]] rule for this operator");
}

/// Wide loads with several in flight, and nothing but the copy itself.
constexpr LaunchRule ideal_rule{256, 16, 4, 32, 1.0};

class VectorRequest : public Request {
  public:
    VectorRequest(const Operation& operation, int arrays_moved) : arrays(arrays_moved) {
        n = parse_size(value_of(operation, "n"), operation.op + " n");
        dtype = hw::parse_dtype(value_of(operation, "dtype"), operation.op + " dtype");
        torch = value_of(operation, "implementation") == "torch";
    }

    std::int64_t n = 0;
    hw::Dtype dtype = hw::Dtype::bf16;
    bool torch = true;
    int arrays = 0;

    [[nodiscard]] double bytes() const { return static_cast<double>(n) * hw::bytes_of(dtype) * arrays; }

    void check(const hw::Gpu& gpu) const override {
        if (bytes() > gpu.dram.capacity.value()) {
            throw Error("size", "more than the memory of the GPU", "arrays that fit");
        }
    }
};

class CopyRequest final : public VectorRequest {
  public:
    static constexpr int arrays_moved = 2;
    static constexpr double operations_of_element = 0.0;
    explicit CopyRequest(const Operation& operation) : VectorRequest(operation, arrays_moved) {}

    void lower(const libraries::Libraries& libraries, const hw::Gpu& /*gpu*/,
               model::kernel::Program& program) const override {
        if (!torch) {
            elementwise::lower({n, dtype, 1, 0}, ideal_rule, program.add_kernel());
            return;
        }
        // PyTorch hands a contiguous copy of one type to cudaMemcpyAsync.
        model::kernel::Memcpy copy;
        copy.bytes = n * hw::bytes_of(dtype);
        const libraries::DeviceCopyRule& rule = libraries.device_copy;
        if (copy.bytes > rule.ragged_above && copy.bytes % rule.granule != 0) {
            copy.passes = 2;
        }
        program.add_memcpy(copy);
    }
};

class AddRequest final : public VectorRequest {
  public:
    static constexpr int arrays_moved = 3;
    static constexpr double operations_of_element = 1.0;
    explicit AddRequest(const Operation& operation) : VectorRequest(operation, arrays_moved) {}

    void lower(const libraries::Libraries& libraries, const hw::Gpu& /*gpu*/,
               model::kernel::Program& program) const override {
        elementwise::lower({n, dtype, 2, 1}, torch ? rule_of(libraries, "add", dtype) : ideal_rule,
                           program.add_kernel());
    }
};

template <class Of>
UsefulWork work_of(const Operation& operation) {
    const Of request(operation);
    return {Of::operations_of_element * static_cast<double>(request.n), request.bytes(), request.bytes()};
}

template <class Of>
std::unique_ptr<Request> read(const Operation& operation) {
    return std::make_unique<Of>(operation);
}

DataCount data_of_copy(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu&) {
    return {CopyRequest(operation).torch ? libraries.device_copy.numbers : 0, 0, 0};
}

DataCount data_of_add(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu&) {
    DataCount count;
    for (const libraries::ElementwiseRule& rule : libraries.elementwise_rules) {
        if (rule.op == operation.op && AddRequest(operation).torch) count.library += rule.numbers;
    }
    return count;
}

bool set_elements(Request& request, std::int64_t n) {
    static_cast<VectorRequest&>(request).n = n;
    return true;
}

SetNumber find_number(std::string_view parameter) {
    return parameter == "n" ? set_elements : nullptr;
}

template <class Of>
OperatorInfo record(std::string_view name, std::string_view meaning, std::string_view example,
                    DataCount (*data)(const Operation&, const libraries::Libraries&, const hw::Gpu&)) {
    return {name,        meaning, example,  parameters,  nullptr, nullptr,
            work_of<Of>, data,    read<Of>, find_number, nullptr, false};
}

}  // namespace

const OperatorInfo& copy_operator() {
    static const OperatorInfo info =
        record<CopyRequest>("copy", "b.copy_(a): reads n elements, writes n elements",
                            "warptime predict copy 67108864 --dtype bf16 --gpu h200-sxm", data_of_copy);
    return info;
}

const OperatorInfo& add_operator() {
    static const OperatorInfo info =
        record<AddRequest>("add", "torch.add(a, b, out=c): reads 2 n elements, writes n elements",
                           "warptime predict add 67108864 --dtype fp32 --gpu h200-sxm", data_of_add);
    return info;
}

}  // namespace warptime::workloads::elementwise
