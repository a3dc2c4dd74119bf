// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/module.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/image/elf.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint8_t symbol_object = 1;
constexpr std::uint8_t symbol_function = 2;
constexpr std::string_view text_prefix = ".text.";
/// Where the code of Hopper and later puts a CTA's own shared memory: a rule of that code, as no section
/// says.
constexpr std::int64_t reserved_shared = 1024;
/// Sizes of shared memory have 32 bits; what a GPU has is checked at the launch.
constexpr std::uint64_t most_shared = 0xffffffffU;

/// Attributes of the sections .nv.info, as ptxas 13.0 writes them; read off kernels of known shape.
enum class Attribute : std::uint8_t {
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
    barriers = 0x4c,
};

struct Info {
    std::uint8_t attribute = 0;
    std::uint16_t value = 0;              ///< of attributes that hold one number
    std::span<const std::byte> contents;  ///< of the others
};

std::vector<Info> read_info(std::span<const std::byte> bytes) {
    constexpr std::uint8_t sized = 4;
    std::vector<Info> all;
    for (std::uint64_t at = 0; at + 4 <= bytes.size();) {
        const auto format = *value_at<std::uint8_t>(bytes, at);
        Info info;
        info.attribute = *value_at<std::uint8_t>(bytes, at + 1);
        info.value = *value_at<std::uint16_t>(bytes, at + 2);
        at += 4;
        if (format == sized) {
            if (bytes.size() - at < info.value) {
                break;
            }
            info.contents = bytes.subspan(at, info.value);
            at += info.value;
        }
        all.push_back(info);
    }
    return all;
}

bool is(const Info& info, Attribute attribute) {
    return info.attribute == static_cast<std::uint8_t>(attribute);
}

std::uint32_t word(const Info& info, std::uint64_t i) {
    return value_at<std::uint32_t>(info.contents, 4 * i).value_or(0);
}

int architecture_of(const Elf& elf) {
    // From ABI version 8 on the architecture stands in the second byte.
    return static_cast<int>(elf.abi_version >= 8 ? (elf.flags >> 8U) & 0xffU : elf.flags & 0xffU);
}

/// Relocation types that ptxas 13.0 writes.
RelocationPart part_of(std::uint32_t type) {
    switch (type) {
        case 56:  // R_CUDA_ABS32_LO_32
        case 43:
            return RelocationPart::low;
        case 57:  // R_CUDA_ABS32_HI_32
        case 44:
            return RelocationPart::high;
        default:
            return RelocationPart::whole;
    }
}

class Reader {
  public:
    Reader(std::span<const std::byte> cubin, std::string_view origin)
        : origin_(origin), most_copied_(most_copies * cubin.size()), elf_(read_elf(cubin, origin)) {
        if (elf_.machine != machine_cuda) {
            throw Error(std::string(origin), fmt::format("an ELF file of machine {}", elf_.machine),
                        "190, which is CUDA's");
        }
        module_.architecture = architecture_of(elf_);
        if (module_.architecture < 80) {
            throw Error(std::string(origin), fmt::format("sm_{}", module_.architecture), "sm_80 or later");
        }
    }

    Module read() {
        read_functions();
        read_variables();
        read_constants();
        read_relocations();
        module_.lines = read_line_table(elf_);
        return std::move(module_);
    }

  private:
    void count_copies(std::uint64_t bytes) {
        copied_ += bytes;
        if (copied_ > most_copied_) {
            throw Error(std::string(origin_), "sections or symbols that overlap", "a cubin");
        }
    }

    std::vector<std::byte> bytes_of(const ElfSection& section) {
        count_copies(section.contents.size());
        return {section.contents.begin(), section.contents.end()};
    }

    void read_functions() {
        for (std::size_t s = 0; s < elf_.sections.size(); ++s) {
            const ElfSection& section = elf_.sections[s];
            if (!section.name.starts_with(text_prefix)) {
                continue;
            }
            Function function;
            function.name = section.name.substr(text_prefix.size());
            count_copies(sizeof function + section.contents.size());
            for (std::uint64_t at = 0; at + 16 <= section.contents.size(); at += 16) {
                function.code.push_back({*value_at<std::uint64_t>(section.contents, at),
                                         *value_at<std::uint64_t>(section.contents, at + 8)});
            }
            function.shared_begin = module_.architecture >= 90 ? reserved_shared : 0;
            for (const ElfSymbol& symbol : elf_.symbols) {
                if (symbol.section == s && symbol.type == symbol_function && symbol.name != function.name) {
                    count_copies(symbol.name.size());
                    function.entry_points[symbol.name] = static_cast<std::uint32_t>(symbol.value);
                }
            }
            if (const ElfSection* shared = elf_.find(".nv.shared." + function.name)) {
                if (shared->bytes > most_shared) {
                    throw Error(std::string(origin_),
                                fmt::format("{} bytes of shared memory of {}", shared->bytes, function.name),
                                fmt::format("at most {}", most_shared));
                }
                function.static_shared = static_cast<std::int64_t>(shared->bytes);
            }
            if (const ElfSection* literals = elf_.find(".nv.constant2." + function.name)) {
                function.constants[2] = bytes_of(*literals);
            }
            read_kernel_info(function);
            module_.functions.push_back(std::move(function));
        }
        const ElfSection* info = elf_.find(".nv.info");
        if (info == nullptr) {
            return;
        }
        for (const Info& one : read_info(info->contents)) {
            const std::uint32_t symbol = word(one, 0);
            if (one.contents.size() < 8 || symbol >= elf_.symbols.size()) {
                continue;
            }
            for (Function& function : module_.functions) {
                if (function.name != elf_.symbols[symbol].name) {
                    continue;
                }
                if (is(one, Attribute::registers)) {
                    function.registers = static_cast<int>(word(one, 1));
                } else if (is(one, Attribute::frame_size) || is(one, Attribute::min_stack_size) ||
                           is(one, Attribute::max_stack_size)) {
                    function.local_bytes = std::max<std::int64_t>(function.local_bytes, word(one, 1));
                }
            }
        }
    }

