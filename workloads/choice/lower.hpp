// From an operation to the program that a GPU runs, after the library's choice of a kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/vendor_choice.hpp"
#include "workloads/operator/operator.hpp"

#include <memory>

namespace warptime::workloads::choice {

/// The closed request that a library makes of an open one. `score` may use the numbers of bodies in `memory`.
[[nodiscard]] std::unique_ptr<Request> chosen(const OperatorInfo& info, const Request& open,
                                              const libraries::Libraries& libraries, const hw::Gpu& gpu,
                                              const Score& score, ChoiceMemory& memory);

/// Refills `program` with what `chosen` has made of a request, and says what a user should know of the
/// choice.
void lower_chosen(const OperatorInfo& info, const Request& closed, const libraries::Libraries& libraries,
                  const hw::Gpu& gpu, model::kernel::Program& program);

/// Refills `program`. Throws Error naming the parameter for a request that cannot run.
void lower(const OperatorInfo& info, const Request& request, const libraries::Libraries& libraries,
           const hw::Gpu& gpu, const Score& score, ChoiceMemory& memory, model::kernel::Program& program);

/// Does the same without a memory; `score` gets no numbers of bodies.
void lower(const OperatorInfo& info, const Request& request, const libraries::Libraries& libraries,
           const hw::Gpu& gpu, const Score& score, model::kernel::Program& program);

/// Both from text. Throws Error with the size for a problem larger than the GPU's memory.
void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu,
           const Score& score, ChoiceMemory& memory, model::kernel::Program& program);
void lower(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu,
           const Score& score, model::kernel::Program& program);

}  // namespace warptime::workloads::choice
