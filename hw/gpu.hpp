// A GPU: the value of every key in hw/keys.toml, its instruction costs, and where each number comes from.
// Templated on the scalar, so that Gpu<Dual<N>> carries derivatives by chosen keys through every formula.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu_keys.hpp"
#include "hw/instruction_table.hpp"
#include "hw/provenance.hpp"

#include <string>
#include <type_traits>
#include <vector>

namespace warptime::hw {

inline constexpr double warp_threads = 32;  // fixed by the programming model, PTX ISA 8.7 section 2.3.1

template <class S>
struct Gpu : GpuKeys<S> {
    std::string id;            ///< sheet id, "h200-sxm"
    std::string name;          ///< product name
    std::string architecture;  ///< "Hopper"
    std::string memory_type;   ///< "HBM3e"
    std::string isa;           ///< instruction table, "sm_90"
    int compute_major = 0;
    int compute_minor = 0;
    bool calibrated = false;  ///< has a calibration of its own recorded rows, not only inherited constants
    InstructionTable<S> instructions;
    std::vector<Provenance> provenance;  ///< by key index
};

template <class T>
inline constexpr bool is_key_list = false;
template <class T>
inline constexpr bool is_key_list<std::vector<T>> = true;

/// Results per cycle and SM behind `lanes`; 1 per cycle for Lanes::none.
template <class S>
[[nodiscard]] PerCycle<S> lanes_of(const GpuKeys<S>& gpu, Lanes lanes) {
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
    return PerCycle<S>(S(1));
}

/// Recomputes every interval that derives from a lane count; call it after changing a key.
template <class S>
void resolve_instructions(Gpu<S>& gpu) {
    for (InstructionCost<S>& cost : gpu.instructions.costs) {
        if (cost.lanes != Lanes::none) {
            const Number<S> results(S(warp_threads * cost.results_per_thread));
            cost.interval = results * gpu.sm.sub_partitions / lanes_of(gpu, cost.lanes);
        }
    }
}

/// The same GPU over another scalar; derivatives start at zero.
template <class To, class From>
[[nodiscard]] Gpu<To> convert(const Gpu<From>& from) {
    Gpu<To> to;
    visit_key_pairs(to, from, [](std::size_t, auto& out, const auto& in) {
        using Field = std::remove_cvref_t<decltype(out)>;
        if constexpr (is_key_list<Field>) {
            out.clear();
            for (const auto& value : in) {
                out.push_back(typename Field::value_type(To(value.value())));
            }
        } else {
            out = Field(To(in.value()));
        }
    });
    to.id = from.id;
    to.name = from.name;
    to.architecture = from.architecture;
    to.memory_type = from.memory_type;
    to.isa = from.isa;
    to.compute_major = from.compute_major;
    to.compute_minor = from.compute_minor;
    to.calibrated = from.calibrated;
    to.provenance = from.provenance;
    to.instructions.ptx = from.instructions.ptx;
    for (std::size_t i = 0; i < instruction_class_count; ++i) {
        const InstructionCost<From>& in = from.instructions.costs[i];
        to.instructions.costs[i] = {in.supported,
                                    in.unit,
                                    Number<To>(To(in.machine.value())),
                                    Cycles<To>(To(in.interval.value())),
                                    Cycles<To>(To(in.latency.value())),
                                    in.lanes,
                                    in.results_per_thread};
    }
    return to;
}

/// Value of a key by its index in key_info, in base units; for a list, its largest (last) element.
template <class S>
[[nodiscard]] S key_value(const GpuKeys<S>& gpu, std::size_t key) {
    S result{};
    visit_keys(gpu, [&](std::size_t index, const auto& field) {
        if (index == key) {
            if constexpr (is_key_list<std::remove_cvref_t<decltype(field)>>) {
                result = field.empty() ? S{} : field.back().value();
            } else {
                result = field.value();
            }
        }
    });
    return result;
}

/// Sets a key by its index, in base units; a list becomes this one element. Instruction intervals follow.
template <class S>
void set_key_value(Gpu<S>& gpu, std::size_t key, const S& value) {
    visit_keys(static_cast<GpuKeys<S>&>(gpu), [&](std::size_t index, auto& field) {
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
