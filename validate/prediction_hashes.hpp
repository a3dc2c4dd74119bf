// One number for all predictions of a suite.
// A change of the code that should move no prediction must not change that number.
// Ignores: whether a prediction is right, which the scoreboard tells.
// Hash: FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/row_predictor.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::validate {

/// All answers of one engine about one suite, in the order of the recorded rows.
struct SuiteHash {
    std::string engine, gpu, suite;
    std::size_t rows = 0;
    std::uint64_t hash = 0;
    friend bool operator==(const SuiteHash&, const SuiteHash&) = default;
};

/// Passes every question on to another predictor and hashes its answers bit by bit. An answer is a row's
/// time, band and limiter, or its refusal, and the row's counters.
class HashingPredictor : public RowPredictor {
  public:
    /// `asked` must outlive this object.
    explicit HashingPredictor(RowPredictor& asked) : asked_(&asked) {}

    [[nodiscard]] std::string name() const override { return asked_->name(); }
    [[nodiscard]] RowPrediction predict(const RecordedRow& row) override;
    [[nodiscard]] std::vector<std::pair<std::string, double>> counters(const RecordedRow& row) override;
    [[nodiscard]] ConstantCount constants(std::string_view gpu,
                                          std::span<const RecordedRow* const> rows) override {
        return asked_->constants(gpu, rows);
    }

    /// Sorted by GPU and suite.
    [[nodiscard]] std::vector<SuiteHash> hashes() const;

  private:
    SuiteHash& suite_of(const RecordedRow& row);

    RowPredictor* asked_;
    std::map<std::pair<std::string, std::string>, SuiteHash> suites_;
};

/// CSV (RFC 4180) with the columns engine, gpu, suite, rows, hash (16 hexadecimal digits).
[[nodiscard]] std::string write_hashes(const std::vector<SuiteHash>& hashes);
/// Throws Error naming the file and the line that has another form.
[[nodiscard]] std::vector<SuiteHash> read_hashes(std::istream& in, const std::string& name);

/// One line for each suite whose predictions or rows differ from the expected ones; empty: nothing moved.
/// Expected suites that were not asked about count as moved.
[[nodiscard]] std::string moved_suites(const std::vector<SuiteHash>& hashes,
                                       const std::vector<SuiteHash>& expected);

}  // namespace warptime::validate
