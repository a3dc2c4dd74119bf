// Tests of warp matrix products against triple loops over fragments laid out by the rules of the PTX ISA, and
// of loads, stores and transpositions of 8 x 8 matrices.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/matrices.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32;

struct Place {
    std::size_t row, column;
};
/// Place of element i of a lane's fragment, by the lane's group g = lane / 4 and place t = lane % 4 in it.
using Layout = Place (*)(std::size_t g, std::size_t t, std::size_t i);

/// A shape and its layouts, as "Matrix Fragments for mma.<shape>" of the PTX ISA state them.
struct Shape {
    std::size_t m, k;
    Layout a, b, c;
};

Place c_of_16_rows(std::size_t g, std::size_t t, std::size_t i) {
    return {i < 2 ? g : g + 8, t * 2 + (i & 1U)};
}
Place c_of_8_rows(std::size_t g, std::size_t t, std::size_t i) {
    return {g, t * 2 + (i & 1U)};
}

const Shape m16n8k16_halves{16, 16,
                            [](std::size_t g, std::size_t t, std::size_t i) {
                                const bool first = i < 2 || (i >= 4 && i < 6);
                                return Place{first ? g : g + 8, t * 2 + (i & 1U) + (i < 4 ? 0 : 8)};
                            },
                            [](std::size_t g, std::size_t t, std::size_t i) {
                                return Place{t * 2 + (i & 1U) + (i < 2 ? 0 : 8), g};
                            },
                            c_of_16_rows};
const Shape m16n8k8_halves{16, 8,
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               return Place{i < 2 ? g : g + 8, t * 2 + (i & 1U)};
                           },
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               return Place{t * 2 + i, g};
                           },
                           c_of_16_rows};
const Shape m16n8k8_words{16, 8,
                          [](std::size_t g, std::size_t t, std::size_t i) {
                              return Place{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
                          },
                          [](std::size_t g, std::size_t t, std::size_t i) {
                              return Place{i == 0 ? t : t + 4, g};
                          },
                          c_of_16_rows};
const Shape m16n8k4_words{16, 4,
                          [](std::size_t g, std::size_t t, std::size_t i) {
                              return Place{i == 0 ? g : g + 8, t};
                          },
                          [](std::size_t g, std::size_t t, std::size_t) {
                              return Place{t, g};
                          },
                          c_of_16_rows};
const Shape m8n8k16_bytes{8, 16,
                          [](std::size_t g, std::size_t t, std::size_t i) {
                              return Place{g, t * 4 + i};
                          },
                          [](std::size_t g, std::size_t t, std::size_t i) {
                              return Place{t * 4 + i, g};
                          },
                          c_of_8_rows};
const Shape m16n8k16_bytes{16, 16,
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               return Place{i < 4 ? g : g + 8, t * 4 + (i & 3U)};
                           },
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               return Place{t * 4 + i, g};
                           },
                           c_of_16_rows};
const Shape m16n8k32_bytes{16, 32,
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               const bool first = i < 4 || (i >= 8 && i < 12);
                               return Place{first ? g : g + 8, t * 4 + (i & 3U) + (i < 8 ? 0 : 16)};
                           },
                           [](std::size_t g, std::size_t t, std::size_t i) {
                               return Place{t * 4 + (i & 3U) + (i < 4 ? 0 : 16), g};
                           },
                           c_of_16_rows};
const Shape m8n8k4_doubles{8, 4,
                           [](std::size_t g, std::size_t t, std::size_t) {
                               return Place{g, t};
                           },
                           [](std::size_t g, std::size_t t, std::size_t) {
                               return Place{t, g};
                           },
                           c_of_8_rows};
const Shape m16n8k16_doubles{16, 16,
                             [](std::size_t g, std::size_t t, std::size_t i) {
                                 return Place{i % 2 == 0 ? g : g + 8, i / 2 * 4 + t};
                             },
                             [](std::size_t g, std::size_t t, std::size_t i) {
                                 return Place{t + 4 * i, g};
                             },
                             c_of_16_rows};

