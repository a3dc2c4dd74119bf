// Many operations of one operator, given as columns and answered as columns: words are read once for each
// combination of them, and per row only numbers are set. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/batch_column.hpp"
#include "workloads/predict.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warptime::workloads {

/// Where the answers go, one a row; times in seconds. A row that failed has NaN times, and its error names
/// it.
struct BatchAnswers {
    std::span<double> time, low, high;
    std::span<std::uint8_t> limiter;                          ///< prediction::Limiter
    std::span<std::uint8_t> status;                           ///< prediction::Status by GPU and conditions
    std::vector<std::pair<std::size_t, std::string>> errors;  ///< row and message, in order of rows
};

class Batch {
  public:
    /// Parameters and conditions as columns. Throws Error for what is wrong in every row: an unknown name
    /// (with the nearest), one that comes twice, lengths that differ (naming both), a required parameter that
    /// is missing, a text that is refused. `predictor` must outlive this; one thread at a time.
    Batch(std::string_view op, std::vector<BatchColumn> columns, Predictor& predictor);

    [[nodiscard]] std::size_t rows() const { return rows_; }
    /// Answers the rows [begin, end).
    void predict(std::size_t begin, std::size_t end, BatchAnswers& answers);

  private:
    struct NumberColumn {
        BatchColumn column;
        const ParameterInfo* parameter;
        SetNumber set;
    };
    struct WordColumn {
        std::string name;
        bool is_condition;
        WordValues values;
        /// From the group of the columns before and this one's code to the group of them all.
        std::unordered_map<std::uint64_t, std::uint32_t> groups;
    };
    /// What rows with the same words share.
    struct Group {
        bool sound = false;  ///< the words are allowed; else every row fails
        std::unique_ptr<Request> request;
        model::prediction::Conditions conditions;
        model::prediction::Status status = {};
    };
    /// A row as a command line would give it.
    struct Texts {
        std::map<std::string, std::string, std::less<>> parameters, conditions;
    };

    void take(BatchColumn column);
    void check_rows(const BatchColumn& column);
    void check_required() const;
    [[nodiscard]] Group& group_of(std::size_t row);
    void fill_group(Group& group, std::size_t row) const;
    [[nodiscard]] Texts texts_of(std::size_t row) const;
    [[nodiscard]] model::prediction::Conditions conditions_of(const Texts& texts) const;
    /// Nothing where the row is refused.
    [[nodiscard]] std::optional<model::prediction::Estimate> predict_numbers(std::size_t row, Group& group);
    /// The same answer the long way, with its status; throws Error for a row that is refused.
    [[nodiscard]] std::pair<model::prediction::Estimate, model::prediction::Status> predict_text(
        std::size_t row) const;

    const OperatorInfo* info_;
    Predictor* predictor_;
    std::size_t rows_ = 1;
    std::string longest_;  ///< the column that rows_ comes from
    std::map<std::string, std::string, std::less<>> constants_, constant_conditions_;
    std::vector<NumberColumn> numbers_;
    std::vector<WordColumn> words_;
    std::deque<Group> groups_;
};

}  // namespace warptime::workloads
