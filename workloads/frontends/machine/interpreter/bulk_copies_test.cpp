// Tests of copies by the copy engine: lines, reductions, boxes of tensors, multicast, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/bulk_copies.hpp"

#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"
#include "workloads/frontends/machine/interpreter/transaction_barriers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t shared_words = 1024;
/// Parameters: two pairs for UR4 and UR8, a pair for UR6 and UR7, then the memory that shared memory begins
/// as and ends as.
constexpr std::uint32_t parameters = 8;

/// Fills shared memory, runs the lines by one warp of each CTA, and stores shared memory again. UR4 and UR5
/// hold parameter 0, UR8 to UR13 parameters 1, 2 and 3, UR6 and UR7 parameter 4.
Program around(const std::vector<std::string>& lines) {
    std::vector<std::string> all{"S2R R0, SR_TID.X",
                                 "S2R R1, SR_CTAID.X",
                                 "IMAD R1, R1, c[0x0][0x0], R0",
                                 "IMAD.WIDE.U32 R2, R1, 0x4, c[0x0][0x238]",
                                 "LDG.E R10, desc[UR4][R2.64]",
                                 "IMAD.SHL.U32 R4, R0, 0x4, RZ",
                                 "S2R R5, SR_CgaCtaId",
                                 "LEA R4, R5, R4, 0x18",
                                 "STS [R4], R10",
                                 "ULDC.64 UR4, c[0x0][0x210]",
                                 "ULDC.64 UR8, c[0x0][0x218]",
                                 "ULDC.64 UR10, c[0x0][0x220]",
                                 "ULDC.64 UR12, c[0x0][0x228]",
                                 "ULDC.64 UR6, c[0x0][0x230]",
                                 "BAR.SYNC.DEFER_BLOCKING 0x0",
                                 "UCGABAR_ARV",
                                 "UCGABAR_WAIT",
                                 "ISETP.LT.U32.AND P0, PT, R0, 0x20, PT"};
    for (const std::string& line : lines) {
        all.push_back("@P0 " + line);
    }
    all.insert(all.end(), {"BAR.SYNC.DEFER_BLOCKING 0x0", "UCGABAR_ARV", "UCGABAR_WAIT", "LDS R10, [R4]",
                           "IMAD.WIDE.U32 R2, R1, 0x4, c[0x0][0x240]", "STG.E desc[UR14][R2.64], R10"});
    ProgramOptions options;
    options.static_shared = 4 * shared_words;
    options.parameters = parameters;
    return Program(all, options);
}

struct Copied {
    std::string error;
    Words shared;  ///< of all CTAs
    LaunchCounts counts;
};

Copied run(const Program& program, const std::vector<std::uint64_t>& own, const Words& shared,
           std::uint32_t cluster = 1) {
    const Buffer before(shared);
    const Buffer after(Words(shared.size()));
    std::vector<std::uint64_t> given = own;
    given.resize(5);
    given.insert(given.end(), {before.address(), after.address(), 0});
    LaunchShape shape = one_cta(shared_words);
    shape.grid[0] = cluster;
    shape.cluster[0] = cluster;
    Copied copied;
    copied.counts = program.run(shape, given);
    copied.error = copied.counts.error;
    copied.shared = after.words();
    return copied;
}

std::byte* bytes_of(Words& words) {
    return reinterpret_cast<std::byte*>(words.data());
}
const std::byte* bytes_of(const Words& words) {
    return reinterpret_cast<const std::byte*>(words.data());
}

/// The size operand of bulk copies.
std::uint64_t sixteens(std::uint64_t bytes) {
    return bytes / 16;
}

/// The barrier at this place expects what the random word says.
void complete(Words& shared, std::uint64_t barrier, std::uint64_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_of(shared) + barrier, sizeof word);
    word = after_arrival(word, 0, -static_cast<std::int64_t>(bytes));
    std::memcpy(bytes_of(shared) + barrier, &word, sizeof word);
}

