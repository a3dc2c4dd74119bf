// Tests of matrices in shared memory for warpgroup products: descriptors, places of elements under every
// swizzle, and whole products.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/warpgroup_matrix.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

TEST_CASE("a descriptor's fields count pieces of 16 bytes; other bits do not matter") {
    CHECK(rc::check("fields", [] {
        const std::uint64_t start = random_below(1U << 14U), leading = random_below(1U << 14U),
                            stride = random_below(1U << 14U), mode = random_below(4);
        const std::uint64_t others = pair_of(*any_word(), *any_word()) & 0x3fffc000c000c000ULL;
        const MatrixDescriptor descriptor =
            descriptor_of(start | (leading << 16U) | (stride << 32U) | (mode << 62U) | others);
        RC_ASSERT(descriptor.start == 16 * start);
        RC_ASSERT(descriptor.leading_step == 16 * leading);
        RC_ASSERT(descriptor.stride_step == 16 * stride);
        // PTX ISA: 0 no swizzling, 1 of 128 bytes, 2 of 64, 3 of 32.
        RC_ASSERT(descriptor.swizzle_bytes == (mode == 0 ? 0U : 256U >> mode));
    }));
}

struct Tile {
    MatrixDescriptor descriptor;
    std::uint32_t outer, inner;  ///< elements
};

/// A tile that fills its bytes without gaps.
Tile packed_tile(std::uint32_t swizzle, bool transposed, std::uint32_t element_bytes, std::uint32_t start) {
    const std::uint32_t row_bytes = swizzle == 0 ? 16 : swizzle;
    const std::uint32_t rows_of_eight = 1 + random_below(4), atoms = 1 + random_below(3);
    const std::uint32_t atom_bytes = 8 * row_bytes;
    // Which of both directions has its atoms side by side.
    const bool first = *rc::gen::arbitrary<bool>();
    const std::uint32_t of_rows = first ? atom_bytes : atom_bytes * atoms;
    const std::uint32_t of_atoms = first ? atom_bytes * rows_of_eight : atom_bytes;
    Tile tile;
    tile.descriptor.start = start;
    tile.descriptor.swizzle_bytes = swizzle;
    const std::uint32_t along = atoms * row_bytes / element_bytes, across = 8 * rows_of_eight;
    if (!transposed) {
        // K-major: the stride goes from eight rows to the next, the leading step along k.
        tile.descriptor.stride_step = of_rows;
        tile.descriptor.leading_step = of_atoms;
        tile.outer = across;
        tile.inner = along;
    } else {
        // MN-major. Without swizzling both steps change their meaning.
        tile.descriptor.stride_step = swizzle == 0 ? of_atoms : of_rows;
        tile.descriptor.leading_step = swizzle == 0 ? of_rows : of_atoms;
        tile.outer = along;
        tile.inner = across;
    }
    return tile;
}

TEST_CASE(
    "elements of a tile have places of their own that fill it, under each swizzle and in either order") {
    CHECK(rc::check("a bijection", [] {
        const std::uint32_t swizzle = *rc::gen::element(0U, 32U, 64U, 128U);
        const bool transposed = *rc::gen::arbitrary<bool>();
        const std::uint32_t element_bytes = *rc::gen::element(1U, 2U, 4U);
        const std::uint32_t start = 1024 * random_below(8);
        const Tile tile = packed_tile(swizzle, transposed, element_bytes, start);
        std::set<std::uint32_t> places;
        for (std::uint32_t outer = 0; outer < tile.outer; ++outer) {
            for (std::uint32_t inner = 0; inner < tile.inner; ++inner) {
                const std::uint32_t place =
                    element_offset(tile.descriptor, transposed, element_bytes, outer, inner);
                RC_ASSERT(place % element_bytes == 0U);
                places.insert(place);
            }
        }
        const std::uint32_t count = tile.outer * tile.inner;
        RC_ASSERT(places.size() == count);
        RC_ASSERT(*places.begin() == start);
        RC_ASSERT(*places.rbegin() == start + (count - 1) * element_bytes);
    }));
}

