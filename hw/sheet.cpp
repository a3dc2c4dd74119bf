// Assembles a GPU from its sheet, its calibration, their inherited values, and its instruction table. See the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"

#include "hw/checks.hpp"
#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/sheet_file.hpp"
#include "hw/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>

namespace warptime::hw {
namespace {

constexpr std::string_view sheet_folder = "hw/gpus/";
constexpr std::string_view calibration_folder = "hw/calibrations/";
constexpr std::string_view isa_folder = "hw/isa/";
constexpr int deepest_inheritance = 8;

/// All values that files give for one GPU; later files override earlier ones.
struct Assembly {
    std::map<std::string, std::string> text;
    std::vector<std::optional<SheetValue>> values = std::vector<std::optional<SheetValue>>(key_count);
    bool calibrated = false;
};

std::optional<std::string_view> find_embedded(std::string_view folder, std::string_view id) {
    const std::string name = fmt::format("{}{}.toml", folder, id);
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.name == name) {
            return file.content;
        }
    }
    return std::nullopt;
}

std::vector<std::string_view> embedded_ids(std::string_view folder) {
    constexpr std::string_view ending = ".toml";
    std::vector<std::string_view> ids;
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.name.substr(0, folder.size()) == folder) {
            ids.push_back(file.name.substr(folder.size(), file.name.size() - folder.size() - ending.size()));
        }
    }
    return ids;
}

/// `name` in lower case without separators: "RTX 4090" is "rtx4090".
std::string joined(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c != '-' && c != '_' && c != ' ') {
            text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return text;
}

/// Whether some words of the id, in their order, make up the name.
bool has_words(std::string_view id, std::string_view name) {
    const std::size_t end = id.find('-');
    const std::string_view word = id.substr(0, end);
    const bool begins = name.substr(0, word.size()) == word;
    if (end == std::string_view::npos) {
        return name.empty() || name == word;
    }
    const std::string_view rest = id.substr(end + 1);
    return (begins && has_words(rest, name.substr(word.size()))) || has_words(rest, name);
}

bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos ||
           (text.size() > 5 && text.substr(text.size() - 5) == ".toml");
}

std::string file_stem(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
    return std::string(file.substr(0, file.rfind(".toml")));
}

void overlay(Assembly& assembly, const SheetFile& file) {
    for (const auto& [field, text] : file.text) {
        assembly.text[field] = text;
    }
    for (const SheetValue& value : file.values) {
        assembly.values[value.key] = value;
    }
}

void mark_inherited(Assembly& assembly) {
    for (std::optional<SheetValue>& value : assembly.values) {
        if (value) {
            value->provenance.origin = Origin::inherited;
        }
    }
}

void require_depth(int depth, const std::string& id) {
    if (depth > deepest_inheritance) {
        throw Error(id + " inherits", "a chain of more than eight files", "inheritance that ends");
    }
}

/// Applies the calibration of `id` to `assembly`, after the calibrations that it inherits.
void add_calibration(Assembly& assembly, const std::string& id, int depth) {
    require_depth(depth, id);
    const auto text = find_embedded(calibration_folder, id);
    if (!text) {
        if (depth > 0) {
            throw Error("calibration inherits", id, expected_names(id, embedded_ids(calibration_folder)));
        }
        return;
    }
    SheetFile file = parse_sheet_file(*text, id, SheetKind::calibration);
    file.text.clear();
    if (!file.inherits.empty()) {
        Assembly base;
        add_calibration(base, file.inherits, depth + 1);
        mark_inherited(base);
        for (std::size_t key = 0; key < key_count; ++key) {
            if (base.values[key]) {
                assembly.values[key] = base.values[key];
            }
        }
    }
    overlay(assembly, file);
    assembly.calibrated = file.rows > 0;
}

Assembly assemble(const std::string& id, std::string_view text, SheetKind kind, int depth);

/// Needs an id from sheet_id_of.
Assembly assemble_embedded(const std::string& id, int depth) {
    Assembly assembly = assemble(id, *find_embedded(sheet_folder, id), SheetKind::vendor, depth);
    add_calibration(assembly, id, 0);
    return assembly;
}

Assembly assemble(const std::string& id, std::string_view text, SheetKind kind, int depth) {
    require_depth(depth, id);
    const SheetFile file = parse_sheet_file(text, id, kind);
    Assembly assembly;
    if (!file.inherits.empty()) {
        assembly = assemble_embedded(sheet_id_of(file.inherits), depth + 1);
        mark_inherited(assembly);
        assembly.calibrated = false;
    }
    overlay(assembly, file);
    return assembly;
}

