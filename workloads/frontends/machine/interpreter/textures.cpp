// Reads through the texture unit, and loads and stores of surfaces.
// SPDX-License-Identifier: Apache-2.0
//
// Ignores: that a filter may read texels of a second sector; the access that is counted is that of the texel
// nearest to the place. Weights of filters have 8 bits behind the point (CUDA C++ Programming Guide 13.0,
// linear filtering).
#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/halves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::size_t dimensions = 3;
using Place = std::array<std::int64_t, dimensions>;
using Texel = std::array<std::uint32_t, 4>;
using model::kernel::TextureUse;

/// Bits of the variant of an instruction: its dimensions and layers, components that it writes, and what a
/// gather takes of each texel.
namespace form {
constexpr std::uint32_t dimensions_mask = 3U;
constexpr std::uint32_t layered = 1U << 2U;
constexpr std::uint32_t fetches = 1U << 3U;  ///< whole numbers as coordinates, and no filter
constexpr std::uint32_t gathers = 1U << 4U;
constexpr std::uint32_t ignores = 1U << 5U;  ///< of surfaces: lanes outside do nothing
constexpr std::uint32_t traps = 1U << 6U;    ///< of surfaces: they end the launch
constexpr unsigned components_shift = 8;     ///< four bits
constexpr unsigned gathered_shift = 12;      ///< two bits
}  // namespace form

/// The object of the instruction's handle, which all lanes share. Its memory must still be the program's,
/// since filters read around a place without a look at each texel.
const Texture& texture_of(const Warp& warp, const Instruction& instruction, Mask enabled,
                          int dimensions_read) {
    const std::uint32_t handle = warp.rows[instruction.sources[1].row].lane[0];
    const int lane = std::countr_zero(enabled);
    const Texture* const found = warp.launch->memory->textures().find(handle);
    if (found == nullptr) {
        fault(warp, instruction, lane, fmt::format("{:#x} is no texture or surface object", handle));
    }
    const TexelArray& array = found->array;
    if (array.dimensions != dimensions_read) {
        fault(warp, instruction, lane,
              fmt::format("an access in {} dimensions to texels in {}", dimensions_read, array.dimensions));
    }
    const Allocation* const holder = warp.launch->memory->find(array.address);
    if (holder == nullptr || array.address + array.bytes() > holder->address + holder->bytes) {
        fault(warp, instruction, lane,
              fmt::format("texels of {} bytes at {:#x}, which reach beyond the allocations", array.bytes(),
                          array.address));
    }
    return *found;
}

