// Reads columns from Python and makes the text of each distinct word only once.
// Words of an array are compared by their bytes or by their object's identity. A column of a million rows has
// few distinct words.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/columns.hpp"

#include "hw/error.hpp"

#include <cstdint>
#include <pybind11/numpy.h>
#include <string_view>
#include <unordered_map>

namespace py = pybind11;

namespace warptime::python {

namespace {

using workloads::WordValues;

/// Words of fixed width in UCS-4, padded with zeros.
WordValues words_of_text(const py::array& array) {
    const auto width = static_cast<std::size_t>(array.itemsize());
    const auto* bytes = static_cast<const char*>(array.data());
    WordValues values;
    values.codes.reserve(static_cast<std::size_t>(array.size()));
    std::unordered_map<std::string_view, std::int32_t> known;
    std::string_view before;
    for (py::ssize_t row = 0; row < array.size(); ++row, bytes += width) {
        const std::string_view word(bytes, width);
        if (row > 0 && word == before) {
            values.codes.push_back(values.codes.back());
            continue;
        }
        before = word;
        const auto [at, is_new] = known.emplace(word, static_cast<std::int32_t>(values.words.size()));
        if (is_new) {
            values.words.push_back(py::cast<std::string>(py::str(array[py::int_(row)])));
        }
        values.codes.push_back(at->second);
    }
    return values;
}

WordValues words_of_objects(const py::array& array) {
    const auto* objects = static_cast<PyObject* const*>(array.data());
    WordValues values;
    values.codes.reserve(static_cast<std::size_t>(array.size()));
    std::unordered_map<PyObject*, std::int32_t> known_objects;
    std::unordered_map<std::string, std::int32_t> known_words;
    for (py::ssize_t row = 0; row < array.size(); ++row) {
        PyObject* const object = objects[row];
        auto at = known_objects.find(object);
        if (at == known_objects.end()) {
            std::string word;
            if (object != nullptr && object != Py_None) {
                word = py::cast<std::string>(py::str(py::handle(object)));
            }
            const auto [word_at, is_new] =
                known_words.emplace(word, static_cast<std::int32_t>(values.words.size()));
            if (is_new) {
                values.words.push_back(std::move(word));
            }
            at = known_objects.emplace(object, word_at->second).first;
        }
        values.codes.push_back(at->second);
    }
    return values;
}

}  // namespace

workloads::BatchColumn column_of(std::string name, const py::object& value, std::vector<py::object>& owners) {
    if (py::isinstance<py::str>(value)) {
        return {std::move(name), py::cast<std::string>(value)};
    }
    const auto array = py::cast<py::array>(value);
    const auto rows = static_cast<std::size_t>(array.size());
    if (array.ndim() != 1 || (array.flags() & py::array::c_style) == 0) {
        throw Error(name, "an array of " + std::to_string(array.ndim()) + " dimensions",
                    "a contiguous 1-D array");
    }
    owners.push_back(value);
    switch (array.dtype().kind()) {
        case 'i':
            if (array.itemsize() == sizeof(std::int64_t)) {
                return {std::move(name), std::span(static_cast<const std::int64_t*>(array.data()), rows)};
            }
            break;
        case 'f':
            if (array.itemsize() == sizeof(double)) {
                return {std::move(name), std::span(static_cast<const double*>(array.data()), rows)};
            }
            break;
        case 'U':
            return {std::move(name), words_of_text(array)};
        case 'O':
            return {std::move(name), words_of_objects(array)};
        default:
            break;
    }
    throw Error(name, "an array of " + py::cast<std::string>(py::str(array.dtype())),
                "an array of int64, float64, str or object");
}

}  // namespace warptime::python
