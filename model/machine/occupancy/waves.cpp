// Waves. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/waves.hpp"

#include "hw/error.hpp"

#include <string>

namespace warptime::model::machine {

Waves waves_of(std::int64_t items, std::int64_t slots) {
    if (slots < 1) {
        throw Error("waves slots", std::to_string(slots), "at least 1 resident CTA");
    }
    if (items < 0) {
        throw Error("waves items", std::to_string(items), "at least 0");
    }
    return {items, slots, items / slots, items % slots,
            static_cast<double>(items) / static_cast<double>(slots)};
}

}  // namespace warptime::model::machine
