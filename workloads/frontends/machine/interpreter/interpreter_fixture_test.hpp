// Kernels made in memory from lines of SASS text, run on lanes of given words. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "workloads/frontends/machine/assembly/disassemble.hpp"
#include "workloads/frontends/machine/image/module.hpp"
#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/interpreter/run.hpp"
#include "workloads/frontends/machine/memory/device_memory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine::fixture {

/// The words of all threads, or of one thread.
using Words = std::vector<std::uint32_t>;

inline constexpr std::uint32_t parameter_base = 0x210;
/// An SM holds a CTA of any size with the few, and code for matrices needs the many.
inline constexpr int few_registers = 64, many_registers = 192;

inline DeviceMemory& test_memory() {
    static DeviceMemory memory(std::uint64_t{1} << 28U);
    return memory;
}

/// The options on an H200, unless they name another chip.
inline RunOptions on_test_chip(RunOptions options = {}) {
    static const Chip chip = chip_of(hw::load_gpu("h200-sxm"));
    if (options.chip == Chip{}) {
        options.chip = chip;
    }
    return options;
}

/// An allocation of the device that lives as long as this.
class Buffer {
  public:
    explicit Buffer(std::uint64_t bytes)
        : bytes_(bytes), address_(test_memory().allocate(bytes).value_or(0)) {
        if (address_ == 0) {
            throw std::runtime_error("the memory of the tests is full");
        }
    }
    explicit Buffer(const Words& words) : Buffer(words.size() * sizeof(std::uint32_t)) {
        std::memcpy(data(), words.data(), words.size() * sizeof(std::uint32_t));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { test_memory().free(address_); }

    [[nodiscard]] std::uint64_t address() const { return address_; }
    [[nodiscard]] void* data() const {
        return reinterpret_cast<void*>(address_);  // NOLINT(performance-no-int-to-ptr)
    }
    [[nodiscard]] Words words() const {
        Words words(bytes_ / sizeof(std::uint32_t));
        std::memcpy(words.data(), data(), words.size() * sizeof(std::uint32_t));
        return words;
    }

  private:
    std::uint64_t bytes_;
    std::uint64_t address_;
};

/// One line such as "@!P0 IADD3.X R2, P1, R3, 0x5, RZ".
inline AssemblyLine assembly_line(std::string_view text, std::uint32_t address) {
    AssemblyLine line;
    line.address = address;
    line.text = std::string(text);
    if (text.starts_with('@')) {
        std::string_view guard = text.substr(1, text.find(' ') - 1);
        text.remove_prefix(text.find(' ') + 1);
        line.guard_negated = guard.starts_with('!');
        guard.remove_prefix(line.guard_negated ? 1 : 0);
        line.guard_uniform = guard.starts_with('U');
        guard.remove_prefix(line.guard_uniform ? 1 : 0);
        line.guard = guard == "PT" ? true_predicate : guard.at(1) - '0';
    }
    std::string_view opcode = text.substr(0, text.find(' '));
    const std::string_view operands = text.substr(opcode.size());
    line.opcode = std::string(opcode.substr(0, opcode.find('.')));
    while (opcode.find('.') != std::string_view::npos) {
        opcode.remove_prefix(opcode.find('.') + 1);
        line.modifiers.emplace_back(opcode.substr(0, opcode.find('.')));
    }
    line.operands = parse_operands(operands);
    if (line.opcode.starts_with('D')) {
        // The encoding of an fp64 holds its upper word.
        for (Operand& operand : line.operands) {
            if (operand.is_real) {
                operand.value = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(operand.real) >> 32U);
            }
        }
    }
    return line;
}

/// Lines "name:" are labels, which "`(name)" in other lines stands for. EXIT is added at the end.
inline AssemblyFunction assembled(const std::string& name, const std::vector<std::string>& lines) {
    constexpr std::size_t instruction_bytes = 16;
    std::map<std::string, std::size_t> labels;
    std::vector<std::string> instructions;
    for (const std::string& line : lines) {
        if (line.ends_with(':')) {
            labels[line.substr(0, line.size() - 1)] = instructions.size() * instruction_bytes;
        } else {
            instructions.push_back(line);
        }
    }
    instructions.emplace_back("EXIT");
    AssemblyFunction function;
    function.name = name;
    for (std::string text : instructions) {
        for (std::size_t at = text.find("`("); at != std::string::npos; at = text.find("`(")) {
            const std::size_t end = text.find(')', at);
            text.replace(at, end + 1 - at,
                         fmt::format("{:#x}", labels.at(text.substr(at + 2, end - at - 2))));
        }
        const auto address = static_cast<std::uint32_t>(function.lines.size() * instruction_bytes);
        function.lines.push_back(assembly_line(text, address));
    }
    return function;
}

