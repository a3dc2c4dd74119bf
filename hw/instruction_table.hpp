// Cost of each class of warp-instructions on one architecture, and the expansion of PTX into these classes.
// Ignores: register bank conflicts and dual issue. An interval whose unit has a lane count on the sheet
// follows from it: 32 results / (lanes per SM / sub-partitions). A changed lane count therefore changes the
// interval.
// Source: the rows of hw/isa/*.toml, each with its own source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "hw/quantity.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

/// Lane count from which an interval derives; `none`: the table states the interval.
enum class Lanes : std::uint8_t { none, fp32, fp64, fp16, integer, sfu, shuffle, count };

struct InstructionCost {
    bool supported = false;         ///< false: the architecture has no such instruction
    Unit unit = Unit::none;         ///< execution unit that it occupies
    Number machine{0.0};            ///< machine warp-instructions per PTX instruction (smsp__inst_executed)
    Cycles interval{0.0};           ///< unit busy time per machine warp-instruction in one sub-partition
    Cycles latency{0.0};            ///< dependent issue distance; 0 for memory, whose latency is a chip key
    Lanes lanes = Lanes::none;      ///< lane count from which `interval` derives
    double results_per_thread = 1;  ///< 2 for packed 16-bit pairs
};

/// One PTX mnemonic, without its type suffixes unless they matter.
struct PtxExpansion {
    std::string mnemonic;
    InstructionClass cls = InstructionClass::count;
    double machine = 1;  ///< machine instructions of one PTX instruction; 0: folded away
};

struct InstructionTable {
    std::array<InstructionCost, instruction_class_count> costs{};
    std::vector<PtxExpansion> ptx;  ///< sorted by mnemonic

    [[nodiscard]] const InstructionCost& operator[](InstructionClass cls) const {
        return costs[static_cast<std::size_t>(cls)];
    }
    [[nodiscard]] InstructionCost& operator[](InstructionClass cls) {
        return costs[static_cast<std::size_t>(cls)];
    }
};

/// Parses the text of an isa file; `file` names it in errors. Intervals that derive from lanes stay 0 until
/// resolve_instructions. Throws Error for an unknown or missing class, unit or field, or a number without
/// source.
[[nodiscard]] InstructionTable parse_instruction_table(std::string_view text, std::string_view file);

/// Row of a PTX mnemonic: the longest listed prefix at a dot ("add.s64" before "add"); null when none
/// matches.
[[nodiscard]] const PtxExpansion* find_ptx(const std::vector<PtxExpansion>& rows, std::string_view mnemonic);

[[nodiscard]] std::string_view to_string(Lanes lanes);

}  // namespace warptime::hw
