// The record of an operator: everything that the rest of Warptime asks of it, in one place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "workloads/operator/lowering_keeper.hpp"
#include "workloads/operator/operation.hpp"
#include "workloads/operator/parameter.hpp"
#include "workloads/operator/request_interface.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace warptime::workloads {

/// The work that an operation asks for, whoever does it. Ignores padding, reuse and the instruction mix.
struct UsefulWork {
    double operations = 0.0;  ///< multiply and add counted apart
    double bytes = 0.0;       ///< every operand read once, every result written once
    double memory = 0.0;      ///< bytes that must fit the GPU's memory
};

/// Numbers of versioned data that a prediction rests on, beside those of the chip.
struct DataCount {
    int library = 0;   ///< tiles and rules of a library (workloads/libraries)
    int learned = 0;   ///< questions and answers of trees learned from its launches
    int compiler = 0;  ///< laws of a compiler (workloads/compilers)
};

/// Default of a parameter that follows from others; empty where the lowering chooses.
using DefaultOf = std::string (*)(const Operation&, std::string_view parameter);

struct OperatorInfo {
    std::string_view name;
    std::string_view meaning;
    std::string_view example;  ///< a command line that works
    std::span<const ParameterInfo> parameters;
    DefaultOf default_of;  ///< null: the parameters' own defaults are all
    /// Why a given parameter would change nothing, as the form expected instead; empty where it has an
    /// effect. Null: all of them always have one.
    std::string (*why_unused)(const Operation&, std::string_view parameter);
    UsefulWork (*work)(const Operation&);
    DataCount (*data)(const Operation&, const libraries::Libraries&, const hw::Gpu&);
    /// Throws Error for words that mean nothing; sizes are left to Request::check.
    std::unique_ptr<Request> (*read)(const Operation&);
    /// How a request takes a number; null for a parameter that holds none.
    SetNumber (*number)(std::string_view parameter);
    /// Null where requests share no bodies. `gpu` must outlive the keeper and stay as it is.
    std::unique_ptr<LoweringKeeper> (*make_keeper)(const hw::Gpu& gpu);
    bool tiled;  ///< its kernel can be given as a tile (workloads/choice/tiles)
};

/// By name or alias, in any case and with `-` for `_`; null where there is none.
[[nodiscard]] const ParameterInfo* find_parameter(std::span<const ParameterInfo> parameters,
                                                  std::string_view name);

/// The default of a parameter in this operation. Throws Error for a parameter that the operator has not.
[[nodiscard]] std::string default_value_of(const Operation& operation, std::string_view parameter,
                                           std::span<const ParameterInfo> parameters, DefaultOf default_of);

/// Reads an operation whose every parameter has an effect; throws Error naming one that has none.
[[nodiscard]] std::unique_ptr<Request> read_request(const OperatorInfo& info, const Operation& operation);
/// The check alone.
void refuse_unused(const OperatorInfo& info, const Operation& operation);

/// Throws Error naming the operator's sizes when `bytes` do not fit the GPU's memory.
void require_memory(const Operation& operation, const hw::Gpu& gpu, double bytes);

}  // namespace warptime::workloads
