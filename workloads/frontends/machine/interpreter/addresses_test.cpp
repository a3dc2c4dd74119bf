// Tests of addresses: their sums, the windows they fall into, and what accesses to local memory cost.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/addresses.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32;

/// A warp with random registers, of which uniform ones hold the same in every lane.
class Registers {
  public:
    Registers() {
        layout_.general = 16;
        rows_.resize(layout_.rows());
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            const std::uint32_t same = *any_word();
            for (std::uint32_t& word : rows_[row].lane) {
                word = row >= layout_.uniform() ? same : row < layout_.zero() ? *any_word() : 0U;
            }
        }
        warp_.rows = rows_.data();
    }
    [[nodiscard]] std::uint64_t word(int number, std::size_t lane) const {
        return rows_[static_cast<std::size_t>(number)].lane[lane];
    }
    [[nodiscard]] std::uint64_t uniform(int number) const {
        return rows_[static_cast<std::size_t>(layout_.uniform()) + static_cast<std::size_t>(number)].lane[0];
    }
    [[nodiscard]] Addresses addresses(const std::string& operand, bool wide) {
        const AssemblyLine line = assembly_line("LD R0, " + operand, 0x30);
        std::map<std::uint64_t, std::uint16_t> known;
        Decoder decoder(line, layout_, known, 0);
        Instruction instruction;
        instruction.variant = 0xffU;
        decode_address(decoder, instruction, 1, wide);
        RC_ASSERT((instruction.variant & 0xffffffU) == 0xffU);  // The lower bits are the handler's.
        Addresses addresses{};
        lane_addresses(warp_, instruction, addresses);
        return addresses;
    }

  private:
    RowLayout layout_;
    std::vector<Row> rows_;
    Warp warp_;
};

TEST_CASE("narrow addresses are sums of 32 bits, with the register scaled") {
    CHECK(rc::check("register, scale, uniform register and offset", [] {
        Registers registers;
        const std::uint32_t scale = *rc::gen::element<std::uint32_t>(1U, 4U, 8U, 16U);
        const auto offset = static_cast<std::int64_t>(random_below(4000)) - 2000;
        const bool has_base = random_below(4) != 0;
        const bool has_uniform = random_below(2) != 0;
        std::string text;
        if (has_base) {
            text += scale == 1 ? "R4" : fmt::format("R4.X{}", scale);
        }
        if (has_uniform) {
            text += std::string(text.empty() ? "" : "+") + "UR6";
        }
        text += fmt::format("{}{}{:#x}", text.empty() ? "" : "+", offset < 0 ? "-" : "",
                            offset < 0 ? -offset : offset);
        RC_LOG(text);
        const Addresses addresses = registers.addresses("[" + text + "]", false);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            std::uint64_t sum = static_cast<std::uint64_t>(offset);
            sum += has_base ? registers.word(4, lane) * scale : 0U;
            sum += has_uniform ? registers.uniform(6) : 0U;
            RC_ASSERT(addresses[lane] == (sum & 0xffffffffU));
        }
    }));
}

TEST_CASE("wide addresses add a pair of registers or a single one to a uniform pair") {
    CHECK(rc::check("forms", [] {
        Registers registers;
        const auto offset = static_cast<std::int64_t>(random_below(4000)) - 2000;
        const std::string behind =
            fmt::format("+{}{:#x}", offset < 0 ? "-" : "", offset < 0 ? -offset : offset);
        const std::uint64_t uniform = registers.uniform(6) | (registers.uniform(7) << 32U);
        const Addresses pair = registers.addresses("[R4.64" + behind + "]", true);
        const Addresses plain = registers.addresses("[R4" + behind + "]", true);
        const Addresses both = registers.addresses("[R4.64+UR6" + behind + "]", true);
        const Addresses single = registers.addresses("[R4.U32+UR6" + behind + "]", true);
        const Addresses alone = registers.addresses("[UR6" + behind + "]", true);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::uint64_t low = registers.word(4, lane);
            const std::uint64_t own = low | (registers.word(5, lane) << 32U);
            const auto more = static_cast<std::uint64_t>(offset);
            RC_ASSERT(pair[lane] == own + more);
            RC_ASSERT(plain[lane] == own + more);
            RC_ASSERT(both[lane] == own + uniform + more);
            RC_ASSERT(single[lane] == low + uniform + more);
            RC_ASSERT(alone[lane] == uniform + more);
        }
    }));
}

TEST_CASE("an operand that is no address is refused") {
    RowLayout layout;
    layout.general = 16;
    std::map<std::uint64_t, std::uint16_t> known;
    for (const std::string operand : {"R4", "c[0x0][0x10]", "0x10", "P1"}) {
        const AssemblyLine line = assembly_line("LDS R0, " + operand, 0x30);
        Decoder decoder(line, layout, known, 0);
        Instruction instruction;
        std::string message;
        try {
            decode_address(decoder, instruction, 1, false);
        } catch (const Error& error) {
            message = error.what();
        }
        CHECK(has_parts(message, {"instruction at 0x30", "operand '" + operand + "' as an address"}));
    }
}

