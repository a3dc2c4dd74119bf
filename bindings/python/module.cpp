// The private module of the package warptime; warptime/*.py is its public part with types and examples.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/reports/version.hpp"

#include <string>

PYBIND11_MODULE(_core, module) {
    module.attr("version") = std::string(warptime::reports::program_version());
    warptime::python::bind_error(module);
    warptime::python::bind_registry(module);
    warptime::python::bind_gpu(module);
    warptime::python::bind_prediction(module);
    warptime::python::bind_reports(module);
    warptime::python::bind_kernel(module);
    warptime::python::bind_batch(module);
    warptime::python::bind_sweep(module);
    warptime::python::bind_tiles(module);
    warptime::python::bind_advice(module);
    warptime::python::bind_occupancy(module);
    warptime::python::bind_tile_times(module);
    warptime::python::bind_comparison(module);
    warptime::python::bind_import(module);
    warptime::python::bind_step(module);
}