TEST_CASE("a bulk copy to shared memory moves its bytes and tells its barrier of them") {
    const Program program = around({"UBLKCP.S.G [UR8], [UR4], UR6"});
    CHECK(rc::check("any line", [&program] {
        const Words values = some_words(any_word(), 512);
        const Words before = some_words(any_word(), shared_words);
        const Buffer from(values);
        const std::uint32_t bytes = 16 * random_below(100);
        const std::uint32_t first = 16 * random_below((2048 - bytes) / 16 + 1);
        const std::uint32_t to = 64 + 16 * random_below((4096 - 64 - bytes) / 16 + 1);
        const std::uint32_t barrier = 8 * random_below(8);
        const Copied copied =
            run(program, {from.address() + first, pair_of(to, barrier), 0, 0, sixteens(bytes)}, before);
        RC_ASSERT(copied.error.empty());
        Words expected = before;
        std::memcpy(bytes_of(expected) + to, bytes_of(values) + first, bytes);
        if (bytes > 0) {
            complete(expected, barrier, bytes);
        }
        RC_ASSERT(copied.shared == expected);
        RC_ASSERT(from.words() == values);
    }));
}

TEST_CASE("a bulk copy from shared memory leaves the bytes around it alone") {
    const Program program = around({"UBLKCP.G.S [UR8], [UR4], UR6"});
    CHECK(rc::check("any line", [&program] {
        const Words values = some_words(any_word(), 512);
        const Words before = some_words(any_word(), shared_words);
        const Buffer to(values);
        const std::uint32_t bytes = 16 * random_below(100);
        const std::uint32_t first = 16 * random_below((2048 - bytes) / 16 + 1);
        const std::uint32_t from = 16 * random_below((4096 - bytes) / 16 + 1);
        const Copied copied = run(program, {from, to.address() + first, 0, 0, sixteens(bytes)}, before);
        RC_ASSERT(copied.error.empty());
        Words expected = values;
        std::memcpy(bytes_of(expected) + first, bytes_of(before) + from, bytes);
        RC_ASSERT(to.words() == expected);
        RC_ASSERT(copied.shared == before);
    }));
}

// ---- reductions

template <class T>
T value_at(const Words& words, std::size_t i) {
    T value;
    std::memcpy(&value, bytes_of(words) + i * sizeof(T), sizeof value);
    return value;
}

template <class T>
bool reduces(const std::string& modifiers, const std::function<T(T, T)>& combine,
             const std::function<T(std::int32_t)>& number) {
    const Program program = around({"UBLKRED.G.S." + modifiers + " [UR8], [UR4], UR6"});
    return rc::check(modifiers, [&] {
        constexpr std::uint32_t bytes = 256;
        // Small numbers, so that sums of halves are exact.
        const auto some = [&number](std::size_t words) {
            Words all(words);
            for (std::size_t i = 0; i < words * 4 / sizeof(T); ++i) {
                const T value = number(static_cast<std::int32_t>(random_below(200)) - 100);
                std::memcpy(bytes_of(all) + i * sizeof(T), &value, sizeof value);
            }
            return all;
        };
        const Words old = some(128);
        const Words shared = some(shared_words);
        const Buffer to(old);
        const Copied copied = run(program, {64, to.address() + 32, 0, 0, sixteens(bytes)}, shared);
        RC_ASSERT(copied.error.empty());
        const Words got = to.words();
        for (std::size_t i = 0; i < 512 / sizeof(T); ++i) {
            const bool within = i >= 32 / sizeof(T) && i < (32 + bytes) / sizeof(T);
            const T own = value_at<T>(old, i);
            const T expected =
                within ? combine(own, value_at<T>(shared, i - 32 / sizeof(T) + 64 / sizeof(T))) : own;
            using Bytes = std::array<std::byte, sizeof(T)>;
            RC_ASSERT(std::bit_cast<Bytes>(expected) == std::bit_cast<Bytes>(value_at<T>(got, i)));
        }
    });
}

template <class T>
T plain(std::int32_t value) {
    return static_cast<T>(value);
}