struct ProgramOptions {
    int registers = 0;  ///< 0: few, or many where the code names more
    std::int64_t static_shared = 0;
    std::int64_t shared_begin = 0;
    std::int64_t local_bytes = 0;
    int max_threads = 0;
    std::uint32_t parameters = 0;  ///< of 8 bytes each, from c[0x0][0x210] on
    std::map<int, std::vector<std::byte>> constants;
};

/// Few registers, unless a line names a higher one.
inline int registers_for(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        for (std::size_t i = line.find('R'); i != std::string::npos; i = line.find('R', i + 1)) {
            const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(line[i - 1])) == 0;
            if (begins && std::atoi(line.c_str() + i + 1) + 16 > few_registers) return many_registers;
        }
    }
    return few_registers;
}

/// A module of one kernel, "test".
class Program {
  public:
    explicit Program(const std::vector<std::string>& lines, const ProgramOptions& options = {}) {
        AssemblyFunction assembly = assembled("test", lines);
        Function function;
        function.name = "test";
        function.kernel = true;
        function.code.resize(assembly.lines.size());
        function.registers = options.registers > 0 ? options.registers : registers_for(lines);
        function.static_shared = options.static_shared;
        function.shared_begin = options.shared_begin;
        function.local_bytes = options.local_bytes;
        function.max_threads = options.max_threads;
        function.parameter_base = parameter_base;
        function.parameter_bytes = 8 * options.parameters;
        for (std::uint32_t i = 0; i < options.parameters; ++i) {
            function.parameters.push_back({8 * i, 8});
        }
        Module module;
        module.architecture = 90;
        module.constants = options.constants;
        module.functions.push_back(std::move(function));
        std::vector<AssemblyFunction> all;
        all.push_back(std::move(assembly));
        code_ = std::make_unique<Code>(decode_module(std::move(module), std::move(all)));
        loaded_ = load_code(*code_, test_memory());
    }

    [[nodiscard]] const Code& code() const { return *code_; }
    [[nodiscard]] LaunchCounts run(const LaunchShape& shape,
                                   const std::vector<std::uint64_t>& parameters = {},
                                   const RunOptions& options = {}) const {
        return run_launch(loaded_, code_->kernel("test"), shape,
                          std::as_bytes(std::span<const std::uint64_t>(parameters)), test_memory(),
                          on_test_chip(options));
    }
    /// The message that the launch ends with; empty when it goes well.
    [[nodiscard]] std::string error(const LaunchShape& shape,
                                    const std::vector<std::uint64_t>& parameters = {},
                                    const RunOptions& options = {}) const {
        return run(shape, parameters, options).error;
    }

  private:
    std::unique_ptr<Code> code_;
    LoadedCode loaded_;
};

/// A launch of one CTA.
inline LaunchShape one_cta(std::uint32_t threads) {
    LaunchShape shape;
    shape.block = {threads, 1, 1};
    return shape;
}