using Matrix = std::vector<std::vector<double>>;

/// How an element is written: its bits, and how many it has.
struct Encoding {
    std::size_t bits;
    std::uint64_t (*write)(double value);
};
const Encoding half{16, [](double value) {
                        return std::uint64_t{std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))};
                    }};
const Encoding brain{16, [](double value) {
                         return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U};
                     }};
// Bits below those of tf32 must not count.
const Encoding tensor_float{
    32, [](double value) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value)) | 0x1234U};
    }};
const Encoding single{
    32, [](double value) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}; }};
const Encoding whole{32, [](double value) {
                         return std::uint64_t{static_cast<std::uint32_t>(static_cast<std::int64_t>(value))};
                     }};
const Encoding byte{
    8, [](double value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & 0xffU; }};
const Encoding real64{64, [](double value) { return std::bit_cast<std::uint64_t>(value); }};
/// The byte of OCP OFP8 for a number that it holds exactly.
template <unsigned exponent_bits>
std::uint64_t small_real(double value) {
    constexpr unsigned fraction_bits = 7 - exponent_bits;
    constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    for (unsigned bits = 0; bits < 256; ++bits) {
        const unsigned exponent = (bits & 127U) >> fraction_bits;
        const unsigned fraction = bits & ((1U << fraction_bits) - 1U);
        if (exponent == 0) {
            continue;  // Zero alone is needed of these.
        }
        const double magnitude =
            std::ldexp(static_cast<double>(fraction + (1U << fraction_bits)),
                       static_cast<int>(exponent) - bias - static_cast<int>(fraction_bits));
        if (value == (bits < 128 ? magnitude : -magnitude)) {
            return bits;
        }
    }
    return 0;
}
const Encoding e4m3{8, small_real<4>};
const Encoding e5m2{8, small_real<5>};

/// The registers of a fragment.
std::vector<Words> fragment(const Matrix& matrix, Layout layout, std::size_t elements,
                            const Encoding& encoding) {
    std::vector<Words> registers(std::max<std::size_t>(1, elements * encoding.bits / 32), Words(lanes));
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t i = 0; i < elements; ++i) {
            const Place place = layout(lane / 4, lane % 4, i);
            const std::uint64_t bits = encoding.write(matrix[place.row][place.column]);
            const std::size_t at = i * encoding.bits;
            registers[at / 32][lane] |= static_cast<std::uint32_t>(bits << (at % 32));
            if (encoding.bits == 64) {
                registers[at / 32 + 1][lane] = high_of(bits);
            }
        }
    }
    return registers;
}

/// Whole numbers, both ends included.
struct Range {
    int least = 0, most = 0;
};

Matrix random_matrix(std::size_t rows, std::size_t columns, Range range) {
    const auto numbers = static_cast<std::uint32_t>(range.most - range.least + 1);
    Matrix matrix(rows, std::vector<double>(columns));
    for (std::vector<double>& row : matrix) {
        for (double& value : row) {
            value = static_cast<double>(static_cast<int>(random_below(numbers)) + range.least);
        }
    }
    return matrix;
}

Matrix product(const Matrix& a, const Matrix& b, const Matrix& c) {
    Matrix d = c;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.front().size(); ++j) {
            for (std::size_t e = 0; e < b.size(); ++e) {
                d[i][j] += a[i][e] * b[e][j];
            }
        }
    }
    return d;
}

struct Product {
    std::string line;  ///< with operands D, A, B and C
    Shape shape;
    Encoding a, b, c;
    Range of_a, of_b;  ///< of the elements, which are whole numbers
};

std::vector<std::string> names(std::size_t first, std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(fmt::format("R{}", first + i));
    }
    return result;
}

constexpr std::size_t a_first = 32, b_first = 64, c_first = 80, d_first = 96;