TEST_CASE("reductions combine whole numbers of every kind") {
    using U = std::uint32_t;
    using S = std::int32_t;
    using L = std::uint64_t;
    using M = std::int64_t;
    const auto any = [](std::int32_t) { return *any_word(); };
    const auto wide = [](std::int32_t) { return pair_of(*any_word(), *any_word()); };
    CHECK(reduces<U>(
        "ADD", [](U a, U b) { return a + b; }, any));
    CHECK(reduces<U>(
        "MIN", [](U a, U b) { return std::min(a, b); }, any));
    CHECK(reduces<U>(
        "MAX", [](U a, U b) { return std::max(a, b); }, any));
    CHECK(reduces<U>(
        "AND", [](U a, U b) { return a & b; }, any));
    CHECK(reduces<U>(
        "OR", [](U a, U b) { return a | b; }, any));
    CHECK(reduces<U>(
        "XOR", [](U a, U b) { return a ^ b; }, any));
    CHECK(reduces<S>(
        "MIN.S32", [](S a, S b) { return a < b ? a : b; }, plain<S>));
    CHECK(reduces<S>(
        "MAX.S32", [](S a, S b) { return a < b ? b : a; }, plain<S>));
    CHECK(reduces<L>(
        "ADD.64", [](L a, L b) { return a + b; }, wide));
    CHECK(reduces<L>(
        "AND.64", [](L a, L b) { return a & b; }, wide));
    CHECK(reduces<L>(
        "MAX.U64", [](L a, L b) { return a < b ? b : a; }, wide));
    CHECK(reduces<M>(
        "MIN.S64", [](M a, M b) { return a < b ? a : b; }, plain<M>));
}

TEST_CASE("reductions combine reals, and halves by their value") {
    CHECK(reduces<float>(
        "ADD.F32", [](float a, float b) { return a + b; }, plain<float>));
    CHECK(reduces<double>(
        "ADD.F64", [](double a, double b) { return a + b; }, plain<double>));
    using H = std::uint16_t;
    const std::function<H(std::int32_t)> half = [](std::int32_t v) {
        return half_of_real(static_cast<double>(v));
    };
    const std::function<H(std::int32_t)> brain = [](std::int32_t v) {
        return brain_of_real(static_cast<float>(v));
    };
    // Whole numbers up to 200 are exact in both.
    const auto sum = [](const auto& of, const auto& to) {
        return [of, to](H a, H b) {
            return to(static_cast<std::int32_t>(of(a)) + static_cast<std::int32_t>(of(b)));
        };
    };
    const auto least = [](const auto& of) { return [of](H a, H b) { return of(b) < of(a) ? b : a; }; };
    const auto most = [](const auto& of) { return [of](H a, H b) { return of(a) < of(b) ? b : a; }; };
    CHECK(reduces<H>("ADD.F16.RN", sum(real_of_half, half), half));
    CHECK(reduces<H>("MIN.F16", least(real_of_half), half));
    CHECK(reduces<H>("MAX.F16", most(real_of_half), half));
    CHECK(reduces<H>("ADD.BF16.RN", sum(real_of_brain, brain), brain));
    CHECK(reduces<H>("MAX.BF16", most(real_of_brain), brain));
}

// ---- boxes

/// Bits 4 to 6 of an address xor its bits 7 to 9, as far as the swizzle goes (PTX ISA, "Swizzling modes").
std::uint32_t moved(std::uint32_t address, std::uint32_t swizzle) {
    const std::uint32_t bits = swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0;
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
        address ^= ((address >> (7 + bit)) & 1U) << (4 + bit);
    }
    return address;
}

struct Tensor {
    TensorMap map;
    std::array<std::int32_t, 3> origin{};
};