    void read_kernel_info(Function& function) {
        const ElfSection* section = elf_.find(".nv.info." + function.name);
        if (section == nullptr) {
            return;
        }
        count_copies(section->contents.size());
        function.kernel = elf_.find(".nv.constant0." + function.name) != nullptr;
        for (const Info& info : read_info(section->contents)) {
            if (is(info, Attribute::parameter)) {
                const std::uint32_t places = word(info, 1);
                function.parameters.push_back({places >> 16U, word(info, 2) >> 18U});
            } else if (is(info, Attribute::parameter_bank)) {
                function.parameter_base = word(info, 1) & 0xffffU;
                function.parameter_bytes = word(info, 1) >> 16U;
            } else if (is(info, Attribute::barriers)) {
                function.barriers = info.value;
            } else if (is(info, Attribute::max_threads)) {
                function.max_threads = static_cast<int>(word(info, 0) * std::max(1U, word(info, 1)) *
                                                        std::max(1U, word(info, 2)));
            } else if (is(info, Attribute::required_block) || is(info, Attribute::cluster)) {
                auto& shape = is(info, Attribute::cluster) ? function.cluster : function.required_block;
                for (std::size_t d = 0; d < 3; ++d) {
                    shape[d] = static_cast<int>(word(info, d));
                }
            }
        }
        std::ranges::sort(function.parameters, {}, &Parameter::offset);
    }

    void read_variables() {
        for (const ElfSymbol& symbol : elf_.symbols) {
            if (symbol.type != symbol_object || symbol.section == 0 ||
                symbol.section >= elf_.sections.size()) {
                continue;
            }
            const ElfSection& section = elf_.sections[symbol.section];
            const bool constant = section.name == ".nv.constant3";
            if (!constant && section.name != ".nv.global" && section.name != ".nv.global.init") {
                continue;
            }
            Variable variable;
            variable.name = symbol.name;
            variable.constant = constant;
            variable.bytes = symbol.bytes;
            variable.offset = symbol.value;
            variable.alignment = section.alignment;
            if (symbol.value <= section.contents.size() &&
                section.contents.size() - symbol.value >= symbol.bytes) {
                const auto initial = section.contents.subspan(symbol.value, symbol.bytes);
                variable.initial.assign(initial.begin(), initial.end());
            }
            count_copies(sizeof variable + variable.name.size() + variable.initial.size());
            sections_of_variables_.push_back(symbol.section);
            module_.variables.push_back(std::move(variable));
        }
    }

    void read_constants() {
        for (const int bank : {3, 4}) {
            if (const ElfSection* section = elf_.find(fmt::format(".nv.constant{}", bank))) {
                module_.constants[bank] = bytes_of(*section);
            }
        }
    }

    void add(std::vector<Relocation>& to, const Relocation& relocation) {
        count_copies(sizeof relocation + relocation.symbol.size());
        to.push_back(relocation);
    }

    Relocation relocation_of(const ElfRelocation& from) {
        Relocation relocation;
        relocation.offset = from.offset;
        relocation.addend = from.addend;
        relocation.part = part_of(from.type);
        if (from.symbol < elf_.symbols.size()) {
            relocation.symbol = elf_.symbols[from.symbol].name;
            count_copies(relocation.symbol.size());
        }
        return relocation;
    }

    void read_relocations() {
        for (const ElfSection& section : elf_.sections) {
            if ((section.type != section_rela && section.type != section_rel) ||
                section.info >= elf_.sections.size()) {
                continue;
            }
            const std::string& target = elf_.sections[section.info].name;
            for (const ElfRelocation& from : relocations_of(section)) {
                const Relocation relocation = relocation_of(from);
                if (target.starts_with(text_prefix)) {
                    for (Function& function : module_.functions) {
                        if (function.name == target.substr(text_prefix.size())) {
                            add(function.relocations, relocation);
                        }
                    }
                } else if (target == ".nv.constant3" || target == ".nv.constant4") {
                    add(module_.constant_relocations[target.back() - '0'], relocation);
                } else if (target == ".nv.global.init") {
                    for (std::size_t v = 0; v < module_.variables.size(); ++v) {
                        Variable& variable = module_.variables[v];
                        if (sections_of_variables_[v] == section.info &&
                            relocation.offset >= variable.offset &&
                            relocation.offset < variable.offset + variable.bytes) {
                            Relocation own = relocation;
                            own.offset -= variable.offset;
                            add(variable.relocations, own);
                        }
                    }
                }
            }
        }
    }

    std::string_view origin_;
    std::uint64_t most_copied_ = 0;
    std::uint64_t copied_ = 0;
    Elf elf_;
    Module module_;
    std::vector<std::uint16_t> sections_of_variables_;
};

}  // namespace

const Function* Module::find(std::string_view name) const {
    const auto found = std::ranges::find(functions, name, &Function::name);
    return found == functions.end() ? nullptr : &*found;
}

Module read_module(std::span<const std::byte> cubin, std::string_view origin) {
    return Reader(cubin, origin).read();
}

}  // namespace warptime::workloads::frontends::machine
