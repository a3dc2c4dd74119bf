// Lowers copy and add: PyTorch's own kernels by its launch rules, or the best kernel that the description can
// express. SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/defaults.hpp"
#include "workloads/elementwise/lower.hpp"
#include "workloads/operators.hpp"

#include <algorithm>

namespace warptime::workloads {

namespace {

struct Vector {
    std::int64_t n = 0;
    hw::Dtype dtype = hw::Dtype::bf16;
    bool torch = true;
};

Vector vector_of(const Operation& operation) {
    Vector v;
    v.n = parse_size(value_or_default(operation, "n"), operation.op + " n");
    v.dtype = hw::parse_dtype(value_or_default(operation, "dtype"), operation.op + " dtype");
    v.torch = value_or_default(operation, "implementation") == "torch";
    return v;
}

double bytes_of(const Vector& v, int arrays) {
    return static_cast<double>(v.n) * hw::bytes_of(v.dtype) * arrays;
}

elementwise::LaunchRule rule_of(const libraries::Libraries& libraries, std::string_view op, hw::Dtype dtype) {
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

/// Wide loads, several in flight, nothing but the copy itself.
constexpr elementwise::LaunchRule ideal_rule{256, 16, 4, 32, 1.0};

}  // namespace

void lower_copy_operation(const Operation& operation, const libraries::Libraries& libraries,
                          const hw::Gpu<double>& gpu, model::kernel::Program& program) {
    const Vector v = vector_of(operation);
    require_memory(operation, gpu, bytes_of(v, 2));
    if (v.torch) {
        // Contiguous and of one type: PyTorch hands the copy to cudaMemcpyAsync.
        model::kernel::Memcpy copy;
        copy.bytes = v.n * hw::bytes_of(v.dtype);
        const libraries::DeviceCopyRule& rule = libraries.device_copy;
        if (copy.bytes > rule.ragged_above && copy.bytes % rule.granule != 0) {
            copy.passes = 2;
        }
        program.add_memcpy(copy);
        return;
    }
    elementwise::Problem problem{v.n, v.dtype, 1, 0};
    elementwise::lower(problem, ideal_rule, program.add_kernel());
}

void lower_add_operation(const Operation& operation, const libraries::Libraries& libraries,
                         const hw::Gpu<double>& gpu, model::kernel::Program& program) {
    const Vector v = vector_of(operation);
    require_memory(operation, gpu, bytes_of(v, 3));
    elementwise::Problem problem{v.n, v.dtype, 2, 1};
    elementwise::lower(problem, v.torch ? rule_of(libraries, "add", v.dtype) : ideal_rule,
                       program.add_kernel());
}

}  // namespace warptime::workloads