/// A tensor of up to three dimensions in a memory of 8192 bytes, and a box that lies partly outside.
Tensor some_tensor() {
    Tensor tensor;
    TensorMap& map = tensor.map;
    map.rank = static_cast<std::uint8_t>(1 + random_below(3));
    map.element =
        *rc::gen::element(TensorElement::u8, TensorElement::bf16, TensorElement::f32, TensorElement::s64);
    map.nan_fill = random_below(2) != 0;
    map.swizzle_bytes = static_cast<std::uint8_t>(*rc::gen::element<int>(0, 32, 64, 128));
    constexpr std::array<std::uint32_t, 3> most_extent{16, 6, 5};
    constexpr std::array<std::uint32_t, 3> most_box{16, 5, 3};
    for (std::size_t d = 0; d < map.rank; ++d) {
        map.extents[d] = 1 + random_below(most_extent[d]);
        map.box[d] = 1 + random_below(most_box[d]);
        map.steps[d] = 1 + random_below(2);  // Of the first dimension it has no effect.
        tensor.origin[d] = static_cast<std::int32_t>(random_below(20)) - 10;
    }
    map.strides[0] = 16 * ((map.extents[0] * bytes_of(map.element) + 15) / 16 + random_below(2));
    map.strides[1] = map.strides[0] * (map.extents[1] + random_below(2));
    return tensor;
}

/// Calls body(byte of the box, byte of the tensor or -1) for each element.
void for_each_element(const Tensor& tensor, const std::function<void(std::uint32_t, std::int64_t)>& body) {
    const TensorMap& map = tensor.map;
    const std::uint32_t element_bytes = bytes_of(map.element);
    std::array<std::int64_t, 3> box{1, 1, 1};
    for (std::size_t d = 0; d < map.rank; ++d) {
        box[d] = d == 0 ? map.box[d] : (map.box[d] + map.steps[d] - 1) / map.steps[d];
    }
    std::uint32_t linear = 0;
    for (std::int64_t z = 0; z < box[2]; ++z) {
        for (std::int64_t y = 0; y < box[1]; ++y) {
            for (std::int64_t x = 0; x < box[0]; ++x, linear += element_bytes) {
                const std::array<std::int64_t, 3> at{tensor.origin[0] + x,
                                                     tensor.origin[1] + y * map.steps[1],
                                                     tensor.origin[2] + z * map.steps[2]};
                bool exists = true;
                std::int64_t byte = at[0] * element_bytes;
                for (std::size_t d = 0; d < map.rank; ++d) {
                    exists = exists && at[d] >= 0 && at[d] < static_cast<std::int64_t>(map.extents[d]);
                    byte += d > 0 ? at[d] * static_cast<std::int64_t>(map.strides[d - 1]) : 0;
                }
                body(linear, exists ? byte : -1);
            }
        }
    }
}

/// The map's bytes in the memory of the device.
class MapBuffer {
  public:
    explicit MapBuffer(const TensorMap& map) : buffer_(tensor_map_bytes) {
        write_tensor_map(map, buffer_.data());
    }
    [[nodiscard]] std::uint64_t address() const { return buffer_.address(); }

  private:
    Buffer buffer_;
};

