// One prediction as the JSON that every binding shares and as two texts.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/context.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "bindings/reports/what_if.hpp"
#include "bindings/reports/would_help.hpp"

#include <pybind11/stl.h>
#include <tuple>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace prediction = model::prediction;

/// Returns (JSON, short text, long text, JSON of what would help). The last one is empty for the simulation,
/// which is too slow for it.
std::tuple<std::string, std::string, std::string, std::string> predict(const std::string& op,
                                                                       const Texts& parameters, Model& gpu,
                                                                       const Texts& conditions,
                                                                       const std::string& engine) {
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    prediction::Prediction answer = lease.predictor().explain(operation, chosen);
    const reports::ReportContext context =
        reports::make_report_context(operation, gpu.gpu(), chosen, lease.engine().name());
    reports::mark_what_if(context, answer);
    std::string in_depth = reports::explain_text(answer, context);
    std::vector<reports::WouldHelp> helpful;
    if (engine == engines::default_engine) {
        helpful = reports::twice_as_fast(lease.predictor().program(), lease.engine(), gpu.gpu(), chosen,
                                         answer.time);
        in_depth += reports::would_help_text(helpful, answer.time);
    }
    return {reports::to_json(answer, context, -1), reports::short_text(answer, context), std::move(in_depth),
            reports::with_would_help_json("{}", helpful, -1)};
}

}  // namespace

void bind_prediction(py::module_& module) {
    module.def("predict", &predict, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
