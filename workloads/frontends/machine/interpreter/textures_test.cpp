// Tests of reads through the texture unit against filters and addresses worked out anew, and of surfaces.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t width = 20, height = 13, depth = 3;

/// Values that no two texels share, and small enough for sums to be exact.
float value_of(std::int64_t x, std::int64_t y, std::int64_t z, int channel) {
    return static_cast<float>(x + 32 * y + 512 * z + 4096 * channel);
}

/// An array of fp32 texels, and an object that reads it.
class Image {
  public:
    Image(int dimensions, int channels, TexelArray::Layout layout, const Sampler& sampler = {})
        : memory_(1U << 20U) {
        texture_.array.address = memory_.address();
        texture_.array.layout = layout;
        texture_.array.dimensions = dimensions;
        texture_.array.format.channels = channels;
        texture_.array.size = {width, dimensions > 1 ? height : 1U, dimensions > 2 ? depth : 1U};
        texture_.array.row_bytes = 512;
        texture_.sampler = sampler;
        handle_ = test_memory().textures().add(texture_);
        for (std::uint32_t z = 0; z < texture_.array.size[2]; ++z) {
            for (std::uint32_t y = 0; y < texture_.array.size[1]; ++y) {
                for (std::uint32_t x = 0; x < width; ++x) {
                    for (int c = 0; c < channels; ++c) {
                        const float value = value_of(x, y, z, c);
                        std::memcpy(static_cast<std::byte*>(memory_.data()) + texture_.array.place(x, y, z) -
                                        memory_.address() + 4 * c,
                                    &value, sizeof value);
                    }
                }
            }
        }
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { test_memory().textures().remove(handle_); }

    [[nodiscard]] std::uint32_t handle() const { return static_cast<std::uint32_t>(handle_); }
    [[nodiscard]] const Texture& texture() const { return texture_; }

  private:
    Buffer memory_;
    Texture texture_;
    std::uint64_t handle_ = 0;
};

/// The lanes' coordinates, in the image and around it.
Words some_coordinates(float size) {
    return some_words(rc::gen::map(any_below(20000), [size](std::uint32_t step) {
        return std::bit_cast<std::uint32_t>((static_cast<float>(step) / 10000.0F - 0.5F) * size);
    }));
}
/// Middles of texels as coordinates from 0 to 1, up to nine images away.
struct Middles {
    std::vector<std::int64_t> texel;
    Words coordinate;
};
Middles some_middles(std::uint32_t size) {
    Middles middles;
    for (int lane = 0; lane < 32; ++lane) {
        middles.texel.push_back(std::int64_t{*any_below(19 * size)} - std::int64_t{9 * size});
        const double place = (static_cast<double>(middles.texel.back()) + 0.5) / size;
        middles.coordinate.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(place)));
    }
    return middles;
}

/// What a coordinate outside means, by walking there step by step.
std::int64_t walked(std::int64_t at, std::int64_t size, Sampler::Outside outside) {
    if (outside == Sampler::Outside::clamps) return std::max<std::int64_t>(0, std::min(at, size - 1));
    std::int64_t place = 0, step = 1;
    for (std::int64_t i = 0; i < at; ++i) {
        if (outside == Sampler::Outside::wraps) {
            place = place + 1 == size ? 0 : place + 1;
        } else if (place + step < 0 || place + step >= size) {
            step = -step;  // the edge comes twice
        } else {
            place += step;
        }
    }
    for (std::int64_t i = 0; i > at; --i) {
        if (outside == Sampler::Outside::wraps) {
            place = place == 0 ? size - 1 : place - 1;
        } else if (i == 0 || place + step < 0 || place + step >= size) {
            if (i != 0) step = -step;
        } else {
            place += step;
        }
    }
    return place;
}

TEST_CASE("the texel nearest to a place, wherever it lies, in rows and in blocks") {
    for (const auto layout : {TexelArray::Layout::rows, TexelArray::Layout::blocks}) {
        for (const auto outside :
             {Sampler::Outside::clamps, Sampler::Outside::wraps, Sampler::Outside::mirrors}) {
            Sampler sampler;
            sampler.outside.fill(outside);
            sampler.normalized = true;
            const Image image(2, 1, layout, sampler);
            const LaneProgram program({"TEX.LL RZ, R20, R10, R12, UR8, 0x0, 2D, 0x1"}, {"R10", "R11", "UR8"},
                                      {"R20"});
            CHECK(rc::check([&] {
                const Middles x = some_middles(width), y = some_middles(height);
                const Words got = program({x.coordinate, y.coordinate, Words(32, image.handle())}).front();
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    RC_ASSERT(std::bit_cast<float>(got[lane]) ==
                              value_of(walked(x.texel[lane], width, outside),
                                       walked(y.texel[lane], height, outside), 0, 0));
                }
            }));
        }
    }
}

