// Reads the cells of a row by the role of their column and asks the engine.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/batch_predictor.hpp"

#include "bindings/cli/request.hpp"
#include "hw/error.hpp"
#include "workloads/condition_values.hpp"

#include <fmt/format.h>

#include <utility>

namespace warptime::cli {

BatchPredictor::BatchPredictor(std::vector<BatchColumnRole> columns, BatchDefaults defaults)
    : columns_(std::move(columns)), defaults_(std::move(defaults)) {
    if (!defaults_.gpu.empty()) {
        static_cast<void>(chip_of(
            defaults_.gpu, defaults_.engine));  // this error concerns every row, so it must come at once
    }
}

BatchPredictor::Chip& BatchPredictor::chip_of(const std::string& gpu, const std::string& engine) {
    const std::pair key(gpu, engine);
    const auto found = chips_.find(key);
    if (found != chips_.end()) {
        return *found->second;
    }
    auto chip = std::make_unique<Chip>();
    chip->engine = make_engine(engine);
    chip->gpu = load_requested_gpu(gpu, defaults_.settings);
    chip->chooser = make_engine(default_engine);
    chip->predictor = std::make_unique<workloads::Predictor>(*chip->engine, chip->gpu, chip->chooser.get());
    return *chips_.emplace(key, std::move(chip)).first->second;
}

BatchPredictor::Question BatchPredictor::read(const workloads::CsvRecord& row, const std::string& where) {
    if (row.size() != columns_.size()) {
        throw Error(where, fmt::format("{} fields", row.size()), fmt::format("{} fields", columns_.size()));
    }
    std::string op;
    std::string gpu = defaults_.gpu;
    std::string engine = defaults_.engine;
    model::prediction::Conditions conditions = defaults_.conditions;
    std::map<std::string, std::string, std::less<>> parameters;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i].empty()) {
            continue;
        }
        switch (columns_[i].role) {
            case ColumnRole::op:
                op = row[i];
                break;
            case ColumnRole::gpu:
                gpu = row[i];
                break;
            case ColumnRole::engine:
                engine = row[i];
                break;
            case ColumnRole::condition:
                workloads::set_condition(conditions, columns_[i].name, row[i]);
                break;
            case ColumnRole::parameter:
                parameters.emplace(columns_[i].name, row[i]);
                break;
            case ColumnRole::passed:
            case ColumnRole::result:
                break;
        }
    }
    if (gpu.empty()) {
        throw Error("gpu", "", "a sheet id or path in the column gpu, or --gpu");
    }
    apply_kernel_settings(defaults_.settings, parameters);
    Question question{workloads::make_operation(op, parameters), conditions, engine, nullptr};
    question.chip = &chip_of(gpu, engine);
    workloads::check_conditions(conditions, question.chip->gpu);
    return question;
}

BatchAnswer BatchPredictor::predict(const workloads::CsvRecord& row, const std::string& where) {
    const Question question = read(row, where);
    using model::prediction::Status;
    const model::prediction::Estimate estimate =
        question.chip->predictor->evaluate(question.operation, question.conditions);
    return {estimate, defaults_.settings.empty() ? engines::status_of(question.engine, question.chip->gpu,
                                                                      question.conditions, estimate.evidence)
                                                 : Status::what_if};
}

}  // namespace warptime::cli
