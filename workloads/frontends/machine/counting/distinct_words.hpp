// Which of the 32 words of a warp are distinct, by comparing all with all: quicker than a table for so few.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace warptime::workloads::frontends::machine {

using WarpWords = std::array<std::uint32_t, 32>;

/// Bit l: a later one of the first 32 words equals word l. Words from 32 on may count as later, too.
[[nodiscard]] inline std::uint32_t with_later_twin(const std::array<std::uint32_t, 64>& words) {
#ifdef __AVX2__
    std::uint32_t mask = 0;
    for (std::size_t first = 0; first < 32; first += 8) {
        const auto eight = [&words](std::size_t place) {
            return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words.data() + place));
        };
        const __m256i own = eight(first);
        __m256i twins = _mm256_setzero_si256();
        for (std::size_t other = first + 1; other < 32; ++other) {
            twins = _mm256_or_si256(twins, _mm256_cmpeq_epi32(own, eight(other)));
        }
        mask |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(twins))) << first;
    }
    return mask;
#else
    std::uint32_t mask = 0;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        bool twin = false;
        for (std::size_t other = lane + 1; other < 32; ++other) {
            twin = twin || words[lane] == words[other];
        }
        mask |= (twin ? 1U : 0U) << lane;
    }
    return mask;
#endif
}

/// Of the lanes of the mask, the last one that has each word. `lanes` is not 0.
[[nodiscard]] inline std::uint32_t last_of_each(const WarpWords& words, std::uint32_t lanes) {
    const auto last = static_cast<std::size_t>(std::bit_width(lanes | 1U)) - 1U;
    // Lanes that are off, and those behind the last one, count as twins of the last lane, which stays anyway.
    std::array<std::uint32_t, 64> padded;  // NOLINT: filled whole below.
    for (std::size_t lane = 0; lane < words.size(); ++lane) {
        const std::uint32_t on = 0U - ((lanes >> lane) & 1U);
        padded[lane] = (words[lane] & on) | (words[last] & ~on);
        padded[lane + 32] = words[last];
    }
    return (lanes & ~with_later_twin(padded)) | (1U << last);
}

/// Bit l: lane l has the word of lane l ^ bit. `bit` is 1 or 2.
template <unsigned bit>
[[nodiscard]] inline std::uint32_t equal_to_neighbour(const WarpWords& words) {
    std::uint32_t mask = 0;
#ifdef __AVX2__
    for (unsigned first = 0; first < words.size(); first += 8) {
        const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words.data() + first));
        const __m256i other = _mm256_shuffle_epi32(own, bit == 1 ? 0b10'11'00'01 : 0b01'00'11'10);
        const __m256 equal = _mm256_castsi256_ps(_mm256_cmpeq_epi32(own, other));
        mask |= static_cast<std::uint32_t>(_mm256_movemask_ps(equal)) << first;
    }
#else
    for (std::size_t lane = 0; lane < words.size(); ++lane) {
        mask |= (words[lane] == words[lane ^ bit] ? 1U : 0U) << lane;
    }
#endif
    return mask;
}

/// The lanes l of the mask for which l ^ bit is in the mask, too.
template <unsigned bit>
[[nodiscard]] constexpr std::uint32_t with_neighbour(std::uint32_t lanes) {
    constexpr std::uint32_t lower = bit == 1 ? 0x5555'5555U : 0x3333'3333U;
    return lanes & (((lanes & lower) << bit) | ((lanes >> bit) & lower));
}

}  // namespace warptime::workloads::frontends::machine