/// Runs a body for each thread. Inputs and outputs are registers ("R10"), predicates ("P0", words 0 or 1) and
/// uniform registers ("UR8"). R0 holds the number of the thread within the grid; R1 to R5 are used before and
/// behind the body.
class LaneProgram {
  public:
    LaneProgram(const std::vector<std::string>& body, std::vector<std::string> inputs,
                std::vector<std::string> outputs, ProgramOptions options = {})
        : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
        std::vector<std::string> lines{"S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X",
                                       "IMAD R0, R1, c[0x0][0x0], R0"};
        std::uint32_t offset = parameter_base;
        const auto point = [&lines, &offset] {
            lines.push_back(fmt::format("IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][{:#x}]", offset));
            offset += 8;
        };
        for (const std::string& name : inputs_) {
            point();
            const bool general = name.starts_with('R');
            lines.push_back(fmt::format("LDG.E {}, desc[UR4][R2.64]", general ? name : "R4"));
            if (name.starts_with('P')) {
                lines.push_back(fmt::format("ISETP.NE.U32.AND {}, PT, R4, RZ, PT", name));
            } else if (name.starts_with('U')) {
                lines.push_back(fmt::format("R2UR {}, R4", name));
            }
        }
        lines.insert(lines.end(), body.begin(), body.end());
        for (const std::string& name : outputs_) {
            point();
            const bool general = name.starts_with('R');
            if (name.starts_with('P')) {
                lines.push_back(fmt::format("SEL R4, RZ, 0x1, !{}", name));
            } else if (name.starts_with('U')) {
                lines.push_back(fmt::format("MOV R4, {}", name));
            }
            lines.push_back(fmt::format("STG.E desc[UR4][R2.64], {}", general ? name : "R4"));
        }
        options.parameters = static_cast<std::uint32_t>(inputs_.size() + outputs_.size());
        program_ = std::make_unique<Program>(lines, options);
    }

    /// Words of each output, by thread. Words of every input are as many as there are threads; more than 1024
    /// make CTAs of 256.
    [[nodiscard]] std::vector<Words> operator()(const std::vector<Words>& values,
                                                std::size_t threads = 32) const {
        constexpr std::size_t most = 1024;
        constexpr std::size_t block = 256;
        LaunchShape shape = one_cta(static_cast<std::uint32_t>(threads <= most ? threads : block));
        shape.grid[0] = static_cast<std::uint32_t>(threads <= most ? 1 : threads / block);
        std::vector<std::unique_ptr<Buffer>> buffers;
        std::vector<std::uint64_t> parameters;
        for (const Words& words : values) {
            if (words.size() != threads) {
                throw std::runtime_error("an input of another length");
            }
            buffers.push_back(std::make_unique<Buffer>(words));
            parameters.push_back(buffers.back()->address());
        }
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            buffers.push_back(std::make_unique<Buffer>(Words(threads)));
            parameters.push_back(buffers.back()->address());
        }
        const LaunchCounts counts = program_->run(shape, parameters);
        if (!counts.error.empty()) {
            throw std::runtime_error(counts.error);
        }
        std::vector<Words> results;
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            results.push_back(buffers[values.size() + i]->words());
        }
        return results;
    }

    [[nodiscard]] const Program& program() const { return *program_; }

  private:
    std::vector<std::string> inputs_;
    std::vector<std::string> outputs_;
    std::unique_ptr<Program> program_;
};

/// Any number below `end`. rapidcheck's own range grows from case to case.
inline rc::Gen<std::uint32_t> any_below(std::uint32_t end) {
    constexpr int full_size = 100;
    return rc::gen::resize(full_size, rc::gen::inRange<std::uint32_t>(0, end));
}
inline rc::Gen<std::uint32_t> any_flag() {
    return rc::gen::element<std::uint32_t>(0U, 1U);
}
inline std::uint32_t random_below(std::uint32_t end) {
    return *any_below(end);
}

/// Any word, often one at an end of the range or a small one.
inline rc::Gen<std::uint32_t> any_word() {
    constexpr int full_size = 100;
    constexpr std::uint32_t small = 70;
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{4, rc::gen::resize(full_size, rc::gen::arbitrary<std::uint32_t>())},
         {1, any_below(small)},
         {1, rc::gen::element<std::uint32_t>(0U, 1U, 0x7fffffffU, 0x80000000U, 0x80000001U, 0xffffffffU,
                                             0xfffffffeU, 0x0000ffffU, 0x00010000U)}});
}
/// The same of bits of fp32 numbers: infinities, denormals, both zeros and numbers near 1 are often among
/// them.
inline rc::Gen<std::uint32_t> any_real() {
    constexpr int full_size = 100;
    return rc::gen::weightedOneOf<std::uint32_t>(
        {{3, rc::gen::resize(full_size, rc::gen::arbitrary<std::uint32_t>())},
         {3, rc::gen::map(rc::gen::resize(full_size, rc::gen::arbitrary<std::uint32_t>()),
                          [](std::uint32_t bits) { return (bits & 0x83ffffffU) + 0x3e000000U; })},
         {1, rc::gen::map(rc::gen::resize(full_size, rc::gen::arbitrary<std::uint32_t>()),
                          [](std::uint32_t bits) { return bits & 0x807fffffU; })},
         {1, rc::gen::element<std::uint32_t>(0U, 0x80000000U, 0x3f800000U, 0xbf800000U, 0x7f800000U,
                                             0xff800000U, 0x7fc00000U, 0x7f7fffffU, 0x00800000U, 0x4effffffU,
                                             0x4f000000U, 0xcf000000U, 0x3f000000U)}});
}

inline Words some_words(const rc::Gen<std::uint32_t>& word, std::size_t threads = 32) {
    return *rc::gen::container<Words>(threads, word);
}