TEST_CASE("a border has its own value") {
    Sampler sampler;
    sampler.outside.fill(Sampler::Outside::is_border);
    sampler.border = {-5.0F, 0.0F, 0.0F, 0.0F};
    const Image image(2, 1, TexelArray::Layout::blocks, sampler);
    const LaneProgram program({"TEX.LL RZ, R20, R10, R12, UR8, 0x0, 2D, 0x1"}, {"R10", "R11", "UR8"},
                              {"R20"});
    Words x(32), y(32, std::bit_cast<std::uint32_t>(2.5F));
    for (std::size_t lane = 0; lane < 32; ++lane)
        x[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(lane) - 4.5F);
    const Words got = program({x, y, Words(32, image.handle())}).front();
    for (std::int64_t lane = 0; lane < 32; ++lane) {
        const std::int64_t at = lane - 5;
        CHECK(std::bit_cast<float>(got[static_cast<std::size_t>(lane)]) ==
              (at < 0 || at >= width ? -5.0F : value_of(at, 2, 0, 0)));
    }
}

TEST_CASE("a linear filter blends the neighbours by their distance, in one to three dimensions") {
    Sampler sampler;
    sampler.linear = true;
    for (const int dimensions : {1, 2, 3}) {
        const Image image(dimensions, 1, TexelArray::Layout::blocks, sampler);
        const LaneProgram program({fmt::format("TEX.LL RZ, R20, R12, R16, UR8, 0x0, {}D, 0x1", dimensions)},
                                  {"R12", "R13", "R14", "UR8"}, {"R20"});
        CHECK(rc::check([&] {
            const Words x = some_coordinates(width), y = some_coordinates(height),
                        z = some_coordinates(depth);
            const Words got = program({x, y, z, Words(32, image.handle())}).front();
            for (std::size_t lane = 0; lane < 32; ++lane) {
                // The values grow evenly along each dimension, so the blend is the value at the place between
                // the outermost texels' middles.
                const auto along = [&](const Words& words, float size, bool used) {
                    const float place = std::bit_cast<float>(words[lane]) - 0.5F;
                    return used ? std::clamp(place, 0.0F, size - 1.0F) : 0.0F;
                };
                const float expected = along(x, width, true) + 32.0F * along(y, height, dimensions > 1) +
                                       512.0F * along(z, depth, dimensions > 2);
                // Weights have eight bits, of which half of one may be missing in each dimension.
                const float tolerance =
                    (1.0F + (dimensions > 1 ? 32.0F : 0.0F) + (dimensions > 2 ? 512.0F : 0.0F)) / 512.0F;
                RC_ASSERT(std::fabs(std::bit_cast<float>(got[lane]) - expected) <= tolerance * 1.001F);
            }
        }));
    }
}

