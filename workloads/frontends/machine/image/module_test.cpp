// Tests of the reader of modules: kernels, variables, constants and relocations of images built in memory.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/module.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/image/elf_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace testing;

/// Attributes as `cuobjdump -elf` names them: EIATTR_MAX_THREADS, ..., EIATTR_NUM_BARRIERS.
enum : std::uint8_t {
    max_threads = 0x05,
    parameter_bank = 0x0a,
    required_block = 0x10,
    frame_size = 0x11,
    min_stack_size = 0x12,
    parameter = 0x17,
    parameter_bytes = 0x19,
    max_stack_size = 0x23,
    registers = 0x2f,
    cluster = 0x3d,
    barriers = 0x4c
};

std::vector<std::byte> counted(std::size_t count, unsigned first = 1) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(first + i);
    }
    return bytes;
}

/// Encodings of EXIT and NOP on sm_80 to sm_90.
constexpr std::array<std::uint64_t, 2> exit_code{0x000000000000794dULL, 0x000fea0003800000ULL};
constexpr std::array<std::uint64_t, 2> nop_code{0x0000000000007918ULL, 0x000fc00000000000ULL};

std::vector<std::byte> code_of(const std::vector<std::array<std::uint64_t, 2>>& instructions) {
    Bytes bytes;
    for (const auto& instruction : instructions) {
        bytes.add(instruction[0]).add(instruction[1]);
    }
    return bytes.get();
}

void add_parameter(Bytes& info, std::uint32_t ordinal, std::uint32_t offset, std::uint32_t bytes) {
    // Index, ordinal and offset, and the size from bit 18 on, above the flags of the space.
    add_info(info, parameter, {0, ordinal | offset << 16U, bytes << 18U | 0x1f000U});
}

/// A module of one kernel "k" with everything that a kernel has, a device function and variables.
struct Sample {
    Image image;
    std::uint16_t text = 0;
    std::uint16_t own_info = 0;
    std::uint16_t info = 0;
    std::uint32_t kernel = 0;

    Sample() {
        text = image.add(ImageSection{.name = ".text.k", .contents = code_of({nop_code, exit_code})});
        const std::uint16_t other =
            image.add(ImageSection{.name = ".text.helper", .contents = code_of({exit_code})});
        kernel = image.add(ImageSymbol{.name = "k", .type = 2, .section = text, .bytes = 32});
        const std::uint32_t helper = image.add(ImageSymbol{.name = "helper", .type = 2, .section = other});
        image.add(ImageSymbol{.name = "$k$inner", .type = 2, .section = text, .value = 16, .bytes = 16});
        image.add(ImageSymbol{.name = ".text.k", .type = 3, .section = text});
        image.add(ImageSection{.name = ".nv.constant0.k", .contents = counted(0x230)});
        image.add(ImageSection{.name = ".nv.constant2.k", .contents = counted(12)});
        image.add(ImageSection{.name = ".nv.shared.k", .type = 8, .contents = {}, .no_bits = 1024 + 512});
        Bytes own;
        add_parameter(own, 1, 8, 4);
        add_parameter(own, 0, 0, 8);
        add_parameter(own, 2, 16, 64);
        add_info(own, parameter_bank, {7, 0x210U | 80U << 16U});
        add_short_info(own, 3, parameter_bytes, 80);
        add_short_info(own, 2, barriers, 3);
        add_info(own, max_threads, {32, 4, 2});
        add_info(own, required_block, {32, 4, 2});
        add_info(own, cluster, {2, 1, 4});
        own_info = image.add(ImageSection{.name = ".nv.info.k", .contents = own.get()});
        image.add(ImageSection{.name = ".nv.info.helper", .contents = {}});
        Bytes all;
        add_info(all, registers, {kernel, 168});
        add_info(all, frame_size, {kernel, 40});
        add_info(all, min_stack_size, {kernel, 48});
        add_info(all, max_stack_size, {kernel, 16});
        add_info(all, registers, {helper, 24});
        info = image.add(ImageSection{.name = ".nv.info", .contents = all.get()});
    }
};

Module read(const Image& image) {
    return read_module(image.build(), "m.cubin");
}

