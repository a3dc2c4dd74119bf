// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/elf.hpp"

#include "hw/error.hpp"

#include <algorithm>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint32_t section_symbols = 2;
constexpr std::uint32_t section_no_bits = 8;
constexpr std::uint64_t header_bytes = 64;
constexpr std::uint64_t symbol_bytes = 24;

template <class T>
T require(std::span<const std::byte> bytes, std::uint64_t offset, std::string_view origin) {
    const std::optional<T> value = value_at<T>(bytes, offset);
    if (!value) {
        throw Error(std::string(origin), "a file cut short", "a whole cubin");
    }
    return *value;
}

std::string text_at(std::span<const std::byte> table, std::uint64_t offset) {
    std::string text;
    for (; offset < table.size() && table[offset] != std::byte{0}; ++offset) {
        text.push_back(static_cast<char>(table[offset]));
    }
    return text;
}

}  // namespace

const ElfSection* Elf::find(std::string_view name) const {
    const auto found = std::ranges::find(sections, name, &ElfSection::name);
    return found == sections.end() ? nullptr : &*found;
}

Elf read_elf(std::span<const std::byte> bytes, std::string_view origin) {
    constexpr std::uint32_t magic = 0x464c457f;
    if (value_at<std::uint32_t>(bytes, 0) != magic) {
        throw Error(std::string(origin), "a file that does not begin as an ELF file", "a cubin");
    }
    if (require<std::uint8_t>(bytes, 4, origin) != 2 || require<std::uint8_t>(bytes, 5, origin) != 1) {
        throw Error(std::string(origin), "an ELF file of another width or byte order",
                    "64 bits, little endian");
    }
    Elf elf;
    elf.abi_version = require<std::uint8_t>(bytes, 8, origin);
    elf.machine = require<std::uint16_t>(bytes, 18, origin);
    elf.flags = require<std::uint32_t>(bytes, 48, origin);
    const auto table = require<std::uint64_t>(bytes, 40, origin);
    const auto entry = require<std::uint16_t>(bytes, 58, origin);
    const auto count = require<std::uint16_t>(bytes, 60, origin);
    const auto names = require<std::uint16_t>(bytes, 62, origin);
    if (entry < header_bytes) {
        throw Error(std::string(origin), "section headers of " + std::to_string(entry) + " bytes", "64");
    }
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t at = table + i * entry;
        ElfSection section;
        name_offsets.push_back(require<std::uint32_t>(bytes, at, origin));
        section.type = require<std::uint32_t>(bytes, at + 4, origin);
        section.flags = require<std::uint64_t>(bytes, at + 8, origin);
        const auto offset = require<std::uint64_t>(bytes, at + 24, origin);
        section.bytes = require<std::uint64_t>(bytes, at + 32, origin);
        section.link = require<std::uint32_t>(bytes, at + 40, origin);
        section.info = require<std::uint32_t>(bytes, at + 44, origin);
        section.alignment = require<std::uint64_t>(bytes, at + 48, origin);
        if (section.type != section_no_bits) {
            if (offset > bytes.size() || bytes.size() - offset < section.bytes) {
                throw Error(std::string(origin), "a section that ends behind the file", "a whole cubin");
            }
            section.contents = bytes.subspan(offset, section.bytes);
        }
        elf.sections.push_back(std::move(section));
    }
    std::uint64_t copied = 0;
    const auto count_copies = [&](std::uint64_t more) {
        copied += more;
        if (copied > most_copies * bytes.size()) {
            throw Error(std::string(origin), "names that overlap", "a cubin");
        }
    };
    for (std::size_t i = 0; i < elf.sections.size() && names < elf.sections.size(); ++i) {
        elf.sections[i].name = text_at(elf.sections[names].contents, name_offsets[i]);
        count_copies(elf.sections[i].name.size());
    }
    for (const ElfSection& section : elf.sections) {
        if (section.type != section_symbols || section.link >= elf.sections.size()) {
            continue;
        }
        const std::span<const std::byte> strings = elf.sections[section.link].contents;
        for (std::uint64_t at = 0; at + symbol_bytes <= section.contents.size(); at += symbol_bytes) {
            ElfSymbol symbol;
            symbol.name = text_at(strings, require<std::uint32_t>(section.contents, at, origin));
            symbol.type = require<std::uint8_t>(section.contents, at + 4, origin) & 0xfU;
            symbol.section = require<std::uint16_t>(section.contents, at + 6, origin);
            symbol.value = require<std::uint64_t>(section.contents, at + 8, origin);
            symbol.bytes = require<std::uint64_t>(section.contents, at + 16, origin);
            count_copies(sizeof symbol + symbol.name.size());
            elf.symbols.push_back(std::move(symbol));
        }
    }
    return elf;
}

std::vector<ElfRelocation> relocations_of(const ElfSection& section) {
    std::vector<ElfRelocation> relocations;
    const std::uint64_t entry = section.type == section_rela ? 24 : 16;
    for (std::uint64_t at = 0; at + entry <= section.contents.size(); at += entry) {
        ElfRelocation relocation;
        relocation.offset = *value_at<std::uint64_t>(section.contents, at);
        const auto info = *value_at<std::uint64_t>(section.contents, at + 8);
        relocation.type = static_cast<std::uint32_t>(info);
        relocation.symbol = static_cast<std::uint32_t>(info >> 32U);
        if (section.type == section_rela) {
            relocation.addend = *value_at<std::int64_t>(section.contents, at + 16);
        }
        relocations.push_back(relocation);
    }
    return relocations;
}

}  // namespace warptime::workloads::frontends::machine
