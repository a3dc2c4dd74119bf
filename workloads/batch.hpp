// Many operations of one operator, given as columns and answered as columns.
// Words are read once for each combination. Rows with the same words only differ in their numbers.
// SPDX-License-Identifier: Apache-2.0
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

/// Places for the answers, one for each row; times in seconds. A failed row has NaN times, and its entry in
/// `errors` says why.
struct BatchAnswers {
    std::span<double> time, low, high;
    std::span<std::uint8_t> limiter;                          ///< prediction::Limiter
    std::span<std::uint8_t> status;                           ///< prediction::Status
    std::vector<std::pair<std::size_t, std::string>> errors;  ///< row and message, in order of rows
};

class Batch {
  public:
    /// Takes parameters and conditions as columns. Throws Error for a fault of all rows. Such faults are an
    /// unknown name (naming the nearest), a repeated name and different lengths (naming both). Further faults
    /// are a missing required parameter and a refused text. `predictor` must outlive this object. One thread
    /// at a time may use it.
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
        /// Maps a group of the earlier columns and a code of this column to a group that includes this
        /// column.
        std::unordered_map<std::uint64_t, std::uint32_t> groups;
    };
    /// Data that rows with the same words share.
    struct Group {
        bool sound = false;  ///< the words are allowed; otherwise every row fails
        std::unique_ptr<Request> request;
        model::prediction::Conditions conditions;
        model::prediction::Status status = {};  ///< by GPU and conditions
    };
    /// A row in the texts of a command line.
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
    /// The prediction of a row; empty where the row is refused.
    [[nodiscard]] std::optional<model::prediction::Estimate> predict_numbers(std::size_t row, Group& group);
    /// The same prediction from text, with its status by GPU and conditions. Throws Error for a refused row.
    [[nodiscard]] std::pair<model::prediction::Estimate, model::prediction::Status> predict_text(
        std::size_t row) const;

    const OperatorInfo* info_;
    Predictor* predictor_;
    std::size_t rows_ = 1;
    std::string longest_;  ///< the column that gives rows_
    std::map<std::string, std::string, std::less<>> constants_, constant_conditions_;
    std::vector<NumberColumn> numbers_;
    std::vector<WordColumn> words_;
    std::deque<Group> groups_;
};

}  // namespace warptime::workloads
