// Recorded rows as a fit model, with one lowered program a row.
// SPDX-License-Identifier: Apache-2.0
#include "validate/engine_fit_model.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/quantity.hpp"
#include "model/system/program.hpp"
#include "validate/interval_gap.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/noise_floor.hpp"
#include "validate/recorded_case.hpp"
#include "validate/recorded_params.hpp"
#include "workloads/choice/recorded_kernel.hpp"
#include "workloads/libraries/library.hpp"
#include "workloads/predict.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace warptime::validate {
struct FitCase {
    const RecordedRow* row = nullptr;
    workloads::Operation operation;
    model::prediction::Conditions conditions;
    model::kernel::Program program;
    bool lowered = false;
    double measured_us = 0.0;
    std::string steps;  ///< recorded activities, which name the kernel that ran
    std::optional<microbench::Probe> probe;
    double scale = 1.0;  ///< factor from the unit of a microbenchmark's row to that of measured_us
};

namespace {

using hw::us_per_s;

/// Rows that are no durations count by their relative error, as if each took a millisecond.
constexpr double stand_in_us = 1000.0;

bool is_taken(Split split, RowsTaken taken) {
    return split == Split::fit || (split == Split::development && taken == RowsTaken::fit_and_development);
}

std::vector<const RecordedRow*> select(const RecordedRows& rows, std::string_view gpu,
                                       const std::vector<std::string>& suites) {
    std::vector<const RecordedRow*> selected;
    std::vector<std::string_view> known;
    for (const RecordedRow& row : rows.rows) {
        if (row.gpu != gpu || !is_predictable(row)) continue;
        if (std::find(known.begin(), known.end(), row.suite) == known.end()) known.push_back(row.suite);
        if (suites.empty() || std::find(suites.begin(), suites.end(), row.suite) != suites.end()) {
            selected.push_back(&row);
        }
    }
    for (const std::string& suite : suites) {
        if (std::find(known.begin(), known.end(), suite) == known.end()) {
            throw Error("--suites", suite, hw::expected_names(suite, known));
        }
    }
    return selected;
}

}  // namespace

struct EngineFitModel::State {
    const model::prediction::Engine* engine;
    const hw::Gpu* gpu;
    std::unique_ptr<workloads::Predictor> predictor;
    workloads::libraries::Libraries libraries = workloads::libraries::load_libraries();
    std::unique_ptr<model::prediction::Stages> stages;
    std::vector<FitCase> cases;
    std::vector<std::string> refusals;

    State(const model::prediction::Engine& e, const hw::Gpu& g)
        : engine(&e), gpu(&g), stages(e.make_stages(g)) {}

    /// A predictor remembers bodies with the constants of their time, and a fit changes constants.
    void renew_predictor() { predictor = std::make_unique<workloads::Predictor>(*engine, *gpu); }

    void choose() {
        renew_predictor();
        refusals.clear();
        for (FitCase& one : cases) {
            try {
                if (is_microbenchmark(*one.row)) {
                    one.probe = microbench::probe_of(*microbench::find_family(one.row->suite, one.row->op),
                                                     parse_params(one.row->params), *gpu);
                    one.lowered = true;
                    continue;
                }
                // Constants describe kernels. So the fit takes the kernel that ran, not a kernel chosen
                // instead.
                if (!workloads::choice::lower_recorded(one.operation, one.steps, libraries, *gpu,
                                                       one.program)) {
                    static_cast<void>(predictor->evaluate(one.operation, one.conditions));
                    one.program = predictor->program();
                }
                one.lowered = true;
            } catch (const Error& error) {
                one.lowered = false;
                refuse(error.what());
            }
        }
    }

    void refuse(const std::string& reason) {
        if (std::find(refusals.begin(), refusals.end(), reason) == refusals.end()) refusals.push_back(reason);
    }

    /// Microseconds; 0 for a row that cannot be predicted.
    [[nodiscard]] double estimate(const FitCase& one) const {
        if (!one.lowered) return 0.0;
        try {
            if (one.probe) {
                return one.scale *
                       microbench::predict(*one.probe, one.row->quantity, *engine, *gpu, one.conditions)
                           .value;
            }
            return us_per_s * model::system::evaluate(one.program, *stages, one.conditions).time;
        } catch (const Error&) {
            return 0.0;  // constants that the engine refuses are no solution
        }
    }
};

EngineFitModel::EngineFitModel(const RecordedRows& rows, const model::prediction::Engine& engine,
                               const hw::Gpu& gpu, const std::vector<std::string>& suites, RowsTaken taken)
    : state_(std::make_unique<State>(engine, gpu)) {
    for (const RecordedRow* row : part_recordings(select(rows, gpu.id, suites)).first) {
        try {
            if (!is_taken(split_of(case_key(row->op, row->params)), taken)) continue;
            FitCase one{row, {}, conditions_of(*row), {}, false, row->value, row->steps, {}, 1.0};
            if (!is_microbenchmark(*row)) {
                one.operation = operation_of(*row);
                one.measured_us -= us_per_s * interval_gap(*row, gpu);
            } else if (row->unit != "us") {
                one.scale = stand_in_us / row->value;
                one.measured_us = stand_in_us;
            }
            state_->cases.push_back(std::move(one));
        } catch (const Error& error) {
            state_->refuse(error.what());
        }
    }
}

EngineFitModel::~EngineFitModel() = default;

FitModel EngineFitModel::model() {
    FitModel model;
    for (const FitCase& one : state_->cases) model.measured_us.push_back(one.measured_us);
    State* state = state_.get();
    model.choose = [state] { state->choose(); };
    model.predict = [state](std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double time = state->estimate(state->cases[i]);
            out[i] = time > 0.0 ? time : std::numeric_limits<double>::quiet_NaN();
        }
    };
    return model;
}

std::vector<FitRowEstimate> EngineFitModel::estimates() {
    state_->renew_predictor();
    // A band is about the answer that a user gets. So the kernel is the chosen one, not the one that ran.
    std::vector<FitRowEstimate> result;
    for (const FitCase& one : state_->cases) {
        if (is_microbenchmark(*one.row)) continue;
        FitRowEstimate row{one.row, one.measured_us, {}};
        try {
            row.estimate = state_->predictor->evaluate(one.operation, one.conditions);
        } catch (const Error& error) {
            state_->refuse(error.what());
        }
        result.push_back(row);
    }
    return result;
}

std::size_t EngineFitModel::size() const {
    return state_->cases.size();
}

const std::vector<std::string>& EngineFitModel::refusals() const {
    return state_->refusals;
}

}  // namespace warptime::validate
