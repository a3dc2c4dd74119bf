// The parts that each bind file adds to the private module _core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace warptime::python {

/// Translates warptime::Error to warptime.WarptimeError with parameter, value and expected.
void bind_error(pybind11::module_& module);
/// Adds gpus and the class Gpu.
void bind_gpu(pybind11::module_& module);
/// Adds operators and conditions.
void bind_registry(pybind11::module_& module);
/// Adds predict.
void bind_prediction(pybind11::module_& module);
/// Adds prediction_page, scoreboard and scoreboard_page.
void bind_reports(pybind11::module_& module);
/// Adds describe_launch.
void bind_kernel(pybind11::module_& module);
/// Adds predict_batch.
void bind_batch(pybind11::module_& module);
/// Adds the classes SweepGrid and RowsFile.
void bind_sweep(pybind11::module_& module);
/// Adds best_tiles.
void bind_tiles(pybind11::module_& module);
/// Adds what_if, elasticities and advise.
void bind_advice(pybind11::module_& module);
/// Adds occupancy.
void bind_occupancy(pybind11::module_& module);
/// Adds tile_times.
void bind_tile_times(pybind11::module_& module);
/// Adds compare_tiles and read_problems.
void bind_comparison(pybind11::module_& module);
/// Adds read_profile and import_profile.
void bind_import(pybind11::module_& module);
void bind_step(pybind11::module_& module);

}  // namespace warptime::python
