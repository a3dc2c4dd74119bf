// ELF images built in memory for tests: sections, symbols, relocations, records of .nv.info and a line
// program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine::testing {

/// Values one behind the other, little endian.
class Bytes {
  public:
    template <class T>
    Bytes& add(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8U * i) & 0xffU));
        }
        return *this;
    }
    /// The characters and a zero behind them.
    Bytes& text(std::string_view characters) {
        for (const char character : characters) {
            add(static_cast<std::uint8_t>(character));
        }
        return add<std::uint8_t>(0);
    }
    Bytes& join(const std::vector<std::byte>& others) {
        bytes_.insert(bytes_.end(), others.begin(), others.end());
        return *this;
    }
    Bytes& unsigned_leb(std::uint64_t value) {
        for (; value >= 0x80U; value >>= 7U) {
            add(static_cast<std::uint8_t>(value | 0x80U));
        }
        return add(static_cast<std::uint8_t>(value));
    }
    Bytes& signed_leb(std::int64_t value) {
        while (value < -64 || value > 63) {
            add(static_cast<std::uint8_t>((static_cast<std::uint64_t>(value) & 0x7fU) | 0x80U));
            value >>= 7;
        }
        return add(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) & 0x7fU));
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] const std::vector<std::byte>& get() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// Overwrites the value at the offset, to spoil an image.
template <class T>
void overwrite(std::vector<std::byte>& bytes, std::size_t offset, T value) {
    const Bytes written = Bytes().add(value);
    std::ranges::copy(written.get(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

struct ImageSection {
    std::string name;
    std::uint32_t type = 1;  ///< 1: bytes of the program, 4: rela, 8: no bits, 9: rel
    std::vector<std::byte> contents;
    std::uint32_t info = 0;
    std::uint64_t flags = 0;
    std::uint64_t alignment = 1;
    std::uint64_t no_bits = 0;  ///< bytes of a section of type 8
    std::uint32_t link = 0;
};

struct ImageSymbol {
    std::string name;
    std::uint8_t type = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t bytes = 0;
};

/// Layout of the image: file header, section headers, contents. Hence the file ends with contents, and every
/// byte belongs to something.
class Image {
  public:
    std::uint16_t machine = 190;
    std::uint8_t abi_version = 7;
    std::uint32_t flags = 90;
    std::uint16_t header_bytes = 64;  ///< from one section header to the next

    /// Index of the new section; 0 is the empty one of every ELF file.
    std::uint16_t add(ImageSection section) {
        sections_.push_back(std::move(section));
        return static_cast<std::uint16_t>(sections_.size());
    }
    /// Index of the new symbol; 0 is the empty one of every symbol table.
    std::uint32_t add(ImageSymbol symbol) {
        symbols_.push_back(std::move(symbol));
        return static_cast<std::uint32_t>(symbols_.size());
    }
    /// The section of the index, to change it.
    ImageSection& section(std::uint16_t index) { return sections_.at(index - 1U); }
    /// Sections that were added.
    [[nodiscard]] std::size_t sections() const { return sections_.size(); }

    [[nodiscard]] std::vector<std::byte> build() const {
        std::vector<ImageSection> all{ImageSection{.name = "", .type = 0, .contents = {}}};
        all.insert(all.end(), sections_.begin(), sections_.end());
        Bytes strings;
        strings.text("");
        Bytes table;
        add_symbol(table, strings, {});
        for (const ImageSymbol& symbol : symbols_) {
            add_symbol(table, strings, symbol);
        }
        const auto strings_index = static_cast<std::uint32_t>(all.size() + 1);
        all.push_back({.name = ".symtab", .type = 2, .contents = table.get(), .link = strings_index});
        all.push_back({.name = ".strtab", .type = 3, .contents = strings.get()});
        Bytes names;
        std::vector<std::uint32_t> name_offsets;
        all.push_back({.name = ".shstrtab", .type = 3, .contents = {}});
        for (const ImageSection& section : all) {
            name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
            names.text(section.name);
        }
        all.back().contents = names.get();

        constexpr std::uint64_t file_header = 64;
        Bytes image;
        image.add<std::uint32_t>(0x464c457f).add<std::uint8_t>(2).add<std::uint8_t>(1).add<std::uint8_t>(1);
        image.add<std::uint8_t>(0x33).add(abi_version).join(std::vector<std::byte>(7));
        image.add<std::uint16_t>(2).add(machine).add<std::uint32_t>(1);
        image.add<std::uint64_t>(0).add<std::uint64_t>(0).add<std::uint64_t>(file_header).add(flags);
        image.add<std::uint16_t>(64).add<std::uint16_t>(56).add<std::uint16_t>(0).add(header_bytes);
        image.add(static_cast<std::uint16_t>(all.size())).add(static_cast<std::uint16_t>(all.size() - 1));
        std::uint64_t offset = file_header + all.size() * header_bytes;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const ImageSection& section = all[i];
            const std::uint64_t size = section.type == 8 ? section.no_bits : section.contents.size();
            image.add(name_offsets[i]).add(section.type).add(section.flags).add<std::uint64_t>(0);
            image.add(offset).add(size).add(section.link).add(section.info);
            image.add(section.alignment).add<std::uint64_t>(0);
            image.join(std::vector<std::byte>(header_bytes - 64U));
            offset += section.contents.size();
        }
        for (const ImageSection& section : all) {
            image.join(section.contents);
        }
        return image.get();
    }

  private:
    static void add_symbol(Bytes& table, Bytes& strings, const ImageSymbol& symbol) {
        table.add(static_cast<std::uint32_t>(symbol.name.empty() ? 0 : strings.size()));
        constexpr unsigned global = 0x10;  // The binding stands above the type.
        table.add(static_cast<std::uint8_t>(symbol.type | global)).add<std::uint8_t>(0);
        table.add(symbol.section).add(symbol.value).add(symbol.bytes);
        if (!symbol.name.empty()) {
            strings.text(symbol.name);
        }
    }

    std::vector<ImageSection> sections_;
    std::vector<ImageSymbol> symbols_;
};

inline void add_rel(Bytes& to, std::uint64_t offset, std::uint32_t type, std::uint32_t symbol) {
    to.add(offset).add(type).add(symbol);
}
inline void add_rela(Bytes& to, std::uint64_t offset, std::uint32_t type, std::uint32_t symbol,
                     std::int64_t addend) {
    add_rel(to, offset, type, symbol);
    to.add(addend);
}

/// A record of .nv.info with contents of its own (format 4).
inline void add_info(Bytes& to, std::uint8_t attribute, const std::vector<std::uint32_t>& words) {
    to.add<std::uint8_t>(4).add(attribute).add(static_cast<std::uint16_t>(4 * words.size()));
    for (const std::uint32_t word : words) {
        to.add(word);
    }
}
/// A record of .nv.info that is one number (formats 1 to 3).
inline void add_short_info(Bytes& to, std::uint8_t format, std::uint8_t attribute, std::uint16_t value) {
    to.add(format).add(attribute).add(value);
}

/// A file of a line program, in folder 1, 2, ... of its unit, or in none.
struct LineFile {
    std::string name;
    std::uint64_t folder = 0;
};

/// What stands before the opcodes of a unit of .debug_line.
struct LineUnit {
    std::uint16_t version = 2;
    std::uint8_t instruction_bytes = 1;
    std::int8_t line_base = -5;
    std::uint8_t line_range = 14;
    std::uint8_t opcode_base = 10;
    std::vector<std::string> folders;
    std::vector<LineFile> files;
};

/// Operands of the standard opcodes 1 to 12 (DWARF 4, section 7.21).
inline constexpr std::array<std::uint8_t, 12> line_operands{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

inline std::vector<std::byte> line_unit(const LineUnit& unit, const std::vector<std::byte>& opcodes) {
    Bytes tables;
    tables.add(unit.instruction_bytes);
    if (unit.version >= 4) {
        tables.add<std::uint8_t>(1);
    }
    tables.add<std::uint8_t>(1).add(unit.line_base).add(unit.line_range).add(unit.opcode_base);
    for (std::size_t i = 1; i < unit.opcode_base; ++i) {
        tables.add(i <= line_operands.size() ? line_operands[i - 1] : std::uint8_t{3});
    }
    for (const std::string& folder : unit.folders) {
        tables.text(folder);
    }
    tables.add<std::uint8_t>(0);
    for (const LineFile& file : unit.files) {
        tables.text(file.name).unsigned_leb(file.folder).unsigned_leb(1'700'000'000).unsigned_leb(300);
    }
    tables.add<std::uint8_t>(0);
    Bytes all;
    all.add(static_cast<std::uint32_t>(2 + 4 + tables.size() + opcodes.size())).add(unit.version);
    all.add(static_cast<std::uint32_t>(tables.size())).join(tables.get()).join(opcodes);
    return all.get();
}

/// Where the opcodes begin, from the start of the unit.
inline std::size_t line_header_bytes(const LineUnit& unit) {
    return line_unit(unit, {}).size();
}

/// The extended opcode that sets the address; the address begins 3 bytes behind the opcode's start.
inline void set_address(Bytes& opcodes, std::uint64_t address) {
    opcodes.add<std::uint8_t>(0).unsigned_leb(9).add<std::uint8_t>(2).add(address);
}
inline void end_sequence(Bytes& opcodes) {
    opcodes.add<std::uint8_t>(0).unsigned_leb(1).add<std::uint8_t>(1);
}

}  // namespace warptime::workloads::frontends::machine::testing
