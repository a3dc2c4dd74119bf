// Resident CTAs of given resources, in the same report as the program's.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/occupancy_report.hpp"

#include <pybind11/stl.h>
#include <tuple>

namespace py = pybind11;

namespace warptime::python {

namespace {

/// Returns (JSON, text).
std::tuple<std::string, std::string> occupancy(const Model& gpu, int threads, int registers,
                                               std::int64_t shared_bytes, std::int64_t static_shared_bytes,
                                               std::int64_t carveout_bytes, int barriers) {
    model::machine::CtaResources cta;
    cta.threads = threads;
    cta.registers_per_thread = registers;
    cta.dynamic_shared = shared_bytes;
    cta.static_shared = static_shared_bytes;
    cta.carveout_bytes = carveout_bytes;
    cta.named_barriers = barriers;
    const reports::OccupancyReport report = reports::occupancy_report(cta, gpu.gpu());
    return {reports::to_json(report, -1), reports::text_of(report)};
}

}  // namespace

void bind_occupancy(py::module_& module) {
    module.def("occupancy", &occupancy, py::arg("gpu"), py::arg("threads"), py::arg("registers"),
               py::arg("shared_bytes"), py::arg("static_shared_bytes"), py::arg("carveout_bytes"),
               py::arg("barriers"));
}

}  // namespace warptime::python