std::string required_field(const Assembly& assembly, const std::string& id, const char* field) {
    const auto found = assembly.text.find(field);
    if (found == assembly.text.end()) {
        throw Error(fmt::format("{} [sheet] {}", id, field), "nothing", "text");
    }
    return found->second;
}

void read_capability(const std::string& text, Gpu& gpu) {
    const char* end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, gpu.compute_major);
    if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
        const auto minor = std::from_chars(major.ptr + 1, end, gpu.compute_minor);
        if (minor.ec == std::errc() && minor.ptr == end) {
            return;
        }
    }
    throw Error(gpu.id + " compute_capability", text, "major.minor, as 9.0");
}

void read_instructions(Gpu& gpu) {
    const auto text = find_embedded(isa_folder, gpu.isa);
    const auto ptx = find_embedded(isa_folder, "ptx");
    if (!text || !ptx) {
        throw Error(gpu.id + " isa", gpu.isa, expected_names(gpu.isa, embedded_ids(isa_folder)));
    }
    gpu.instructions = parse_instruction_table(*text, gpu.isa);
    gpu.instructions.ptx = parse_instruction_table(*ptx, "ptx").ptx;
}

Gpu finish(const std::string& id, const Assembly& assembly) {
    Gpu gpu;
    gpu.id = id;
    gpu.name = required_field(assembly, id, "name");
    gpu.architecture = required_field(assembly, id, "architecture");
    gpu.memory_type = required_field(assembly, id, "memory_type");
    gpu.isa = required_field(assembly, id, "isa");
    gpu.calibrated = assembly.calibrated;
    read_capability(required_field(assembly, id, "compute_capability"), gpu);
    gpu.provenance.resize(key_count);
    visit_keys(static_cast<GpuKeys&>(gpu), [&](std::size_t key, auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        const std::optional<SheetValue>& value = assembly.values[key];
        if (!value) {
            throw Error(
                fmt::format("{} {}", id, key_info[key].name), "nothing",
                fmt::format("a {} value in {}, in the {}", to_string(key_info[key].kind), key_info[key].unit,
                            key_info[key].kind == KeyKind::vendor ? "sheet" : "calibration"));
        }
        gpu.provenance[key] = value->provenance;
        if constexpr (is_key_list<Field>) {
            for (const double element : value->values) {
                field.push_back(typename Field::value_type(element));
            }
        } else {
            field = Field(value->values.front());
        }
    });
    read_instructions(gpu);
    resolve_instructions(gpu);
    return gpu;
}

}  // namespace

Gpu load_gpu(std::string_view id_or_path, std::span<const Setting> settings) {
    const std::string name(id_or_path);
    Gpu gpu;
    if (is_path(id_or_path)) {
        const std::string id = file_stem(id_or_path);
        gpu = finish(id, assemble(id, read_text_file(name, "gpu"), SheetKind::user, 0));
    } else {
        const std::string id = sheet_id_of(name);
        gpu = finish(id, assemble_embedded(id, 0));
    }
    require_sound(gpu);
    apply_settings(gpu, settings);
    if (!settings.empty()) {
        require_possible(gpu);
    }
    return gpu;
}

std::string sheet_id_of(std::string_view name) {
    const std::vector<std::string_view> ids = embedded_ids(sheet_folder);
    if (const auto index = find_name(name, ids)) {
        return std::string(ids[*index]);
    }
    const std::string words = joined(name);
    std::vector<std::string_view> meant;
    if (!words.empty()) {
        std::copy_if(ids.begin(), ids.end(), std::back_inserter(meant),
                     [&words](std::string_view id) { return has_words(id, words); });
    }
    if (meant.size() > 1) {
        throw Error("gpu", std::string(name), fmt::format("one of {}", fmt::join(meant, ", ")));
    }
    if (meant.empty()) {
        throw Error("gpu", std::string(name),
                    expected_names(name, ids) + ", or a path to a sheet; 'warptime gpus' lists them");
    }
    return std::string(meant.front());
}

std::vector<SheetSummary> list_sheets() {
    std::vector<SheetSummary> sheets;
    for (const std::string_view id : embedded_ids(sheet_folder)) {
        const SheetFile file =
            parse_sheet_file(*find_embedded(sheet_folder, id), std::string(id), SheetKind::vendor);
        SheetSummary summary{file.id, file.text.at("name"), file.text.at("architecture"), false};
        if (const auto board = file.text.find("board"); board != file.text.end()) {
            summary.board = board->second;
        }
        if (const auto calibration = find_embedded(calibration_folder, id)) {
            summary.calibrated = parse_sheet_file(*calibration, file.id, SheetKind::calibration).rows > 0;
        }
        sheets.push_back(std::move(summary));
    }
    return sheets;
}

}  // namespace warptime::hw
