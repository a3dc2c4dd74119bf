// Loads sheets on demand; a sheet that cannot be loaded refuses all of its rows.
// SPDX-License-Identifier: Apache-2.0
#include "validate/engine_predictor.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/system.hpp"
#include "model/system/program.hpp"
#include "validate/calibration_file.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_params.hpp"
#include "workloads/choice/recorded_kernel.hpp"

#include <algorithm>

namespace warptime::validate {

struct EngineRowPredictor::Chip {
    hw::Gpu gpu;
    std::unique_ptr<workloads::Predictor> predictor;
    // For kernels that ran.
    workloads::libraries::Libraries libraries;
    std::unique_ptr<model::prediction::Stages> stages;
    model::kernel::Program program;
};

EngineRowPredictor::EngineRowPredictor(const model::prediction::Engine& engine,
                                       std::span<const hw::Setting> settings,
                                       const model::prediction::Engine* chooser)
    : engine_(&engine), chooser_(chooser), settings_(settings.begin(), settings.end()) {}

EngineRowPredictor::~EngineRowPredictor() = default;

EngineRowPredictor::Chip& EngineRowPredictor::chip_of(std::string_view gpu) {
    const auto found = chips_.find(gpu);
    if (found != chips_.end()) return *found->second;
    auto chip = std::make_unique<Chip>();
    chip->gpu = hw::load_gpu(gpu);
    if (gpu == calibrated_gpu_) apply_calibration(calibration_, calibrated_gpu_, chip->gpu);
    hw::apply_settings(chip->gpu, settings_);
    chip->predictor = std::make_unique<workloads::Predictor>(*engine_, chip->gpu, chooser_);
    if (as_ran_) {
        chip->libraries = workloads::libraries::load_libraries();
        chip->stages = engine_->make_stages(chip->gpu);
    }
    return *chips_.emplace(std::string(gpu), std::move(chip)).first->second;
}

void EngineRowPredictor::replace_calibration(const std::string& text, const std::string& name) {
    calibrated_gpu_ = calibrated_gpu(text, name);
    calibration_ = text;
    chips_.clear();
}

workloads::Predictor& EngineRowPredictor::predictor_of(std::string_view gpu) {
    return *chip_of(gpu).predictor;
}

std::string EngineRowPredictor::name() const {
    return std::string(engine_->name());
}

workloads::Operation EngineRowPredictor::asked_of(const RecordedRow& row) const {
    return as_compiled_ ? operation_as_compiled(row) : operation_of(row);
}

const model::kernel::Program* EngineRowPredictor::program_that_ran(const RecordedRow& row) {
    if (!as_ran_) return nullptr;
    const workloads::Operation operation = asked_of(row);
    if (operation.parameters.find("cta_tile") != operation.parameters.end()) return nullptr;
    Chip& chip = chip_of(row.gpu);
    return workloads::choice::lower_recorded(operation, row.steps, chip.libraries, chip.gpu, chip.program)
               ? &chip.program
               : nullptr;
}

RowPrediction EngineRowPredictor::predict(const RecordedRow& row) {
    constexpr double us = 1e6;
    RowPrediction prediction;
    try {
        if (is_microbenchmark(row)) return predict_microbenchmark(row);
        Chip& chip = chip_of(row.gpu);
        const auto conditions = conditions_of(row);
        const model::kernel::Program* ran = program_that_ran(row);
        const auto estimate = ran != nullptr ? model::system::evaluate(*ran, *chip.stages, conditions)
                                             : chip.predictor->evaluate(asked_of(row), conditions);
        prediction.time_us = estimate.time * us;
        prediction.low_us = estimate.low * us;
        prediction.high_us = estimate.high * us;
        prediction.limiter = model::prediction::to_string(estimate.limiter);
        if (row.quantity == interval_quantity) {
            // Between exchanges the box counts, else the GPU's own streams.
            const bool boxed =
                workloads::find_parameter(workloads::find_operator(row.op), "system") != nullptr;
            const double gap = (boxed ? hw::system_of_gpu(row.gpu, row.op + " system").call.gap
                                      : model::system::launch_gap(model::system::Between::stream, chip.gpu)) *
                               us;
            for (double* time : {&prediction.time_us, &prediction.low_us, &prediction.high_us}) *time += gap;
        }
    } catch (const Error& error) {
        prediction.error = error.what();
    }
    return prediction;
}

RowPrediction EngineRowPredictor::predict_microbenchmark(const RecordedRow& row) {
    const microbench::Family* family = microbench::find_family(row.suite, row.op);
    if (family == nullptr) throw Error("op", row.op, "a microbenchmark that is also written as a program");
    const hw::Gpu& gpu = chip_of(row.gpu).gpu;
    const microbench::Value found =
        microbench::predict(microbench::probe_of(*family, parse_params(row.params), gpu), row.quantity,
                            *engine_, gpu, conditions_of(row));
    return {found.value, found.low, found.high, found.limiter, ""};
}

model::prediction::Prediction EngineRowPredictor::explain(const RecordedRow& row) {
    const Chip& chip = chip_of(row.gpu);
    const std::string probe = profiled_probe(row);
    const model::kernel::Program* ran = probe.empty() ? program_that_ran(row) : nullptr;
    if (ran != nullptr) return model::system::explain(*ran, *engine_, chip.gpu, conditions_of(row));
    if (probe.empty()) return chip.predictor->explain(asked_of(row), conditions_of(row));
    const microbench::Probe made =
        microbench::probe_of(*microbench::find_family(probe, row.op), parse_params(row.params), chip.gpu);
    return model::system::explain(made.program, *engine_, chip.gpu, conditions_of(row), made.between);
}

std::vector<std::pair<std::string, double>> EngineRowPredictor::counters(const RecordedRow& row) {
    try {
        const auto prediction = explain(row);
        auto counters = prediction.counters;
        // A profiler sees the kernels of an operator, not its memory sets and copies.
        double kernels = 0.0;
        for (const auto& step : prediction.steps) {
            if (step.kind == "kernel") kernels += step.time;
        }
        constexpr double ns = 1e9;
        counters.emplace_back("gpu__time_duration.sum", kernels * ns);
        return counters;
    } catch (const Error&) {
        return {};
    }
}

ConstantCount EngineRowPredictor::constants(std::string_view gpu, std::span<const RecordedRow* const> rows) {
    ConstantCount count;
    try {
        Chip& chip = chip_of(gpu);
        for (const hw::Provenance& provenance : chip.gpu.provenance) {
            count.fitted += provenance.origin == hw::Origin::fitted ? 1 : 0;
            count.inherited += provenance.origin == hw::Origin::inherited ? 1 : 0;
        }
        for (const RecordedRow* row : rows) {
            if (!is_operator(row->op)) continue;
            const workloads::Operation operation = operation_of(*row);
            const workloads::DataCount data =
                workloads::find_operator(operation.op).data(operation, chip.predictor->libraries(), chip.gpu);
            count.compiler = std::max(count.compiler, data.compiler);
            count.library = std::max(count.library, data.library);
            count.learned = std::max(count.learned, data.learned);
        }
    } catch (const Error&) {
        return count;
    }
    return count;
}

}  // namespace warptime::validate