TEST_CASE("generic addresses part into spaces by their windows, and only enabled lanes") {
    CHECK(rc::check("masks", [] {
        Addresses addresses{};
        std::array<int, lanes> space{};
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            space[lane] = static_cast<int>(random_below(3));
            const std::uint64_t offset = *rc::gen::element<std::uint64_t>(0U, 4U, 0xffffffffU, 0x80000000U);
            // Global: just before or behind the windows of shared and local memory, or far away.
            const std::uint64_t global =
                *rc::gen::element<std::uint64_t>(0U, shared_window - 1, local_window + window_bytes,
                                                 constant_window, 0x7f0000000000ULL, ~std::uint64_t{0});
            addresses[lane] = space[lane] == 0   ? global
                              : space[lane] == 1 ? shared_window + offset
                                                 : local_window + offset;
        }
        const Mask enabled = *any_word();
        const SpaceMasks masks = spaces_of(addresses, enabled);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Mask on = (enabled >> lane) & 1U;
            RC_ASSERT(((masks.global >> lane) & 1U) == (space[lane] == 0 ? on : 0U));
            RC_ASSERT(((masks.shared >> lane) & 1U) == (space[lane] == 1 ? on : 0U));
            RC_ASSERT(((masks.local >> lane) & 1U) == (space[lane] == 2 ? on : 0U));
            RC_ASSERT(in_shared_window(addresses[lane]) == (space[lane] == 1));
            RC_ASSERT(in_local_window(addresses[lane]) == (space[lane] == 2));
        }
    }));
}

TEST_CASE("generic memory is that of the cluster's CTA, of the lane or of the device") {
    Launch launch;
    launch.local_bytes_per_thread = 48;
    std::vector<std::unique_ptr<Cta>> ctas;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ctas.push_back(std::make_unique<Cta>());
        ctas.back()->cluster_rank = rank;
        ctas.back()->shared.resize(256);
        ctas.back()->local.resize(std::size_t{48} * 64);
    }
    for (const auto& cta : ctas) {
        for (const auto& peer : ctas) {
            cta->cluster.push_back(peer.get());
        }
    }
    Warp warp;
    warp.cta = ctas[1].get();
    warp.launch = &launch;
    warp.index = 1;
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
        const std::uint64_t offset = (rank << cluster_rank_shift) + 20;
        CHECK(shared_memory(warp, offset) == ctas[rank]->shared.data() + 20);
        CHECK(generic_memory(warp, 5, shared_window + offset) == ctas[rank]->shared.data() + 20);
    }
    for (const int lane : {0, 7, 31}) {
        std::byte* const expected = ctas[1]->local.data() + 48 * (32 + lane) + 12;
        CHECK(local_memory(warp, lane, 12) == expected);
        CHECK(generic_memory(warp, lane, local_window + 12) == expected);
    }
    const Buffer buffer(std::uint64_t{64});
    CHECK(generic_memory(warp, 3, buffer.address() + 8) == static_cast<std::byte*>(buffer.data()) + 8);
}

/// Counts of one LDL at the lanes' offsets, by the lanes with a flag.
AccessCounts local_counts(const std::string& modifier, const Words& offsets, const Words& enabled) {
    ProgramOptions options;
    options.local_bytes = 4096;
    options.parameters = 2;
    const Program program(
        {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x210]", "LDG.E R10, desc[UR4][R2.64]",
         "IMAD.WIDE.U32 R2, R0, 0x4, c[0x0][0x218]", "LDG.E R11, desc[UR4][R2.64]",
         "ISETP.NE.AND P0, PT, R11, RZ, PT", "@P0 LDL" + modifier + " R12, [R10]"},
        options);
    const Buffer places(offsets), flags(enabled);
    const LaunchCounts counts = program.run(one_cta(32), {places.address(), flags.address()});
    RC_ASSERT(counts.error.empty());
    return counts.accesses.at(6);
}

TEST_CASE("words of local memory lie side by side for the lanes, so that equal offsets fill lines") {
    struct Width {
        std::string modifier;
        std::uint32_t bytes;
    };
    for (const Width& width :
         {Width{".U8", 1}, Width{".U16", 2}, Width{"", 4}, Width{".64", 8}, Width{".128", 16}}) {
        CHECK(rc::check("width" + width.modifier, [&width] {
            // Word w of lane l lies at byte 128 w + 4 l.
            const bool same = random_below(2) != 0;
            const std::uint32_t first = width.bytes * random_below(20);
            const std::uint32_t chance = *rc::gen::element<std::uint32_t>(1U, 2U, 8U, 16U);
            Words offsets(lanes), enabled(lanes);
            std::set<std::uint64_t> sectors, lines;
            std::uint64_t bytes = 0;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                offsets[lane] = same ? first : width.bytes * random_below(60);
                enabled[lane] = random_below(chance) == 0 ? 1 : 0;
                if (enabled[lane] == 0) {
                    continue;
                }
                bytes += width.bytes;
                for (std::uint32_t byte = 0; byte < width.bytes; ++byte) {
                    const std::uint32_t offset = offsets[lane] + byte;
                    const std::uint64_t address = 128 * (offset / 4) + 4 * lane + offset % 4;
                    sectors.insert(address / 32);
                    lines.insert(address / 128);
                }
            }
            RC_PRE(bytes > 0);
            const AccessCounts counts = local_counts(width.modifier, offsets, enabled);
            RC_ASSERT(counts.requests == 1);
            RC_ASSERT(counts.bytes == bytes);
            if (same || width.bytes <= 4) {
                RC_ASSERT(counts.sectors == sectors.size());
                RC_ASSERT(counts.lines == lines.size());
            } else {
                // Each word of the lanes is an access of its own: lines that two of them share count twice.
                RC_ASSERT(counts.sectors >= sectors.size());
                RC_ASSERT(counts.sectors <= bytes / 4);
                RC_ASSERT(counts.lines >= lines.size());
            }
        }));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
