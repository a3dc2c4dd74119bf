// Tests of loads and stores against images of the memory kept on the host, and of the faults they report.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32, slot_bytes = 16;

struct Width {
    std::string modifier;
    std::uint32_t bytes;
    bool is_signed;
};
const std::vector<Width> widths{{".U8", 1, false}, {".S8", 1, true},  {".U16", 2, false}, {".S16", 2, true},
                                {"", 4, false},    {".64", 8, false}, {".128", 16, false}};

/// Where the 16 bytes of each lane begin: `base` is unset for global memory, whose place is the allocation's.
struct Space {
    std::string load, store, address;
    std::optional<std::uint64_t> base;
    bool own_memory;  ///< every lane sees its own bytes at the same addresses
};
const std::vector<Space> spaces{
    {"LDG.E", "STG.E", "desc[UR4][{}.64]", std::nullopt, false},
    {"LD.E", "ST.E", "desc[UR4][{}.64]", std::nullopt, false},
    {"LDS", "STS", "[{}]", 0, false},
    {"LD.E", "ST.E", "desc[UR4][{}.64]", shared_window, false},
    {"LDL", "STL", "[{}]", 0, true},
    {"LD.E", "ST.E", "desc[UR4][{}.64]", local_window, true},
};

std::string at(const Space& space, const char* base) {
    return fmt::format(fmt::runtime(space.address), base);
}
ProgramOptions with_memory() {
    ProgramOptions options;
    options.static_shared = lanes * slot_bytes;
    options.local_bytes = lanes * slot_bytes;
    return options;
}

/// Words 0 to 3 of every lane, as bytes.
std::vector<std::uint8_t> image_of(const std::vector<Words>& four) {
    std::vector<std::uint8_t> image(lanes * slot_bytes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t w = 0; w < 4; ++w) {
            std::memcpy(image.data() + lane * slot_bytes + 4 * w, &four[w][lane], 4);
        }
    }
    return image;
}
std::vector<Words> four_words() {
    return {some_words(any_word()), some_words(any_word()), some_words(any_word()), some_words(any_word())};
}

/// Lower and upper words of addresses: 32 offsets from a base.
struct Places {
    Words low = Words(lanes), high = Words(lanes);
    void set(std::size_t lane, std::uint64_t address) {
        low[lane] = low_of(address);
        high[lane] = high_of(address);
    }
};

TEST_CASE("loads of every width and sign give the bytes that lie there") {
    for (const Space& space : spaces) {
        for (const Width& width : widths) {
            const std::string line = space.load + width.modifier + " R20, " + at(space, "R10");
            const LaneProgram program({space.store + ".128 " + at(space, "R8") + ", R12", line},
                                      {"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"},
                                      {"R20", "R21", "R22", "R23"}, with_memory());
            CHECK(rc::check(line, [&] {
                const Buffer buffer(lanes * slot_bytes);
                const std::uint64_t base = space.base.value_or(buffer.address());
                const std::vector<Words> filled = four_words();
                const std::vector<std::uint8_t> image = image_of(filled);
                Places own, asked;
                std::vector<std::size_t> from(lanes);
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::uint32_t slot =
                        space.own_memory ? static_cast<std::uint32_t>(lane) : random_below(lanes);
                    const std::uint32_t part =
                        random_below(static_cast<std::uint32_t>(slot_bytes) / width.bytes) * width.bytes;
                    from[lane] = slot * slot_bytes + part;
                    own.set(lane, base + (space.own_memory ? 0 : lane * slot_bytes));
                    asked.set(lane, base + part + (space.own_memory ? 0 : slot * slot_bytes));
                }
                const std::vector<Words> results = program(
                    {own.low, own.high, asked.low, asked.high, filled[0], filled[1], filled[2], filled[3]});
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    if (width.bytes < 4) {
                        std::uint32_t expected = image[from[lane]];
                        if (width.bytes == 2) {
                            expected |= std::uint32_t{image[from[lane] + 1]} << 8U;
                        }
                        const std::uint32_t top = width.bytes == 1 ? 0x80U : 0x8000U;
                        // Sign extension: x xor m minus m, where m is the top bit.
                        expected = width.is_signed ? (expected ^ top) - top : expected;
                        RC_ASSERT(results[0][lane] == expected);
                        continue;
                    }
                    for (std::size_t w = 0; w < width.bytes / 4; ++w) {
                        std::uint32_t expected = 0;
                        std::memcpy(&expected, image.data() + from[lane] + 4 * w, 4);
                        RC_ASSERT(results[w][lane] == expected);
                    }
                }
            }));
        }
    }
}

