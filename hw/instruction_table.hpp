// What each class of warp-instruction costs on one architecture, and how PTX expands into those classes.
// Ignores: register bank conflicts and dual issue. The interval of a class whose unit has a lane count on the
// sheet follows from it: interval = 32 results / (lanes per SM / sub-partitions), so that changing the lanes
// changes it. Source: the rows of hw/isa/*.toml, each with its own. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "hw/quantity.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

/// The lane count an interval derives from; `none`: the interval is stated in the table.
enum class Lanes : std::uint8_t { none, fp32, fp64, fp16, integer, sfu, shuffle, count };

template <class S>
struct InstructionCost {
    bool supported = false;         ///< false: the architecture has no such instruction
    Unit unit = Unit::none;         ///< the server it occupies
    Number<S> machine{S(0)};        ///< machine warp-instructions per PTX instruction (smsp__inst_executed)
    Cycles<S> interval{S(0)};       ///< unit busy time per machine warp-instruction in one sub-partition
    Cycles<S> latency{S(0)};        ///< dependent issue distance; 0 for memory, whose latency is a chip key
    Lanes lanes = Lanes::none;      ///< what `interval` derives from
    double results_per_thread = 1;  ///< 2 for packed 16-bit pairs
};

/// One PTX mnemonic, without its type suffixes unless they matter.
struct PtxExpansion {
    std::string mnemonic;
    InstructionClass cls = InstructionClass::count;
    double machine = 1;  ///< machine instructions it becomes; 0: folded away
};

template <class S>
struct InstructionTable {
    std::array<InstructionCost<S>, instruction_class_count> costs{};
    std::vector<PtxExpansion> ptx;  ///< sorted by mnemonic

    [[nodiscard]] const InstructionCost<S>& operator[](InstructionClass cls) const {
        return costs[static_cast<std::size_t>(cls)];
    }
    [[nodiscard]] InstructionCost<S>& operator[](InstructionClass cls) {
        return costs[static_cast<std::size_t>(cls)];
    }
};

/// Parses the text of an isa file; `file` names it in errors. Intervals that derive from lanes are left at 0
/// until resolve_instructions. Throws Error for an unknown or missing class, unit or field, or a number
/// without source.
[[nodiscard]] InstructionTable<double> parse_instruction_table(std::string_view text, std::string_view file);

/// Row of a PTX mnemonic: the longest listed prefix at a dot ("add.s64" before "add"); null when none
/// matches.
[[nodiscard]] const PtxExpansion* find_ptx(const std::vector<PtxExpansion>& rows, std::string_view mnemonic);

[[nodiscard]] std::string_view to_string(Lanes lanes);

}  // namespace warptime::hw
