// The functions of the CUDA runtime that make arrays of texels, fill them, and describe how kernels read
// them.
// SPDX-License-Identifier: Apache-2.0
//
// Not provided: mipmaps, cubes, sRGB. Structures are those of the CUDA Runtime API, version 13.0.
#include "bindings/standin/runtime_api.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

// The names are those of CUDA, and addresses of the stand-in device are places of this process.
// NOLINTBEGIN(performance-no-int-to-ptr)

namespace {

using warptime::standin::device;
using warptime::standin::failed;
using warptime::standin::locked;
using warptime::standin::Status;
namespace machine = warptime::workloads::frontends::machine;

struct ChannelFormat {
    int x, y, z, w;
    int kind;  // 0: signed, 1: unsigned, 2: real
};
struct Extent {
    std::size_t width, height, depth;
};
struct Position {
    std::size_t x, y, z;
};
struct PitchedPointer {
    void* pointer;
    std::size_t pitch, width, height;
};

}  // namespace

struct warptime::standin::Image {
    machine::TexelArray array;
    ChannelFormat format;
    Extent extent;
    unsigned flags;
    /// Layers of lines are kept as rows of one image.
    [[nodiscard]] bool layers_as_rows() const { return array.dimensions == 1; }
};

namespace {

using warptime::standin::Image;
struct Copy3D {
    Image* from_image;
    Position from_at;
    PitchedPointer from;
    Image* to_image;
    Position to_at;
    PitchedPointer to;
    Extent extent;
    int kind;
};
struct Resource {
    enum Kind : int { image = 0, mipmapped = 1, line = 2, rows = 3 };
    int kind;
    union {
        Image* array;
        struct {
            void* memory;
            ChannelFormat format;
            std::size_t bytes;
        } line;
        struct {
            void* memory;
            ChannelFormat format;
            std::size_t width, height, pitch;
        } rows;
        std::array<int, 32> reserved;
    } of;
};
struct TextureDescription {
    std::array<int, 3> outside;
    int filter;     // 0: nearest, 1: linear
    int read_mode;  // 0: as they are, 1: as fractions
    int srgb;
    std::array<float, 4> border;
    int normalized;
};

// As CUDA's headers have them on a host of 64 bits.
static_assert(sizeof(Copy3D) == 160 && offsetof(Copy3D, to_image) == 64 && offsetof(Copy3D, kind) == 152);
static_assert(offsetof(Resource, of) == 8 && offsetof(Resource, of.rows.pitch) == 56);
static_assert(offsetof(TextureDescription, border) == 24 && offsetof(TextureDescription, normalized) == 40);

constexpr unsigned layered = 1, cube = 4;

bool is_image(const Image* image) {
    return device().images.contains(image);
}

/// The format of texels; no channels where the hardware has none of the kind.
machine::TexelFormat format_of(const ChannelFormat& channels) {
    machine::TexelFormat format;
    format.kind = static_cast<machine::TexelFormat::Kind>(std::clamp(channels.kind, 0, 2));
    format.bits = channels.x;
    format.channels = 0;
    const bool one_size = (channels.y == 0 || channels.y == channels.x) &&
                          (channels.z == 0 || channels.z == channels.x) &&
                          (channels.w == 0 || channels.w == channels.x);
    const bool real = channels.kind == 2;
    const bool size = channels.x == 32 || channels.x == 16 || (channels.x == 8 && !real);
    if (one_size && size && channels.kind >= 0 && channels.kind <= 2) {
        // Three channels, or one that is left out, are no format of the hardware.
        const bool four = channels.z > 0 && channels.w > 0 && channels.y > 0;
        const bool two = channels.y > 0 && channels.z == 0 && channels.w == 0;
        const bool one = channels.y == 0 && channels.z == 0 && channels.w == 0;
        format.channels = four ? 4 : two ? 2 : one ? 1 : 0;
    }
    return format;
}

int make_image(Image** image, const ChannelFormat* channels, Extent extent, unsigned flags) {
    const auto lock = locked();
    device().use_runtime();
    const machine::TexelFormat format = channels == nullptr ? machine::TexelFormat{} : format_of(*channels);
    // The widest that any texture may be (CUDA C++ Programming Guide 13.0, technical specifications).
    constexpr std::size_t most = 131072;
    const bool too_large = std::max({extent.width, extent.height, extent.depth}) > most;
    const bool layers_of_lines = extent.height == 0 && extent.depth > 0;
    if (image == nullptr || channels == nullptr || format.channels == 0 || extent.width == 0 || too_large ||
        (layers_of_lines && (flags & layered) == 0)) {
        return failed(Status::invalid_value);
    }
    if ((flags & cube) != 0) return failed(Status::not_supported);
    auto made = std::make_unique<Image>();
    machine::TexelArray& array = made->array;
    array.layout = machine::TexelArray::Layout::blocks;
    array.format = format;
    const bool layers = (flags & layered) != 0;
    array.dimensions = extent.height == 0 ? 1 : extent.depth == 0 || layers ? 2 : 3;
    array.size = {static_cast<std::uint32_t>(extent.width),
                  static_cast<std::uint32_t>(std::max<std::size_t>(1, extent.height)),
                  static_cast<std::uint32_t>(std::max<std::size_t>(1, extent.depth))};
    // Layers of lines: the place of a layer is the second coordinate.
    if (array.dimensions == 1 && layers) std::swap(array.size[1], array.size[2]);
    made->format = *channels;
    made->extent = extent;
    made->flags = flags;
    const auto address = device().memory().allocate(array.bytes());
    if (!address) return failed(Status::memory_allocation);
    array.address = *address;
    device().images.insert(made.get());
    *image = made.release();  // The program owns it until cudaFreeArray.
    return 0;
}

/// One side of a copy: texels of an image from a place on, or rows of bytes.
struct Side {
    Image* image = nullptr;
    Position at{};
    std::byte* memory = nullptr;
    std::size_t pitch = 0, rows = 0;