TEST_CASE("stores write exactly their bytes, in the lanes whose guard holds") {
    for (const Space& space : spaces) {
        for (const Width& width : widths) {
            if (width.is_signed) {
                continue;
            }
            const std::string line = "@P0 " + space.store + width.modifier + " " + at(space, "R10") + ", R16";
            const LaneProgram program(
                {space.store + ".128 " + at(space, "R8") + ", R12", line,
                 space.load + ".128 R20, " + at(space, "R8")},
                {"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "R16", "R17", "R18", "R19", "P0"},
                {"R20", "R21", "R22", "R23"}, with_memory());
            CHECK(rc::check(line, [&] {
                const Buffer buffer(lanes * slot_bytes);
                const std::uint64_t base = space.base.value_or(buffer.address());
                const std::vector<Words> filled = four_words(), written = four_words();
                const Words guard = some_words(any_flag());
                std::vector<std::uint8_t> image = image_of(filled);
                const std::vector<std::uint8_t> source = image_of(written);
                const std::uint32_t turned = random_below(lanes);
                Places own, target;
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    // Every lane writes to another slot than the others.
                    const std::size_t slot = space.own_memory ? lane : (lane * 5 + turned) % lanes;
                    const std::uint32_t part =
                        random_below(static_cast<std::uint32_t>(slot_bytes) / width.bytes) * width.bytes;
                    own.set(lane, base + (space.own_memory ? 0 : lane * slot_bytes));
                    target.set(lane, base + part + (space.own_memory ? 0 : slot * slot_bytes));
                    if (guard[lane] != 0) {
                        std::memcpy(image.data() + slot * slot_bytes + part,
                                    source.data() + lane * slot_bytes, width.bytes);
                    }
                }
                const std::vector<Words> results =
                    program({own.low, own.high, target.low, target.high, filled[0], filled[1], filled[2],
                             filled[3], written[0], written[1], written[2], written[3], guard});
                RC_ASSERT(image_of(results) == image);
            }));
        }
    }
}

TEST_CASE("a load may overwrite its own address, and neighbours are read in order") {
    Words words(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        words[lane] = static_cast<std::uint32_t>(1000 + lane);
    }
    const Buffer buffer(words);
    Places places;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        places.set(lane, buffer.address() + 4 * (lanes - 1 - lane));
    }
    const LaneProgram program({"LDG.E R10, desc[UR4][R10.64]"}, {"R10", "R11"}, {"R10"});
    const Words backwards = program({places.low, places.high})[0];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CHECK(backwards[lane] == 1000 + lanes - 1 - lane);
        places.set(lane, buffer.address() + 4 * lane);
    }
    CHECK(program({places.low, places.high})[0] == words);
}

TEST_CASE("a load whose own predicate fails gives zeros and touches nothing") {
    const LaneProgram program({"LDG.E.64 R20, desc[UR4][R10.64], P0"}, {"R10", "R11", "P0", "R20"},
                              {"R20", "R21"});
    const Buffer buffer(Words{5, 6});
    Places places;
    Words guard(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        guard[lane] = lane % 3 == 0 ? 1 : 0;
        places.set(lane, guard[lane] != 0 ? buffer.address() : 0x123);
    }
    const std::vector<Words> results = program({places.low, places.high, guard, Words(lanes, 77)});
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CHECK(results[0][lane] == (guard[lane] != 0 ? 5 : 0));
        CHECK(results[1][lane] == (guard[lane] != 0 ? 6 : 0));
    }
}

