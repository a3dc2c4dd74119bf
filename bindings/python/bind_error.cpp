// Translates the library's only error to the package's only exception.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "hw/error.hpp"

#include <exception>
#include <string>

namespace py = pybind11;

namespace warptime::python {

namespace {

/// Text from a file need not be UTF-8, but the exception's text must be.
py::str text_of(const std::string& text) {
    return py::reinterpret_steal<py::str>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

}  // namespace

void bind_error(py::module_&) {
    py::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            const py::object type = py::module_::import("warptime._error").attr("WarptimeError");
            const py::object value =
                type(text_of(error.parameter()), text_of(error.value()), text_of(error.expected()));
            PyErr_SetObject(type.ptr(), value.ptr());
        }
    });
}

}  // namespace warptime::python
