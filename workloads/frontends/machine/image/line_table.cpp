// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/image/line_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace warptime::workloads::frontends::machine {

namespace {

/// Standard and extended opcodes (DWARF 4, sections 6.2.5.2 and 6.2.5.3).
enum Opcode : std::uint8_t {
    extended = 0,
    copy = 1,
    advance_pc = 2,
    advance_line = 3,
    set_file = 4,
    const_add_pc = 8,
    fixed_advance_pc = 9
};
enum ExtendedOpcode : std::uint8_t { end_sequence = 1, set_address = 2 };

/// Reads values one behind the other; `failed` once the end was passed.
class ByteReader {
  public:
    ByteReader(std::span<const std::byte> bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

    template <class T>
    T number() {
        const std::optional<T> value = value_at<T>(bytes_, at_);
        failed_ = failed_ || !value;
        at_ += sizeof(T);
        return value.value_or(T{});
    }
    std::uint64_t unsigned_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = number<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80U) == 0) {
                break;
            }
        }
        return value;
    }
    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0x80;
        while ((byte & 0x80U) != 0 && shift < 64) {
            byte = number<std::uint8_t>();
            value |= std::uint64_t{byte & 0x7fU} << shift;
            shift += 7;
        }
        if (shift < 64 && (byte & 0x40U) != 0) {
            value |= ~std::uint64_t{0} << shift;
        }
        return static_cast<std::int64_t>(value);
    }
    std::string text() {
        std::string read;
        for (auto byte = number<char>(); byte != '\0' && !failed_; byte = number<char>()) {
            read += byte;
        }
        return read;
    }
    void skip(std::uint64_t bytes) { at_ += bytes; }
    [[nodiscard]] std::uint64_t at() const { return at_; }
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end(std::uint64_t end) const { return failed_ || at_ >= end; }

  private:
    std::span<const std::byte> bytes_;
    std::uint64_t at_ = 0;
    bool failed_ = false;
};

struct Prologue {
    std::uint64_t end = 0;  ///< of the unit
    std::uint8_t instruction_bytes = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1;
    std::uint8_t opcode_base = 1;
    std::vector<std::uint8_t> argument_counts;
    int first_file = 0;  ///< index in the table's files of the unit's file 1
};

std::optional<Prologue> read_prologue(ByteReader& reader, std::span<const std::byte> section,
                                      LineTable& table, std::uint64_t& bytes_of_files) {
    Prologue prologue;
    const auto length = reader.number<std::uint32_t>();
    prologue.end = std::min<std::uint64_t>(section.size(), reader.at() + length);
    const auto version = reader.number<std::uint16_t>();
    if (reader.failed() || version < 2 || version > 4) {
        return std::nullopt;
    }
    const auto prologue_bytes = reader.number<std::uint32_t>();
    const std::uint64_t program = reader.at() + prologue_bytes;
    if (reader.failed() || program > prologue.end) {
        return std::nullopt;
    }
    reader = ByteReader(section.first(program), reader.at());
    prologue.instruction_bytes = reader.number<std::uint8_t>();
    if (version >= 4) {
        reader.skip(1);  // Operations of a long instruction word.
    }
    reader.skip(1);  // Whether lines are statements at first.
    prologue.line_base = reader.number<std::int8_t>();
    prologue.line_range = reader.number<std::uint8_t>();
    prologue.opcode_base = reader.number<std::uint8_t>();
    for (int i = 1; i < prologue.opcode_base; ++i) {
        prologue.argument_counts.push_back(reader.number<std::uint8_t>());
    }
    std::vector<std::string> folders{""};
    for (std::string folder = reader.text(); !folder.empty(); folder = reader.text()) {
        folders.push_back(std::move(folder));
    }
    prologue.first_file = static_cast<int>(table.files.size());
    for (std::string name = reader.text(); !name.empty(); name = reader.text()) {
        const std::uint64_t folder = reader.unsigned_leb();
        (void)reader.unsigned_leb();  // Time of change.
        (void)reader.unsigned_leb();  // Bytes.
        const bool relative = !name.starts_with('/') && folder > 0 && folder < folders.size();
        table.files.push_back(relative ? folders[folder] + "/" + name : name);
        bytes_of_files += table.files.back().size();
        if (bytes_of_files > most_copies * section.size()) {
            return std::nullopt;  // A long folder stands before each of many files.
        }
    }
    if (reader.failed() || prologue.line_range == 0) {
        return std::nullopt;
    }
    reader = ByteReader(section, program);
    return prologue;
}

/// The registers of the line machine.
struct State {
    std::string function;
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;  ///< wraps around, as steps may be negative
};

