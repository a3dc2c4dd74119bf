// Reads library data files (TOML); the only source that sees the TOML parser in workloads/.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/libraries/library.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/toml_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <span>

namespace warptime::workloads::libraries {

std::span<const hw::EmbeddedFile> embedded_libraries();

namespace {

/// One table of a file with its place, for error messages.
struct Section {
    const toml::table& table;
    std::string place;

    template <class T>
    [[nodiscard]] T get(std::string_view field, std::string_view expected) const {
        const auto value = table[field].value<T>();
        if (!value) {
            throw Error(fmt::format("{} {}", place, field),
                        table.contains(field) ? "another type" : "nothing", std::string(expected));
        }
        return *value;
    }
    [[nodiscard]] int whole(std::string_view field) const {
        return static_cast<int>(get<std::int64_t>(field, "a whole number"));
    }
    [[nodiscard]] std::string text(std::string_view field) const {
        return get<std::string>(field, "a string");
    }
    [[nodiscard]] double number(std::string_view field) const { return get<double>(field, "a number"); }
};

/// How many numbers a table has; each word of a list of tiles or clusters counts as one.
int numbers_in(const toml::table& table) {
    int numbers = 0;
    for (const auto& [name, node] : table) {
        const bool list = name == "tiles" || name == "clusters";
        numbers += node.is_number()          ? 1
                   : list && node.is_array() ? static_cast<int>(node.as_array()->size())
                                             : 0;
    }
    return numbers;
}

std::pair<int, int> extent2(std::string_view text, const std::string& place) {
    int sizes[2] = {0, 0};
    std::size_t part = 0;
    for (const char c : text) {
        if (c == 'x' && part == 0) {
            part = 1;
        } else if (c >= '0' && c <= '9' && sizes[part] < 100000) {
            sizes[part] = sizes[part] * 10 + (c - '0');
        } else {
            sizes[0] = 0;
            break;
        }
    }
    if (sizes[0] <= 0 || sizes[1] <= 0) {
        throw Error(place, std::string(text), "two positive sizes as MxN");
    }
    return {sizes[0], sizes[1]};
}

const toml::array& array_of(const Section& section, std::string_view field) {
    const toml::array* array = section.table[field].as_array();
    if (array == nullptr || array->empty()) {
        throw Error(fmt::format("{} {}", section.place, field), "nothing", "a list that is not empty");
    }
    return *array;
}

/// The number after `name=` among the words of a tile; 0 without such a word.
int number_of(std::string_view words, std::string_view name, const std::string& place) {
    const std::string key = fmt::format(" {}=", name);
    const std::size_t at = words.find(key);
    if (at == std::string_view::npos) {
        return 0;
    }
    int value = 0;
    const char* begin = words.data() + at + key.size();
    const auto [end, error] = std::from_chars(begin, words.data() + words.size(), value);
    if (error != std::errc{} || value <= 0 || (end != words.data() + words.size() && *end != ' ')) {
        throw Error(fmt::format("{} tiles {}", place, name), std::string(words), "a whole number from 1");
    }
    return value;
}

template <class F>
void for_each_text(const Section& section, std::string_view field, F&& use) {
    for (const toml::node& node : array_of(section, field)) {
        const auto text = node.value<std::string>();
        if (!text) {
            throw Error(fmt::format("{} {}", section.place, field), "another type", "strings");
        }
        use(*text);
    }
}

GemmFamily read_family(const Section& section) {
    GemmFamily family;
    family.name = section.text("name");
    for (const toml::node& node : array_of(section, "compute")) {
        const auto capability = node.value_exact<std::int64_t>();
        if (!capability || *capability < 50 || *capability > 999) {
            throw Error(section.place + " compute", "another value",
                        "compute capabilities as 10 times major plus minor, such as 90");
        }
        family.compute.push_back(static_cast<int>(*capability));
    }
    for_each_text(section, "dtypes",
                  [&](const std::string& t) { family.dtypes.push_back(hw::parse_dtype(t, section.place)); });
    family.row_alignment = section.whole("row_alignment");
    family.copy_bytes = section.table.contains("copy_bytes") ? section.whole("copy_bytes") : 0;
    if (section.table.contains("trip_places")) {
        family.trip_places = section.number("trip_places");
        family.copy_places = section.number("copy_places");
    }
    family.mma_k = section.whole("mma_k");
    family.cooperative_above_one_wave = section.table.contains("cooperative_above_one_wave") &&
                                        section.get<bool>("cooperative_above_one_wave", "true or false");
    family.named = section.table.contains("named") && section.get<bool>("named", "true or false");
    family.pairs = section.table.contains("pairs") && section.get<bool>("pairs", "true or false");
    family.split_fills = section.table.contains("split_fills") ? section.whole("split_fills") : 0;
    family.split_elements_max =
        section.table.contains("split_elements_max") ? section.whole("split_elements_max") : 0;
    family.blocks_up_to_bytes =
        section.table.contains("blocks_up_to_bytes") ? section.whole("blocks_up_to_bytes") : 0;
    family.blocks_of_pairs_up_to =
        section.table.contains("blocks_of_pairs_up_to") ? section.whole("blocks_of_pairs_up_to") : 0;
    family.channels_least = section.table.contains("channels_least") ? section.whole("channels_least") : 0;
    family.copy_conflicts = section.table.contains("copy_conflicts") ? section.whole("copy_conflicts") : 0;
    family.split_waves_max =
        section.table.contains("split_waves_max") ? section.number("split_waves_max") : 0.0;
    family.split_work_min = section.table.contains("split_work_min") ? section.whole("split_work_min") : 0;
    family.rows_max = section.table.contains("rows_max") ? section.whole("rows_max") : 0;
    family.rows_always = section.table.contains("rows_always") ? section.whole("rows_always") : 0;
    family.band_clusters = section.table.contains("band_clusters") ? section.whole("band_clusters") : 0;
    family.band_tiles = section.table.contains("band_tiles") ? section.whole("band_tiles") : 0;
    family.ragged_n = section.table.contains("ragged_n") ? section.whole("ragged_n") : 0;
    family.split_searched = section.get<bool>("split_searched", "true or false");
    family.instruction = section.text("instruction");
    family.pipeline = section.text("pipeline");
    family.persistent = section.get<bool>("persistent", "true or false");
    family.k_bytes = section.whole("k_bytes");
    family.stages_max = section.whole("stages_max");
    family.shared_limit = section.whole("shared_limit");
    family.epilogue_bytes = section.table.contains("epilogue_bytes") ? section.whole("epilogue_bytes") : 0;
    family.threads = section.whole("threads");
    family.registers = section.whole("registers");
    family.dynamic_above_waves = section.number("dynamic_above_waves");
    family.cluster_above_one_wave = section.whole("cluster_above_one_wave");
    family.split_min_iterations = section.whole("split_min_iterations");
    family.split_max = section.whole("split_max");
    for_each_text(section, "clusters", [&](const std::string& t) {
        const auto [m, n] = extent2(t, section.place + " clusters");
        family.clusters.push_back({m, n});
    });
    // The word after the size says how consumer warpgroups work: cooperative or pingpong. The word
    // `transposed` means that the instruction's M runs along n. k=, stages= and registers= replace the
    // family's values. k_least= is the shortest K that takes the tile.
    for_each_text(section, "tiles", [&](const std::string& t) {
        Tile tile;
        const std::size_t space = t.find(' ');
        const auto [m, n] = extent2(std::string_view(t).substr(0, space), section.place + " tiles");
        tile.m = m;
        tile.n = n;
        tile.cooperative = t.find("cooperative") != std::string::npos;
        tile.transposed = t.find("transposed") != std::string::npos;
        tile.k = number_of(t, "k", section.place);
        tile.stages = number_of(t, "stages", section.place);
        tile.registers = number_of(t, "registers", section.place);
        tile.k_least = number_of(t, "k_least", section.place);
        family.tiles.push_back(tile);
    });
    family.numbers = numbers_in(section.table);
    return family;
}

ElementwiseRule read_elementwise(const Section& section) {
    ElementwiseRule rule;
    rule.op = section.text("op");
    rule.threads = section.whole("threads");
    rule.bytes_per_access = section.whole("bytes_per_access");
    rule.elements_per_thread = section.whole("elements_per_thread");
    rule.registers = section.whole("registers");
    rule.registers_narrow = section.whole("registers_narrow");
    rule.overhead = section.whole("overhead");
    rule.overhead_narrow = section.whole("overhead_narrow");
    rule.numbers = numbers_in(section.table);
    return rule;
}

GroupedRule read_grouped(const Section& section) {
    GroupedRule rule;
    rule.compute_major = section.whole("compute_major");
    rule.side_most = section.whole("side_most");
    rule.m = section.whole("m");
    rule.n = section.whole("n");
    rule.k = section.whole("k");
    rule.cluster_m = section.whole("cluster_m");
    rule.cluster_n = section.whole("cluster_n");
    rule.stages = section.whole("stages");
    rule.warps = section.whole("warps");
    rule.registers = section.whole("registers");
    rule.shared = section.whole("shared");
    rule.pingpong = section.get<bool>("pingpong", "true or false");
    rule.prepare_registers = section.whole("prepare_registers");
    rule.numbers = numbers_in(section.table);
    return rule;
}

AttentionFamily read_attention(const Section& section) {
    AttentionFamily family;
    family.implementation = section.text("implementation");
    family.pass = section.text("pass");
    family.compute_least = section.whole("compute_least");
    family.compute_most = section.whole("compute_most");
    const auto flag = [&](std::string_view field) {
        return section.table.contains(field) && section.get<bool>(field, "true or false");
    };
    family.persistent = flag("persistent");
    family.longest_first = flag("longest_first");
    family.cleared = flag("cleared");
    for_each_text(section, "tiles", [&](const std::string& t) {
        AttentionTile tile;
        const auto [m, n] = extent2(std::string_view(t).substr(0, t.find(' ')), section.place + " tiles");
        tile.m = m;
        tile.n = n;
        tile.head = number_of(t, "head", section.place);
        tile.warps = number_of(t, "warps", section.place);
        tile.registers = number_of(t, "registers", section.place);
        tile.stages = number_of(t, "stages", section.place);
        tile.shared = number_of(t, "shared", section.place);
        tile.aside = number_of(t, "aside", section.place);
        tile.rows_registers = number_of(t, "rows_registers", section.place);
        tile.convert_registers = number_of(t, "convert_registers", section.place);
        tile.v_in_registers = t.find(" v_in_registers") != std::string::npos;
        tile.one_stage = t.find(" one_stage") != std::string::npos;
        tile.causal = t.find(" causal") != std::string::npos;
        tile.full = t.find(" full") != std::string::npos;
        tile.shared_least = number_of(t, "shared_least", section.place);
        tile.shared_of_sm = number_of(t, "shared_of_sm", section.place);
        tile.compute_least = number_of(t, "from", section.place);
        tile.compute_most = number_of(t, "to", section.place);
        family.tiles.push_back(tile);
    });
    family.numbers = numbers_in(section.table);
    return family;
}

KernelRule read_kernel(const Section& section) {
    KernelRule rule;
    rule.name = section.text("name");
    for (const auto& [key, node] : section.table) {
        const std::string field(key.str());
        if (field == "name") continue;
        if (field == "dtypes") {
            for_each_text(section, field, [&](const std::string& t) {
                rule.dtypes.push_back(hw::parse_dtype(t, section.place));
            });
        } else if (node.is_string()) {
            const std::string place = fmt::format("{} {}", section.place, field);
            rule.mixes.emplace(field, parse_mix(section.text(field), place));
            rule.numbers += static_cast<int>(rule.mixes.at(field).size());
        } else {
            rule.values.emplace(field, section.number(field));
            ++rule.numbers;
        }
    }
    return rule;
}

template <class T>
T word_of(const std::string& text, std::initializer_list<std::string_view> words, const std::string& place) {
    std::size_t index = 0;
    for (const std::string_view word : words) {
        if (text == word) return static_cast<T>(index);
        ++index;
    }
    throw Error(place, text, fmt::format("one of {}", fmt::join(words, ", ")));
}

ProtocolRule read_protocol(const Section& section) {
    ProtocolRule rule;
    rule.name = section.text("name");
    rule.style =
        word_of<ProtocolStyle>(section.text("style"), {"flag", "line", "bulk"}, section.place + " style");
    rule.payload = section.number("payload");
    if (!(rule.payload > 0.0 && rule.payload <= 1.0)) {
        throw Error(section.place + " payload", fmt::format("{}", rule.payload),
                    "a share above 0, at most 1");
    }
    if (rule.style == ProtocolStyle::flag) {
        rule.step = section.number("step");
        if (!(rule.step >= 1.0))
            throw Error(section.place + " step", fmt::format("{}", rule.step), "at least 1 byte");
    }
    rule.numbers = numbers_in(section.table);
    return rule;
}

PeerRule read_peers(const Section& section) {
    PeerRule rule;
    rule.implementation = section.text("implementation");
    rule.channels_per_link = section.number("channels_per_link");
    rule.most_channels = section.number("most_channels");
    rule.flag_part = section.number("flag_part");
    rule.bulk_part = section.number("bulk_part");
    rule.most_part = section.number("most_part");
    rule.flag_most = section.number("flag_most");
    rule.flags_by_part =
        word_of<int>(section.text("flags_by"), {"message", "part"}, section.place + " flags_by") == 1;
    rule.piece = section.number("piece");
    rule.drains_received =
        word_of<int>(section.text("drains"), {"kept", "received"}, section.place + " drains") == 1;
    for (const double least_one : {rule.channels_per_link, rule.most_channels, rule.flag_part, rule.bulk_part,
                                   rule.most_part, rule.flag_most}) {
        if (!(least_one >= 1.0))
            throw Error(section.place, fmt::format("{}", least_one), "numbers of at least 1");
    }
    rule.numbers = numbers_in(section.table);
    return rule;
}

ExchangeRule read_exchange(const Section& section) {
    ExchangeRule rule;
    rule.op = section.text("op");
    for_each_text(section, "algorithms", [&](const std::string& text) {
        rule.algorithms.push_back(word_of<ExchangeAlgorithm>(text, {"ring", "tree", "nvls", "direct"},
                                                             section.place + " algorithms"));
    });
    const auto given = [&](std::string_view key, double& value) {
        if (section.table.contains(key)) value = section.number(key);
    };
    given("channels", rule.channels);
    given("piece", rule.piece);
    given("line_share", rule.line_share);
    given("tree_line_share", rule.tree_line_share);
    given("line_more_per_hop", rule.line_more_per_hop);
    const bool direct = rule.algorithms == std::vector{ExchangeAlgorithm::direct};
    if (!direct && !(rule.channels >= 1.0)) {
        throw Error(section.place + " channels", fmt::format("{}", rule.channels), "at least 1");
    }
    rule.numbers = numbers_in(section.table);
    return rule;
}

template <class F>
void for_each_table(const toml::table& file, std::string_view name, std::string_view origin, F&& use) {
    const toml::array* tables = file[name].as_array();
    if (tables == nullptr) {
        return;
    }
    int number = 0;
    for (const toml::node& node : *tables) {
        ++number;
        const toml::table* table = node.as_table();
        const std::string place = fmt::format("{} [[{}]] {}", origin, name, number);
        if (table == nullptr) {
            throw Error(place, "another type", "a table");
        }
        use(Section{*table, place});
    }
}

}  // namespace

void read_library(std::string_view text, std::string_view origin, Libraries& libraries) {
    const toml::table file = hw::parse_toml(text, origin);
    for_each_table(file, "gemm_family", origin,
                   [&](const Section& s) { libraries.gemm_families.push_back(read_family(s)); });
    for_each_table(file, "convolution", origin,
                   [&](const Section& s) { libraries.convolution_families.push_back(read_family(s)); });
    for_each_table(file, "elementwise", origin,
                   [&](const Section& s) { libraries.elementwise_rules.push_back(read_elementwise(s)); });
    for_each_table(file, "attention", origin,
                   [&](const Section& s) { libraries.attention_families.push_back(read_attention(s)); });
    for_each_table(file, "kernel", origin,
                   [&](const Section& s) { libraries.kernel_rules.push_back(read_kernel(s)); });
    for_each_table(file, "grouped", origin,
                   [&](const Section& s) { libraries.grouped_rules.push_back(read_grouped(s)); });
    for_each_table(file, "protocol", origin,
                   [&](const Section& s) { libraries.protocol_rules.push_back(read_protocol(s)); });
    for_each_table(file, "peers", origin,
                   [&](const Section& s) { libraries.peer_rules.push_back(read_peers(s)); });
    for_each_table(file, "exchange", origin,
                   [&](const Section& s) { libraries.exchange_rules.push_back(read_exchange(s)); });
    for_each_table(file, "host", origin, [&](const Section& s) {
        libraries.hosts.push_back({s.text("name"), s.number("launch_us"), numbers_in(s.table)});
    });
    for_each_table(file, "device_copy", origin, [&](const Section& s) {
        libraries.device_copy.granule = s.whole("granule");
        libraries.device_copy.ragged_above = s.whole("ragged_above");
        libraries.device_copy.numbers = numbers_in(s.table);
    });
}

Libraries load_libraries() {
    Libraries libraries;
    for (const hw::EmbeddedFile& file : embedded_libraries()) {
        if (file.name.ends_with(".toml")) read_library(file.content, file.name, libraries);
    }
    // Picks name families of the other files, so they are read last.
    for (const hw::EmbeddedFile& file : embedded_libraries()) {
        if (file.name.ends_with(".picks"))
            libraries.pick_tables.push_back(read_picks(file.content, file.name, libraries.gemm_families));
    }
    return libraries;
}

}  // namespace warptime::workloads::libraries