    [[nodiscard]] std::byte* place(std::size_t byte, std::size_t y, std::size_t z) const {
        if (image == nullptr) return memory + (at.z + z) * pitch * rows + (at.y + y) * pitch + at.x + byte;
        const auto bytes = static_cast<std::size_t>(image->array.format.bytes());
        const auto x = static_cast<std::uint32_t>((at.x + byte) / bytes);
        auto row = static_cast<std::uint32_t>(at.y + y), slice = static_cast<std::uint32_t>(at.z + z);
        if (image->layers_as_rows()) row = std::exchange(slice, 0);
        return reinterpret_cast<std::byte*>(image->array.place(x, row, slice)) + (at.x + byte) % bytes;
    }
    [[nodiscard]] bool holds(std::size_t bytes, std::size_t height, std::size_t depth) const {
        const auto within = [](std::size_t first, std::size_t count, std::size_t all) {
            return first <= all && count <= all - first;
        };
        if (image == nullptr) return memory != nullptr && (height * depth < 2 || within(at.x, bytes, pitch));
        if (!is_image(image)) return false;
        const auto texel = static_cast<std::size_t>(image->array.format.bytes());
        std::size_t most_rows = image->array.size[1], most_slices = image->array.size[2];
        if (image->layers_as_rows()) std::swap(most_rows, most_slices);
        return within(at.x, bytes, texel * image->array.size[0]) && within(at.y, height, most_rows) &&
               within(at.z, depth, most_slices) && bytes % texel == 0 && at.x % texel == 0;
    }
    /// Bytes from a place of a row that lie side by side: blocks keep 16 together.
    [[nodiscard]] std::size_t run(std::size_t byte, std::size_t left) const {
        constexpr std::size_t together = 16;
        return image == nullptr ? left : std::min(left, together - (at.x + byte) % together);
    }
};

/// Copies `bytes` of each row; positions along rows count bytes.
int copy(const Side& to, const Side& from, std::size_t bytes, std::size_t height, std::size_t depth,
         int kind) {
    const auto lock = locked();
    device().use_runtime();
    if (bytes * height * depth == 0) return 0;
    if (!to.holds(bytes, height, depth) || !from.holds(bytes, height, depth))
        return failed(Status::invalid_value);
    for (std::size_t z = 0; z < depth; ++z) {
        for (std::size_t y = 0; y < height; ++y) {
            std::size_t piece = 0;
            for (std::size_t x = 0; x < bytes; x += piece) {
                piece = std::min(to.run(x, bytes - x), from.run(x, bytes - x));
                std::memcpy(to.place(x, y, z), from.place(x, y, z), piece);
            }
        }
    }
    constexpr int to_device = 1, to_host = 2;
    device().records().memory("memcpy",
                              kind == to_device ? "host_to_device"
                              : kind == to_host ? "device_to_host"
                                                : "device",
                              bytes * height * depth);
    return 0;
}

int copy_boxes(const Copy3D* what) {
    if (what == nullptr) return failed(Status::invalid_value);
    Image* const image = what->to_image != nullptr ? what->to_image : what->from_image;
    for (const Image* own : {what->to_image, what->from_image}) {
        if (own != nullptr && !is_image(own)) return failed(Status::invalid_value);
    }
    const bool both = what->to_image != nullptr && what->from_image != nullptr;
    if (both && what->to_image->array.format.bytes() != what->from_image->array.format.bytes())
        return failed(Status::invalid_value);
    // Widths and places count texels where an image takes part, and bytes otherwise.
    const std::size_t unit = image == nullptr ? 1 : static_cast<std::size_t>(image->array.format.bytes());
    const auto side = [&](Image* own, Position at, const PitchedPointer& memory) {
        at.x *= own != nullptr ? unit : 1;
        return Side{own, at, static_cast<std::byte*>(memory.pointer), memory.pitch, memory.height};
    };
    return copy(side(what->to_image, what->to_at, what->to),
                side(what->from_image, what->from_at, what->from), what->extent.width * unit,
                what->extent.height, what->extent.depth, what->kind);
}

/// Texels of a resource; none where it names no memory of the program, or not enough of it.
std::optional<machine::TexelArray> texels_of(const Resource& resource) {
    if (resource.kind == Resource::image) {
        return is_image(resource.of.array) ? std::optional(resource.of.array->array) : std::nullopt;
    }
    const bool line = resource.kind == Resource::line;
    machine::TexelArray array;
    array.format = format_of(line ? resource.of.line.format : resource.of.rows.format);
    if (array.format.channels == 0) return std::nullopt;
    const auto texel = static_cast<std::uint64_t>(array.format.bytes());
    if (line) {
        array.address = reinterpret_cast<std::uint64_t>(resource.of.line.memory);
        array.size[0] = static_cast<std::uint32_t>(resource.of.line.bytes / texel);
    } else {
        array.layout = machine::TexelArray::Layout::rows;
        array.address = reinterpret_cast<std::uint64_t>(resource.of.rows.memory);
        array.dimensions = 2;
        array.size = {static_cast<std::uint32_t>(resource.of.rows.width),
                      static_cast<std::uint32_t>(resource.of.rows.height), 1};
        array.row_bytes = resource.of.rows.pitch;
        if (array.row_bytes < array.size[0] * texel) return std::nullopt;
    }
    const machine::Allocation* const holder = device().memory().find(array.address);
    const bool there = holder != nullptr && array.address + array.bytes() <= holder->address + holder->bytes;
    return array.size[0] > 0 && array.size[1] > 0 && there ? std::optional(array) : std::nullopt;
}

}  // namespace

