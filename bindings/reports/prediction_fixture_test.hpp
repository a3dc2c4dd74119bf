// A prediction with a different number in every field, for the tests of both reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "model/prediction/prediction.hpp"

namespace warptime::reports {

inline model::prediction::Prediction example_prediction() {
    using namespace model::prediction;
    Prediction p;
    p.time = 200e-6;
    p.low = 190e-6;
    p.high = 212e-6;
    p.span = 203e-6;
    p.status = Status::calibrated;
    p.band_source = "residuals of compute";
    p.kernel_class = KernelClass::compute;
    p.limiter = Limiter::tensor_core;
    p.bounds = {{Limiter::dram, 25e-6, {{"bytes", 1e8}, {"bytes_per_s", 4e12}}},
                {Limiter::tensor_core, 170e-6, {{"flops", 137438953472.0}}}};
    p.shares = {{"prologue", 0.015}, {"tensor_core", 0.88}, {"tail", 0.1}, {"launch", 0.005}};
    p.utilization = {0.85, 0.01, 0.2, 0.4, 0.3, 0.25, 0.12};
    p.flops_per_s = 6.87e14;
    p.dram_bytes_per_s = 5e11;
    p.l2_bytes_per_s = 3e12;
    p.occupancy = {1, 12, "registers", "shared"};
    p.waves = 3.88;
    p.counters = {{"dram__bytes_read.sum", 67108864.0}, {"smsp__inst_executed.sum", 1234567.0}};
    p.clock_hz = 1.755e9;
    p.power_w = 650.0;
    p.constants = {17, 0};
    p.steps = {{"memset", "counter", 2e-6}, {"kernel", "gemm", 198e-6}};
    return p;
}

inline ReportContext example_context() {
    return {"h200-sxm",
            "gemm",
            {{"m", "4096", true},
             {"n", "4096", true},
             {"k", "4096", true},
             {"dtype", "bf16", false},
             {"batch", "1", true, true}},
            {},
            "analytical",
            {}};
}

}  // namespace warptime::reports