/// Bits of a channel of the texel at an address.
std::uint32_t channel(std::uint64_t address, const TexelFormat& format, int c) {
    const std::byte* const at = global_memory(address) + c * format.bits / 8;
    if (format.bits == 8) return std::to_integer<std::uint32_t>(*at);
    if (format.bits == 16) {
        std::uint16_t half = 0;
        std::memcpy(&half, at, sizeof half);
        return half;
    }
    std::uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// What a program gets of a channel's bits: reals as fp32, whole numbers with their sign or as fractions.
std::uint32_t read_channel(std::uint32_t bits, const Texture& texture) {
    const TexelFormat& format = texture.array.format;
    if (format.kind == TexelFormat::Kind::real) {
        return format.bits == 16
                   ? std::bit_cast<std::uint32_t>(real_of_half(static_cast<std::uint16_t>(bits)))
                   : bits;
    }
    const bool is_signed = format.kind == TexelFormat::Kind::is_signed;
    std::int64_t value = bits;
    if (is_signed && (bits >> (format.bits - 1) & 1U) != 0) value -= std::int64_t{1} << format.bits;
    if (!texture.sampler.to_fractions) return static_cast<std::uint32_t>(value);
    const double largest = static_cast<double>((std::int64_t{1} << (format.bits - (is_signed ? 1 : 0))) - 1);
    return std::bit_cast<std::uint32_t>(
        static_cast<float>(std::max(-1.0, static_cast<double>(value) / largest)));
}

/// The coordinate of a texel within the image; none where the border is read.
std::optional<std::int64_t> inside(std::int64_t at, std::int64_t size, Sampler::Outside outside) {
    switch (outside) {
        case Sampler::Outside::wraps:
            return (at % size + size) % size;
        case Sampler::Outside::mirrors: {
            const std::int64_t folded = (at % (2 * size) + 2 * size) % (2 * size);
            return folded < size ? folded : 2 * size - 1 - folded;
        }
        case Sampler::Outside::is_border:
            if (at < 0 || at >= size) return std::nullopt;
            return at;
        default:
            return std::clamp<std::int64_t>(at, 0, size - 1);
    }
}

/// Address of the texel at a place that may lie outside of the image.
std::optional<std::uint64_t> address_of(const Texture& texture, const Place& at) {
    std::array<std::uint32_t, dimensions> own{};
    for (std::size_t d = 0; d < dimensions; ++d) {
        // Layers end at the last one.
        const bool layer = static_cast<int>(d) >= texture.array.dimensions;
        const auto place = inside(at[d], texture.array.size[d],
                                  layer ? Sampler::Outside::clamps : texture.sampler.outside[d]);
        if (!place) return std::nullopt;
        own[d] = static_cast<std::uint32_t>(*place);
    }
    return texture.array.place(own[0], own[1], own[2]);
}

Texel read_texel(const Texture& texture, const Place& at) {
    Texel texel{};
    const auto address = address_of(texture, at);
    for (int c = 0; c < texture.array.format.channels; ++c) {
        const auto i = static_cast<std::size_t>(c);
        texel[i] = address ? read_channel(channel(*address, texture.array.format, c), texture)
                           : std::bit_cast<std::uint32_t>(texture.sampler.border[i]);
    }
    return texel;
}

/// Where a coordinate lies: the texel, the one that a filter begins with, and the weight of the next one.
struct Along {
    std::int64_t nearest = 0, first = 0;
    float weight = 0.0F;
};
Along along(float coordinate, std::int64_t size, const Sampler& sampler, std::size_t dimension) {
    constexpr float steps = 256.0F;
    float x = coordinate;
    if (sampler.normalized) {
        if (sampler.outside[dimension] == Sampler::Outside::wraps) x -= std::floor(x);
        if (sampler.outside[dimension] == Sampler::Outside::mirrors) x -= 2.0F * std::floor(0.5F * x);
        x *= static_cast<float>(size);
    }
    // Numbers that are none, and those far outside, are read at the edge.
    const auto far = static_cast<float>(4 * size + 4);
    x = std::isnan(x) ? 0.0F : std::clamp(x, -far, far);
    const float fixed = std::floor((x - 0.5F) * steps + 0.5F) / steps;
    const float first = std::floor(fixed);
    return {static_cast<std::int64_t>(std::floor(x)), static_cast<std::int64_t>(first), fixed - first};
}

/// Blends the neighbours of a place in as many dimensions as the image has.
Texel blended(const Texture& texture, const std::array<Along, dimensions>& at, int count) {
    std::array<float, 4> sum{};
    for (unsigned corner = 0; corner < 1U << static_cast<unsigned>(count); ++corner) {
        Place place{};
        float weight = 1.0F;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const bool next = (corner >> d & 1U) != 0;
            place[d] = at[d].first + (next ? 1 : 0);
            if (static_cast<int>(d) < count) weight *= next ? at[d].weight : 1.0F - at[d].weight;
        }
        if (weight == 0.0F) continue;
        const Texel texel = read_texel(texture, place);
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight * std::bit_cast<float>(texel[c]);
    }
    Texel texel{};
    for (std::size_t c = 0; c < sum.size(); ++c) texel[c] = std::bit_cast<std::uint32_t>(sum[c]);
    return texel;
}

