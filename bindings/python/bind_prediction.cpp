// One prediction, as the JSON that every binding shares and as the two texts for people.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "model/prediction/report_json.hpp"
#include "model/prediction/report_text.hpp"
#include "workloads/report_context.hpp"

#include <pybind11/stl.h>
#include <tuple>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace prediction = model::prediction;

/// (JSON, short text, text in depth)
std::tuple<std::string, std::string, std::string> predict(const std::string& op, const Texts& parameters,
                                                          Model& gpu, const Texts& conditions,
                                                          const std::string& engine) {
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    const prediction::Prediction answer = lease.predictor().explain(operation, chosen);
    const prediction::ReportContext context =
        workloads::make_report_context(operation, gpu.gpu().id, chosen, lease.engine().name());
    return {prediction::to_json(answer, context, -1), prediction::short_text(answer, context),
            prediction::explain_text(answer, context)};
}

}  // namespace

void bind_prediction(py::module_& module) {
    module.def("predict", &predict, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
