// Which rows constants may see, which rows choose mechanisms, and which rows are only ever printed.
// The split depends only on the case (operator and parameters), never on GPU, library or conditions.
// So a recorded data set never changes its split.
// Source: FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
// h = FNV-1a(key) mod 100: 0-49 fit, 50-69 development, 70-99 held-out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::validate {

enum class Split : std::uint8_t { fit, development, held_out };
inline constexpr Split all_splits[] = {Split::fit, Split::development, Split::held_out};

/// "fit", "development", "held-out".
[[nodiscard]] std::string_view to_string(Split split);
/// Throws Error naming the three splits.
[[nodiscard]] Split parse_split(std::string_view text);

[[nodiscard]] std::uint64_t fnv1a_64(std::string_view bytes);

[[nodiscard]] Split split_of(std::string_view key);

/// The split of a row of a tile sweep. Held-out only if both its shape and its configuration are, and fit
/// only if both are. Everything between serves development. So constants never see a held-out shape or
/// configuration.
[[nodiscard]] Split split_of(std::string_view shape_key, std::string_view configuration_key);

/// The two halves of a recorded case. `configuration` is empty for the library's own choice.
struct CaseKey {
    std::string shape;
    std::string configuration;
};

[[nodiscard]] Split split_of(const CaseKey& key);

}  // namespace warptime::validate
