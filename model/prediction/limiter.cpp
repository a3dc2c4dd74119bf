// Names and classes of the limiters, as the JSON contract spells them.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/limiter.hpp"

#include <array>

namespace warptime::model::prediction {

namespace {

constexpr std::array<std::string_view, limiter_count> names{
    "tensor_core", "fp32", "fp64",     "int",  "sfu", "issue",         "shared",
    "l1",          "l2",   "crossbar", "dram", "tma", "chain_latency", "bytes_in_flight",
    "launch",      "tail", "atomic"};

}  // namespace

std::string_view to_string(Limiter limiter) {
    const auto index = static_cast<std::size_t>(limiter);
    return index < limiter_count ? names[index] : "unknown";
}

std::string_view to_string(KernelClass kernel_class) {
    switch (kernel_class) {
        case KernelClass::compute:
            return "compute";
        case KernelClass::memory:
            return "memory";
        case KernelClass::latency:
            return "latency";
        case KernelClass::occupancy:
            return "occupancy";
        case KernelClass::launch:
            return "launch";
    }
    return "unknown";
}

KernelClass class_of(Limiter limiter) {
    switch (limiter) {
        case Limiter::tensor_core:
        case Limiter::fp32:
        case Limiter::fp64:
        case Limiter::integer:
        case Limiter::sfu:
        case Limiter::issue:
            return KernelClass::compute;
        case Limiter::shared:
        case Limiter::l1:
        case Limiter::l2:
        case Limiter::crossbar:
        case Limiter::dram:
        case Limiter::tma:
        case Limiter::atomic:
            return KernelClass::memory;
        case Limiter::chain_latency:
        case Limiter::bytes_in_flight:
            return KernelClass::latency;
        case Limiter::tail:
            return KernelClass::occupancy;
        case Limiter::launch:
        case Limiter::count:
            break;
    }
    return KernelClass::launch;
}

}  // namespace warptime::model::prediction