/// One component of the four texels around a place, in the order of CUDA's tex2Dgather.
Texel gathered(const Texture& texture, const std::array<Along, dimensions>& at, std::size_t component) {
    constexpr std::array<std::array<int, 2>, 4> order{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    Texel texel{};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Place place{at[0].first + order[i][0], at[1].first + order[i][1], 0};
        texel[i] = read_texel(texture, place)[component];
    }
    return texel;
}

/// Tells of the texels that all lanes read or write.
void account(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask lanes,
             const Texture& texture, TextureUse use, AccessKind kind) {
    const auto width = static_cast<std::uint32_t>(texture.array.format.bytes());
    check_global(warp, instruction, addresses, lanes, width, kind == AccessKind::load ? "read" : "write");
    count_global(warp, instruction, addresses, lanes, width, kind);
    warp.launch->counts[instruction.index].texture = use;
}

/// sources[0]: coordinates, behind the number of the layer; sources[1]: the handle. The components that are
/// asked for go to `destination`, two registers, and to `second_destination`.
Flow read_texture(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) return Flow::next;
    const auto count = static_cast<int>(instruction.variant & form::dimensions_mask);
    const Texture& texture = texture_of(warp, instruction, enabled, count);
    const bool layered = (instruction.variant & form::layered) != 0;
    const bool fetches = (instruction.variant & form::fetches) != 0;
    const bool gathers = (instruction.variant & form::gathers) != 0;
    const Row* const coordinates = warp.rows + instruction.sources[0].row;
    const std::uint32_t components = instruction.variant >> form::components_shift & 15U;
    std::array<Row, 4> results;  // NOLINT: rows of enabled lanes are filled below.
    Addresses addresses{};
    Mask inside_lanes = 0;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::array<Along, dimensions> at;
        for (int d = 0; d < count; ++d) {
            const auto i = static_cast<std::size_t>(d);
            const std::uint32_t bits = coordinates[i + (layered ? 1U : 0U)].lane[l];
            if (fetches) {
                at[i].nearest = static_cast<std::int32_t>(bits);
            } else {
                at[i] = along(std::bit_cast<float>(bits), texture.array.size[i], texture.sampler, i);
            }
        }
        if (layered) {
            const auto d = static_cast<std::size_t>(count);
            at[d].nearest = at[d].first = coordinates[0].lane[l];
        }
        const Place nearest{at[0].nearest, at[1].nearest, at[2].nearest};
        // A fetch beyond the end of a line of texels gives zeros.
        const bool beyond = fetches && (nearest[0] < 0 || nearest[0] >= texture.array.size[0]);
        if (const auto address = beyond ? std::nullopt : address_of(texture, nearest)) {
            addresses[l] = *address;
            inside_lanes |= 1U << l;
        }
        const Texel texel = beyond ? Texel{}
                            : gathers
                                ? gathered(texture, at, instruction.variant >> form::gathered_shift & 3U)
                            : texture.sampler.linear && !fetches ? blended(texture, at, count)
                                                                 : read_texel(texture, nearest);
        std::size_t next = 0;
        for (std::size_t c = 0; c < texel.size(); ++c) {
            if ((components >> c & 1U) != 0) results[next++].lane[l] = texel[c];
        }
    });
    const auto written = static_cast<std::size_t>(std::popcount(components));
    for (std::size_t i = 0; i < written; ++i) {
        const std::size_t row = i < 2 ? instruction.destination + i : instruction.second_destination + i - 2;
        write_lanes(warp.rows[row], enabled,
                    [&](int lane) { return results[i].lane[static_cast<std::size_t>(lane)]; });
    }
    const bool blends = texture.sampler.linear && !fetches;
    const TextureUse use = gathers     ? TextureUse::gather
                           : fetches   ? TextureUse::fetch
                           : !blends   ? TextureUse::nearest
                           : count > 2 ? TextureUse::blend_volume
                                       : TextureUse::blend;
    account(warp, instruction, addresses, inside_lanes, texture, use, AccessKind::load);
    return Flow::next;
}

