// Loops over the lanes of a warp, written so that compilers make vector instructions of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/instruction.hpp"
#include "workloads/frontends/machine/interpreter/warp.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace warptime::workloads::frontends::machine {

/// The lanes of source i with its modifiers of bits or reals.
[[nodiscard]] inline std::uint32_t lane_bits(const Warp& warp, const Source& source, int lane) {
    return (warp.rows[source.row].lane[static_cast<std::size_t>(lane)] & source.keep) ^ source.flip;
}
[[nodiscard]] inline float lane_real(const Warp& warp, const Source& source, int lane) {
    return std::bit_cast<float>(lane_bits(warp, source, lane));
}
/// The lanes of a source of reals, whose modifiers are looked at once.
struct RealSource {
    RealSource(const Warp& warp, const Source& source)
        : row(warp.rows[source.row]), keep(source.keep), flip(source.flip) {}
    [[nodiscard]] float operator[](int lane) const {
        return std::bit_cast<float>((row.lane[static_cast<std::size_t>(lane)] & keep) ^ flip);
    }
    const Row& row;
    std::uint32_t keep, flip;
};
/// A 64-bit source: modifiers act on the upper word.
[[nodiscard]] inline std::uint64_t lane_bits64(const Warp& warp, const Source& source, int lane) {
    const std::uint64_t low = warp.rows[source.row].lane[static_cast<std::size_t>(lane)];
    const std::uint64_t high =
        (warp.rows[source.row + 1].lane[static_cast<std::size_t>(lane)] & source.keep) ^ source.flip;
    return low | (high << 32U);
}

/// Writes value(lane) to the enabled lanes of a row, which may be a source, too.
template <class Value>
inline void write_lanes(Row& row, Mask enabled, Value value) {
    // The results are no part of the warp until all are known: else each could change what the next one
    // reads.
    Row out;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        out.lane[static_cast<std::size_t>(lane)] = value(lane);
    }
    if (enabled == all_lanes) {
        row = out;
        return;
    }
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint32_t keep = 0U - ((enabled >> lane) & 1U);
        row.lane[lane] = (out.lane[lane] & keep) | (row.lane[lane] & ~keep);
    }
}

/// The same for 64-bit results in two rows.
template <class Value>
inline void write_lanes64(Row& low, Row& high, Mask enabled, Value value) {
    std::array<std::uint64_t, lanes_per_warp> computed;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        computed[static_cast<std::size_t>(lane)] = value(lane);
    }
    write_lanes(low, enabled, [&computed](int lane) {
        return static_cast<std::uint32_t>(computed[static_cast<std::size_t>(lane)]);
    });
    write_lanes(high, enabled, [&computed](int lane) {
        return static_cast<std::uint32_t>(computed[static_cast<std::size_t>(lane)] >> 32U);
    });
}

/// The lanes whose word has its top bit set.
[[nodiscard]] inline Mask mask_of_signs(const Row& row) {
    Mask mask = 0;
#ifdef __AVX2__
    for (unsigned first = 0; first < lanes_per_warp; first += 8) {
        const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i*>(row.lane.data() + first));
        mask |= static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(words))) << first;
    }
#else
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        mask |= (row.lane[lane] >> 31U) << lane;
    }
#endif
    return mask;
}

/// The lanes for which holds(lane) is true. Rows of words in between let the compiler make vectors of it.
template <class Holds>
[[nodiscard]] inline Mask mask_of(Holds holds) {
    Row row;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        row.lane[static_cast<std::size_t>(lane)] = holds(lane) ? all_lanes : 0U;
    }
    return mask_of_signs(row);
}

/// Calls body(lane) for each enabled lane, ascending.
template <class Body>
inline void for_each_lane(Mask enabled, Body body) {
    for (Mask left = enabled; left != 0; left &= left - 1) {
        body(std::countr_zero(left));
    }
}

/// Writes predicate results for the enabled lanes: the others keep theirs.
inline void write_predicate(Warp& warp, std::uint8_t index, Mask enabled, Mask value) {
    warp.predicates[index] = (warp.predicates[index] & ~enabled) | (value & enabled);
}
[[nodiscard]] inline Mask read_predicate(const Warp& warp, const PredicateSource& source) {
    return warp.predicates[source.index] ^ source.flip;
}

}  // namespace warptime::workloads::frontends::machine
