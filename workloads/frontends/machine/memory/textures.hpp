// Images of the stand-in device: where their texels lie, and how texture and surface objects read them.
// Ignores: mipmaps, cubes, formats that are compressed, and that blocks of a volume may be several slices
// deep. Source: CUDA C++ Programming Guide 13.0, texture fetching (filters and address modes); NVIDIA's open
// documentation of block-linear surfaces (groups of 64 bytes by 8 rows, up to 16 groups a block).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace warptime::workloads::frontends::machine {

struct TexelFormat {
    enum class Kind : std::uint8_t { is_signed, is_unsigned, real };
    Kind kind = Kind::real;
    int channels = 1;
    int bits = 32;  ///< of a channel
    [[nodiscard]] int bytes() const { return channels * bits / 8; }
};

/// Texels in device memory. In a line or in rows they lie as the program put them there; the memory of a CUDA
/// array is cut into blocks, so that neighbours in both directions are near.
struct TexelArray {
    enum class Layout : std::uint8_t { line, rows, blocks };
    std::uint64_t address = 0;
    Layout layout = Layout::line;
    TexelFormat format;
    std::array<std::uint32_t, 3> size{1, 1, 1};  ///< in texels; layers are the third
    int dimensions = 1;                          ///< of an image, without layers
    std::uint64_t row_bytes = 0;                 ///< of rows

    [[nodiscard]] std::uint64_t bytes() const;
    /// Address of the texel; every coordinate must be less than the size.
    [[nodiscard]] std::uint64_t place(std::uint32_t x, std::uint32_t y, std::uint32_t z) const;
};

/// What the texture unit does with coordinates and texels.
struct Sampler {
    enum class Outside : std::uint8_t { wraps, clamps, mirrors, is_border };  // as CUDA numbers them
    std::array<Outside, 3> outside{Outside::clamps, Outside::clamps, Outside::clamps};
    std::array<float, 4> border{};
    bool linear = false;        ///< blends the neighbours of a place
    bool normalized = false;    ///< coordinates go from 0 to 1
    bool to_fractions = false;  ///< integers are read as fractions of the largest
};

struct Texture {
    TexelArray array;
    Sampler sampler;  ///< of textures; surfaces have none
};

/// Texture and surface objects of a program, by their handles. An instruction names 32 bits of a handle.
class TextureTable {
  public:
    std::uint64_t add(const Texture& texture);
    bool remove(std::uint64_t handle) { return textures_.erase(handle) == 1; }
    [[nodiscard]] const Texture* find(std::uint64_t handle) const;

  private:
    std::map<std::uint64_t, Texture> textures_;
    std::uint64_t next_ = 1;
};

}  // namespace warptime::workloads::frontends::machine