std::uint64_t signed_pair(std::int32_t low, std::int32_t high) {
    return pair_of(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
}

TEST_CASE("a box of a tensor is gathered with its swizzle, and filled where the tensor ends") {
    const Program program = around({"UTMALDG.3D [UR8], [UR4]"});
    CHECK(rc::check("any tensor and box", [&program] {
        Tensor tensor = some_tensor();
        const Words values = some_words(any_word(), 2048);
        const Buffer memory(values);
        tensor.map.address = memory.address();
        const MapBuffer map(tensor.map);
        const Words before = some_words(any_word(), shared_words);
        // Up to 16 x 5 x 3 elements of 8 bytes from byte 1024 on.
        constexpr std::uint32_t to = 1024;
        const std::uint32_t barrier = 8 * random_below(8);
        const Copied copied =
            run(program,
                {map.address(), pair_of(to, barrier), signed_pair(tensor.origin[0], tensor.origin[1]),
                 signed_pair(tensor.origin[2], 0)},
                before);
        RC_ASSERT(copied.error.empty());
        Words expected = before;
        for_each_element(tensor, [&](std::uint32_t linear, std::int64_t byte) {
            std::byte* const place = bytes_of(expected) + moved(to + linear, tensor.map.swizzle_bytes);
            if (byte >= 0) {
                std::memcpy(place, bytes_of(values) + byte, bytes_of(tensor.map.element));
            } else {
                std::memset(place, tensor.map.nan_fill ? 0xff : 0, bytes_of(tensor.map.element));
            }
        });
        complete(expected, barrier, tensor.map.box_bytes());
        RC_ASSERT(copied.shared == expected);
    }));
}

TEST_CASE("a box is stored where the tensor exists, and nowhere else") {
    const Program program = around({"UTMASTG.3D [UR8], [UR4]"});
    CHECK(rc::check("any tensor and box", [&program] {
        Tensor tensor = some_tensor();
        const Words values = some_words(any_word(), 2048);
        const Buffer memory(values);
        tensor.map.address = memory.address();
        const MapBuffer map(tensor.map);
        const Words shared = some_words(any_word(), shared_words);
        constexpr std::uint32_t from = 1024;
        const Copied copied = run(program,
                                  {map.address(), signed_pair(from, tensor.origin[0]),
                                   signed_pair(tensor.origin[1], tensor.origin[2])},
                                  shared);
        RC_ASSERT(copied.error.empty());
        Words expected = values;
        for_each_element(tensor, [&](std::uint32_t linear, std::int64_t byte) {
            if (byte >= 0) {
                std::memcpy(bytes_of(expected) + byte,
                            bytes_of(shared) + moved(from + linear, tensor.map.swizzle_bytes),
                            bytes_of(tensor.map.element));
            }
        });
        RC_ASSERT(memory.words() == expected);
        RC_ASSERT(copied.shared == shared);
    }));
}

TEST_CASE("a box may be added to a tensor of the map's own type") {
    const Program program = around({"UTMAREDG.1D.ADD [UR8], [UR4]"});
    Words values(64), shared(shared_words);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i));
    }
    for (std::uint32_t& word : shared) {
        word = std::bit_cast<std::uint32_t>(0.5F);
    }
    const Buffer memory(values);
    TensorMap map;
    map.address = memory.address();
    map.extents[0] = 64;
    map.box[0] = 16;
    const MapBuffer place(map);
    // 10 of the 16 elements exist.
    REQUIRE(run(program, {place.address(), pair_of(256, 54)}, shared).error.empty());
    const Words got = memory.words();
    for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(i);
        CHECK(std::bit_cast<float>(got[i]) == static_cast<float>(i) + (i >= 54 ? 0.5F : 0.0F));
    }
}

TEST_CASE("a multicast reaches the CTAs of its mask, and each one's own barrier") {
    constexpr std::uint32_t ctas = 4;
    // CTA 1 alone copies.
    const std::vector<std::string> guarded{"S2R R20, SR_CTAID.X", "ISETP.EQ.AND P0, PT, R20, 0x1, P0",
                                           "UBLKCP.S.G.MULTICAST [UR8], [UR4], UR6"};
    const Program one = around(guarded);
    Words values(64);
    std::iota(values.begin(), values.end(), 1000U);
    const Buffer from(values);
    for (std::uint32_t mask = 1; mask < 16; ++mask) {
        CAPTURE(mask);
        const Words before(std::size_t{ctas} * shared_words, 77);
        const Copied copied =
            run(one, {from.address(), pair_of(512, 8), 0, 0, sixteens(256) | (std::uint64_t{mask} << 16U)},
                before, ctas);
        REQUIRE(copied.error.empty());
        for (std::uint32_t cta = 0; cta < ctas; ++cta) {
            Words expected(shared_words, 77);
            if (((mask >> cta) & 1U) != 0) {
                std::memcpy(bytes_of(expected) + 512, bytes_of(values), 256);
                complete(expected, 8, 256);
            }
            const auto begin =
                copied.shared.begin() + std::ptrdiff_t{cta} * static_cast<std::ptrdiff_t>(shared_words);
            CHECK(Words(begin, begin + shared_words) == expected);
        }
    }
}

