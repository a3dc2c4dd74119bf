// Times of tiles one by one, in the given order, for a tuner.
// A tuner sorts for itself. It must know of each configuration whether it cannot run, or only cannot be
// predicted. It must also know which configurations are one kernel.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "hw/error.hpp"
#include "workloads/choice/tiles/rank.hpp"

#include <algorithm>
#include <optional>
#include <pybind11/stl.h>
#include <tuple>
#include <variant>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace tiles = workloads::choice::tiles;

/// Whether the tile may run after all, then parameter, value and expected value.
using Refusal = std::tuple<bool, std::string, std::string, std::string>;
/// Seconds, or the reason why there is no time.
using Answer = std::variant<double, Refusal>;

Refusal refusal_of(bool may_run, const Error& error) {
    return {may_run, error.parameter(), error.value(), error.expected()};
}

/// Whether the tile may run. A tile without a lowering may still run well.
bool may_run(const workloads::Operation& operation, const tiles::Candidate& candidate, const hw::Gpu& gpu) {
    try {
        return tiles::fits(operation, candidate, gpu);
    } catch (const Error&) {
        return true;
    }
}

std::vector<Answer> tile_times(const std::string& op, const Texts& parameters, Model& gpu,
                               const Texts& conditions, const std::string& engine,
                               const std::vector<Texts>& space) {
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const model::prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    std::vector<Answer> answers(space.size());
    std::vector<tiles::Candidate> candidates;
    std::vector<std::size_t> places;  // of the candidates in the space
    for (std::size_t i = 0; i < space.size(); ++i) {
        try {
            candidates.push_back(tiles::candidate_of(operation, space[i]));
            places.push_back(i);
        } catch (const Error& error) {
            answers[i] = refusal_of(true, error);
        }
    }
    const tiles::Ranking each = tiles::predict_each(operation, candidates, lease.engine(), gpu.gpu(), chosen);
    for (const tiles::RankedTile& tile : each.tiles) {
        answers[places[tile.candidate]] = tile.estimate.time;
    }
    for (const std::size_t index : each.dropped) {
        answers[places[index]] = refusal_of(may_run(operation, candidates[index], gpu.gpu()),
                                            tiles::why_dropped(operation, candidates[index], gpu.gpu()));
    }
    return answers;
}

/// For each tile the first tile of the space that compiles to the same kernel. A tile that cannot be
/// described has its own place.
std::vector<std::size_t> same_kernels(const std::string& op, const Texts& parameters, Model& gpu,
                                      const std::vector<Texts>& space) {
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    std::vector<std::optional<tiles::Candidate>> kernels(space.size());
    std::vector<std::size_t> first(space.size());
    for (std::size_t i = 0; i < space.size(); ++i) {
        first[i] = i;
        try {
            kernels[i] = tiles::completed(operation, tiles::candidate_of(operation, space[i]), gpu.gpu());
        } catch (const Error&) {
            continue;
        }
        const auto known =
            std::find(kernels.begin(), kernels.begin() + static_cast<std::ptrdiff_t>(i), kernels[i]);
        first[i] = static_cast<std::size_t>(known - kernels.begin());
    }
    return first;
}

}  // namespace

void bind_tile_times(py::module_& module) {
    module.def("same_kernels", &same_kernels, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("space"), py::call_guard<py::gil_scoped_release>());
    module.def("tile_times", &tile_times, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("space"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