WARPTIME_CUDA ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}
WARPTIME_CUDA int cudaMallocArray(Image** image, const ChannelFormat* format, std::size_t width,
                                  std::size_t height, unsigned flags) {
    return make_image(image, format, {width, height, 0}, flags);
}
WARPTIME_CUDA int cudaMalloc3DArray(Image** image, const ChannelFormat* format, Extent extent,
                                    unsigned flags) {
    return make_image(image, format, extent, flags);
}
WARPTIME_CUDA int cudaFreeArray(Image* image) {
    const auto lock = locked();
    if (image == nullptr) return 0;
    if (device().images.erase(image) == 0) return failed(Status::invalid_value);
    const std::unique_ptr<Image> owned(image);
    return device().memory().free(owned->array.address) ? 0 : failed(Status::invalid_value);
}
WARPTIME_CUDA int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, Image* image) {
    const auto lock = locked();
    if (!is_image(image)) return failed(Status::invalid_value);
    if (format != nullptr) *format = image->format;
    if (extent != nullptr) *extent = image->extent;
    if (flags != nullptr) *flags = image->flags;
    return 0;
}
WARPTIME_CUDA int cudaGetChannelDesc(ChannelFormat* format, const Image* image) {
    const auto lock = locked();
    if (format == nullptr || !is_image(image)) return failed(Status::invalid_value);
    *format = image->format;
    return 0;
}