TEST_CASE("addresses are sums of a base, a uniform base, a scale and an offset") {
    Words words(256);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = static_cast<std::uint32_t>(7 * i + 3);
    }
    const Buffer buffer(words);
    const std::uint64_t middle = buffer.address() + 512;
    const std::vector<std::string> inputs{"R10", "R11", "R12", "UR8", "UR9"};
    const auto loaded = [&](const std::string& address, std::uint64_t base, const Words& offsets,
                            std::uint64_t uniform) {
        const LaneProgram program({"LDG.E R20, desc[UR4][" + address + "]"}, inputs, {"R20"});
        return program({Words(lanes, low_of(base)), Words(lanes, high_of(base)), offsets,
                        Words(lanes, low_of(uniform)), Words(lanes, high_of(uniform))})[0];
    };
    Words offsets(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        offsets[lane] = static_cast<std::uint32_t>(4 * ((lane * 11) % lanes));
    }
    CHECK(loaded("R10.64", middle, offsets, 0) == Words(lanes, words[128]));
    CHECK(loaded("R10.64+0x14", middle, offsets, 0) == Words(lanes, words[133]));
    CHECK(loaded("R10.64+-0x20", middle, offsets, 0) == Words(lanes, words[120]));
    CHECK(loaded("R10.64+UR8", middle, offsets, 40) == Words(lanes, words[138]));
    CHECK(loaded("R10.64+UR8+0x4", middle, offsets, ~std::uint64_t{0} - 39) == Words(lanes, words[119]));
    CHECK(loaded("UR8", middle, offsets, middle) == Words(lanes, words[128]));
    const Words got = loaded("R12.U32+UR8+0x8", 0, offsets, middle);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CHECK(got[lane] == words[130 + offsets[lane] / 4]);
    }
}

TEST_CASE("shared addresses scale their register and add a uniform one") {
    ProgramOptions options;
    options.static_shared = 4096;
    for (const std::uint32_t scale : {1U, 4U, 8U, 16U}) {
        const std::string name = scale == 1 ? "R10" : fmt::format("R10.X{}", scale);
        const LaneProgram program({"STS [" + name + "+UR8+0x40], R11", "LDS R20, [R12]"},
                                  {"R10", "R11", "R12", "UR8"}, {"R20"}, options);
        Words index(lanes), address(lanes);
        const Words value = [] {
            Words words(lanes);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                words[lane] = static_cast<std::uint32_t>(lane * lane);
            }
            return words;
        }();
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            index[lane] = scale == 1 ? 4 * lane : lane;
            address[lane] = index[lane] * scale + 0x40 + 0x80;
        }
        CHECK(program({index, value, address, Words(lanes, 0x80)})[0] == value);
    }
}

TEST_CASE("constants are read at the offset of each lane, and are zero beyond their bank") {
    ProgramOptions options;
    std::vector<std::byte> bank(40);
    for (std::size_t i = 0; i < bank.size(); ++i) {
        bank[i] = static_cast<std::byte>(200 + i);
    }
    options.constants[3] = bank;
    const auto byte = [&bank](std::size_t i) {
        return i < bank.size() ? std::to_integer<std::uint32_t>(bank[i]) : 0U;
    };
    const LaneProgram program(
        {"LDC R20, c[0x3][R10+0x4]", "LDC.U8 R21, c[0x3][R10+0x1]", "LDC.S8 R22, c[0x3][R10]",
         "LDC.64 R24, c[0x3][0x10]", "MOV R26, c[0x3][0x8]", "ULDC UR8, c[0x3][0xc]"},
        {"R10"}, {"R20", "R21", "R22", "R24", "R25", "R26", "UR8"}, options);
    Words offsets(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        offsets[lane] = 4 * lane;
    }
    const std::vector<Words> results = program({offsets});
    const auto word = [&byte](std::size_t i) {
        return byte(i) | (byte(i + 1) << 8U) | (byte(i + 2) << 16U) | (byte(i + 3) << 24U);
    };
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CHECK(results[0][lane] == word(offsets[lane] + 4));
        CHECK(results[1][lane] == byte(offsets[lane] + 1));
        CHECK(results[2][lane] == static_cast<std::uint32_t>(static_cast<std::int8_t>(
                                      static_cast<std::uint8_t>(byte(offsets[lane])))));
        CHECK(results[3][lane] == word(16));
        CHECK(results[4][lane] == word(20));
        CHECK(results[5][lane] == word(8));
        CHECK(results[6][lane] == word(12));
    }
}