TEST_CASE("a row of a K-major tile is one line of the swizzle, its pieces turned by the line's number") {
    for (const std::uint32_t swizzle : {32U, 64U, 128U}) {
        const MatrixDescriptor descriptor{4096, 0, 8 * swizzle, swizzle};
        for (std::uint32_t row = 0; row < 64; ++row) {
            for (std::uint32_t k = 0; k < swizzle / 2; ++k) {
                // CUTLASS, Swizzle<B, 4, 3> of bytes: bits 7 and up are combined with bits 4 and up.
                const std::uint32_t linear = row * swizzle + 2 * k;
                const std::uint32_t turn = (linear / 128) % (swizzle / 16);
                CHECK(element_offset(descriptor, false, 2, row, k) == 4096 + (linear ^ (turn * 16)));
                // MN-major has the same lines with the roles exchanged.
                CHECK(element_offset(descriptor, true, 2, k, row) == 4096 + (linear ^ (turn * 16)));
            }
        }
    }
}

TEST_CASE("without swizzling, core matrices of 8 rows of 16 bytes are steps apart") {
    const MatrixDescriptor descriptor{256, 2048, 512, 0};
    CHECK(element_offset(descriptor, false, 2, 0, 0) == 256);
    CHECK(element_offset(descriptor, false, 2, 1, 0) == 256 + 16);
    CHECK(element_offset(descriptor, false, 2, 0, 7) == 256 + 14);
    CHECK(element_offset(descriptor, false, 2, 0, 8) == 256 + 2048);
    CHECK(element_offset(descriptor, false, 2, 8, 0) == 256 + 512);
    CHECK(element_offset(descriptor, false, 1, 17, 33) == 256 + 2 * 512 + 16 + 2 * 2048 + 1);
}

TEST_CASE("a step along k within a swizzled line moves the start by its bytes") {
    for (const std::uint32_t swizzle : {64U, 128U}) {
        const MatrixDescriptor whole{2048, 0, 8 * swizzle, swizzle};
        for (std::uint32_t step = 0; step < swizzle / 32; ++step) {
            MatrixDescriptor part = whole;
            part.start += 32 * step;
            for (std::uint32_t row = 0; row < 24; ++row) {
                for (std::uint32_t k = 0; k < 16; ++k) {
                    CHECK(element_offset(part, false, 2, row, k) ==
                          element_offset(whole, false, 2, row, 16 * step + k));
                }
            }
        }
    }
}

// ---- whole products

constexpr std::size_t threads = 128;
constexpr std::uint32_t shared_bytes = 8192, b_start = 4096, words_of_thread = shared_bytes / 4 / threads;

std::uint64_t bits_of(const MatrixDescriptor& descriptor) {
    const std::uint64_t mode = descriptor.swizzle_bytes == 0    ? 0
                               : descriptor.swizzle_bytes == 32 ? 3
                               : descriptor.swizzle_bytes == 64 ? 2
                                                                : 1;
    return std::uint64_t{descriptor.start / 16} | (std::uint64_t{descriptor.leading_step / 16} << 16U) |
           (std::uint64_t{descriptor.stride_step / 16} << 32U) | (mode << 62U);
}

std::vector<std::string> names(std::size_t first, std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(fmt::format("R{}", first + i));
    }
    return result;
}

/// Fills shared memory from registers R40 and up, then runs the product.
LaneProgram product_program(const std::string& line, const std::vector<std::string>& more_inputs,
                            std::size_t results) {
    std::vector<std::string> body{"IMAD.SHL.U32 R11, R0, 0x4, RZ"};
    for (std::uint32_t i = 0; i < words_of_thread; ++i) {
        body.push_back(fmt::format("STS [R11+{:#x}], R{}", 4 * threads * i, 40 + i));
    }
    body.emplace_back("BAR.SYNC.DEFER_BLOCKING 0x0");
    body.push_back(line);
    std::vector<std::string> inputs = names(40, words_of_thread);
    inputs.insert(inputs.end(), {"UR8", "UR9", "UR10", "UR11"});
    inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
    ProgramOptions options;
    options.static_shared = shared_bytes;
    return LaneProgram(body, inputs, names(100, results), options);
}

std::uint32_t bf16_bits(int value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U;
}

