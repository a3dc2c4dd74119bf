// Makes the record of an operator over arrays from the few functions in which such operators differ.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/arrays/context.hpp"
#include "workloads/arrays/sizes.hpp"
#include "workloads/operator/operator.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads::arrays {

struct ArrayOperator {
    std::string_view name;
    std::string_view meaning;
    std::string_view example;
    std::span<const ParameterInfo> parameters;
    UsefulWork (*work)(const Sizes&);
    void (*lower)(const Sizes&, const Context&);
    /// The reason why sizes cannot run, as Error; null: any sizes can.
    void (*check)(const Sizes&) = nullptr;
    /// A library chooses PyTorch's kernel (workloads/choice), and `lower` is for ideal kernels only.
    bool chosen = false;
};

class ArrayRequest final : public Request {
  public:
    ArrayRequest(const ArrayOperator& op, const Operation& operation)
        : sizes(read_sizes(operation, op.parameters)), operator_(op) {}

    [[nodiscard]] bool is_open() const override { return operator_.chosen && sizes.torch; }
    void check(const hw::Gpu& gpu) const override;
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override;

    Sizes sizes;

  private:
    const ArrayOperator& operator_;
};

/// How a request takes this size; null where the parameter holds none.
[[nodiscard]] SetNumber setter_of(std::string_view parameter);

/// The reason why `n`, or `rows` and `cols`, have no effect beside the other; empty where they have.
[[nodiscard]] std::string why_unused(const Operation& operation, std::string_view parameter);

/// Numbers of the rules that this operation reads.
[[nodiscard]] DataCount count_data(const ArrayOperator& op, const Operation& operation,
                                   const libraries::Libraries& libraries, const hw::Gpu& gpu);

[[nodiscard]] std::string default_of(const Operation& operation, std::string_view parameter);

template <const ArrayOperator& Op>
[[nodiscard]] OperatorInfo record() {
    return {Op.name,
            Op.meaning,
            Op.example,
            Op.parameters,
            default_of,
            why_unused,
            [](const Operation& operation) { return Op.work(read_sizes(operation, Op.parameters)); },
            [](const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
                return count_data(Op, operation, libraries, gpu);
            },
            [](const Operation& operation) -> std::unique_ptr<Request> {
                return std::make_unique<ArrayRequest>(Op, operation);
            },
            setter_of,
            nullptr,
            false};
}

}  // namespace warptime::workloads::arrays
