// Predicts the rows of a batch one by one and keeps GPUs, engines and their memory between rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/batch_columns.hpp"
#include "hw/setting.hpp"
#include "workloads/predict.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace warptime::cli {

/// Values of empty cells. Where gpu is empty, each row must name a GPU.
struct BatchDefaults {
    std::string gpu;
    std::string engine;
    model::prediction::Conditions conditions;
    std::vector<hw::Setting> settings;
};

struct BatchAnswer {
    model::prediction::Estimate estimate;
    model::prediction::Status status = model::prediction::Status::extrapolated;
};

class BatchPredictor {
  public:
    BatchPredictor(std::vector<BatchColumnRole> columns, BatchDefaults defaults);

    /// Predicts a row. Throws Error for a row that cannot be predicted, without effect on other rows; `where`
    /// names the row.
    [[nodiscard]] BatchAnswer predict(const workloads::CsvRecord& row, const std::string& where);

    /// A GPU and an engine with what they need.
    struct Chip {
        std::unique_ptr<model::prediction::Engine> engine;
        std::unique_ptr<model::prediction::Engine> chooser;  ///< scores the launches of a library
        hw::Gpu gpu;
        std::unique_ptr<workloads::Predictor> predictor;
    };
    /// What a row asks.
    struct Question {
        workloads::Operation operation;
        model::prediction::Conditions conditions;
        std::string engine;
        Chip* chip = nullptr;
    };
    [[nodiscard]] Question read(const workloads::CsvRecord& row, const std::string& where);

    Chip& chip_of(const std::string& gpu, const std::string& engine);

  private:
    std::vector<BatchColumnRole> columns_;
    BatchDefaults defaults_;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Chip>> chips_;
};

}  // namespace warptime::cli
