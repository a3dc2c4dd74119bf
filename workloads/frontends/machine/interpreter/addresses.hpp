// Addresses of memory instructions: decoding their forms, checking them, and counting what they cost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

using Addresses = std::array<std::uint64_t, lanes_per_warp>;

/// How an address is summed, as bits of Instruction::variant from 24 on: sources[0] is the general base,
/// sources[1] the uniform one.
namespace address_form {
inline constexpr std::uint32_t wide_base = 1U << 24U;     ///< the base is a pair
inline constexpr std::uint32_t wide_uniform = 1U << 25U;  ///< the uniform base is a pair
inline constexpr std::uint32_t scale_shift = 26U;         ///< two bits: 1, 4, 8 or 16
}  // namespace address_form

/// Sets sources[0], sources[1], immediate and the form from address operand i. `wide` addresses have 64 bits.
void decode_address(Decoder& decoder, Instruction& instruction, std::size_t i, bool wide);

/// Addresses of all lanes; those of lanes that are not enabled mean nothing.
void lane_addresses(const Warp& warp, const Instruction& instruction, Addresses& addresses);

/// Ends the launch when an enabled lane's global address is not within an allocation or not a multiple of
/// `width`.
void check_global(const Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
                  std::uint32_t width, const char* what);
/// The same for offsets into the shared memory of the cluster and into the thread's local memory.
void check_shared(const Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                  std::uint32_t width, const char* what);
void check_local(const Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                 std::uint32_t width, const char* what);

/// Counts a global access and tells the observer.
void count_global(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
                  std::uint32_t width, AccessKind kind);
void count_shared(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                  std::uint32_t width, AccessKind kind);
void count_local(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                 std::uint32_t width, AccessKind kind);
/// Tells the observer of constants at places that a register holds.
void tell_constants(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                    std::uint32_t width);

/// Memory behind an offset of shared memory: the CTA that bits 24 and up name, where it is in a cluster.
[[nodiscard]] inline std::byte* shared_memory(const Warp& warp, std::uint64_t address) {
    Cta* cta = warp.cta;
    const std::uint64_t rank = address >> cluster_rank_shift;
    if (rank != cta->cluster_rank && rank < cta->cluster.size()) {
        cta = cta->cluster[rank];
    }
    return cta->shared.data() + (address & shared_offset_mask);
}
/// Memory behind a lane's local offset.
[[nodiscard]] std::byte* local_memory(const Warp& warp, int lane, std::uint64_t offset);
/// Memory behind a device address.
[[nodiscard]] inline std::byte* global_memory(std::uint64_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the arena is this process's.
    return reinterpret_cast<std::byte*>(address);
}
/// Memory behind a generic address: global, or one of the windows.
[[nodiscard]] std::byte* generic_memory(const Warp& warp, int lane, std::uint64_t address);

[[nodiscard]] inline bool in_shared_window(std::uint64_t address) {
    return address - shared_window < window_bytes;
}
[[nodiscard]] inline bool in_local_window(std::uint64_t address) {
    return address - local_window < window_bytes;
}

/// Splits the enabled lanes of a generic access by space.
struct SpaceMasks {
    Mask global = 0, shared = 0, local = 0;
};
[[nodiscard]] SpaceMasks spaces_of(const Addresses& addresses, Mask enabled);

}  // namespace warptime::workloads::frontends::machine