std::string error_of(const std::vector<std::byte>& bytes) {
    try {
        (void)read_module(bytes, "m.cubin");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& error, const std::string& part) {
    return error.find(part) != std::string::npos;
}

TEST_CASE("a kernel has its code, registers, parameters, shared memory and shapes") {
    const Module module = read(Sample().image);
    CHECK(module.architecture == 90);
    REQUIRE(module.functions.size() == 2);
    const Function& kernel = module.functions[0];
    CHECK(kernel.name == "k");
    CHECK(kernel.kernel);
    CHECK(kernel.code == std::vector{nop_code, exit_code});
    CHECK(kernel.registers == 168);
    CHECK(kernel.static_shared == 1536);
    CHECK(kernel.shared_begin == 1024);
    CHECK(kernel.local_bytes == 48);  // the most of the three
    CHECK(kernel.barriers == 3);
    CHECK(kernel.parameter_base == 0x210);
    CHECK(kernel.parameter_bytes == 80);
    REQUIRE(kernel.parameters.size() == 3);  // by their offsets
    CHECK(kernel.parameters[0].offset == 0);
    CHECK(kernel.parameters[0].bytes == 8);
    CHECK(kernel.parameters[1].offset == 8);
    CHECK(kernel.parameters[1].bytes == 4);
    CHECK(kernel.parameters[2].offset == 16);
    CHECK(kernel.parameters[2].bytes == 64);
    CHECK(kernel.max_threads == 256);
    CHECK(kernel.required_block == std::array{32, 4, 2});
    CHECK(kernel.cluster == std::array{2, 1, 4});
    REQUIRE(kernel.constants.size() == 1);
    CHECK(kernel.constants.at(2) == counted(12));
    CHECK(kernel.entry_points == std::map<std::string, std::uint32_t>{{"$k$inner", 16}});
}

TEST_CASE("a function without constant bank 0 is no kernel, and has nothing that was not stated") {
    const Module module = read(Sample().image);
    const Function* const helper = module.find("helper");
    REQUIRE(helper != nullptr);
    CHECK_FALSE(helper->kernel);
    CHECK(helper->registers == 24);
    CHECK(helper->code == std::vector{exit_code});
    CHECK(helper->static_shared == 0);
    CHECK(helper->local_bytes == 0);
    CHECK(helper->max_threads == 0);
    CHECK(helper->required_block == std::array{0, 0, 0});
    CHECK(helper->cluster == std::array{0, 0, 0});
    CHECK(helper->parameters.empty());
    CHECK(helper->constants.empty());
    CHECK(helper->entry_points.empty());
    CHECK(module.find("k") == &module.functions[0]);
    CHECK(module.find("kk") == nullptr);
    CHECK(module.lines.functions.empty());
}

TEST_CASE("the architecture stands in the first byte of the flags, and in the second from ABI version 8 on") {
    Image image = Sample().image;
    image.abi_version = 7;
    image.flags = 0x00560556;
    CHECK(read(image).architecture == 86);
    image.abi_version = 8;
    image.flags = 0x06005902;
    CHECK(read(image).architecture == 89);
}

TEST_CASE("shared memory begins at 0 before Hopper, and behind the reserved bytes from it on") {
    Image image = Sample().image;
    for (const auto& [architecture, begin] : {std::pair{80U, 0}, {89U, 0}, {90U, 1024}, {100U, 1024}}) {
        image.flags = architecture;
        CHECK(read(image).functions[0].shared_begin == begin);
    }
}

TEST_CASE("files of other machines and of old architectures are refused with what was found") {
    Image image = Sample().image;
    image.machine = 62;
    CHECK(says(error_of(image.build()), "m.cubin: got 'an ELF file of machine 62'"));
    CHECK(says(error_of(image.build()), "190"));
    image.machine = 190;
    image.flags = 75;
    CHECK(says(error_of(image.build()), "m.cubin: got 'sm_75'"));
    CHECK(says(error_of(image.build()), "sm_80 or later"));
    CHECK(says(error_of(counted(100)), "m.cubin"));
}

TEST_CASE("launch bounds of one number leave the other dimensions at 1") {
    Sample sample;
    Bytes own;
    add_info(own, max_threads, {512});
    sample.image.section(sample.own_info).contents = own.get();
    CHECK(read(sample.image).functions[0].max_threads == 512);
    Bytes flat;
    add_info(flat, max_threads, {1024, 1, 1});
    sample.image.section(sample.own_info).contents = flat.get();
    CHECK(read(sample.image).functions[0].max_threads == 1024);
}

TEST_CASE("records that are not known are passed over, whatever their format") {
    Sample sample;
    Bytes own;
    add_short_info(own, 1, 0x50, 0);
    add_info(own, 0x1c, {1, 2, 3});
    own.add<std::uint8_t>(4).add<std::uint8_t>(0x36).add<std::uint16_t>(0);
    add_short_info(own, 2, barriers, 5);
    sample.image.section(sample.own_info).contents = own.get();
    Bytes all;
    add_info(all, 0x2e, {sample.kernel, 9});
    add_info(all, registers, {0x7fffffff, 9});  // no such symbol
    add_info(all, registers, {sample.kernel});  // no number
    add_info(all, registers, {sample.kernel, 33});
    sample.image.section(sample.info).contents = all.get();
    const Function function = read(sample.image).functions[0];
    CHECK(function.barriers == 5);
    CHECK(function.registers == 33);
    CHECK(function.parameters.empty());
}

TEST_CASE("records cut off anywhere leave those before the cut") {
    Sample sample;
    Bytes own;
    std::vector<std::size_t> ends;
    for (std::uint32_t i = 0; i < 4; ++i) {
        add_parameter(own, i, 8 * i, 8);
        ends.push_back(own.size());
    }
    for (std::size_t length = 0; length <= own.size(); ++length) {
        CAPTURE(length);
        sample.image.section(sample.own_info)
            .contents.assign(own.get().begin(), own.get().begin() + static_cast<std::ptrdiff_t>(length));
        const auto left = std::ranges::count_if(ends, [length](std::size_t end) { return end <= length; });
        CHECK(std::ssize(read(sample.image).functions[0].parameters) == left);
    }
}

TEST_CASE("code that ends within an instruction has the whole ones") {
    Sample sample;
    for (std::size_t length = 0; length <= 32; ++length) {
        sample.image.section(sample.text).contents.assign(length, std::byte{0xff});
        CHECK(read(sample.image).functions[0].code.size() == length / 16);
    }
}

TEST_CASE("variables have their bytes, place and first values") {
    Image image;
    const std::uint16_t global = image.add(
        ImageSection{.name = ".nv.global", .type = 8, .contents = {}, .alignment = 16, .no_bits = 64});
    const std::uint16_t filled =
        image.add(ImageSection{.name = ".nv.global.init", .contents = counted(24), .alignment = 8});
    const std::uint16_t constant =
        image.add(ImageSection{.name = ".nv.constant3", .contents = counted(20), .alignment = 4});
    const std::uint16_t text = image.add(ImageSection{.name = ".text.k", .contents = code_of({exit_code})});
    image.add(ImageSymbol{.name = "zeros", .type = 1, .section = global, .value = 16, .bytes = 40});
    image.add(ImageSymbol{.name = "values", .type = 1, .section = filled, .value = 8, .bytes = 16});
    image.add(ImageSymbol{.name = "weights", .type = 1, .section = constant, .value = 4, .bytes = 12});
    image.add(ImageSymbol{.name = "beyond", .type = 1, .section = filled, .value = 20, .bytes = 5});
    image.add(ImageSymbol{.name = "outside", .type = 1, .section = 0, .bytes = 4});
    image.add(ImageSymbol{.name = "absolute", .type = 1, .section = 0xfff1, .bytes = 4});
    image.add(ImageSymbol{.name = "in_code", .type = 1, .section = text, .bytes = 4});
    image.add(ImageSymbol{.name = "function", .type = 2, .section = filled, .bytes = 4});
    const Module module = read(image);
    REQUIRE(module.variables.size() == 4);
    const Variable& zeros = module.variables[0];
    CHECK(zeros.name == "zeros");
    CHECK_FALSE(zeros.constant);
    CHECK(zeros.bytes == 40);
    CHECK(zeros.alignment == 16);
    CHECK(zeros.initial.empty());
    const Variable& values = module.variables[1];
    CHECK(values.name == "values");
    CHECK_FALSE(values.constant);
    CHECK(values.bytes == 16);
    CHECK(values.alignment == 8);
    CHECK(values.initial == counted(16, 9));
    const Variable& weights = module.variables[2];
    CHECK(weights.name == "weights");
    CHECK(weights.constant);
    CHECK(weights.offset == 4);
    CHECK(weights.bytes == 12);
    CHECK(weights.initial == counted(12, 5));
    CHECK(module.variables[3].name == "beyond");
    CHECK(module.variables[3].initial.empty());
    CHECK(module.constants.size() == 1);
    CHECK(module.constants.at(3) == counted(20));
}

TEST_CASE("relocations reach the code, the constant banks and the variables they lie in") {
    Image image;
    const std::uint16_t text = image.add(ImageSection{.name = ".text.k", .contents = code_of({exit_code})});
    const std::uint16_t filled = image.add(ImageSection{.name = ".nv.global.init", .contents = counted(32)});
    const std::uint16_t bank = image.add(ImageSection{.name = ".nv.constant4", .contents = counted(16)});
    const std::uint32_t first =
        image.add(ImageSymbol{.name = "first", .type = 1, .section = filled, .value = 0, .bytes = 8});
    const std::uint32_t second =
        image.add(ImageSymbol{.name = "second", .type = 1, .section = filled, .value = 16, .bytes = 16});
    Bytes of_code;
    add_rela(of_code, 4, 56, first, 12);   // R_CUDA_ABS32_LO_32
    add_rela(of_code, 4, 57, first, -12);  // R_CUDA_ABS32_HI_32
    add_rela(of_code, 0, 43, second, 0);   // R_CUDA_ABS32_LO_20
    add_rela(of_code, 0, 44, second, 0);   // R_CUDA_ABS32_HI_20
    image.add(
        ImageSection{.name = ".rela.text.k", .type = section_rela, .contents = of_code.get(), .info = text});
    Bytes of_bank;
    add_rel(of_bank, 8, 2, second);  // R_CUDA_64
    image.add(
        ImageSection{.name = ".rel.bank", .type = section_rel, .contents = of_bank.get(), .info = bank});
    Bytes of_data;
    add_rel(of_data, 0, 2, second);
    add_rel(of_data, 8, 2, second);  // between the variables
    add_rel(of_data, 24, 2, first);
    add_rel(of_data, 31, 2, 0x7fff);  // no such symbol
    image.add(
        ImageSection{.name = ".rel.data", .type = section_rel, .contents = of_data.get(), .info = filled});
    image.add(ImageSection{.name = ".rel.lost", .type = section_rel, .contents = of_data.get(), .info = 999});
    const Module module = read(image);

    const std::vector<Relocation>& code = module.functions[0].relocations;
    REQUIRE(code.size() == 4);
    CHECK(code[0].offset == 4);
    CHECK(code[0].symbol == "first");
    CHECK(code[0].addend == 12);
    CHECK(code[0].part == RelocationPart::low);
    CHECK(code[1].addend == -12);
    CHECK(code[1].part == RelocationPart::high);
    CHECK(code[2].symbol == "second");
    CHECK(code[2].part == RelocationPart::low);
    CHECK(code[3].part == RelocationPart::high);

    REQUIRE(module.constant_relocations.size() == 1);
    const std::vector<Relocation>& constants = module.constant_relocations.at(4);
    REQUIRE(constants.size() == 1);
    CHECK(constants[0].offset == 8);
    CHECK(constants[0].symbol == "second");
    CHECK(constants[0].part == RelocationPart::whole);
    CHECK(module.constants.at(4) == counted(16));

    REQUIRE(module.variables.size() == 2);
    REQUIRE(module.variables[0].relocations.size() == 1);
    CHECK(module.variables[0].relocations[0].offset == 0);
    CHECK(module.variables[0].relocations[0].symbol == "second");
    REQUIRE(module.variables[1].relocations.size() == 2);
    CHECK(module.variables[1].relocations[0].offset == 8);  // from the start of the variable
    CHECK(module.variables[1].relocations[0].symbol == "first");
    CHECK(module.variables[1].relocations[1].offset == 15);
    CHECK(module.variables[1].relocations[1].symbol.empty());
}

/// The sample with a line table of one row.
Image image_with_lines() {
    Sample sample;
    const LineUnit unit{.folders = {"/src"}, .files = {{"k.cu", 1}}};
    Bytes opcodes;
    set_address(opcodes, 0);
    opcodes.add<std::uint8_t>(3).signed_leb(40).add<std::uint8_t>(1);
    end_sequence(opcodes);
    const std::uint16_t lines =
        sample.image.add(ImageSection{.name = ".debug_line", .contents = line_unit(unit, opcodes.get())});
    Bytes places;
    add_rel(places, line_header_bytes(unit) + 3, 2, sample.kernel);
    sample.image.add(ImageSection{
        .name = ".rel.debug_line", .type = section_rel, .contents = places.get(), .info = lines});
    return sample.image;
}

TEST_CASE("the line table comes with the module") {
    const Module module = read(image_with_lines());
    CHECK(module.lines.files == std::vector<std::string>{"/src/k.cu"});
    REQUIRE(module.lines.functions.size() == 1);
    REQUIRE(module.lines.functions.at("k").size() == 1);
    CHECK(module.lines.functions.at("k")[0].line == 41);
}

TEST_CASE("a module cut short anywhere gives an Error with its name") {
    const std::vector<std::byte> whole = image_with_lines().build();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        REQUIRE(says(error_of(cut), "m.cubin: got '"));
    }
    CHECK(error_of(whole).empty());
}

