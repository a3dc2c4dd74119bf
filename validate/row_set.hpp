// Tells one set of recorded rows from another by the number of rows and a hash of their measurements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/recorded_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace warptime::validate {

/// The sum of the rows' hashes (FNV-1a over identity and value), so that their order does not matter.
struct RowSet {
    std::size_t rows = 0;
    std::uint64_t hash = 0;

    void add(const RecordedRow& row);
    void add(const RowSet& other);
    friend bool operator==(const RowSet&, const RowSet&) = default;
};

/// "478:1f0c22ab": the count and the hash's upper half.
[[nodiscard]] std::string to_text(const RowSet& rows);

}  // namespace warptime::validate
