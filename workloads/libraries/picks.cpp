// Reads files of picks line by line.
// The first lines are "gpus ID ID", "sms N" and "grid SIZE CTAS". A kernel is "pick NUMBER SPLIT FAMILY MxN K
// STAGES CxC WORDS" or "pick NUMBER SPLIT other". Then comes "group TYPES ALIGNMENT" with its tree in
// preorder. The tree has lines "FEATURE THRESHOLD" or "= PICK PICK".
// SPDX-License-Identifier: Apache-2.0
#include "workloads/libraries/picks.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace warptime::workloads::libraries {
namespace {

/// Takes the words of one line one after another.
struct Words {
    std::string_view left;
    std::string_view origin;
    int line = 0;

    [[noreturn]] void refuse(std::string_view got, std::string_view expected) const {
        throw Error(fmt::format("{} line {}", origin, line), std::string(got), std::string(expected));
    }
    std::string_view next(char separator = ' ') {
        const std::size_t end = std::min(left.find(separator), left.size());
        const std::string_view word = left.substr(0, end);
        left.remove_prefix(std::min(left.size(), end + 1));
        return word;
    }
    template <class Number>
    Number number(std::string_view word) const {
        Number value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size()) refuse(word, "a number");
        return value;
    }
    int whole(char separator = ' ') { return number<int>(next(separator)); }
};

/// Registers of the family's own tile of this size.
int registers_of(const GemmFamily& family, const Tile& tile) {
    const Tile* found = nullptr;
    for (const Tile& own : family.tiles) {
        const bool same = own.m == tile.m && own.n == tile.n;
        if (same && (found == nullptr || (own.k == tile.k && own.stages == tile.stages))) found = &own;
    }
    return found != nullptr ? found->registers : 0;
}

void read_split(Words& words, KernelPick& pick) {
    constexpr std::array<std::pair<std::string_view, SplitOfK>, 5> known{{{"whole", SplitOfK::whole},
                                                                          {"rule", SplitOfK::rule},
                                                                          {"fill", SplitOfK::fill},
                                                                          {"each", SplitOfK::each},
                                                                          {"segments", SplitOfK::segments}}};
    const std::string_view text = words.next();
    const std::string_view word = text.substr(0, text.find(':'));
    const auto* const found =
        std::find_if(known.begin(), known.end(), [word](const auto& one) { return one.first == word; });
    const bool counted = word == "fill" || word == "each";
    if (found == known.end() || counted != (word.size() < text.size())) {
        words.refuse(text, "whole, rule, segments, fill:NUMBER or each:NUMBER");
    }
    pick.split = found->second;
    if (!counted) return;
    pick.number = words.number<int>(text.substr(word.size() + 1));
    if (pick.number < 1) words.refuse(text, "a number from 1");
}

KernelPick read_pick(Words& words, const std::vector<GemmFamily>& families) {
    KernelPick pick;
    read_split(words, pick);
    const std::string_view name = words.next();
    if (name == "other") return pick;
    const auto family =
        std::find_if(families.begin(), families.end(), [&](const GemmFamily& f) { return f.name == name; });
    if (family == families.end()) words.refuse(name, "the name of a family");
    pick.family = static_cast<int>(family - families.begin());
    pick.tile.m = words.whole('x');
    pick.tile.n = words.whole();
    pick.tile.k = words.whole();
    pick.tile.stages = words.whole();
    pick.cluster.m = words.whole('x');
    pick.cluster.n = words.whole();
    pick.tile.cooperative = words.left.find("cooperative") != std::string_view::npos;
    pick.tile.transposed = words.left.find("transposed") != std::string_view::npos;
    pick.tile.registers = registers_of(*family, pick.tile);
    return pick;
}

void read_leaf(Words& words, const std::vector<GemmFamily>& families, PickTable& table) {
    PickNode leaf;
    leaf.first = static_cast<int>(table.leaf_picks.size());
    while (!words.left.empty()) {
        const int pick = words.whole();
        if (pick < 0 || pick >= static_cast<int>(table.picks.size())) {
            words.refuse(fmt::format("{}", pick), "the number of a pick");
        }
        table.leaf_picks.push_back(pick);
        ++leaf.count;
    }
    leaf.persistent =
        std::all_of(table.leaf_picks.begin() + leaf.first, table.leaf_picks.end(), [&](int number) {
            const int family = table.picks[static_cast<std::size_t>(number)].family;
            return family >= 0 && families[static_cast<std::size_t>(family)].persistent;
        });
    table.nodes.push_back(leaf);
}

/// In preorder the part above a threshold follows the part below it. Open questions wait for the end of the
/// part below.
void close_questions(std::vector<int>& open, std::vector<PickNode>& nodes) {
    while (!open.empty() && nodes[static_cast<std::size_t>(open.back())].above != 0) open.pop_back();
    if (!open.empty()) nodes[static_cast<std::size_t>(open.back())].above = static_cast<int>(nodes.size());
}

/// Leaves lie in the order of the tree, so the picks below one question are neighbours. Both parts of a
/// question come after it.
void note_picks_below(std::vector<PickNode>& nodes) {
    for (std::size_t n = nodes.size(); n-- > 0;) {
        PickNode& node = nodes[n];
        if (node.feature < 0) continue;
        const PickNode& last = nodes[static_cast<std::size_t>(node.above)];
        node.first = nodes[n + 1].first;
        node.count = last.first + last.count - node.first;
        node.persistent = nodes[n + 1].persistent && last.persistent;
    }
}

}  // namespace

PickTable read_picks(std::string_view text, std::string_view origin,
                     const std::vector<GemmFamily>& families) {
    PickTable table;
    std::vector<int> open;  // questions whose part above comes later
    Words lines{text, origin};
    for (int number = 1; !lines.left.empty(); ++number) {
        Words words{lines.next('\n'), origin, number};
        const std::string_view line = words.left;
        if (line.empty() || line.front() == '#') continue;
        const std::string_view first = words.next();
        if (first == "=") {
            read_leaf(words, families, table);
            close_questions(open, table.nodes);
        } else if (first == "gpus") {
            while (!words.left.empty()) table.gpus.emplace_back(words.next());
        } else if (first == "sms") {
            table.sms = words.whole();
        } else if (first == "pick") {
            if (words.whole() != static_cast<int>(table.picks.size())) words.refuse(line, "picks in order");
            table.picks.push_back(read_pick(words, families));
        } else if (first == "group") {
            PickGroup group;
            Words types{words.next(), origin, number};
            while (!types.left.empty()) group.dtypes.push_back(hw::parse_dtype(types.next(','), origin));
            group.row_alignment = words.whole();
            group.root = static_cast<int>(table.nodes.size());
            if (!open.empty()) words.refuse(line, "the rest of the tree before");
            table.groups.push_back(std::move(group));
        } else {
            open.push_back(static_cast<int>(table.nodes.size()));
            table.nodes.push_back(
                {words.number<int>(first), words.number<double>(words.next()), 0, 0, 0, false});
        }
    }
    if (!open.empty()) throw Error(std::string(origin), "a tree without end", "leaves for every question");
    note_picks_below(table.nodes);
    return table;
}

}  // namespace warptime::workloads::libraries
