// Different numbers among the few of one warp's access, each with a place of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warptime::model::machine {

/// Up to 128 different numbers in a table with open addresses. Numbers beyond these are an error of the
/// caller.
class DistinctNumbers {
  public:
    /// The place of the number, which is new when it is the count of before.
    std::size_t place_of(std::int64_t value) noexcept {
        if (count_ != 0 && values_[last_] == value) {
            return last_;
        }
        constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15ULL;
        std::size_t entry = (static_cast<std::uint64_t>(value) * golden) >> (64U - table_bits);
        while (table_[entry] != 0 && values_[table_[entry] - std::size_t{1}] != value) {
            entry = (entry + 1) % table_.size();
        }
        if (table_[entry] == 0) {
            values_[count_] = value;
            table_[entry] = static_cast<std::uint8_t>(++count_);
        }
        last_ = table_[entry] - std::size_t{1};
        return last_;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    static constexpr unsigned table_bits = 8;
    std::array<std::uint8_t, 1U << table_bits> table_{};  ///< 1 + place; 0: free
    std::array<std::int64_t, 128> values_;                // NOLINT: filled as far as `count_` says.
    std::size_t count_ = 0;
    std::size_t last_ = 0;
};

}  // namespace warptime::model::machine
