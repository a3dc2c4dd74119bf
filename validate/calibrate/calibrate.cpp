// Runs the plan in order: each constant is put into the GPU before the next is worked out.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/calibrate.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "validate/bands.hpp"
#include "validate/calibrate/calibration_notes.hpp"
#include "validate/calibration_file.hpp"
#include "validate/engine_fit_model.hpp"
#include "validate/fit.hpp"
#include "validate/noise_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace warptime::validate::calibrate {
namespace {

bool is_asked(const std::vector<std::string>& asked, const std::string& suite) {
    return asked.empty() || std::find(asked.begin(), asked.end(), suite) != asked.end();
}

class Run {
  public:
    Run(const RecordedRows& rows, hw::Gpu& gpu, const std::vector<std::string>& suites,
        const model::prediction::Engine& engine)
        : rows_(&rows), gpu_(&gpu), asked_(&suites), engine_(&engine) {
        std::map<std::string, std::vector<const RecordedRow*>> by_suite;
        for (const RecordedRow& row : rows.rows) {
            if (row.gpu == gpu.id) by_suite[row.suite].push_back(&row);
        }
        for (const auto& [suite, its_rows] : by_suite) {
            recorded_.insert(suite);
            const Recordings parted = part_recordings(its_rows);
            first_.insert(first_.end(), parted.first.begin(), parted.first.end());
        }
        const std::vector<std::string_view> known(recorded_.begin(), recorded_.end());
        for (const std::string& suite : suites) {
            if (recorded_.count(suite) == 0) throw Error("--suite", suite, hw::expected_names(suite, known));
        }
    }

    void constant(const IsolatedConstant& constant) {
        if (!is_asked(*asked_, constant.selections.front().suite)) return;
        keep(find_constant(constant, first_, *gpu_), Method::closed_form);
    }

    void fit(const FitJob& job) {
        const std::vector<std::string> suites = available(job.suites);
        if (suites.empty()) {
            if (!asked_->empty()) return;
            for (const std::string& text : job.keys) {
                Finding nothing;
                nothing.key = text.substr(0, text.find('='));
                nothing.why = fmt::format("no rows of {}", fmt::join(job.suites, ", "));
                keep(nothing, Method::least_squares);
            }
            return;
        }
        std::vector<FitKey> keys;
        for (const std::string& text : job.keys) keys.push_back(parse_fit_key(text, *gpu_));
        const hw::Gpu before = *gpu_;
        EngineFitModel model(*rows_, *engine_, *gpu_, suites, RowsTaken::fit_only);
        const FitReport report = fit_keys(*gpu_, keys, model.model());
        note(report, model, suites);
        *gpu_ = before;  // the loop below puts in only what is determined
        for (const FittedKey& fitted : report.keys)
            keep(finding_of(fitted, report, suites), Method::least_squares);
    }

    void bands(const FitJob& job) {
        const std::vector<std::string> suites = available(job.suites);
        if (suites.empty()) return;
        EngineFitModel model(*rows_, *engine_, *gpu_, suites, RowsTaken::fit_and_development);
        for (const BandWidth& band : band_widths(model.estimates())) {
            Finding finding;
            finding.key = band.key;
            finding.value = band.value;
            finding.residual = band.residual;
            finding.rows = static_cast<int>(band.rows);
            finding.determined = true;
            finding.source = fmt::format("80 % quantile of the residuals of fit and development rows of {}",
                                         fmt::join(band.suites, ", "));
            keep(finding, Method::band);
        }
    }

    [[nodiscard]] Calibration& result() { return result_; }
    [[nodiscard]] const std::vector<const RecordedRow*>& first() const { return first_; }

  private:
    /// The wanted suites that are recorded and asked for. A fit takes the suites that exist.
    [[nodiscard]] std::vector<std::string> available(const std::vector<std::string>& wanted) const {
        std::vector<std::string> found;
        for (const std::string& suite : wanted) {
            if (recorded_.count(suite) != 0 && is_asked(*asked_, suite)) found.push_back(suite);
        }
        return found;
    }

