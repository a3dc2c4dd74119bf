// Any bytes as a cubin, either refused with Error or read. What is read takes a bounded multiple of the file.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/machine/image/module.hpp"

#include <span>
#include <vector>

namespace {

using namespace warptime::workloads::frontends::machine;

std::size_t bytes_of(const std::vector<Relocation>& relocations) {
    std::size_t bytes = 0;
    for (const Relocation& relocation : relocations) {
        bytes += sizeof relocation + relocation.symbol.size();
    }
    return bytes;
}

std::size_t bytes_of(const Function& function) {
    std::size_t bytes = sizeof function + function.name.size() + bytes_of(function.relocations);
    bytes += function.code.size() * sizeof function.code[0];
    bytes += function.parameters.size() * sizeof function.parameters[0];
    for (const auto& [bank, contents] : function.constants) {
        bytes += contents.size();
    }
    for (const auto& [name, offset] : function.entry_points) {
        bytes += name.size() + sizeof offset;
    }
    return bytes;
}

std::size_t bytes_of(const LineTable& lines) {
    std::size_t bytes = 0;
    for (const std::string& file : lines.files) {
        bytes += sizeof file + file.size();
    }
    for (const auto& [function, rows] : lines.functions) {
        bytes += function.size() + rows.size() * sizeof rows[0];
    }
    return bytes;
}

std::size_t bytes_of(const Module& module) {
    std::size_t bytes = bytes_of(module.lines);
    for (const Function& function : module.functions) {
        bytes += bytes_of(function);
    }
    for (const Variable& variable : module.variables) {
        bytes += sizeof variable + variable.name.size() + variable.initial.size();
        bytes += bytes_of(variable.relocations);
    }
    for (const auto& [bank, contents] : module.constants) {
        bytes += contents.size();
    }
    for (const auto& [bank, relocations] : module.constant_relocations) {
        bytes += bytes_of(relocations);
    }
    return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Module module;
    try {
        module = read_module(std::as_bytes(std::span(data, size)), "input");
    } catch (const warptime::Error&) {
        return 0;
    }
    warptime::fuzz::require(bytes_of(module) <= 256 * size, "a module takes a bounded multiple of its file");
    for (const Function& function : module.functions) {
        warptime::fuzz::require(function.static_shared >= 0, "shared memory is not negative");
    }
    for (const auto& [function, rows] : module.lines.functions) {
        for (const SourceLine& row : rows) {
            warptime::fuzz::require(row.file >= -1 && row.file < static_cast<int>(module.lines.files.size()),
                                    "a row names a file of the table or none");
        }
    }
    return 0;
}
