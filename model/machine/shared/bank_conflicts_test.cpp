// Bank conflicts: known patterns, the stride law against enumeration, swizzles that free columns.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/shared/bank_conflicts.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <map>
#include <set>
#include <vector>

using namespace warptime::model::machine;

namespace {

/// Shared memory since Volta (CUDA Programming Guide 13, "Shared Memory").
constexpr BankGeometry volta{32, 4};

std::int64_t shared_passes(const LaneAddresses& addresses, int bytes, std::uint32_t active = all_lanes,
                           SharedUse use = SharedUse::load) {
    return shared_passes(addresses, bytes, active, volta, use);
}

std::int64_t shared_passes_strided(std::int64_t stride, int bytes, SharedUse use = SharedUse::load) {
    return shared_passes_strided(stride, bytes, volta, use);
}

double expected_passes(double lanes, int bytes, double window) {
    return expected_passes(lanes, bytes, window, volta);
}

std::int64_t ldmatrix_passes(std::span<const std::int64_t> rows) {
    return ldmatrix_passes(rows, volta);
}

LaneAddresses lanes_at(std::int64_t base, std::int64_t stride) {
    LaneAddresses addresses{};
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
        addresses[lane] = base + static_cast<std::int64_t>(lane) * stride;
    }
    return addresses;
}

/// Eight 16-byte pieces of one column of a tile whose rows lie `pitch` bytes apart.
std::vector<std::int64_t> column_of_rows(std::int64_t pitch, std::int64_t column, int swizzle_bytes) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < 8; ++row) {
        rows.push_back(swizzled(row * pitch + column * 16, swizzle_bytes));
    }
    return rows;
}

TEST_CASE("draws from a window: passes to be expected against passes counted") {
    std::uint64_t state = 7;
    const auto draw = [&](std::int64_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(below));
    };
    for (const int bytes : {4, 8, 16}) {
        for (const std::int64_t window : {128, 512, 4096, 1 << 20}) {
            constexpr int turns = 2000;
            double counted = 0.0;
            for (int turn = 0; turn < turns; ++turn) {
                LaneAddresses at{};
                for (std::int64_t& address : at) address = draw(window / bytes) * bytes;
                counted += static_cast<double>(shared_passes(at, bytes));
            }
            CAPTURE(bytes);
            CAPTURE(window);
            CHECK(expected_passes(32.0, bytes, static_cast<double>(window)) ==
                  doctest::Approx(counted / turns).epsilon(0.05));
        }
    }
    CHECK(expected_passes(32.0, 4, 1e12) == doctest::Approx(3.53).epsilon(0.02));
    CHECK(expected_passes(0.0, 4, 4096.0) == 0.0);
}

}  // namespace

TEST_CASE("patterns of the programming guide") {
    CHECK(shared_passes(lanes_at(0, 4), 4) == 1);
    CHECK(shared_passes(lanes_at(0, 8), 4) == 2);     // stride of two words
    CHECK(shared_passes(lanes_at(0, 12), 4) == 1);    // odd stride
    CHECK(shared_passes(lanes_at(0, 128), 4) == 32);  // a column of a 32-word row
    CHECK(shared_passes(lanes_at(0, 132), 4) == 1);   // a column, padded by one word
    CHECK(shared_passes(lanes_at(64, 0), 4) == 1);    // broadcast
    CHECK(shared_passes(lanes_at(0, 2), 2) == 1);     // two lanes share a word
    CHECK(shared_passes(lanes_at(0, 8), 8) == 2);     // by half-warps
    CHECK(shared_passes(lanes_at(0, 16), 16) == 4);   // by quarter-warps
    CHECK(shared_passes(lanes_at(0, 0), 8) == 1);     // neighbours agree: both halves at once
    CHECK(shared_passes(lanes_at(0, 0), 16) == 2);    // two quarters at once
    CHECK(shared_passes(lanes_at(0, 128), 4, 0xfU) == 4);
    CHECK(shared_passes(lanes_at(0, 16), 16, 0xffU) == 1);
    CHECK(shared_passes(lanes_at(0, 4), 4, 0U) == 0);
}

TEST_CASE("enumeration equals a count with one set per bank") {
    CHECK(rc::check("sets", [] {
        LaneAddresses addresses{};
        for (auto& address : addresses) {
            address = 4 * *rc::gen::inRange(0, 300);
        }
        const auto active = *rc::gen::arbitrary<std::uint32_t>();
        std::map<std::int64_t, std::set<std::int64_t>> banks;
        std::size_t busiest = 0;
        for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
            if ((active >> lane & 1U) != 0U) {
                auto& words = banks[addresses[lane] / 4 % 32];
                words.insert(addresses[lane]);
                busiest = std::max(busiest, words.size());
            }
        }
        RC_ASSERT(shared_passes(addresses, 4, active) == static_cast<std::int64_t>(busiest));
    }));
}

