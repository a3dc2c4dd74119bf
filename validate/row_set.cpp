// SPDX-License-Identifier: Apache-2.0
#include "validate/row_set.hpp"

#include "validate/split.hpp"

#include <fmt/format.h>

namespace warptime::validate {

void RowSet::add(const RecordedRow& row) {
    ++rows;
    hash += fnv1a_64(fmt::format("{}\n{}", identity_of(row), row.value));
}

void RowSet::add(const RowSet& other) {
    rows += other.rows;
    hash += other.hash;
}

std::string to_text(const RowSet& rows) {
    return fmt::format("{}:{:08x}", rows.rows, rows.hash >> 32U);
}

}  // namespace warptime::validate