/// What a launch of one load or store with these addresses ends with.
std::string message_of(const std::string& line, const Words& low, const Words& high) {
    const LaneProgram program({line}, {"R10", "R11"}, {});
    try {
        (void)program({low, high});
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("an access outside of every allocation names kernel, thread, address and the allocation") {
    CHECK(rc::check("one lane is out of bounds", [] {
        const Buffer buffer(std::uint64_t{128});
        const std::uint32_t bad = random_below(lanes);
        const bool writes = *rc::gen::arbitrary<bool>();
        const std::uint32_t behind = 4 * random_below(100);
        Places places;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            places.set(lane, buffer.address() + 4 * lane + (lane == bad ? 128 - 4 * bad + behind : 0));
        }
        const std::string line = writes ? "STG.E desc[UR4][R10.64], R12" : "LDG.E R12, desc[UR4][R10.64]";
        const std::string message = message_of(line, places.low, places.high);
        RC_ASSERT(has_parts(
            message,
            {writes ? "out-of-bounds write of 4 bytes" : "out-of-bounds read of 4 bytes",
             fmt::format("{:#x}, {} bytes behind the end of the allocation of 128 "
                         "bytes at {:#x}",
                         buffer.address() + 128 + behind, behind, buffer.address()),
             "in kernel test at 0x", fmt::format("thread ({}, 0, 0)", bad), "block (0, 0, 0)", line}));
    }));
}

TEST_CASE("an access that begins within an allocation and ends outside is out of bounds") {
    const Buffer buffer(std::uint64_t{100});
    Places places;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        places.set(lane, buffer.address() + 96);
    }
    CHECK(message_of("LDG.E R12, desc[UR4][R10.64]", places.low, places.high).empty());
    CHECK(has_parts(message_of("LDG.E.64 R12, desc[UR4][R10.64]", places.low, places.high),
                    {"out-of-bounds read of 8 bytes", "thread (0, 0, 0)"}));
}

TEST_CASE("a misaligned access names width and address") {
    const Buffer buffer(std::uint64_t{256});
    for (const Width& width : widths) {
        for (std::uint32_t off = 1; off < width.bytes; off *= 2) {
            Places places;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                places.set(lane, buffer.address() + (lane == 9 ? off : 0));
            }
            CHECK(has_parts(
                message_of("LDG.E" + width.modifier + " R12, desc[UR4][R10.64]", places.low, places.high),
                {fmt::format("misaligned read of {} bytes at {:#x}", width.bytes, buffer.address() + off),
                 "thread (9, 0, 0)", "kernel test"}));
        }
    }
}

TEST_CASE("a lane whose guard fails may have any address") {
    const LaneProgram program({"@P0 LDG.E R20, desc[UR4][R10.64]", "@P0 STG.E desc[UR4][R10.64], R20"},
                              {"R10", "R11", "R20", "P0"}, {"R20"});
    const Words any(lanes, 0xabcdU);
    CHECK(program({any, any, Words(lanes, 5), Words(lanes, 0)})[0] == Words(lanes, 5));
}

