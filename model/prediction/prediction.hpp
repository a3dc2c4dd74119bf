// Answer of an engine: time with its band, every bound with its inputs, shares of the time, counters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/provenance.hpp"
#include "model/kernel/evidence.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/limiter.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace warptime::model::prediction {

/// Answer of the hot path, in seconds.
struct Estimate {
    double time = 0.0;
    double low = 0.0;  ///< lower end of the 80 % band
    double high = 0.0;
    Limiter limiter = Limiter::launch;
    KernelClass band_class = KernelClass::latency;      ///< class whose residuals give the band
    kernel::Evidence evidence = kernel::Evidence::own;  ///< of a program: of its least known kernel
};

/// what_if: the answer rests on changed numbers and cannot be measured.
enum class Status : std::uint8_t { calibrated, extrapolated, what_if };
inline constexpr std::size_t status_count = 3;
[[nodiscard]] std::string_view to_string(Status status);

/// Time (seconds) of the kernel if this limiter alone held it back, and the inputs of that time.
struct Bound {
    Limiter limiter = Limiter::launch;
    double time = 0.0;
    std::vector<std::pair<std::string, double>> inputs;
};

struct OccupancyReport {
    int ctas_per_sm = 0;
    int warps_per_sm = 0;
    std::string limit;
    std::string next_limit;
};

struct Utilization {
    double tensor = 0, fp32 = 0, issue = 0, shared = 0, l1 = 0, l2 = 0, dram = 0;
};

/// One device activity of an operator.
struct StepReport {
    std::string kind;  ///< kernel, memset, memcpy
    std::string name;
    double time = 0.0;
};

/// Full answer. Shares are of exposed time by cause and sum to 1. Counters carry Nsight Compute's names and
/// units.
struct Prediction {
    double time = 0.0, low = 0.0, high = 0.0;  ///< seconds
    double span = 0.0;                         ///< seconds from first start to last end
    Status status = Status::extrapolated;
    std::string band_source;
    std::vector<std::string> warnings;  ///< of the compiler that made the kernels
    KernelClass kernel_class = KernelClass::launch;
    Limiter limiter = Limiter::launch;
    std::vector<Bound> bounds;
    std::vector<std::pair<std::string, double>> shares;
    Utilization utilization;
    double flops_per_s = 0.0, dram_bytes_per_s = 0.0, l2_bytes_per_s = 0.0;
    OccupancyReport occupancy;
    double waves = 0.0;
    std::vector<std::pair<std::string, double>> counters;
    double clock_hz = 0.0;
    double power_w = 0.0;
    hw::ConstantCounts constants;  ///< that the answer rests on
    std::vector<StepReport> steps;
};

}  // namespace warptime::model::prediction
