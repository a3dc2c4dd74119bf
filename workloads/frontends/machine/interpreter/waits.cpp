// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/waits.hpp"

#include "workloads/frontends/machine/assembly/comparisons.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/warp.hpp"

#include <algorithm>
#include <bitset>
#include <string_view>

namespace warptime::workloads::frontends::machine {

namespace {

/// Instructions of a loop that may only look; longer ones do something.
constexpr std::uint32_t longest_poll = 32;

bool reads_strongly(const AssemblyLine& line) {
    return (line.opcode == "LD" || line.opcode == "LDG") && line.has("STRONG");
}

bool is_atomic(const AssemblyLine& line) {
    return line.opcode == "ATOM" || line.opcode == "ATOMG";
}

/// An atomic that leaves the word as it was once it fails: an exchange, or one with zero.
bool may_fail(const AssemblyLine& line) {
    return is_atomic(line) && (line.has("CAS") || line.has("CAST") || line.has("EXCH") ||
                               line.operands.back().number == zero_register);
}

/// Does nothing that others could see, and waits for nothing but loads.
bool only_looks(const AssemblyLine& line) {
    const std::string_view opcode = line.opcode;
    if (reads_strongly(line) || may_fail(line)) return true;
    for (const std::string_view other :
         {"LD",     "ST",    "RED",  "ATOM", "BAR",   "EXIT",  "CALL", "RET",
          "JMP",    "BRX",   "JMX",  "CS2R", "SYNCS", "UBLK",  "UTMA", "LDGSTS",
          "MEMBAR", "HGMMA", "VOTE", "SHFL", "UIADD", "UIMAD", "ULEA", "USHF"}) {
        if (opcode.starts_with(other)) return opcode.starts_with("LDC");
    }
    return true;
}

using Registers = std::bitset<256>;

/// General registers that a line writes; comparisons write predicates alone.
void add_written(const AssemblyLine& line, Registers& written) {
    if (compared_predicates(line.opcode) > 0) return;
    for (const Operand& operand : line.operands) {
        if (operand.kind == OperandKind::general) {
            const unsigned count = line.has("128") ? 4 : line.has("64") || line.has("WIDE") ? 2 : 1;
            for (unsigned r = operand.number; operand.number != zero_register && r < operand.number + count;
                 ++r) {
                written.set(std::min(r, 255U));
            }
        }
        if (operand.kind != OperandKind::predicate && operand.kind != OperandKind::uniform_predicate) return;
    }
}

/// What changes from turn to turn of a loop: what follows from words looked at, or from an earlier turn.
class Changing {
  public:
    explicit Changing(std::span<const AssemblyLine* const> loop) {
        for (const AssemblyLine* line : loop) add_written(*line, written_);
    }
    [[nodiscard]] bool changes(int number) const {
        if (number < 0 || number == zero_register) return false;
        const auto place = static_cast<std::size_t>(number);
        return changing_[place] || (written_[place] && !set_[place]);
    }
    /// Whether the line looks at one place, and swaps in what does not follow from what was seen.
    [[nodiscard]] bool looks_again(const AssemblyLine& line) const {
        bool destination = true;
        return std::ranges::all_of(line.operands, [&](const Operand& operand) {
            if (operand.kind == OperandKind::address) return !changes(operand.base);
            if (operand.kind != OperandKind::general) return true;
            const bool first = destination;
            destination = false;
            return first || !changes(operand.number);
        });
    }
    void follow(const AssemblyLine& line) {
        bool reads = reads_strongly(line) || is_atomic(line);
        bool destination = compared_predicates(line.opcode) == 0;
        for (const Operand& operand : line.operands) {
            if (operand.kind != OperandKind::general) continue;
            reads = reads || (!destination && changes(operand.number));
            destination = false;
        }
        Registers own;
        add_written(line, own);
        changing_ = reads ? changing_ | own : changing_ & ~own;
        set_ |= own;
    }