TEST_CASE("a copy counts once, with its bytes") {
    const Program program = around({"UBLKCP.S.G [UR8], [UR4], UR6"});
    const Buffer from(Words(64));
    const Copied copied =
        run(program, {from.address(), pair_of(512, 8), 0, 0, sixteens(208)}, Words(shared_words));
    REQUIRE(copied.error.empty());
    const auto line = std::ranges::find_if(program.code().lines,
                                           [](const AssemblyLine* own) { return own->opcode == "UBLKCP"; });
    const AccessCounts& counts =
        copied.counts.accesses[static_cast<std::size_t>(line - program.code().lines.begin())];
    CHECK(counts.requests == 1);
    CHECK(counts.bytes == 208);
}

TEST_CASE("copies outside of memory, misaligned, or by a map that is none end the launch") {
    const Buffer memory(std::uint64_t{256});
    const Buffer bytes(Words(32, 0x1234));
    const std::uint64_t address = memory.address();
    const Words shared(shared_words);
    const Program in = around({"UBLKCP.S.G [UR8], [UR4], UR6"});
    const Program out = around({"UBLKCP.G.S [UR8], [UR4], UR6"});
    const Program box = around({"UTMALDG.1D [UR8], [UR4]"});
    const auto error = [&shared](const Program& program, const std::vector<std::uint64_t>& own) {
        return run(program, own, shared).error;
    };
    CHECK(error(in, {address, pair_of(512, 8), 0, 0, 16}).empty());
    CHECK(has_parts(error(in, {address + 16, pair_of(512, 8), 0, 0, 16}),
                    {"out-of-bounds bulk read of 256 bytes", fmt::format("{:#x}", address + 16), "UBLKCP"}));
    CHECK(has_parts(error(in, {address + 8, pair_of(512, 8), 0, 0, 1}),
                    {"misaligned bulk read of 16 bytes", "multiples of 16"}));
    CHECK(has_parts(error(in, {address, pair_of(4096 - 240, 8), 0, 0, 16}),
                    {"out-of-bounds bulk write of 256 bytes at offset 0xf10 of 4096 bytes"}));
    CHECK(has_parts(error(out, {3856, address, 0, 0, 16}), {"out-of-bounds bulk read of 256 bytes"}));
    CHECK(has_parts(error(out, {0, address + 256, 0, 0, 1}), {"out-of-bounds bulk write of 16 bytes"}));
    CHECK(has_parts(error(box, {bytes.address(), 512}), {"a tensor map in a form that is not known"}));
    CHECK(has_parts(error(box, {16, 512}), {"a tensor map at 0x10, where no memory is"}));
    TensorMap map;
    map.address = address;
    map.extents[0] = 64;
    map.box[0] = 64;
    const MapBuffer place(map);
    CHECK(error(box, {place.address(), pair_of(4096 - 256, 8)}).empty());
    CHECK(has_parts(error(box, {place.address(), pair_of(4096 - 252, 8)}),
                    {"out-of-bounds tensor write of 256 bytes"}));
    map.extents[0] = 65;
    const MapBuffer larger(map);
    CHECK(error(box, {larger.address(), pair_of(512, 8)}).empty());
    CHECK(has_parts(error(box, {larger.address(), pair_of(512, 8), 1}),
                    {"out-of-bounds tensor read of 256 bytes", fmt::format("{:#x}", address + 4)}));
}