TEST_CASE("a section cut short anywhere, in a file that is whole, gives a module") {
    const Image whole = image_with_lines();
    for (std::uint16_t index = 1; index <= whole.sections(); ++index) {
        Image image = whole;
        const std::vector<std::byte> contents = image.section(index).contents;
        for (std::size_t length = 0; length < contents.size(); ++length) {
            CAPTURE(image.section(index).name);
            CAPTURE(length);
            image.section(index).contents.resize(length);
            CHECK_NOTHROW((void)read(image));
            image.section(index).contents = contents;
        }
    }
}

TEST_CASE("spoilt bytes give an Error or a module") {
    const std::vector<std::byte> good = image_with_lines().build();
    CHECK(rc::check("spoilt", [&good] {
        std::vector<std::byte> bytes = good;
        const int changes = *rc::gen::inRange(1, 10);
        for (int i = 0; i < changes; ++i) {
            bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] =
                static_cast<std::byte>(*rc::gen::inRange(0, 256));
        }
        try {
            for (const Function& function : read_module(bytes, "m.cubin").functions) {
                RC_ASSERT(function.code.size() <= bytes.size() / 16);
            }
        } catch (const Error& error) {
            RC_ASSERT(error.parameter() == "m.cubin");
        }
    }));
}

TEST_CASE("the parameters of any kernel come back in the order of their offsets") {
    CHECK(rc::check("parameters", [] {
        Sample sample;
        const auto sizes =
            *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, 200));
        std::vector<Parameter> expected;
        std::uint32_t offset = 0;
        for (const std::uint32_t size : sizes) {
            expected.push_back({offset, size});
            offset += size + *rc::gen::inRange<std::uint32_t>(0, 9);
        }
        std::vector<Parameter> written = expected;
        std::ranges::reverse(written);
        Bytes own;
        for (const Parameter& one : written) {
            add_parameter(own, 0, one.offset, one.bytes);
        }
        add_info(own, parameter_bank, {0, 0x160U | offset << 16U});
        sample.image.section(sample.own_info).contents = own.get();
        const Function function = read(sample.image).functions[0];
        RC_ASSERT(function.parameter_base == 0x160U);
        RC_ASSERT(function.parameter_bytes == offset);
        RC_ASSERT(function.parameters.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            RC_ASSERT(function.parameters[i].offset == expected[i].offset);
            RC_ASSERT(function.parameters[i].bytes == expected[i].bytes);
        }
    }));
}