/// 1D, 2D, 3D, ARRAY_1D, ARRAY_2D.
std::uint32_t form_of(const Decoder& decoder, std::string_view name) {
    if (name == "1D" || name == "2D" || name == "3D") return static_cast<std::uint32_t>(name[0] - '0');
    if (name == "ARRAY_1D" || name == "1D_ARRAY") return 1U | form::layered;
    if (name == "ARRAY_2D" || name == "2D_ARRAY") return 2U | form::layered;
    decoder.refuse("a texture of one to three dimensions, or layers of them");
}

/// TEX.LL Rd2, Rd, Ra, Rb, URc, 0x0, 2D, 0x1: a handle in a uniform register, an offset of none, and the
/// components; all four where none are named. TLD.LZ and TLD4.R have no Rb.
void decode_texture(Decoder& decoder, Instruction& instruction) {
    const std::string& opcode = decoder.line().opcode;
    instruction.second_destination = decoder.destination(0);
    instruction.destination = decoder.destination(1);
    instruction.sources[0] = decoder.source(2);
    std::size_t next = opcode == "TEX" ? 4 : 3;
    if (!decoder.is(next, OperandKind::uniform)) decoder.refuse("a handle in a uniform register");
    instruction.sources[1].row = decoder.uniform_row(decoder.operand(next++).number);
    if (!decoder.is(next, OperandKind::immediate) || decoder.operand(next++).value != 0) {
        decoder.refuse("a read without an offset");
    }
    instruction.variant = form_of(decoder, decoder.operand(next++).text);
    std::uint32_t components = 15U;
    if (next < decoder.operands()) components = static_cast<std::uint32_t>(decoder.operand(next).value);
    instruction.variant |= components << form::components_shift;
    if (opcode == "TLD") instruction.variant |= form::fetches;
    if (opcode == "TLD4") {
        if ((instruction.variant & (form::dimensions_mask | form::layered)) != 2U) {
            decoder.refuse("a gather from an image without layers");
        }
        instruction.variant |= form::gathers;
        constexpr std::array names{"R", "G", "B", "A"};
        for (std::uint32_t c = 0; c < names.size(); ++c) {
            if (decoder.has(names[c])) instruction.variant |= c << form::gathered_shift;
        }
    }
    instruction.execute = read_texture;
}

/// The surface of the instruction, whose texels must be as wide as the access.
const Texture& surface_of(const Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto count = static_cast<int>(instruction.variant & form::dimensions_mask);
    const Texture& surface = texture_of(warp, instruction, enabled, count);
    if (surface.array.format.bytes() != instruction.width) {
        fault(warp, instruction, std::countr_zero(enabled),
              fmt::format("an access of {} bytes to a surface of texels of {}", instruction.width,
                          surface.array.format.bytes()));
    }
    return surface;
}

/// Finds and counts the lanes' texels of a surface: x counts bytes. Gives the lanes that have one. Lanes
/// outside are left out where the instruction ignores them, take the edge where it says nothing, and end the
/// launch where it traps.
Mask find_texels(Warp& warp, const Instruction& instruction, Mask enabled, AccessKind kind,
                 Addresses& addresses) {
    const Texture& surface = surface_of(warp, instruction, enabled);
    const auto count = static_cast<std::size_t>(instruction.variant & form::dimensions_mask) +
                       ((instruction.variant & form::layered) != 0 ? 1U : 0U);
    const Row* const coordinates = warp.rows + instruction.sources[0].row;
    const int bytes = surface.array.format.bytes();
    Mask lanes = 0;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::array<std::uint32_t, dimensions> own{};
        bool outside = false;
        for (std::size_t d = 0; d < count; ++d) {
            std::int64_t at = static_cast<std::int32_t>(coordinates[d].lane[l]);
            if (d == 0) {
                if (at % bytes != 0) {
                    fault(warp, instruction, lane,
                          fmt::format("byte {} of a row of texels of {}", at, bytes));
                }
                at /= bytes;
            }
            const auto size = static_cast<std::int64_t>(surface.array.size[d]);
            outside = outside || at < 0 || at >= size;
            own[d] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(at, 0, size - 1));
        }
        if (outside && (instruction.variant & form::traps) != 0) {
            fault(warp, instruction, lane, "a place outside of a surface");
        }
        addresses[l] = surface.array.place(own[0], own[1], own[2]);
        if (!outside || (instruction.variant & form::ignores) == 0) lanes |= 1U << l;
    });
    account(warp, instruction, addresses, lanes, surface, TextureUse::fetch, kind);
    return lanes;
}

