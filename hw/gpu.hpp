// GPU: the value of every key in hw/keys.toml, its instruction costs, and the origin of each number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu_keys.hpp"
#include "hw/instruction_table.hpp"
#include "hw/provenance.hpp"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace warptime::hw {

inline constexpr double warp_threads = 32;  // fixed by the programming model, PTX ISA 8.7 section 2.3.1

struct Gpu : GpuKeys {
    std::string id;            ///< sheet id, "h200-sxm"
    std::string name;          ///< product name
    std::string architecture;  ///< "Hopper"
    std::string memory_type;   ///< "HBM3e"
    std::string isa;           ///< instruction table, "sm_90"
    int compute_major = 0;
    int compute_minor = 0;
    bool calibrated = false;  ///< has a calibration from its own recorded rows, not only inherited constants
    InstructionTable instructions;
    std::vector<Provenance> provenance;  ///< by key index
    /// Changes by settings, in order: key with its prefix, and the value as given.
    std::vector<std::pair<std::string, std::string>> settings;
};

template <class T>
inline constexpr bool is_key_list = false;
template <class T>
inline constexpr bool is_key_list<std::vector<T>> = true;

/// Results per cycle and SM behind `lanes`; 1 per cycle for Lanes::none.
[[nodiscard]] inline PerCycle lanes_of(const GpuKeys& gpu, Lanes lanes) {
    switch (lanes) {
        case Lanes::fp32:
            return gpu.fp32.lanes;
        case Lanes::fp64:
            return gpu.fp64.lanes;
        case Lanes::fp16:
            return gpu.fp16.lanes;
        case Lanes::integer:
            return gpu.integer.lanes;
        case Lanes::sfu:
            return gpu.sfu.lanes;
        case Lanes::shuffle:
            return gpu.shuffle.lanes;
        case Lanes::none:
        case Lanes::count:
            break;
    }
    return PerCycle(1.0);
}

/// Recomputes every interval that derives from a lane count; needed after a change of a key.
inline void resolve_instructions(Gpu& gpu) {
    for (InstructionCost& cost : gpu.instructions.costs) {
        if (cost.lanes != Lanes::none) {
            const Number results(warp_threads * cost.results_per_thread);
            cost.interval = results * gpu.sm.sub_partitions / lanes_of(gpu, cost.lanes);
        }
    }
}

/// Value of a key by its index in key_info, in base units; for a list its largest (last) element.
[[nodiscard]] inline double key_value(const GpuKeys& gpu, std::size_t key) {
    double result = 0.0;
    visit_keys(gpu, [&](std::size_t index, const auto& field) {
        if (index == key) {
            if constexpr (is_key_list<std::remove_cvref_t<decltype(field)>>) {
                result = field.empty() ? 0.0 : field.back().value();
            } else {
                result = field.value();
            }
        }
    });
    return result;
}

/// Sets a key by its index, in base units; a list becomes this one element. Instruction intervals follow.
inline void set_key_value(Gpu& gpu, std::size_t key, double value) {
    visit_keys(static_cast<GpuKeys&>(gpu), [&](std::size_t index, auto& field) {
        if (index == key) {
            using Field = std::remove_cvref_t<decltype(field)>;
            if constexpr (is_key_list<Field>) {
                field.assign(1, typename Field::value_type(value));
            } else {
                field = Field(value);
            }
        }
    });
    resolve_instructions(gpu);
}

}  // namespace warptime::hw
