// The remedies that performance guides list, each as a pure function: a kernel or an operation to a changed
// one. Ignores: remedies that only a measurement of the program could propose (which data are hot, which
// branch is taken). Source: CUDA C++ Best Practices Guide 13.0; Volkov, "Better performance at lower
// occupancy" (GTC 2010); Harris, "Optimizing parallel reduction in CUDA"; PTX ISA 8.7 for asynchronous copies
// and wgmma.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/advice/question.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::advice {

/// What a remedy makes of the question: other programs or operations, of which the fastest counts.
struct Remedied {
    std::vector<model::kernel::Program> programs;
    std::vector<workloads::Operation> operations;
    double parts = 1.0;      ///< the changed program does so many times the work: 8 for a batch of eight
    double saved = 0.0;      ///< seconds saved beside the program's time: gaps between launches
    std::string where = {};  ///< op or parameter; empty: the ops that differ
};

/// What a remedy looks at.
struct Patient {
    const Question* question = nullptr;  ///< with the kernel that the library launches
    const model::kernel::Program* program = nullptr;
    const model::prediction::Prediction* prediction = nullptr;
};

/// What a remedy changes: the kernel by itself, or what the program does around it. The second needs more
/// such work, a kernel before, or a launch behind, which a description does not tell of.
enum class Scope : std::uint8_t { kernel, program };

struct Remedy {
    std::string_view name;
    std::string_view how;  ///< one sentence
    /// Nothing where the remedy does not apply.
    std::optional<Remedied> (*apply)(const Patient&);
    Scope scope = Scope::kernel;
};

/// All remedies, in the order of the documentation.
[[nodiscard]] std::span<const Remedy> remedies();

/// The ops in which two programs differ, as text: "ld_global of memory0 (op 12)".
[[nodiscard]] std::string difference_text(const model::kernel::Program& before,
                                          const model::kernel::Program& after);

}  // namespace warptime::advice