TEST_CASE("a warpgroup's product is that of a triple loop, from shared memory in every order and swizzle") {
    constexpr std::uint32_t columns = 16, depth = 16, rows = 64;
    for (const bool a_across : {false, true}) {
        for (const bool b_across : {false, true}) {
            const std::string modifiers = std::string(a_across ? ".tnspA" : "") + (b_across ? ".tnspB" : "");
            const LaneProgram program = product_program(
                "HGMMA.64x16x16.F32.BF16 R100, gdesc[UR8]" + modifiers + ", R60", names(60, 8), 8);
            CHECK(rc::check("product" + modifiers, [&] {
                std::vector<std::vector<int>> a(rows, std::vector<int>(depth)),
                    b(depth, std::vector<int>(columns));
                std::vector<std::uint8_t> image(shared_bytes);
                // Room for the tile in a line of the swizzle, or steps over several.
                const auto described = [](bool across, std::uint32_t start, std::uint32_t most) {
                    const std::uint32_t swizzle = std::min(most, *rc::gen::element(0U, 32U, 64U, 128U));
                    const std::uint32_t row_bytes = swizzle == 0 ? 16 : swizzle;
                    const std::uint32_t atom = 8 * row_bytes;
                    MatrixDescriptor descriptor{start, 0, 0, swizzle};
                    // Eight atoms of rows, then the next piece along.
                    const std::uint32_t of_eights = across ? 2 * atom : 8 * atom;
                    descriptor.stride_step = across && swizzle == 0 ? of_eights : atom;
                    descriptor.leading_step = across && swizzle == 0 ? atom : of_eights;
                    return descriptor;
                };
                const auto put = [&image](const MatrixDescriptor& descriptor, bool across,
                                          std::uint32_t outer, std::uint32_t inner, int value) {
                    const std::uint32_t place = element_offset(descriptor, across, 2, outer, inner);
                    image.at(place) = static_cast<std::uint8_t>(bf16_bits(value));
                    image.at(place + 1) = static_cast<std::uint8_t>(bf16_bits(value) >> 8U);
                };
                const auto number = [] { return static_cast<int>(random_below(41)) - 20; };
                // 64 rows of 128 bytes would reach into B.
                const MatrixDescriptor of_a = described(a_across, 0, a_across ? 128 : 64);
                const MatrixDescriptor of_b = described(b_across, b_start, 128);
                for (std::uint32_t i = 0; i < rows; ++i) {
                    for (std::uint32_t e = 0; e < depth; ++e) {
                        a[i][e] = number();
                        put(of_a, a_across, i, e, a[i][e]);
                    }
                }
                for (std::uint32_t e = 0; e < depth; ++e) {
                    for (std::uint32_t j = 0; j < columns; ++j) {
                        b[e][j] = number();
                        put(of_b, b_across, j, e, b[e][j]);
                    }
                }
                std::vector<Words> values;
                for (std::uint32_t w = 0; w < words_of_thread; ++w) {
                    Words words(threads);
                    std::memcpy(words.data(), image.data() + std::size_t{4} * threads * w, 4 * threads);
                    values.push_back(words);
                }
                for (const std::uint64_t bits : {bits_of(of_a), bits_of(of_b)}) {
                    values.emplace_back(threads, low_of(bits));
                    values.emplace_back(threads, high_of(bits));
                }
                std::vector<Words> addend;
                for (std::size_t i = 0; i < 8; ++i) {
                    Words words;
                    for (std::size_t thread = 0; thread < threads; ++thread) {
                        words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(number())));
                    }
                    addend.push_back(words);
                    values.push_back(words);
                }
                const std::vector<Words> results = program(values, threads);
                for (std::size_t thread = 0; thread < threads; ++thread) {
                    const std::size_t warp = thread / 32, group = thread % 32 / 4, place = thread % 4;
                    for (std::size_t i = 0; i < 8; ++i) {
                        // PTX ISA, "Register Fragments for wgmma.mma_async": D.
                        const std::size_t row = 16 * warp + group + (i % 4 < 2 ? 0 : 8);
                        const std::size_t column = 8 * (i / 4) + 2 * place + i % 2;
                        int sum = 0;
                        for (std::size_t e = 0; e < depth; ++e) {
                            sum += a[row][e] * b[e][column];
                        }
                        const float old = std::bit_cast<float>(addend[i][thread]);
                        RC_ASSERT(std::bit_cast<float>(results[i][thread]) == old + static_cast<float>(sum));
                    }
                }
            }));
        }
    }
}