TEST_CASE("shared and local accesses are checked against the bytes of the CTA and the thread") {
    const auto message = [](const std::string& line, std::uint32_t offset, std::int64_t shared) {
        ProgramOptions options;
        options.static_shared = shared;
        const LaneProgram program({line}, {"R10"}, {}, options);
        Words offsets(lanes, 0);
        offsets[17] = offset;
        try {
            (void)program({offsets});
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    CHECK(message("LDS R20, [R10]", 252, 256).empty());
    CHECK(has_parts(message("LDS R20, [R10]", 256, 256),
                    {"out-of-bounds read of 4 bytes at offset 0x100 of 256 bytes", "thread (17, 0, 0)"}));
    CHECK(has_parts(message("STS.64 [R10], R20", 254, 256), {"out-of-bounds write of 8 bytes"}));
    CHECK(has_parts(message("LDS.128 R20, [R10]", 8, 256), {"misaligned read of 16 bytes at offset 0x8"}));
    CHECK(has_parts(message("STL [R10], R20", 1U << 20U, 256), {"out-of-bounds write of 4 bytes at offset"}));
    CHECK(has_parts(message("LDL R20, [R10]", 2, 256), {"misaligned read of 4 bytes at offset 0x2"}));
}

TEST_CASE("a fault names the thread and the block in three dimensions") {
    const Program program({"S2R R10, SR_TID.X", "S2R R11, SR_TID.Y", "S2R R12, SR_TID.Z",
                           "S2R R13, SR_CTAID.Y", "ISETP.EQ.AND P0, PT, R10, 0x3, PT",
                           "ISETP.EQ.AND P0, PT, R11, 0x1, P0", "ISETP.EQ.AND P0, PT, R12, 0x2, P0",
                           "ISETP.EQ.AND P0, PT, R13, 0x4, P0", "@P0 LDS R20, [R10+0x1000]"});
    LaunchShape shape;
    shape.grid = {2, 5, 1};
    shape.block = {4, 2, 3};
    const LaunchCounts counts = program.run(shape);
    CHECK(has_parts(counts.error, {"thread (3, 1, 2) of block (0, 4, 0)"}));
    CHECK(counts.ctas == 10);
    CHECK(counts.ctas_run == 8);
    CHECK_FALSE(counts.whole());
}

TEST_CASE("a global access counts its distinct sectors and lines, and the bytes that lanes ask for") {
    CHECK(rc::check("sectors and lines", [] {
        const Buffer buffer(std::uint64_t{8192});
        const Program program(
            {"S2R R0, SR_TID.X", "IMAD.WIDE.U32 R2, R0, 0x8, c[0x0][0x210]", "LDG.E.64 R10, desc[UR4][R2.64]",
             "ISETP.NE.U32.AND P0, PT, R10, 0x1, PT", "@P0 LDG.E.64 R12, desc[UR4][R10.64]"},
            [] {
                ProgramOptions options;
                options.parameters = 1;
                return options;
            }());
        Words addresses;
        std::set<std::uint64_t> sectors, lines;
        std::uint64_t bytes = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const bool on = random_below(4) != 0;
            const std::uint64_t address = buffer.address() + 8 * random_below(1024);
            addresses.push_back(on ? low_of(address) : 1);
            addresses.push_back(high_of(address));
            if (on) {
                sectors.insert(address / 32);
                lines.insert(address / 128);
                bytes += 8;
            }
        }
        const Buffer given(addresses);
        const LaunchCounts counts = program.run(one_cta(lanes), {given.address()});
        RC_ASSERT(counts.error.empty());
        const AccessCounts& access = counts.accesses[4];
        RC_ASSERT(access.sectors == sectors.size());
        RC_ASSERT(access.lines == lines.size());
        RC_ASSERT(access.bytes == bytes);
        RC_ASSERT(access.requests == (bytes != 0 ? 1U : 0U));
        RC_ASSERT(counts.instructions[4].threads == lanes);
        RC_ASSERT(counts.instructions[4].enabled_threads == bytes / 8);
        // 32 lanes of 8 bytes side by side.
        RC_ASSERT(counts.accesses[2].sectors == 8U);
        RC_ASSERT(counts.accesses[2].lines == 2U);
    }));
}

TEST_CASE("a shared access takes as many passes as the fullest bank has words") {
    ProgramOptions options;
    options.static_shared = 16384;
    for (const std::uint32_t stride : {0U, 1U, 2U, 3U, 8U, 32U, 33U}) {
        const Program program(
            {"S2R R0, SR_TID.X", fmt::format("IMAD R10, R0, {:#x}, RZ", 4 * stride), "LDS R20, [R10]"},
            options);
        std::array<std::set<std::uint32_t>, 32> banks;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            banks.at(lane * stride % 32).insert(lane * stride);
        }
        std::size_t passes = 0;
        for (const auto& bank : banks) {
            passes = std::max(passes, bank.size());
        }
        CHECK(program.run(one_cta(lanes)).accesses[2].passes == passes);
    }
}

TEST_CASE("a generic address says whose memory it is of") {
    ProgramOptions options;
    options.static_shared = 64;
    options.local_bytes = 64;
    const LaneProgram program({"QSPC.E.S P1, R20, [R6]", "QSPC.E.L P2, RZ, [R6]", "QSPC.E.G P3, RZ, [R6]"},
                              {"R6", "R7"}, {"P1", "P2", "P3", "R20"}, options);
    const Buffer memory(Words{1});
    const std::vector<std::uint64_t> places{memory.address(), shared_window + 8, local_window + 8};
    std::vector<Words> in(2, Words(32));
    for (std::size_t lane = 0; lane < 32; ++lane) {
        in[0][lane] = low_of(places[lane % 3]);
        in[1][lane] = high_of(places[lane % 3]);
    }
    const std::vector<Words> got = program(in);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        CHECK(got[0][lane] == (lane % 3 == 1 ? 1U : 0U));
        CHECK(got[1][lane] == (lane % 3 == 2 ? 1U : 0U));
        CHECK(got[2][lane] == (lane % 3 == 0 ? 1U : 0U));
        CHECK(got[3][lane] == got[0][lane]);
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
