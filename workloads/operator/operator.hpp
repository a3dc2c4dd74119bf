// The record of an operator: everything that the rest of Warptime asks about the operator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/operator/lowering_keeper.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/parameter.hpp"
#include "workloads/operator/request_interface.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

/// The work of an operation, independent of its kernel. Ignores padding, reuse and the instruction mix.
struct UsefulWork {
    /// A multiply-add counts as two. None where only the kernel says what is done: then all of it counts.
    std::optional<double> operations;
    double bytes = 0.0;   ///< each operand is read once, each result written once
    double memory = 0.0;  ///< bytes that must fit the GPU's memory
};

/// How many numbers of versioned data a prediction uses, in addition to those of the chip.
struct DataCount {
    int library = 0;   ///< tiles and rules of a library (workloads/libraries)
    int learned = 0;   ///< questions and answers of trees learned from its launches
    int compiler = 0;  ///< laws of a compiler (workloads/compilers)
};

/// The default of a parameter that follows from other parameters; empty where the lowering chooses.
using DefaultOf = std::string (*)(const Operation&, std::string_view parameter);

struct OperatorInfo {
    std::string_view name;
    std::string_view meaning;
    std::string_view example;  ///< a command line that works
    std::span<const ParameterInfo> parameters;
    DefaultOf default_of;  ///< null: the parameters' own defaults are all
    /// The reason why a given parameter would change nothing, as the form that is expected instead. Empty
    /// where the parameter has an effect. Null: every parameter always has an effect.
    std::string (*why_unused)(const Operation&, std::string_view parameter);
    UsefulWork (*work)(const Operation&);
    DataCount (*data)(const Operation&, const libraries::Libraries&, const hw::Gpu&);
    /// Throws Error for unknown words; Request::check checks the sizes.
    std::unique_ptr<Request> (*read)(const Operation&);
    /// How a request takes a number; null for a parameter that holds no number.
    SetNumber (*number)(std::string_view parameter);
    /// Null where requests share no bodies. `gpu` must outlive the keeper and must not change.
    std::unique_ptr<LoweringKeeper> (*make_keeper)(const hw::Gpu& gpu);
    bool tiled;  ///< a tile can describe its kernel (workloads/choice/tiles)
};

/// Finds a parameter by name or alias, in any case and with `-` for `_`; null if there is none.
[[nodiscard]] const ParameterInfo* find_parameter(std::span<const ParameterInfo> parameters,
                                                  std::string_view name);

/// The default of a parameter in this operation. Throws Error for a parameter that the operator does not
/// have.
[[nodiscard]] std::string default_value_of(const Operation& operation, std::string_view parameter,
                                           std::span<const ParameterInfo> parameters, DefaultOf default_of);

/// Reads an operation. Throws Error naming a parameter that has no effect.
[[nodiscard]] std::unique_ptr<Request> read_request(const OperatorInfo& info, const Operation& operation);
/// Checks only that every parameter has an effect.
void refuse_unused(const OperatorInfo& info, const Operation& operation);

/// Throws Error naming the operator's sizes when `bytes` do not fit the GPU's memory.
void require_memory(const Operation& operation, const hw::Gpu& gpu, double bytes);

}  // namespace warptime::workloads