  private:
    Registers written_, set_, changing_;
};

/// Whether the loop's last line, a branch, follows from what its lines have looked at.
bool follows_from_looks(std::span<const AssemblyLine* const> loop) {
    Registers seen;
    std::bitset<8> decided;  // by predicate
    for (const AssemblyLine* line : loop) {
        bool sees = reads_strongly(*line) || is_atomic(*line);
        bool destination = true;
        for (const Operand& operand : line->operands) {
            if (operand.kind != OperandKind::general) continue;
            const bool writes = destination && compared_predicates(line->opcode) == 0;
            destination = false;
            sees = sees || (!writes && operand.number != zero_register && seen[operand.number]);
        }
        Registers own;
        add_written(*line, own);
        seen = sees ? seen | own : seen & ~own;
        if (!line->operands.empty() && line->operands.front().kind == OperandKind::predicate) {
            decided.set(line->operands.front().number & 7U, sees);
        }
    }
    return loop.back()->guard != true_predicate && decided[static_cast<std::size_t>(loop.back()->guard) & 7U];
}

bool polls(std::span<const AssemblyLine* const> loop) {
    if (!follows_from_looks(loop)) return false;
    bool looks = false;
    Changing changing(loop);
    for (const AssemblyLine* line : loop) {
        if (!only_looks(*line)) return false;
        if (reads_strongly(*line) || may_fail(*line)) {
            if (!changing.looks_again(*line)) return false;
            looks = true;
        }
        changing.follow(*line);
    }
    return looks;
}

/// Whether two lines look at the same place by the same registers.
bool same_place(const AssemblyLine& one, const AssemblyLine& other) {
    const auto place = [](const AssemblyLine& line) {
        return std::ranges::find(line.operands, OperandKind::address, &Operand::kind);
    };
    const auto a = place(one), b = place(other);
    return a != one.operands.end() && b != other.operands.end() && a->text == b->text;
}

/// First instruction of the wait: compilers may take the first look out of the loop.
std::uint32_t with_first_look(std::span<const AssemblyLine* const> lines, std::uint32_t lowest,
                              const PollingLoop& loop) {
    constexpr std::uint32_t nearest = 8;
    for (std::uint32_t at = loop.first; at > lowest && loop.first - at < nearest; --at) {
        const AssemblyLine& line = *lines[at - 1];
        if (!only_looks(line)) break;
        if (!reads_strongly(line)) continue;
        for (std::uint32_t i = loop.first; i <= loop.last; ++i) {
            if (reads_strongly(*lines[i]) && same_place(line, *lines[i])) return at - 1;
        }
        break;
    }
    return loop.first;
}

}  // namespace

bool ends_by_looks(std::span<const AssemblyLine* const> loop) {
    return follows_from_looks(loop);
}

std::vector<PollingLoop> find_polls(std::span<const AssemblyLine* const> lines,
                                    std::span<const std::pair<std::uint32_t, std::uint32_t>> functions,
                                    std::vector<Instruction>& code) {
    std::vector<PollingLoop> found;
    for (const auto& [first, count] : functions) {
        for (std::uint32_t at = first; at < first + count; ++at) {
            const std::uint32_t target = code[at].target;
            if (lines[at]->opcode != "BRA" || target >= at || target < first || at - target >= longest_poll) {
                continue;
            }
            const bool known = std::ranges::any_of(found, [target](const PollingLoop& loop) {
                return target <= loop.last && loop.first <= target;
            });
            if (known || !polls(lines.subspan(target, at - target + 1))) continue;
            found.push_back({target, at});
            for (std::uint32_t i = with_first_look(lines, first, found.back()); i <= at; ++i) {
                code[i].poll = static_cast<std::uint16_t>(found.size());
                code[i].looks = reads_strongly(*lines[i]) || may_fail(*lines[i]);
            }
        }
    }
    if (found.empty()) return found;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const AssemblyLine& line = *lines[i];
        const bool stores = line.opcode == "ST" || line.opcode == "STG";
        code[i].tells = (stores && line.has("STRONG")) || is_atomic(line) || line.opcode.starts_with("RED");
        code[i].ends_turn = reads_strongly(line) || is_atomic(line);
    }
    return found;
}

void note_words(Warp& warp, const Instruction& instruction, std::span<const std::uint64_t> addresses,
                Mask enabled, bool stores, HandOvers& hand_overs) {
    if (instruction.looks) {
        warp.poll = instruction.poll;
        warp.looked_by = instruction.index;
    }
    if (!instruction.looks && !(instruction.tells && stores)) return;
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t word = addresses[static_cast<std::size_t>(lane)] & ~std::uint64_t{3};
        if (instruction.looks) {
            const auto known = hand_overs.told.find(word);
            if (known != hand_overs.told.end() && warp.heard.depth <= known->second.depth) {
                warp.heard = known->second;
            }
        }
        if (instruction.tells && stores && !(instruction.looks && warp.in_vain)) {
            HandOvers::Told& own = hand_overs.told[word];
            if (own.depth <= warp.depth) own = {warp.depth, warp.waited_by, instruction.index};
        }
    });
}

void end_wait(Warp& warp, HandOvers& hand_overs) {
    if (warp.depth < warp.heard.depth && warp.heard.wait != warp.heard.instruction) {
        ++hand_overs.between[{warp.heard.wait, warp.heard.instruction}];
    }
    warp.depth = std::max(warp.depth, warp.heard.depth) + 1;
    ++warp.waits;
    warp.waited_by = warp.looked_by;
    if (hand_overs.deepest < warp.depth) {
        hand_overs.deepest = warp.depth;
        hand_overs.own = warp.waits;
    }
    warp.poll = 0;
    warp.in_vain = false;
    warp.heard = {};
}

}  // namespace warptime::workloads::frontends::machine