TEST_CASE("shared addresses of copies are multiples of 16, and their ranks lie in the cluster") {
    const Buffer memory(std::uint64_t{256});
    const std::uint64_t address = memory.address();
    TensorMap map;
    map.address = address;
    map.extents[0] = 64;
    map.box[0] = 16;
    const MapBuffer place(map);
    const Program in = around({"UBLKCP.S.G [UR8], [UR4], UR6"});
    const Program out = around({"UBLKCP.G.S [UR8], [UR4], UR6"});
    const Program add = around({"UBLKRED.G.S.ADD [UR8], [UR4], UR6"});
    const Program load = around({"UTMALDG.1D [UR8], [UR4]"});
    const Program store = around({"UTMASTG.1D [UR8], [UR4]"});
    const Program spread = around({"UBLKCP.S.G.MULTICAST [UR8], [UR4], UR6"});
    constexpr std::uint32_t ctas = 2;
    const Words shared(std::size_t{ctas} * shared_words);
    const auto error = [&shared](const Program& program, const std::vector<std::uint64_t>& own) {
        return run(program, own, shared, ctas).error;
    };
    const auto barrier = 8U;
    const auto rank = [](std::uint32_t number) { return number << cluster_rank_shift; };
    for (std::uint32_t offset = 1; offset < 16; ++offset) {
        const std::uint32_t to = 512 + offset;
        const std::string where = fmt::format("at offset {:#x} of shared memory", to);
        CAPTURE(offset);
        CHECK(has_parts(error(in, {address, pair_of(to, barrier), 0, 0, 1}),
                        {"misaligned bulk write of 16 bytes", where, "multiples of 16", "UBLKCP"}));
        CHECK(has_parts(error(out, {to, address, 0, 0, 2}), {"misaligned bulk read of 32 bytes", where}));
        CHECK(has_parts(error(add, {to, address, 0, 0, 2}), {"misaligned bulk read of 32 bytes", where}));
        CHECK(has_parts(error(load, {place.address(), pair_of(to, barrier)}),
                        {"misaligned tensor write of 64 bytes", where}));
        CHECK(has_parts(error(store, {place.address(), to}), {"misaligned tensor read of 64 bytes", where}));
    }
    CHECK(error(in, {address, pair_of(rank(1) + 512, rank(1) + barrier), 0, 0, 1}).empty());
    for (const std::uint32_t far : {2U, 3U, 7U, 255U}) {
        const std::string where = fmt::format("at rank {} of a cluster of 2", far);
        CAPTURE(far);
        CHECK(has_parts(error(in, {address, pair_of(rank(far) + 512, barrier), 0, 0, 1}),
                        {"out-of-cluster bulk write", where, "UBLKCP"}));
        CHECK(has_parts(error(in, {address, pair_of(512, rank(far) + barrier), 0, 0, 1}),
                        {"out-of-cluster barrier", where}));
        CHECK(
            has_parts(error(out, {rank(far) + 512, address, 0, 0, 1}), {"out-of-cluster bulk read", where}));
        CHECK(has_parts(error(load, {place.address(), pair_of(rank(far) + 512, barrier)}),
                        {"out-of-cluster tensor write", where}));
        CHECK(has_parts(error(load, {place.address(), pair_of(512, rank(far) + barrier)}),
                        {"out-of-cluster barrier", where}));
        CHECK(has_parts(error(store, {place.address(), rank(far) + 512}),
                        {"out-of-cluster tensor read", where}));
    }
    for (const std::uint32_t far : {2U, 9U, 15U}) {
        const std::uint64_t mask = std::uint64_t{1U | (1U << far)} << 16U;
        CHECK(has_parts(error(spread, {address, pair_of(512, barrier), 0, 0, 1 | mask}),
                        {"out-of-cluster multicast", fmt::format("at rank {} of a cluster of 2", far)}));
    }
}

TEST_CASE("copies of other kinds are refused by name") {
    for (const RefusedLine& own :
         {RefusedLine{"UBLKCP [UR8], [UR4], UR6", "a bulk copy whose ends are not named"},
          RefusedLine{"UBLKCP.S.MULTICAST [UR8], [UR4], UR6", "a bulk copy to or from .MULTICAST"},
          RefusedLine{"UBLKRED.S.G.ADD [UR8], [UR4], UR6", "a reduction into shared memory"},
          RefusedLine{"UBLKRED.G.S.F32 [UR8], [UR4], UR6", "a reduction of another kind"},
          RefusedLine{"UBLKCP.S.G [R8], [UR4], UR6", "as a place in uniform registers"},
          RefusedLine{"UBLKCP.S.G [UR8+0x10], [UR4], UR6", "as a place in uniform registers"},
          RefusedLine{"UTMALDG.4D.IM2COL [UR8], [UR4]", "'.IM2COL' of UTMALDG"},
          RefusedLine{"UTMAREDG.2D.F32 [UR8], [UR4]", "a reduction of another kind"}}) {
        CAPTURE(own.line);
        CHECK(has_parts(refusal_of(own.line), {own.line, own.part}));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
