// Pages for a browser, and the scoreboard as rows and figures.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/reports/prediction_page.hpp"
#include "bindings/reports/scoreboard_page.hpp"
#include "bindings/steps/step_row_predictor.hpp"
#include "hw/sheet.hpp"
#include "validate/engine_predictor.hpp"
#include "validate/scoreboard_rows.hpp"

#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

using Names = std::vector<std::string>;

/// Returns (JSON, rows as CSV, page); the page is empty unless it is asked for.
std::tuple<std::string, std::string, std::string> scoreboard(const std::string& data, const Names& suites,
                                                             const Names& gpus, const std::string& engine,
                                                             std::size_t sample, bool with_page) {
    validate::ScoreOptions options;
    options.suites = suites;
    for (const std::string& name : gpus) options.gpus.push_back(hw::sheet_id_of(name));
    options.sample = sample;
    options.keep_rows = true;
    const auto chosen = engines::make_engine(engine);
    const auto chooser = engines::make_engine(engines::default_engine);
    validate::EngineRowPredictor operators(*chosen, {}, chooser.get());
    const std::filesystem::path folder = validate::find_recorded(data);
    steps::StepRowPredictor predictor(operators, steps::captures_beside(folder));
    const validate::RecordedRows rows = validate::read_recorded(folder);
    const validate::Scoreboard board = validate::score(rows, predictor, options);
    return {validate::to_json(board), validate::rows_csv(board, false),
            with_page ? reports::scoreboard_page(board, *chosen) : std::string()};
}

}  // namespace

void bind_reports(py::module_& module) {
    module.def("prediction_page", &reports::prediction_page, py::arg("json"), py::arg("text"));
    module.def("scoreboard", &scoreboard, py::arg("data"), py::arg("suites"), py::arg("gpus"),
               py::arg("engine"), py::arg("sample"), py::arg("with_page"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