    static Finding finding_of(const FittedKey& fitted, const FitReport& report,
                              const std::vector<std::string>& suites) {
        Finding finding;
        finding.key = fitted.name;
        finding.value = fitted.value;
        finding.rows = static_cast<int>(report.rows);
        finding.residual = std::isfinite(report.mean_log_error) ? report.mean_log_error : 0.0;
        finding.source = fmt::format("least squares on the fit rows of {}", fmt::join(suites, ", "));
        if (fitted.at_bound) {
            finding.why = "the fit drives it to its bound";
        } else if (!std::isfinite(fitted.half_width_80)) {
            finding.why = "the rows do not depend on it";
        } else if (fitted.half_width_80 > fitted.value) {
            finding.why = "its interval is wider than the value";
        } else {
            finding.determined = true;
            finding.half_width = fitted.half_width_80;
        }
        return finding;
    }

    void note(const FitReport& report, const EngineFitModel& model, const std::vector<std::string>& suites) {
        result_.notes.push_back(
            fmt::format("{}: {} fit rows, {} refused; loss {:.4g} -> {:.4g}; MAPE {:.2f} %, under 10 us |p - "
                        "t| {:.3f} us of {} rows",
                        fmt::join(suites, ", "), report.rows, report.refused, report.loss_before,
                        report.loss_after, 100.0 * report.mape, report.short_mean_us, report.short_rows));
        for (const std::string& reason : model.refusals()) result_.notes.push_back("refused: " + reason);
    }

    void keep(const Finding& finding, Method method) {
        const std::size_t key = hw::key_index(finding.key);
        const hw::Provenance& from = gpu_->provenance[key];
        const double before = hw::key_value(*gpu_, key);
        std::string origin(hw::to_string(from.origin));
        if (from.origin == hw::Origin::inherited) origin += " " + from.sheet;
        result_.keys.push_back({finding, method, before, origin});
        if (finding.determined) hw::set_key_value(*gpu_, key, finding.value);
    }

    const RecordedRows* rows_;
    hw::Gpu* gpu_;
    const std::vector<std::string>* asked_;
    const model::prediction::Engine* engine_;
    std::vector<const RecordedRow*> first_;
    std::set<std::string> recorded_;
    Calibration result_;
};

}  // namespace

const char* to_string(Method method) {
    switch (method) {
        case Method::closed_form:
            return "closed form";
        case Method::least_squares:
            return "least squares";
        case Method::band:
            return "band";
    }
    return "";
}

Calibration calibrate(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu, std::string_view text,
                      const std::vector<std::string>& suites, const model::prediction::Engine& engine,
                      const std::string& date) {
    Run run(rows, gpu, suites, engine);
    for (const IsolatedConstant& constant : plan.constants) run.constant(constant);
    for (const FitJob& job : plan.fits) run.fit(job);
    for (const FitJob& job : plan.bands) run.bands(job);

    Calibration result = std::move(run.result());
    std::vector<CalibrationEntry> entries;
    std::vector<Undetermined> undetermined;
    for (const CalibratedKey& key : result.keys) {
        const Finding& f = key.finding;
        if (f.determined) {
            entries.push_back({f.key, f.value, f.half_width, f.rows, f.residual, date, f.source});
        } else {
            undetermined.push_back({f.key, f.why, key.before_from});
        }
    }
    if (entries.empty()) {
        throw Error("calibrate", fmt::format("no constant of {} is determined by the rows", gpu.id),
                    "recorded fit rows of this GPU in the folder of --data; `warptime record` takes them");
    }
    const std::string start =
        text.empty() ? fmt::format("[calibration]\ngpu = \"{}\"\n", gpu.id) : std::string(text);
    result.text = mark_undetermined(with_rows_source(update_calibration(start, entries), gpu.id, run.first()),
                                    entries, undetermined);
    return result;
}

std::vector<Finding> find_constants(const Plan& plan, const RecordedRows& rows, hw::Gpu gpu,
                                    const std::vector<std::string>& suites,
                                    const model::prediction::Engine& engine) {
    Run run(rows, gpu, suites, engine);
    for (const IsolatedConstant& constant : plan.constants) run.constant(constant);
    std::vector<Finding> findings;
    for (const CalibratedKey& key : run.result().keys) findings.push_back(key.finding);
    return findings;
}

}  // namespace warptime::validate::calibrate