TEST_CASE("normalized coordinates, layers, components and fetches by whole numbers") {
    Words x(32), layer(32), y(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        layer[lane] = lane % (depth + 1);
        x[lane] = std::bit_cast<std::uint32_t>((static_cast<float>(lane % width) + 0.5F) /
                                               static_cast<float>(width));
        y[lane] = std::bit_cast<std::uint32_t>((static_cast<float>(lane % height) + 0.5F) /
                                               static_cast<float>(height));
    }
    Sampler sampler;
    sampler.normalized = true;
    SUBCASE("layers end at the last one, and components come in order") {
        Image image(3, 4, TexelArray::Layout::blocks, sampler);
        Texture layers = image.texture();
        layers.array.dimensions = 2;
        const std::uint64_t handle = test_memory().textures().add(layers);
        const LaneProgram program({"TEX.LL R22, R20, R12, R16, UR8, 0x0, ARRAY_2D"},
                                  {"R12", "R13", "R14", "UR8"}, {"R20", "R21", "R22", "R23"});
        const LaneProgram two({"TEX.LL RZ, R20, R12, R16, UR8, 0x0, ARRAY_2D, 0xa"},
                              {"R12", "R13", "R14", "UR8"}, {"R20", "R21"});
        const std::vector<Words> in{layer, x, y, Words(32, static_cast<std::uint32_t>(handle))};
        const std::vector<Words> got = program(in), some = two(in);
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const auto expected = [&](int channel) {
                return std::bit_cast<std::uint32_t>(
                    value_of(lane % width, lane % height, std::min(layer[lane], depth - 1), channel));
            };
            for (int c = 0; c < 4; ++c) CHECK(got[static_cast<std::size_t>(c)][lane] == expected(c));
            CHECK(some[0][lane] == expected(1));
            CHECK(some[1][lane] == expected(3));
        }
        test_memory().textures().remove(handle);
    }
    SUBCASE("a fetch takes whole numbers, and gives zeros beyond the end") {
        const Image image(1, 2, TexelArray::Layout::line);
        const LaneProgram program({"TLD.LZ RZ, R20, R10, UR8, 0x0, 1D, 0x3"}, {"R10", "UR8"}, {"R20", "R21"});
        Words at(32);
        for (std::uint32_t lane = 0; lane < 32; ++lane) at[lane] = lane - 1;
        const std::vector<Words> got = program({at, Words(32, image.handle())});
        for (std::int64_t lane = 0; lane < 32; ++lane) {
            for (int c = 0; c < 2; ++c) {
                const std::int64_t place = lane - 1;
                CHECK(
                    std::bit_cast<float>(got[static_cast<std::size_t>(c)][static_cast<std::size_t>(lane)]) ==
                    (place < 0 || place >= width ? 0.0F : value_of(place, 0, 0, c)));
            }
        }
    }
    SUBCASE("a gather takes one component of four neighbours") {
        const Image image(2, 2, TexelArray::Layout::blocks);
        const LaneProgram program({"TLD4.G R22, R20, R10, UR8, 0x0, 2D"}, {"R10", "R11", "UR8"},
                                  {"R20", "R21", "R22", "R23"});
        const Words four(32, std::bit_cast<std::uint32_t>(4.0F)), six(32, std::bit_cast<std::uint32_t>(6.0F));
        const std::vector<Words> got = program({four, six, Words(32, image.handle())});
        const std::vector<float> expected{value_of(3, 6, 0, 1), value_of(4, 6, 0, 1), value_of(4, 5, 0, 1),
                                          value_of(3, 5, 0, 1)};
        for (std::size_t i = 0; i < 4; ++i) CHECK(std::bit_cast<float>(got[i][9]) == expected[i]);
    }
}

TEST_CASE("texels of 8 and 16 bits are read as numbers, fractions or reals") {
    Buffer memory(Words{0x80ff7f00U, 0xbc003c00U});
    const auto read = [&memory](const TexelFormat& format, bool to_fractions, std::uint32_t at) {
        Texture texture;
        texture.array.address = memory.address();
        texture.array.format = format;
        texture.array.size = {8U / static_cast<unsigned>(format.bytes()), 1, 1};
        texture.sampler.to_fractions = to_fractions;
        const std::uint64_t handle = test_memory().textures().add(texture);
        const LaneProgram program({"TLD.LZ RZ, R20, R10, UR8, 0x0, 1D, 0x1"}, {"R10", "UR8"}, {"R20"});
        const std::uint32_t got =
            program({Words(32, at), Words(32, static_cast<std::uint32_t>(handle))})[0][5];
        test_memory().textures().remove(handle);
        return got;
    };
    using Kind = TexelFormat::Kind;
    CHECK(read({Kind::is_unsigned, 1, 8}, false, 2) == 0xffU);
    CHECK(read({Kind::is_signed, 1, 8}, false, 2) == 0xffffffffU);
    CHECK(std::bit_cast<float>(read({Kind::is_unsigned, 1, 8}, true, 2)) == 1.0F);
    CHECK(std::bit_cast<float>(read({Kind::is_unsigned, 1, 8}, true, 1)) == 127.0F / 255.0F);
    CHECK(std::bit_cast<float>(read({Kind::is_signed, 1, 8}, true, 1)) == 1.0F);
    CHECK(std::bit_cast<float>(read({Kind::is_signed, 1, 8}, true, 3)) == -1.0F);
    CHECK(std::bit_cast<float>(read({Kind::real, 1, 16}, false, 2)) == 1.0F);
    CHECK(std::bit_cast<float>(read({Kind::real, 1, 16}, false, 3)) == -1.0F);
}