/// A program whose inputs are the registers of the three fragments.
LaneProgram program_of(const Product& op, const std::string& operands = "R96, R32, R64, R80") {
    const std::size_t a_words = op.shape.m * op.shape.k * op.a.bits / 1024;
    const std::size_t b_words = op.shape.k * 8 * op.b.bits / 1024;
    const std::size_t c_words = op.shape.m * 8 * op.c.bits / 1024;
    std::vector<std::string> inputs = names(a_first, a_words);
    for (const auto& [first, count] : {std::pair{b_first, b_words}, std::pair{c_first, c_words}}) {
        const std::vector<std::string> more = names(first, count);
        inputs.insert(inputs.end(), more.begin(), more.end());
    }
    return LaneProgram({op.line + " " + operands}, inputs, names(d_first, c_words));
}

std::vector<Words> inputs_of(const Product& op, const Matrix& a, const Matrix& b, const Matrix& c) {
    std::vector<Words> values = fragment(a, op.shape.a, op.shape.m * op.shape.k / lanes, op.a);
    for (const std::vector<Words>& more : {fragment(b, op.shape.b, op.shape.k * 8 / lanes, op.b),
                                           fragment(c, op.shape.c, op.shape.m * 8 / lanes, op.c)}) {
        values.insert(values.end(), more.begin(), more.end());
    }
    return values;
}

const std::vector<Product> products{
    {"HMMA.16816.F32", m16n8k16_halves, half, half, single, {-20, 20}, {-20, 20}},
    {"HMMA.1688.F32", m16n8k8_halves, half, half, single, {-20, 20}, {-20, 20}},
    {"HMMA.16816.F16", m16n8k16_halves, half, half, half, {-5, 5}, {-5, 5}},
    {"HMMA.1688.F16", m16n8k8_halves, half, half, half, {-5, 5}, {-5, 5}},
    {"HMMA.16816.F32.BF16", m16n8k16_halves, brain, brain, single, {-20, 20}, {-20, 20}},
    {"HMMA.1688.F32.BF16", m16n8k8_halves, brain, brain, single, {-20, 20}, {-20, 20}},
    {"HMMA.1688.F32.TF32", m16n8k8_words, tensor_float, tensor_float, single, {-900, 900}, {-900, 900}},
    {"HMMA.1684.F32.TF32", m16n8k4_words, tensor_float, tensor_float, single, {-900, 900}, {-900, 900}},
    {"IMMA.8816.S8.S8", m8n8k16_bytes, byte, byte, whole, {-128, 127}, {-128, 127}},
    {"IMMA.16816.S8.S8", m16n8k16_bytes, byte, byte, whole, {-128, 127}, {-128, 127}},
    {"IMMA.16832.S8.S8", m16n8k32_bytes, byte, byte, whole, {-128, 127}, {-128, 127}},
    {"IMMA.16832.U8.U8", m16n8k32_bytes, byte, byte, whole, {0, 255}, {0, 255}},
    {"IMMA.16832.U8.S8", m16n8k32_bytes, byte, byte, whole, {0, 255}, {-128, 127}},
    {"IMMA.16832.S8.U8", m16n8k32_bytes, byte, byte, whole, {-128, 127}, {0, 255}},
    {"IMMA.16832.S8.S8.SAT", m16n8k32_bytes, byte, byte, whole, {-128, 127}, {-128, 127}},
    {"QMMA.16832.F32.E4M3.E4M3", m16n8k32_bytes, e4m3, e4m3, single, {-16, 16}, {-16, 16}},
    {"QMMA.16832.F32.E4M3.E5M2", m16n8k32_bytes, e4m3, e5m2, single, {-8, 8}, {-8, 8}},
    {"QMMA.16832.F32.E5M2.E4M3", m16n8k32_bytes, e5m2, e4m3, single, {-8, 8}, {-8, 8}},
    {"QMMA.16832.F32.E5M2.E5M2", m16n8k32_bytes, e5m2, e5m2, single, {-8, 8}, {-8, 8}},
    {"DMMA.8x8x4", m8n8k4_doubles, real64, real64, real64, {-1000000, 1000000}, {-1000000, 1000000}},
    {"DMMA.16x8x4", m16n8k4_words, real64, real64, real64, {-1000000, 1000000}, {-1000000, 1000000}},
    {"DMMA.16x8x8", m16n8k8_words, real64, real64, real64, {-1000000, 1000000}, {-1000000, 1000000}},
    {"DMMA.16x8x16", m16n8k16_doubles, real64, real64, real64, {-1000000, 1000000}, {-1000000, 1000000}},
};