TEST_CASE("wide accesses join halves only where all neighbours agree at distance 1, or all at distance 2") {
    LaneAddresses pairs{};    // lanes 0 and 1 at one place, 2 and 3 at the next
    LaneAddresses crossed{};  // lanes 0 and 2 at one place, 1 and 3 at the next
    LaneAddresses far{};      // lanes 0 and 4 at one place
    for (std::size_t lane = 0; lane < 32; ++lane) {
        pairs[lane] = static_cast<std::int64_t>(lane / 2);
        crossed[lane] = static_cast<std::int64_t>(lane / 4 * 2 + lane % 2);
        far[lane] = static_cast<std::int64_t>(8 * (lane % 4));
    }
    for (const LaneAddresses& place : {pairs, crossed}) {
        LaneAddresses eight{};
        LaneAddresses sixteen{};
        for (std::size_t lane = 0; lane < 32; ++lane) {
            eight[lane] = 8 * place[lane];
            sixteen[lane] = 16 * place[lane];
        }
        CHECK(shared_passes(eight, 8) == 1);     // 16 places of 8 bytes are one pass
        CHECK(shared_passes(sixteen, 16) == 2);  // 8 places of 16 bytes in each half
        eight[31] += 1024;
        CHECK(shared_passes(eight, 8) == 1 + 2);  // half-warps; the last lane is in another's banks
        sixteen[31] += 1024;
        CHECK(shared_passes(sixteen, 16) == 1 + 1 + 2);  // the other half is still served as one
    }
    CHECK(shared_passes(far, 8) == 2);
    // Stores never join.
    CHECK(shared_passes(lanes_at(0, 0), 8, all_lanes, SharedUse::store) == 2);
    CHECK(shared_passes(lanes_at(0, 0), 16, all_lanes, SharedUse::store) == 4);
}

TEST_CASE("atomic operations take a pass for each lane of the fullest bank, equal words or not") {
    const auto passes = [](const LaneAddresses& at, int bytes, std::uint32_t active = all_lanes) {
        return shared_atomic_passes(at, bytes, active, volta);
    };
    CHECK(passes(lanes_at(0, 4), 4) == 1);
    CHECK(passes(lanes_at(0, 0), 4) == 32);
    CHECK(passes(lanes_at(0, 0), 4, 0xffU) == 8);
    CHECK(passes(lanes_at(0, 8), 8) == 2);
    CHECK(passes(lanes_at(0, 4), 4, 0U) == 0);
}

TEST_CASE("strides: the law of the greatest common divisor equals enumeration") {
    for (const int bytes : {4, 8, 16}) {
        for (std::int64_t step = 0; step < 200; ++step) {
            CAPTURE(bytes);
            CAPTURE(step);
            for (const SharedUse use : {SharedUse::load, SharedUse::store}) {
                CHECK(shared_passes_strided(step * bytes, bytes, use) ==
                      shared_passes(lanes_at(0, step * bytes), bytes, all_lanes, use));
            }
        }
    }
    CHECK(shared_passes_strided(-8, 4) == 2);
}

TEST_CASE("a swizzle permutes each pattern and frees the columns of a tile as wide as itself") {
    for (const int bytes : {32, 64, 128}) {
        std::set<std::int64_t> images;
        for (std::int64_t address = 0; address < 1024; ++address) {
            const std::int64_t image = swizzled(address, bytes);
            CHECK(image / 128 == address / 128);
            CHECK(swizzled(image, bytes) == address);  // an involution
            images.insert(image);
        }
        CHECK(images.size() == 1024);
        for (std::int64_t column = 0; column < bytes / 16; ++column) {
            CHECK(ldmatrix_passes(column_of_rows(bytes, column, 0)) == bytes / 16);
            CHECK(ldmatrix_passes(column_of_rows(bytes, column, bytes)) == 1);
        }
    }
    CHECK(swizzled(0x80, 128) == 0x90);
    CHECK(swizzled(0x380, 128) == 0x3f0);
    CHECK(swizzled(0x380, 64) == 0x3b0);
    CHECK(swizzled(0x380, 0) == 0x380);
}

TEST_CASE("ldmatrix is one pass for each matrix when its rows are apart") {
    std::array<std::int64_t, 32> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = static_cast<std::int64_t>(i) * 16;
    }
    CHECK(ldmatrix_passes(rows) == 4);
    CHECK(ldmatrix_passes(std::span(rows).first(8)) == 1);
    for (auto& row : rows) {
        row *= 2;  // rows 32 bytes apart: gcd(2, 8) passes a matrix
    }
    CHECK(ldmatrix_passes(rows) == 8);
}