/// SULD.D.BA.2D R0, [R2], UR4, 0x0
Flow load_surface(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) return Flow::next;
    Addresses addresses{};
    const Mask lanes = find_texels(warp, instruction, enabled, AccessKind::load, addresses);
    const std::size_t width = instruction.width;
    for (std::size_t w = 0; w < (width + 3) / 4; ++w) {
        write_lanes(warp.rows[instruction.destination + w], enabled, [&](int lane) {
            std::uint32_t word = 0;
            if ((lanes >> static_cast<unsigned>(lane) & 1U) != 0) {
                std::memcpy(&word, global_memory(addresses[static_cast<std::size_t>(lane)]) + 4 * w,
                            std::min<std::size_t>(4, width));
            }
            return word;
        });
    }
    return Flow::next;
}

/// SUST.D.BA.2D [R2], R0, UR4, 0x0
Flow store_surface(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) return Flow::next;
    Addresses addresses{};
    const Mask lanes = find_texels(warp, instruction, enabled, AccessKind::store, addresses);
    const std::size_t width = instruction.width;
    for_each_lane(lanes, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        for (std::size_t w = 0; w < (width + 3) / 4; ++w) {
            const std::uint32_t word = warp.rows[instruction.sources[2].row + w].lane[l];
            std::memcpy(global_memory(addresses[l]) + 4 * w, &word, std::min<std::size_t>(4, width));
        }
    });
    return Flow::next;
}

void decode_surface(Decoder& decoder, Instruction& instruction) {
    const bool loads = decoder.line().opcode == "SULD";
    const std::size_t address = loads ? 1 : 0;
    if (!decoder.is(address, OperandKind::address) || decoder.operand(address).value != 0) {
        decoder.refuse("coordinates in general registers");
    }
    instruction.sources[0].row = decoder.general_row(decoder.operand(address).base);
    if (loads) {
        instruction.destination = decoder.destination(0);
    } else {
        instruction.sources[2].row = decoder.source(1).row;
    }
    if (!decoder.is(2, OperandKind::uniform)) decoder.refuse("a handle in a uniform register");
    instruction.sources[1].row = decoder.uniform_row(decoder.operand(2).number);
    for (const std::string_view name : {"1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY"}) {
        if (decoder.has(name)) instruction.variant = form_of(decoder, name);
    }
    if ((instruction.variant & form::dimensions_mask) == 0)
        decoder.refuse("a surface of one to three dimensions");
    if (decoder.has("IGN")) instruction.variant |= form::ignores;
    if (decoder.has("TRAP")) instruction.variant |= form::traps;
    instruction.width = decoder.has("128")   ? 16
                        : decoder.has("64")  ? 8
                        : decoder.has("U16") ? 2
                        : decoder.has("U8")  ? 1
                                             : 4;
    instruction.execute = loads ? load_surface : store_surface;
}

constexpr std::array opcodes{
    Opcode{"TEX", decode_texture},  Opcode{"TLD", decode_texture},  Opcode{"TLD4", decode_texture},
    Opcode{"SULD", decode_surface}, Opcode{"SUST", decode_surface},
};

}  // namespace

std::span<const Opcode> texture_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