class Program {
  public:
    Program(const Prologue& prologue, const std::map<std::uint64_t, std::string_view>& functions,
            LineTable& table)
        : prologue_(prologue), functions_(functions), table_(table) {}

    void run(ByteReader& reader) {
        while (!reader.at_end(prologue_.end)) {
            const auto opcode = reader.number<std::uint8_t>();
            if (opcode >= prologue_.opcode_base) {
                const int special = opcode - prologue_.opcode_base;
                advance(static_cast<std::uint64_t>(special / prologue_.line_range));
                state_.line +=
                    static_cast<std::uint64_t>(prologue_.line_base + special % prologue_.line_range);
                add_row();
            } else {
                standard(reader, opcode);
            }
        }
    }

  private:
    void advance(std::uint64_t instructions) { state_.address += instructions * prologue_.instruction_bytes; }

    void add_row() {
        if (state_.function.empty()) {
            return;
        }
        const auto first = static_cast<std::uint64_t>(prologue_.first_file);
        const bool known = state_.file >= 1 && state_.file <= table_.files.size() - first;
        table_.functions[state_.function].push_back({static_cast<std::uint32_t>(state_.address),
                                                     known ? static_cast<int>(first + state_.file - 1) : -1,
                                                     static_cast<int>(state_.line)});
    }

    void standard(ByteReader& reader, std::uint8_t opcode) {
        switch (opcode) {
            case extended: {
                const std::uint64_t bytes = reader.unsigned_leb();
                const std::uint64_t next = reader.at() + bytes;
                const auto kind = reader.number<std::uint8_t>();
                if (kind == set_address) {
                    // The address itself is filled in by a relocation, which names the function.
                    const auto function = functions_.find(reader.at());
                    state_.function = function == functions_.end() ? "" : function->second;
                    state_.address = reader.number<std::uint64_t>();
                } else if (kind == end_sequence) {
                    state_ = {};
                }
                reader.skip(next - std::min(next, reader.at()));
                break;
            }
            case copy:
                add_row();
                break;
            case advance_pc:
                advance(reader.unsigned_leb());
                break;
            case advance_line:
                state_.line += static_cast<std::uint64_t>(reader.signed_leb());
                break;
            case set_file:
                state_.file = reader.unsigned_leb();
                break;
            case const_add_pc:
                advance(static_cast<std::uint64_t>((255 - prologue_.opcode_base) / prologue_.line_range));
                break;
            case fixed_advance_pc:
                state_.address += reader.number<std::uint16_t>();
                break;
            default:
                for (int i = 0; i < prologue_.argument_counts[opcode - 1U]; ++i) {
                    (void)reader.unsigned_leb();
                }
        }
    }

    const Prologue& prologue_;
    const std::map<std::uint64_t, std::string_view>& functions_;
    LineTable& table_;
    State state_;
};

/// Places in .debug_line that hold an address: the function that a relocation fills in.
std::map<std::uint64_t, std::string_view> functions_by_place(const Elf& elf) {
    std::map<std::uint64_t, std::string_view> functions;
    for (const char* name : {".rela.debug_line", ".rel.debug_line"}) {
        const ElfSection* const section = elf.find(name);
        if (section == nullptr) {
            continue;
        }
        for (const ElfRelocation& relocation : relocations_of(*section)) {
            if (relocation.symbol >= elf.symbols.size()) {
                continue;
            }
            const ElfSymbol& symbol = elf.symbols[relocation.symbol];
            constexpr std::string_view text = ".text.";
            std::string_view function = symbol.name;
            if (function.empty() && symbol.section < elf.sections.size()) {
                function = elf.sections[symbol.section].name;
            }
            if (function.starts_with(text)) {
                function.remove_prefix(text.size());
            }
            functions[relocation.offset] = function;
        }
    }
    return functions;
}

}  // namespace

LineTable read_line_table(const Elf& elf) {
    LineTable table;
    const ElfSection* const section = elf.find(".debug_line");
    if (section == nullptr) {
        return table;
    }
    const std::map<std::uint64_t, std::string_view> functions = functions_by_place(elf);
    std::uint64_t bytes_of_files = 0;
    ByteReader reader(section->contents, 0);
    while (!reader.at_end(section->contents.size())) {
        const std::optional<Prologue> prologue =
            read_prologue(reader, section->contents, table, bytes_of_files);
        if (!prologue) {
            break;
        }
        Program(*prologue, functions, table).run(reader);
        reader = ByteReader(section->contents, prologue->end);
    }
    for (auto& [name, lines] : table.functions) {
        std::ranges::stable_sort(lines, {}, &SourceLine::address);
    }
    return table;
}

}  // namespace warptime::workloads::frontends::machine