/// What one thread's outputs must be, from its inputs.
using Formula = std::function<Words(const Words&)>;
/// What a word must satisfy beside the expected one.
using Same = std::function<bool(std::uint32_t, std::uint32_t)>;

inline bool equal_words(std::uint32_t a, std::uint32_t b) {
    return a == b;
}

struct Comparison {
    std::function<rc::Gen<std::uint32_t>()> word = any_word;
    Same same = equal_words;
    /// Runs the last line under a guard too: where it fails, the outputs must stay as they were.
    bool guarded = true;
};

/// True when the body gives what the formula says on random lanes.
inline bool agrees(const std::vector<std::string>& body, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const Formula& formula,
                   const Comparison& comparison = {}) {
    const LaneProgram program(body, inputs, outputs);
    std::vector<std::string> all_inputs = inputs;
    std::vector<std::string> guarded_body = body;
    for (const std::string& output : outputs) {
        if (std::ranges::find(inputs, output) == inputs.end()) {
            all_inputs.push_back(output);
        }
    }
    all_inputs.emplace_back("P6");
    guarded_body.back() = "@P6 " + guarded_body.back();
    const LaneProgram guarded(comparison.guarded ? guarded_body : std::vector<std::string>{}, all_inputs,
                              outputs);
    return rc::check(body.back(), [&] {
        const bool partly = comparison.guarded && *rc::gen::arbitrary<bool>();
        const std::vector<std::string>& names = partly ? all_inputs : inputs;
        std::vector<Words> values;
        for (const std::string& name : names) {
            const bool predicate = name.starts_with('P');
            values.push_back(some_words(predicate ? any_flag() : comparison.word()));
        }
        const std::vector<Words> results = (partly ? guarded : program)(values);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            Words own;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                own.push_back(values[i][lane]);
            }
            const bool runs = !partly || values.back()[lane] != 0;
            const Words expected = formula(own);
            for (std::size_t o = 0; o < outputs.size(); ++o) {
                const std::uint32_t got = results[o][lane];
                if (runs) {
                    if (!comparison.same(got, expected.at(o))) {
                        std::string given;
                        for (const std::uint32_t word : own) {
                            given += fmt::format(" {:#010x}", word);
                        }
                        RC_FAIL(fmt::format("{} of inputs{} is {:#010x}, expected {:#010x}", outputs[o],
                                            given, got, expected.at(o)));
                    }
                } else {
                    const auto place = std::ranges::find(names, outputs[o]) - names.begin();
                    RC_ASSERT(got == values[static_cast<std::size_t>(place)][lane]);
                }
            }
        }
    });
}

inline std::int32_t as_signed(std::uint32_t word) {
    return static_cast<std::int32_t>(word);
}
inline std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{low} | (std::uint64_t{high} << 32U);
}
inline std::uint32_t low_of(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}
inline std::uint32_t high_of(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32U);
}
/// Where `text` contains every one of the parts.
inline bool has_parts(const std::string& text, const std::vector<std::string>& parts) {
    return std::ranges::all_of(
        parts, [&text](const std::string& part) { return text.find(part) != std::string::npos; });
}

/// A line of code, and a part of the text with which it is refused.
struct RefusedLine {
    std::string line;
    std::string part;
};

/// The text with which a kernel of this line alone is refused; empty where it is not.
inline std::string refusal_of(const std::string& line) {
    const Program program({line});
    return program.code().refused.size() == 1 ? program.code().refused.at(0) : std::string{};
}

/// A program with so many parameters of eight bytes, and so many bytes of shared memory.
inline ProgramOptions with_parameters(std::uint32_t count, std::int64_t shared = 0) {
    ProgramOptions options;
    options.parameters = count;
    options.static_shared = shared;
    return options;
}

/// The word of a fresh barrier, as compilers set it up: counts are less than 2^20, negative.
inline std::uint64_t fresh_word(std::uint32_t threads) {
    const std::uint64_t count = (std::uint64_t{1} << 20U) - threads;
    return (count << 1U) | (count << 43U);
}

/// Warp-instructions of an opcode that a launch has executed.
[[nodiscard]] inline std::uint64_t executed(const LaunchCounts& counts, const Program& program,
                                            std::string_view opcode) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counts.instructions.size(); ++i) {
        all += program.code().lines[i]->opcode == opcode ? counts.instructions[i].warps : 0;
    }
    return all;
}

}  // namespace warptime::workloads::frontends::machine::fixture
