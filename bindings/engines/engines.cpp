// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "model/analytical/engine.hpp"
#include "model/prediction/status.hpp"
#include "model/simulation/engine.hpp"

#include <array>
#include <string>

namespace warptime::engines {

std::string_view engine_named(std::string_view name) {
    static constexpr std::array<std::string_view, 2> names{"analytical", "simulation"};
    if (const auto index = hw::find_name(name, names)) {
        return names[*index];
    }
    throw Error("engine", std::string(name), hw::expected_names(name, names));
}

std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name) {
    if (engine_named(name) == "simulation") {
        return model::simulation::make_engine();
    }
    return model::analytical::make_engine();
}

model::prediction::Status status_of(std::string_view engine, const hw::Gpu& gpu,
                                    const model::prediction::Conditions& conditions,
                                    model::kernel::Evidence evidence) {
    return status_of(engine, model::prediction::status_of(gpu, conditions, evidence));
}

model::prediction::Status status_of(std::string_view engine, model::prediction::Status known) {
    using model::prediction::Status;
    // Constants are fitted only with the analytical engine.
    const bool fitted = hw::same_name(engine, default_engine) || known != Status::calibrated;
    return fitted ? known : Status::extrapolated;
}

}  // namespace warptime::engines
