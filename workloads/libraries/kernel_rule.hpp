// One kernel of a library as data: its launch, and how many instructions of each class its threads run.
// Ignores: what the numbers mean together; the lowering of the operator's family says that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/instruction_class.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::libraries {

/// Machine instructions of one class.
struct ClassCount {
    hw::InstructionClass cls;
    double count = 0.0;
    friend bool operator==(const ClassCount&, const ClassCount&) = default;
};

/// Instructions in the order in which values pass through them, for one unit that the field's name says.
using Mix = std::vector<ClassCount>;

/// "mul_f32 4, mufu 2": classes with their numbers. Throws Error naming `place`.
[[nodiscard]] Mix parse_mix(std::string_view text, const std::string& place);

struct KernelRule {
    std::string name;
    std::vector<hw::Dtype> dtypes;  ///< empty: any
    std::map<std::string, double, std::less<>> values;
    std::map<std::string, Mix, std::less<>> mixes;
    int numbers = 0;

    /// Throws Error naming rule and field where the field is missing.
    [[nodiscard]] double number(std::string_view field) const;
    [[nodiscard]] std::int64_t whole(std::string_view field) const;
    [[nodiscard]] bool has(std::string_view field) const;
    [[nodiscard]] const Mix& mix(std::string_view field) const;
};

/// The rule of that name for an element type: one that lists it, or else one that lists no type. Throws Error
/// naming the rule.
[[nodiscard]] const KernelRule& find_rule(std::span<const KernelRule> rules, std::string_view name,
                                          hw::Dtype dtype);

}  // namespace warptime::workloads::libraries