TEST_CASE("products of whole numbers are those of a triple loop, in every shape and type") {
    for (const Product& op : products) {
        const LaneProgram program = program_of(op);
        const LaneProgram no_addend = program_of(op, "R96, R32, R64, RZ");
        CHECK(rc::check(op.line, [&] {
            const Matrix a = random_matrix(op.shape.m, op.shape.k, op.of_a);
            const Matrix b = random_matrix(op.shape.k, 8, op.of_b);
            const Matrix c = random_matrix(op.shape.m, 8, {-1000, 1000});
            const std::vector<Words> values = inputs_of(op, a, b, c);
            const auto expected = [&op](const Matrix& d) {
                return fragment(d, op.shape.c, op.shape.m * 8 / lanes, op.c);
            };
            RC_ASSERT(program(values) == expected(product(a, b, c)));
            const Matrix zeros(op.shape.m, std::vector<double>(8, 0.0));
            RC_ASSERT(no_addend(values) == expected(product(a, b, zeros)));
        }));
    }
}

TEST_CASE("integer sums wrap at 32 bits, or stop there with SAT") {
    for (const bool saturates : {false, true}) {
        const Product op{saturates ? "IMMA.16816.S8.S8.SAT" : "IMMA.16816.S8.S8",
                         m16n8k16_bytes,
                         byte,
                         byte,
                         whole,
                         {},
                         {}};
        const Matrix a(16, std::vector<double>(16, 100.0));
        Matrix b(16, std::vector<double>(8, 50.0));
        Matrix c(16,
                 std::vector<double>(8, static_cast<double>(std::numeric_limits<std::int32_t>::max() - 7)));
        for (std::size_t i = 0; i < 16; ++i) {
            for (std::size_t j = 4; j < 8; ++j) {
                b[i][j] = -50.0;
                c[i][j] = static_cast<double>(std::numeric_limits<std::int32_t>::min() + 7);
            }
        }
        const std::vector<Words> results = program_of(op)(inputs_of(op, a, b, c));
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const bool above = lane % 4 < 2;
            const std::uint32_t wrapped = above ? 0x80000000U + 80000U - 8U : 0x80000007U - 80000U;
            CHECK(results[0][lane] == (saturates ? (above ? 0x7fffffffU : 0x80000000U) : wrapped));
        }
    }
}

TEST_CASE("products of any halves come within a rounding of the exact sum") {
    const Product op{"HMMA.16816.F32", m16n8k16_halves, half, half, single, {0, 0}, {0, 0}};
    const LaneProgram program = program_of(op);
    CHECK(rc::check("within a rounding", [&] {
        const auto reals = [](std::size_t rows, std::size_t columns) {
            Matrix matrix = random_matrix(rows, columns, {-2047, 2047});
            for (std::vector<double>& row : matrix) {
                for (double& value : row) {
                    value = std::ldexp(value, static_cast<int>(random_below(16)) - 14);
                }
            }
            return matrix;
        };
        const Matrix a = reals(16, 16), b = reals(16, 8), c = reals(16, 8);
        const Matrix exact = product(a, b, c);
        const std::vector<Words> results = program(inputs_of(op, a, b, c));
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            for (std::size_t i = 0; i < 4; ++i) {
                const Place place = c_of_16_rows(lane / 4, lane % 4, i);
                double magnitude = std::abs(c[place.row][place.column]);
                for (std::size_t e = 0; e < 16; ++e) {
                    magnitude += std::abs(a[place.row][e] * b[e][place.column]);
                }
                const auto got = static_cast<double>(std::bit_cast<float>(results[i][lane]));
                RC_ASSERT(std::abs(got - exact[place.row][place.column]) <= magnitude * 0x1p-23);
            }
        }
    }));
}

