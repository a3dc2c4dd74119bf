// What each bind file adds to the private module _core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace warptime::python {

/// warptime::Error becomes warptime.WarptimeError with parameter, value and expected.
void bind_error(pybind11::module_& module);
/// gpus, and the class Gpu.
void bind_gpu(pybind11::module_& module);
/// operators and conditions.
void bind_registry(pybind11::module_& module);
/// predict.
void bind_prediction(pybind11::module_& module);
/// predict_batch.
void bind_batch(pybind11::module_& module);
/// best_tiles.
void bind_tiles(pybind11::module_& module);
/// occupancy.
void bind_occupancy(pybind11::module_& module);
/// tile_times.
void bind_tile_times(pybind11::module_& module);
/// compare_tiles and read_problems.
void bind_comparison(pybind11::module_& module);

}  // namespace warptime::python
