// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/tools/cuda_tools.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint32_t bytes_per_instruction = 16;

Control control_of(const std::array<std::uint64_t, 2>& encoding) {
    const std::uint64_t bits = encoding[1] >> (105U - 64U);
    Control control;
    control.stall = static_cast<std::uint8_t>(bits & 0xfU);
    control.yield = ((bits >> 4U) & 1U) != 0;
    control.write_barrier = static_cast<std::uint8_t>((bits >> 5U) & 7U);
    control.read_barrier = static_cast<std::uint8_t>((bits >> 8U) & 7U);
    control.wait_mask = static_cast<std::uint8_t>((bits >> 11U) & 0x3fU);
    control.reuse = static_cast<std::uint8_t>((bits >> 17U) & 0xfU);
    return control;
}

void set_guard(AssemblyLine& line, std::string_view guard) {
    if (guard.empty() || guard.front() != '@') {
        return;
    }
    guard.remove_prefix(1);
    if (guard.starts_with("!")) {
        line.guard_negated = true;
        guard.remove_prefix(1);
    }
    if (guard.starts_with("U")) {
        line.guard_uniform = true;
        guard.remove_prefix(1);
    }
    if (guard == "PT") {
        return;
    }
    int number = 0;
    const std::string_view digits = guard.starts_with("P") ? guard.substr(1) : std::string_view("?");
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || number < 0 || number > true_predicate) {
        throw Error("predicate", std::string(guard), "P0 to P6 or PT");
    }
    line.guard = number;
}

void set_opcode(AssemblyLine& line, std::string_view opcode) {
    const std::size_t dot = opcode.find('.');
    line.opcode = std::string(opcode.substr(0, dot));
    while (dot != std::string_view::npos && !opcode.empty()) {
        const std::size_t begin = opcode.find('.');
        if (begin == std::string_view::npos) {
            break;
        }
        opcode.remove_prefix(begin + 1);
        line.modifiers.emplace_back(opcode.substr(0, opcode.find('.')));
    }
}

bool names_code(std::string_view opcode) {
    constexpr std::array names{"BRA", "CALL", "BSSY", "RET", "JMP", "WARPSYNC", "BRX", "BREAK"};
    return std::ranges::find(names, opcode) != names.end();
}

/// Opcodes of fp32 and fp64 whose immediates are real numbers.
bool takes_reals(std::string_view opcode) {
    constexpr std::array names{"FADD", "FADD32I", "FMUL",  "FMUL32I", "FFMA", "FFMA32I", "FSETP",
                               "FSET", "FSEL",    "FMNMX", "FSWZADD", "FRND", "MUFU",    "DADD",
                               "DMUL", "DFMA",    "DSETP", "DMNMX",   "F2F",  "F2I",     "FCHK"};
    return std::ranges::find(names, opcode) != names.end();
}

/// Symbols become addresses, and the real numbers of instructions take the bits of the encoding, since a
/// printed number is the same for several widths.
void resolve(AssemblyLine& line, const Function& function) {
    for (Operand& operand : line.operands) {
        if (operand.kind == OperandKind::text) {
            const auto entry = function.entry_points.find(operand.text);
            if (entry != function.entry_points.end()) {
                operand.kind = OperandKind::target;
                operand.value = entry->second;
            } else if (operand.text == function.name) {
                operand.kind = OperandKind::target;
                operand.value = 0;
            }
        } else if (operand.kind == OperandKind::immediate && !operand.is_real && names_code(line.opcode) &&
                   line.opcode != "BRX" && (line.opcode != "WARPSYNC" || line.operands.size() > 1) &&
                   &operand == &line.operands.back()) {
            operand.kind = OperandKind::target;
        }
    }
    const bool reals = takes_reals(line.opcode);
    std::size_t immediates = 0;
    for (const Operand& operand : line.operands) {
        immediates += operand.kind == OperandKind::immediate ? 1 : 0;
    }
    if (reals && immediates == 1) {
        for (Operand& operand : line.operands) {
            if (operand.kind == OperandKind::immediate) {
                operand.value = static_cast<std::int64_t>(line.encoding[0] >> 32U);
                operand.is_real = true;
            }
        }
    }
}

/// A copy to shared memory has its destination first; some versions of nvdisasm print it last.
void put_destination_first(AssemblyLine& line) {
    const auto shared = [](const Operand& operand) {
        return operand.kind == OperandKind::address && operand.descriptor < 0;
    };
    if (line.opcode == "LDGSTS" && line.operands.size() > 1 && !shared(line.operands.front()) &&
        shared(line.operands.back())) {
        std::ranges::rotate(line.operands, line.operands.end() - 1);
    }
}

}  // namespace

std::vector<AssemblyFunction> read_disassembly(std::string_view json, const Module& module) {
    const nlohmann::json document = nlohmann::json::parse(json, nullptr, false);
    if (document.is_discarded() || !document.is_array() || document.size() < 2 || !document[1].is_array()) {
        throw Error("disassembly", "text that is no listing", "nvdisasm's JSON");
    }
    std::vector<AssemblyFunction> functions;
    for (const auto& listed : document[1]) {
        if (!listed.is_object() || !listed.contains("function-name") ||
            !listed.contains("sass-instructions") || !listed["function-name"].is_string() ||
            !listed["sass-instructions"].is_array()) {
            throw Error("disassembly", "a function without name or instructions", "nvdisasm's JSON");
        }
        AssemblyFunction function;
        function.name = listed["function-name"].get<std::string>();
        const Function* image = module.find(function.name);
        if (image == nullptr) {
            continue;
        }
        for (const auto& instruction : listed["sass-instructions"]) {
            AssemblyLine line;
            line.address = static_cast<std::uint32_t>(function.lines.size()) * bytes_per_instruction;
            const auto text = [&instruction](const char* key) {
                const auto found = instruction.find(key);
                return found != instruction.end() && found->is_string() ? found->get<std::string>()
                                                                        : std::string{};
            };
            std::string guard = text("predicate");
            const std::string opcode = text("opcode");
            std::string operands = text("operands");
            if (!guard.empty() && guard.front() != '@') {
                // The operand of P2R and R2P that stands for all predicates is listed as a guard.
                const std::size_t place = opcode.starts_with("P2R") ? operands.find(',') + 1 : 0;
                operands.insert(place, guard + ",");
                guard.clear();
            }
            line.text =
                guard + (guard.empty() ? "" : " ") + opcode + (operands.empty() ? "" : " ") + operands;
            set_guard(line, guard);
            set_opcode(line, opcode);
            line.operands = parse_operands(operands);
            put_destination_first(line);
            if (function.lines.size() < image->code.size()) {
                line.encoding = image->code[function.lines.size()];
                line.control = control_of(line.encoding);
            }
            resolve(line, *image);
            function.lines.push_back(std::move(line));
        }
        if (function.lines.size() != image->code.size()) {
            throw Error(fmt::format("disassembly of {}", function.name),
                        fmt::format("{} instructions", function.lines.size()),
                        fmt::format("the {} of its code: older versions of nvdisasm leave out the ends of "
                                    "functions (`pip install nvidia-cuda-nvdisasm`, or its path in "
                                    "WARPTIME_NVDISASM)",
                                    image->code.size()));
        }
        functions.push_back(std::move(function));
    }
    return functions;
}

std::vector<AssemblyFunction> disassemble(std::span<const std::byte> cubin, const Module& module) {
    return read_disassembly(disassembly_json(cubin), module);
}

}  // namespace warptime::workloads::frontends::machine
