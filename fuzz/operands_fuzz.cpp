// Any bytes as the printed operands of an instruction, either refused with Error or read.
// Registers, predicates and barriers that are read exist.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include <vector>

namespace {

using namespace warptime::workloads::frontends::machine;

bool exists(const Operand& operand) {
    switch (operand.kind) {
        case OperandKind::predicate:
        case OperandKind::uniform_predicate:
            return operand.number <= true_predicate;
        case OperandKind::barrier:
            return operand.number < 16;
        case OperandKind::constant:
            return operand.bank >= 0 || operand.descriptor >= 0;
        default:
            return operand.base <= zero_register && operand.uniform_base <= zero_register;
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<Operand> operands;
    try {
        operands = parse_operands(warptime::fuzz::text_of(data, size));
    } catch (const warptime::Error&) {
        return 0;
    }
    warptime::fuzz::require(operands.size() <= size, "an operand has a character of its own");
    for (const Operand& operand : operands) {
        warptime::fuzz::require(exists(operand), "a register or a bank that is named exists");
    }
    return 0;
}
