// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "model/analytical/engine.hpp"
#include "model/simulation/engine.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace warptime::engines {

void check_engine_name(std::string_view name) {
    static constexpr std::array<std::string_view, 2> names{"analytical", "simulation"};
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw Error("engine", std::string(name), hw::expected_names(name, names));
    }
}

std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name) {
    check_engine_name(name);
    if (name == "simulation") {
        return model::simulation::make_engine();
    }
    return model::analytical::make_engine();
}

}  // namespace warptime::engines
