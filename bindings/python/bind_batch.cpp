// A batch from NumPy columns to NumPy columns.
// No row needs a Python object, except for words in object arrays.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/python/columns.hpp"
#include "bindings/python/model.hpp"
#include "workloads/batch.hpp"

#include <algorithm>
#include <array>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace warptime::python {

namespace {

// Rows between two checks for Ctrl-C.
constexpr std::size_t rows_at_once = 2048;

std::span<double> span_of(py::array_t<double>& array) {
    return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// Returns (time, low, high in s, indices of the limiter's and the status's name, [(row, message) of failed
/// rows]).
py::tuple predict_batch(const std::string& op, const py::dict& values, Model& gpu,
                        const std::string& engine) {
    std::vector<workloads::BatchColumn> columns;
    std::vector<py::object> owners;  // of the columns' memory
    for (const auto& [name, value] : values) {
        columns.push_back(
            column_of(py::cast<std::string>(name), py::reinterpret_borrow<py::object>(value), owners));
    }
    const Model::Lease lease(gpu, engine);
    workloads::Batch batch(op, std::move(columns), lease.predictor());
    const auto rows = static_cast<py::ssize_t>(batch.rows());
    py::array_t<double> time(rows);
    py::array_t<double> low(rows);
    py::array_t<double> high(rows);
    py::array_t<std::uint8_t> limiter(rows);
    py::array_t<std::uint8_t> status(rows);
    workloads::BatchAnswers answers{span_of(time),
                                    span_of(low),
                                    span_of(high),
                                    {limiter.mutable_data(), batch.rows()},
                                    {status.mutable_data(), batch.rows()},
                                    {}};
    for (std::size_t begin = 0; begin < batch.rows(); begin += rows_at_once) {
        {
            const py::gil_scoped_release unlocked;
            batch.predict(begin, std::min(batch.rows(), begin + rows_at_once), answers);
        }
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
    }
    std::array<std::uint8_t, model::prediction::status_count> of_engine{};
    for (std::size_t i = 0; i < of_engine.size(); ++i) {
        of_engine[i] =
            static_cast<std::uint8_t>(engines::status_of(engine, static_cast<model::prediction::Status>(i)));
    }
    for (std::uint8_t& row : answers.status) row = of_engine[row];
    return py::make_tuple(time, low, high, limiter, status, answers.errors);
}

std::vector<std::string_view> limiter_names() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < model::prediction::limiter_count; ++i) {
        names.push_back(to_string(static_cast<model::prediction::Limiter>(i)));
    }
    return names;
}

std::vector<std::string_view> status_names() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < model::prediction::status_count; ++i) {
        names.push_back(to_string(static_cast<model::prediction::Status>(i)));
    }
    return names;
}

}  // namespace

void bind_batch(py::module_& module) {
    module.def("predict_batch", &predict_batch, py::arg("op"), py::arg("values"), py::arg("gpu"),
               py::arg("engine"));
    module.attr("limiters") = limiter_names();
    module.attr("statuses") = status_names();
}

}  // namespace warptime::python