TEST_CASE("A may come from registers, signs may turn, and a false predicate leaves the addend out") {
    constexpr std::uint32_t depth = 16;
    const MatrixDescriptor of_b{b_start, 128, 256, 0};
    std::vector<std::uint8_t> image(shared_bytes);
    std::vector<std::vector<int>> b(depth, std::vector<int>(8));
    for (std::uint32_t e = 0; e < depth; ++e) {
        for (std::uint32_t j = 0; j < 8; ++j) {
            b[e][j] = static_cast<int>(e * 3 + j * 5 % 7) - 20;
            const std::uint32_t place = element_offset(of_b, false, 2, j, e);
            image[place] = static_cast<std::uint8_t>(bf16_bits(b[e][j]));
            image[place + 1] = static_cast<std::uint8_t>(bf16_bits(b[e][j]) >> 8U);
        }
    }
    for (const bool negative : {false, true}) {
        for (const bool adds : {false, true}) {
            const LaneProgram program =
                product_program(fmt::format("HGMMA.64x8x16.F32.BF16 R100, R60, gdesc[UR8]{}, R80, {}UPT",
                                            negative ? ".negB" : "", adds ? "" : "!"),
                                {"R60", "R61", "R62", "R63", "R80", "R81", "R82", "R83"}, 4);
            std::vector<Words> values;
            for (std::uint32_t w = 0; w < words_of_thread; ++w) {
                Words words(threads);
                std::memcpy(words.data(), image.data() + std::size_t{4} * threads * w, 4 * threads);
                values.push_back(words);
            }
            for (const std::uint64_t bits : {std::uint64_t{0}, bits_of(of_b)}) {
                values.emplace_back(threads, low_of(bits));
                values.emplace_back(threads, high_of(bits));
            }
            const auto a = [](std::size_t row, std::size_t e) {
                return static_cast<int>((row * 7 + e * 11) % 31) - 15;
            };
            for (std::size_t r = 0; r < 4; ++r) {
                Words words;
                for (std::size_t thread = 0; thread < threads; ++thread) {
                    // PTX ISA: register fragment of A, as that of mma.m16n8k16.
                    const std::size_t row = 16 * (thread / 32) + thread % 32 / 4 + (r % 2 == 0 ? 0 : 8);
                    const std::size_t column = 2 * (thread % 4) + (r < 2 ? 0 : 8);
                    words.push_back(bf16_bits(a(row, column)) | (bf16_bits(a(row, column + 1)) << 16U));
                }
                values.push_back(words);
            }
            for (std::size_t i = 0; i < 4; ++i) {
                values.emplace_back(threads, std::bit_cast<std::uint32_t>(1000.0F));
            }
            const std::vector<Words> results = program(values, threads);
            for (std::size_t thread = 0; thread < threads; ++thread) {
                for (std::size_t i = 0; i < 4; ++i) {
                    const std::size_t row = 16 * (thread / 32) + thread % 32 / 4 + (i < 2 ? 0 : 8);
                    int sum = 0;
                    for (std::size_t e = 0; e < depth; ++e) {
                        sum += a(row, e) * b[e][2 * (thread % 4) + i % 2];
                    }
                    const int expected = (negative ? -sum : sum) + (adds ? 1000 : 0);
                    CHECK(std::bit_cast<float>(results[i][thread]) == static_cast<float>(expected));
                }
            }
        }
    }
}

TEST_CASE("a descriptor that leads out of shared memory is a fault") {
    const LaneProgram program = product_program("HGMMA.64x8x16.F32.BF16 R100, gdesc[UR8], RZ, !UPT", {}, 4);
    std::vector<Words> values(words_of_thread, Words(threads));
    const std::uint64_t a = bits_of({7168, 0, 1024, 128});
    for (const std::uint64_t bits : {a, bits_of({0, 0, 1024, 128})}) {
        values.emplace_back(threads, low_of(bits));
        values.emplace_back(threads, high_of(bits));
    }
    std::string message;
    try {
        (void)program(values, threads);
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK(has_parts(message, {"a matrix beyond shared memory", "kernel test", "HGMMA"}));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