WARPTIME_CUDA int cudaMemcpy2DToArray(Image* to, std::size_t x, std::size_t y, const void* from,
                                      std::size_t pitch, std::size_t width, std::size_t height, int kind) {
    if (to == nullptr) return failed(Status::invalid_value);
    return copy({to, {x, y, 0}, nullptr, 0, 0},
                {nullptr, {}, static_cast<std::byte*>(const_cast<void*>(from)), pitch, height}, width, height,
                1, kind);
}
WARPTIME_CUDA int cudaMemcpy2DToArrayAsync(Image* to, std::size_t x, std::size_t y, const void* from,
                                           std::size_t pitch, std::size_t width, std::size_t height, int kind,
                                           void* /*stream*/) {
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}
WARPTIME_CUDA int cudaMemcpy2DFromArray(void* to, std::size_t pitch, Image* from, std::size_t x,
                                        std::size_t y, std::size_t width, std::size_t height, int kind) {
    if (from == nullptr) return failed(Status::invalid_value);
    return copy({nullptr, {}, static_cast<std::byte*>(to), pitch, height}, {from, {x, y, 0}, nullptr, 0, 0},
                width, height, 1, kind);
}
WARPTIME_CUDA int cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, Image* from, std::size_t x,
                                             std::size_t y, std::size_t width, std::size_t height, int kind,
                                             void* /*stream*/) {
    return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
}
WARPTIME_CUDA int cudaMemcpy3D(const Copy3D* what) {
    return copy_boxes(what);
}
WARPTIME_CUDA int cudaMemcpy3DAsync(const Copy3D* what, void* /*stream*/) {
    return copy_boxes(what);
}

WARPTIME_CUDA int cudaCreateTextureObject(std::uint64_t* texture, const Resource* resource,
                                          const TextureDescription* how, const void* view) {
    const auto lock = locked();
    device().use_runtime();
    if (texture == nullptr || resource == nullptr || how == nullptr) return failed(Status::invalid_value);
    if (resource->kind == Resource::mipmapped || how->srgb != 0 || view != nullptr)
        return failed(Status::not_supported);
    const auto texels = texels_of(*resource);
    if (!texels) return failed(Status::invalid_value);
    const bool reals = texels->format.kind == machine::TexelFormat::Kind::real || how->read_mode == 1;
    if (how->filter == 1 && !reals) return failed(Status::invalid_filter_setting);
    machine::Texture made{*texels, {}};
    for (std::size_t d = 0; d < made.sampler.outside.size(); ++d) {
        // Only coordinates from 0 to 1 come again or go back.
        constexpr int clamps = 1, is_border = 3;
        const int outside = how->normalized == 0 && how->outside[d] != is_border ? clamps : how->outside[d];
        made.sampler.outside[d] = static_cast<machine::Sampler::Outside>(std::clamp(outside, 0, is_border));
    }
    made.sampler.border = how->border;
    made.sampler.linear = how->filter == 1;
    made.sampler.normalized = how->normalized != 0;
    made.sampler.to_fractions = how->read_mode == 1;
    *texture = device().memory().textures().add(made);
    return 0;
}
WARPTIME_CUDA int cudaDestroyTextureObject(std::uint64_t texture) {
    const auto lock = locked();
    if (texture == 0) return 0;
    return device().memory().textures().remove(texture) ? 0 : failed(Status::invalid_value);
}
WARPTIME_CUDA int cudaCreateSurfaceObject(std::uint64_t* surface, const Resource* resource) {
    const auto lock = locked();
    device().use_runtime();
    if (surface == nullptr || resource == nullptr) return failed(Status::invalid_value);
    if (resource->kind != Resource::image || !is_image(resource->of.array))
        return failed(Status::invalid_value);
    *surface = device().memory().textures().add({resource->of.array->array, {}});
    return 0;
}
WARPTIME_CUDA int cudaDestroySurfaceObject(std::uint64_t surface) {
    return cudaDestroyTextureObject(surface);
}

// NOLINTEND(performance-no-int-to-ptr)