TEST_CASE("the result may take the place of the addend or of a factor") {
    const Product op{"HMMA.16816.F32", m16n8k16_halves, half, half, single, {}, {}};
    const std::vector<std::string> inputs{"R32", "R33", "R34", "R35", "R64",
                                          "R65", "R80", "R81", "R82", "R83"};
    const LaneProgram over_c({op.line + " R80, R32, R64, R80"}, inputs, names(80, 4));
    const LaneProgram over_a({op.line + " R32, R32, R64, R80"}, inputs, names(32, 4));
    CHECK(rc::check("in place", [&] {
        const Matrix a = random_matrix(16, 16, {-20, 20}), b = random_matrix(16, 8, {-20, 20}),
                     c = random_matrix(16, 8, {-100, 100});
        const std::vector<Words> expected = fragment(product(a, b, c), op.shape.c, 4, op.c);
        RC_ASSERT(over_c(inputs_of(op, a, b, c)) == expected);
        RC_ASSERT(over_a(inputs_of(op, a, b, c)) == expected);
    }));
}

TEST_CASE("elements of a word have the values of their types") {
    CHECK(element_of(MatrixElement::s8, 0x80ff7f01U, 0) == 1.0F);
    CHECK(element_of(MatrixElement::s8, 0x80ff7f01U, 1) == 127.0F);
    CHECK(element_of(MatrixElement::s8, 0x80ff7f01U, 2) == -1.0F);
    CHECK(element_of(MatrixElement::s8, 0x80ff7f01U, 3) == -128.0F);
    CHECK(element_of(MatrixElement::u8, 0x80ff7f01U, 3) == 128.0F);
    CHECK(element_of(MatrixElement::f16, 0x3c00c000U, 0) == -2.0F);
    CHECK(element_of(MatrixElement::f16, 0x3c00c000U, 1) == 1.0F);
    CHECK(element_of(MatrixElement::bf16, 0x3f804000U, 0) == 2.0F);
    CHECK(element_of(MatrixElement::tf32, 0x3f801fffU, 0) == 1.0F);
    CHECK(element_of(MatrixElement::e4m3, 0x00003838U, 1) == 1.0F);
    CHECK(element_of(MatrixElement::e5m2, 0x003c0000U, 2) == 1.0F);
    for (const MatrixElement element : {MatrixElement::e4m3, MatrixElement::e5m2, MatrixElement::s8}) {
        CHECK(bytes_of(element) == 1);
    }
    CHECK(bytes_of(MatrixElement::bf16) == 2);
    CHECK(bytes_of(MatrixElement::tf32) == 4);
}

/// Halves of the shared memory of a test, and the addresses of rows of 16 bytes that lanes give.
constexpr std::size_t shared_bytes = 2048;

TEST_CASE("LDSM gives each lane two neighbours of a row, or of a column when transposed") {
    for (const unsigned count : {1U, 2U, 4U}) {
        for (const bool across : {false, true}) {
            ProgramOptions options;
            options.static_shared = shared_bytes;
            const std::string line = fmt::format("LDSM.16.{}{} R20, [R10+0x10]", across ? "MT88" : "M88",
                                                 count == 1 ? std::string{} : fmt::format(".{}", count));
            // Each lane fills 64 bytes.
            const LaneProgram program(
                {"IMAD.SHL.U32 R11, R0, 0x40, RZ", "STS.128 [R11], R32", "STS.128 [R11+0x10], R36",
                 "STS.128 [R11+0x20], R40", "STS.128 [R11+0x30], R44", line},
                [] {
                    std::vector<std::string> inputs = names(32, 16);
                    inputs.emplace_back("R10");
                    return inputs;
                }(),
                names(20, count), options);
            CHECK(rc::check(line, [&] {
                std::vector<Words> values;
                for (std::size_t i = 0; i < 16; ++i) {
                    values.push_back(some_words(any_word()));
                }
                const auto element = [&values](std::size_t at) {
                    const std::uint32_t word = values[at % 64 / 4][at / 64];
                    return at % 4 == 0 ? word & 0xffffU : word >> 16U;
                };
                Words addresses(lanes);
                for (std::uint32_t& address : addresses) {
                    address = 16 * random_below(shared_bytes / 16 - 1);
                }
                values.push_back(addresses);
                const std::vector<Words> results = program(values);
                for (std::size_t matrix = 0; matrix < count; ++matrix) {
                    for (std::size_t lane = 0; lane < lanes; ++lane) {
                        std::uint32_t expected = 0;
                        for (std::size_t part = 0; part < 2; ++part) {
                            const std::size_t row = across ? 2 * (lane % 4) + part : lane / 4;
                            const std::size_t column = across ? lane / 4 : 2 * (lane % 4) + part;
                            expected |= element(addresses[8 * matrix + row] + 16 + 2 * column) << (16 * part);
                        }
                        RC_ASSERT(results[matrix][lane] == expected);
                    }
                }
            }));
        }
    }
}

