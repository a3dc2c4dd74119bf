// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_row_predictor.hpp"

#include "hw/error.hpp"
#include "validate/recorded_case.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace warptime::steps {

const StepPrediction& StepRowPredictor::step_of(const validate::RecordedRow& row) {
    const std::string name = validate::step_name(row.params);
    const std::string key = row.gpu + " " + name + " " + row.implementation + " " + row.duty;
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    const std::filesystem::path path = captures_ / (name + ".json.gz");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error("step", path.string(), "the capture of a recorded step");
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    StepOptions options;
    options.launching = launching_of(row.implementation);
    // A recorded step runs after itself, which the usual condition stands for.
    model::prediction::Conditions conditions;
    conditions.cache = usual_cache;
    if (!row.duty.empty()) conditions.duty = model::prediction::parse_duty(row.duty);
    StepPrediction answer = predict_step(read_step(bytes, name), name, others_->predictor_of(row.gpu),
                                         others_->name(), conditions, options);
    return answers_.emplace(key, std::move(answer)).first->second;
}

validate::RowPrediction StepRowPredictor::predict(const validate::RecordedRow& row) {
    if (row.op != validate::step_op) return others_->predict(row);
    validate::RowPrediction prediction;
    try {
        const StepPrediction& step = step_of(row);
        const bool wall = row.quantity == validate::wall_quantity;
        prediction.time_us = wall ? std::max(step.span_us, step.host_us) : step.kernel_us;
        // Host and gaps have no band of their own.
        prediction.low_us = prediction.time_us - (step.kernel_us - step.low_us);
        prediction.high_us = prediction.time_us + (step.high_us - step.kernel_us);
        prediction.limiter = wall && step.host_us > step.span_us ? "launch" : "";
    } catch (const Error& error) {
        prediction.error = error.what();
    }
    return prediction;
}

std::filesystem::path captures_beside(const std::filesystem::path& recorded) {
    const std::filesystem::path folder = recorded.has_filename() ? recorded : recorded.parent_path();
    return folder.parent_path() / "steps" / "captures";
}

}  // namespace warptime::steps