TEST_CASE("shared memory of more than 32 bits is refused") {
    Image image;
    image.add(ImageSection{.name = ".text.k", .contents = code_of({exit_code})});
    image.add(
        ImageSection{.name = ".nv.shared.k", .type = 8, .contents = {}, .no_bits = std::uint64_t{1} << 63U});
    CHECK(says(error_of(image.build()), "bytes of shared memory of k"));
}

TEST_CASE("variables and names that share their bytes take no more than a multiple of the file") {
    Image variables;
    const std::uint16_t global =
        variables.add(ImageSection{.name = ".nv.global.init", .contents = counted(4096)});
    for (int i = 0; i < 1000; ++i) {
        variables.add(ImageSymbol{.name = "", .type = 1, .section = global, .bytes = 4096});
    }
    CHECK(says(error_of(variables.build()), "sections or symbols that overlap"));

    Image relocations;
    const std::uint16_t text =
        relocations.add(ImageSection{.name = ".text.k", .contents = code_of({exit_code})});
    const std::uint32_t symbol = relocations.add(ImageSymbol{.name = std::string(4096, 'n')});
    Bytes entries;
    for (int i = 0; i < 1000; ++i) {
        add_rel(entries, 0, 56, symbol);
    }
    relocations.add(
        ImageSection{.name = ".rel.text.k", .type = section_rel, .contents = entries.get(), .info = text});
    CHECK(says(error_of(relocations.build()), "sections or symbols that overlap"));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
