// Sweeps: a grid of points, its rows in chunks of NumPy arrays, and the file that a later run goes on with.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/sweeps/rows_file.hpp"
#include "bindings/sweeps/sweep.hpp"

#include <algorithm>
#include <memory>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

using sweeps::Grid;
using sweeps::Rows;

/// Name and values; a text is a list or a range in the program's form.
using PythonAxis = std::pair<std::string, std::variant<std::string, std::vector<std::string>>>;

std::unique_ptr<Grid> make_grid(const std::string& op,
                                const std::vector<std::pair<std::string, Model*>>& gpus,
                                std::vector<std::string> engines, const std::vector<PythonAxis>& axes) {
    std::vector<sweeps::GridGpu> grid_gpus;
    for (const auto& [name, model] : gpus) {
        grid_gpus.push_back({name, std::make_shared<const hw::Gpu>(model->gpu())});
    }
    std::vector<sweeps::GivenAxis> given;
    for (const auto& [name, values] : axes) {
        const auto* text = std::get_if<std::string>(&values);
        given.push_back({name, text == nullptr
                                   ? std::get<std::vector<std::string>>(values)
                                   : sweeps::values_of(workloads::find_operator(op), name, *text)});
    }
    return std::make_unique<Grid>(op, std::move(grid_gpus), std::move(engines), std::move(given));
}

/// Returns tuples (name, values, whether they are numbers).
py::list axes_of(const Grid& grid) {
    py::list list;
    for (const sweeps::Axis* axis : grid.all_axes()) {
        list.append(py::make_tuple(axis->name, axis->values, !axis->numbers.empty()));
    }
    return list;
}

template <class Number>
py::array_t<Number> array_of(const std::vector<Number>& numbers) {
    return py::array_t<Number>(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

/// Calls `take` with (time, low, high in s, indices of the limiter's and the status's name, [(row, message)
/// of failed rows], CSV text) of each chunk, in order. Zero threads: those of the machine.
void run(const Grid& grid, std::uint64_t begin, std::uint64_t end, unsigned threads, bool with_text,
         const py::function& take) {
    sweeps::SweepOptions options;
    options.begin = begin;
    options.end = std::min(end, grid.points());
    options.threads = threads == 0 ? sweeps::available_threads() : threads;
    options.with_text = with_text;
    options.take = [&take](const Rows& rows) {
        const py::gil_scoped_acquire locked;
        take(array_of(rows.time), array_of(rows.low), array_of(rows.high), array_of(rows.limiter),
             array_of(rows.status), rows.errors, rows.text);
    };
    options.interrupted = [] {
        const py::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        return false;
    };
    const py::gil_scoped_release unlocked;
    static_cast<void>(sweeps::sweep(grid, options));
}

}  // namespace

void bind_sweep(py::module_& module) {
    const auto metaclass = py::metaclass(reinterpret_cast<PyObject*>(&PyType_Type));
    py::class_<Grid>(module, "SweepGrid", metaclass)
        .def(py::init(&make_grid), py::arg("op"), py::arg("gpus"), py::arg("engines"), py::arg("axes"))
        .def_property_readonly("points", &Grid::points)
        .def("axes", &axes_of)
        .def("run", &run, py::arg("begin"), py::arg("end"), py::arg("threads"), py::arg("with_text"),
             py::arg("take"));
    py::class_<sweeps::RowsFile>(module, "RowsFile", metaclass)
        .def(py::init<std::string, const Grid&, bool>(), py::arg("path"), py::arg("grid"), py::arg("resume"))
        .def_property_readonly("done", &sweeps::RowsFile::done)
        .def("append", [](sweeps::RowsFile& file, const std::string& rows) { file.append(rows); });
}

}  // namespace warptime::python
