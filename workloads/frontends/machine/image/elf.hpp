// Sections and symbols of a 64-bit ELF file; every read is within the bytes.
// Source: Tool Interface Standard, Executable and Linking Format, version 1.2, and its 64-bit extension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Types of the sections that hold relocations, with and without addends.
inline constexpr std::uint32_t section_rela = 4;
inline constexpr std::uint32_t section_rel = 9;

struct ElfSection {
    std::string name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t bytes = 0;  ///< of the section in memory, also where the file holds none of it
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t alignment = 1;
    std::span<const std::byte> contents;  ///< empty for sections without bytes in the file
};

struct ElfSymbol {
    std::string name;
    std::uint8_t type = 0;  ///< 1: object, 2: function, 3: section
    std::uint16_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t bytes = 0;
};

struct ElfRelocation {
    std::uint64_t offset = 0;
    std::uint32_t type = 0;
    std::uint32_t symbol = 0;
    std::int64_t addend = 0;
};

struct Elf {
    std::uint16_t machine = 0;
    std::uint32_t flags = 0;
    std::uint8_t abi_version = 0;
    std::vector<ElfSection> sections;
    std::vector<ElfSymbol> symbols;

    [[nodiscard]] const ElfSection* find(std::string_view name) const;
};

/// Entries of a file may name the same bytes again and again. Copies of them may take so many times its size.
inline constexpr std::uint64_t most_copies = 64;

/// A value at an offset, or nothing beyond the end.
template <class T>
[[nodiscard]] std::optional<T> value_at(std::span<const std::byte> bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// Throws Error naming `origin` when the bytes are no ELF file of 64 bits, a table reaches beyond the end, or
/// the names take more than `most_copies` of the file.
[[nodiscard]] Elf read_elf(std::span<const std::byte> bytes, std::string_view origin);

/// The entries of a section of type RELA (4) or REL (9).
[[nodiscard]] std::vector<ElfRelocation> relocations_of(const ElfSection& section);

}  // namespace warptime::workloads::frontends::machine