TEST_CASE("STSM undoes LDSM, transposed or not") {
    for (const std::string form : {"M88", "MT88"}) {
        ProgramOptions options;
        options.static_shared = shared_bytes;
        const LaneProgram program({"STSM.16." + form + ".4 [R10], R32", "LDSM.16." + form + ".4 R20, [R10]",
                                   "IMAD.SHL.U32 R11, R0, 0x10, RZ", "LDS.128 R24, [R11]"},
                                  {"R10", "R32", "R33", "R34", "R35"},
                                  {"R20", "R21", "R22", "R23", "R24", "R25", "R26", "R27"}, options);
        CHECK(rc::check(form, [&] {
            std::vector<Words> values(1, Words(lanes));
            const std::uint32_t turned = random_below(lanes);
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                values[0][lane] = 16 * ((lane * 13 + turned) % lanes);
            }
            for (std::size_t i = 0; i < 4; ++i) {
                values.push_back(some_words(any_word()));
            }
            const std::vector<Words> results = program(values);
            for (std::size_t i = 0; i < 4; ++i) {
                RC_ASSERT(results[i] == values[i + 1]);
            }
            if (form == "M88") {
                // Row r of matrix i lies where lane 8 i + r says: words of lanes 4 r to 4 r + 3.
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::size_t slot = values[0][lane] / 16;
                    for (std::size_t w = 0; w < 4; ++w) {
                        RC_ASSERT(results[4 + w][slot] == values[1 + lane / 8][4 * (lane % 8) + w]);
                    }
                }
            }
        }));
    }
}

TEST_CASE("a row of a matrix outside of shared memory or misaligned is a fault") {
    ProgramOptions options;
    options.static_shared = 512;
    const LaneProgram one({"LDSM.16.M88 R20, [R10]"}, {"R10"}, {"R20"}, options);
    Words addresses(lanes);
    // Lanes 8 and up give no address of one matrix.
    addresses[8] = 100000;
    CHECK_NOTHROW((void)one({addresses}));
    const auto message = [&one](const Words& words) {
        try {
            (void)one({words});
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    addresses[5] = 512;
    CHECK(has_parts(message(addresses), {"out-of-bounds read of 16 bytes", "thread (5, 0, 0)"}));
    addresses[5] = 8;
    CHECK(has_parts(message(addresses), {"misaligned read of 16 bytes at offset 0x8"}));
}

TEST_CASE("MOVM transposes an 8 x 8 matrix of halves, and twice gives it back") {
    const LaneProgram program({"MOVM.16.MT88 R20, R10", "MOVM.16.MT88 R21, R20"}, {"R10"}, {"R20", "R21"});
    CHECK(rc::check("transposed", [&program] {
        const Words value = some_words(any_word());
        const std::vector<Words> results = program({value});
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            for (std::size_t part = 0; part < 2; ++part) {
                const std::size_t row = lane / 4, column = 2 * (lane % 4) + part;
                const std::uint32_t got = (results[0][lane] >> (16 * part)) & 0xffffU;
                RC_ASSERT(got == ((value[4 * column + row / 2] >> (16 * (row % 2))) & 0xffffU));
            }
        }
        RC_ASSERT(results[1] == value);
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