TEST_CASE(
    "surfaces are read and written at bytes of a row; outside they trap, do nothing, or read the edge") {
    const Image image(2, 1, TexelArray::Layout::blocks);
    const std::vector<std::string> inputs{"R10", "R11", "UR8"};
    Words x(32), y(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        x[lane] = 4 * (lane % width);
        y[lane] = lane % height;
    }
    const Words handle(32, image.handle());
    const LaneProgram copies(
        {"SULD.D.BA.2D.STRONG.SM.TRAP R20, [R10], UR8, 0x0", "FADD R20, R20, 0x3f800000",
         "SUST.D.BA.2D.STRONG.SM.TRAP [R10], R20, UR8, 0x0", "TEX.LL RZ, R21, R14, R16, UR8, 0x0, 2D, 0x1"},
        {"R10", "R11", "R14", "R15", "UR8"}, {"R20", "R21"});
    Words u(32), v(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        u[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(x[lane]) / 4.0F + 0.5F);
        v[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(y[lane]) + 0.5F);
    }
    const std::vector<Words> got = copies({x, y, u, v, handle});
    for (std::size_t lane = 0; lane < 20; ++lane) {
        CHECK(std::bit_cast<float>(got[0][lane]) == value_of(x[lane] / 4, y[lane], 0, 0) + 1.0F);
        CHECK(got[1][lane] == got[0][lane]);
    }
    x[3] = 4 * width;
    const auto with = [&](const std::string& outside) {
        return LaneProgram({"MOV R20, 0x7", "SULD.D.BA.2D.STRONG.SM" + outside + " R20, [R10], UR8, 0x0"},
                           inputs, {"R20"});
    };
    CHECK(with(".IGN")({x, y, handle})[0][3] == 0U);
    CHECK(std::bit_cast<float>(with("")({x, y, handle})[0][3]) == value_of(width - 1, y[3], 0, 0));
    std::string message;
    try {
        (void)with(".TRAP")({x, y, handle});
    } catch (const std::exception& error) {
        message = error.what();
    }
    CHECK(has_parts(message, {"a place outside of a surface", "thread (3, 0, 0)"}));
}

TEST_CASE("a handle of nothing, another number of dimensions and forms that are not known are named") {
    const Image image(2, 1, TexelArray::Layout::blocks);
    const auto error = [&](const std::string& line, std::uint32_t handle) {
        const LaneProgram program({line}, {"R10", "R11", "UR8"}, {"R20"});
        try {
            (void)program({Words(32), Words(32), Words(32, handle)});
        } catch (const std::exception& caught) {
            return std::string(caught.what());
        }
        return std::string{};
    };
    CHECK(has_parts(error("TEX.LL RZ, R20, R10, R12, UR8, 0x0, 2D, 0x1", 0xffff), {"0xffff", "no texture"}));
    CHECK(has_parts(error("TEX.LL RZ, R20, R10, R12, UR8, 0x0, 1D, 0x1", image.handle()),
                    {"1 dimensions", "texels in 2"}));
    CHECK(
        has_parts(refusal_of("TEX.LL RZ, R20, R10, R12, UR8, 0x0, CUBE, 0x1"), {"one to three dimensions"}));
    CHECK(has_parts(error("SULD.D.BA.2D.64.STRONG.SM.TRAP R20, [R10], UR8, 0x0", image.handle()),
                    {"8 bytes", "texels of 4"}));
    CHECK(
        has_parts(refusal_of("SULD.D.BA.STRONG.SM.TRAP R20, [R10], UR8, 0x0"), {"one to three dimensions"}));
    CHECK(has_parts(refusal_of("TLD4.R R22, R20, R10, UR8, 0x0, ARRAY_2D"), {"without layers"}));
    CHECK(has_parts(refusal_of("TEX.LL RZ, R20, R10, R12, R8, 0x0, 2D, 0x1"), {"uniform register"}));
    CHECK(has_parts(refusal_of("TEX.LL RZ, R20, R10, R12, UR8, 0x1, 2D, 0x1"), {"without an offset"}));
}

TEST_CASE("a read counts the sectors of its texels, and says how it goes through the texture unit") {
    const Image image(2, 1, TexelArray::Layout::blocks);
    const std::vector<std::string> lines{"S2R R10, SR_TID.X", "I2FP.F32.U32 R10, R10", "MOV R11, RZ",
                                         "ULDC UR8, c[0x0][0x210]",
                                         "TEX.LL RZ, R20, R10, R12, UR8, 0x0, 2D, 0x1"};
    const Program program(lines, with_parameters(1));
    const LaunchCounts counts = program.run(one_cta(16), {image.handle()});
    REQUIRE(counts.error.empty());
    // 16 texels of a row: four to a sector, eight to a line.
    CHECK(counts.accesses[4].requests == 1);
    CHECK(counts.accesses[4].sectors == 4);
    CHECK(counts.accesses[4].lines == 2);
    CHECK(counts.instructions[4].texture == model::kernel::TextureUse::nearest);
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
