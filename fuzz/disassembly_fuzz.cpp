// Any bytes as nvdisasm's JSON of one module, either refused with Error or read.
// A function that is read has a line for each instruction of its code, with a guard that exists.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "workloads/frontends/machine/assembly/disassemble.hpp"

#include <string>
#include <vector>

namespace {

using namespace warptime::workloads::frontends::machine;

void add_function(Module& module, std::string name, std::size_t instructions) {
    Function function;
    function.name = std::move(name);
    function.code.assign(instructions, {0xc008000003037421ULL, 0x000fea0003800000ULL});
    function.entry_points["$inner"] = 16;
    module.functions.push_back(std::move(function));
}

/// Functions of several lengths, so that a changed listing often has the length of one.
const Module& fixed_module() {
    static const Module module = [] {
        Module made;
        made.architecture = 90;
        add_function(made, "k", 1);
        add_function(made, "two", 2);
        add_function(made, "three", 3);
        add_function(made, "_Z5saxpyifPKfPf", 16);
        return made;
    }();
    return module;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Module& module = fixed_module();
    std::vector<AssemblyFunction> functions;
    try {
        functions = read_disassembly(warptime::fuzz::text_of(data, size), module);
    } catch (const warptime::Error&) {
        return 0;
    }
    for (const AssemblyFunction& function : functions) {
        const Function* const image = module.find(function.name);
        warptime::fuzz::require(image != nullptr && image->code.size() == function.lines.size(),
                                "a function has a line for each instruction of its code");
        for (const AssemblyLine& line : function.lines) {
            warptime::fuzz::require(line.guard >= 0 && line.guard <= true_predicate, "a guard exists");
        }
    }
    return 0;
}
