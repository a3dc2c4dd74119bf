// Course of a simulated operation as a trace for Perfetto and chrome://tracing, with the key names of
// PyTorch's profiler.
// Ignores: time between steps (as the sum of an operation's steps does). Of the SMs beyond the first ones
// only the CTAs are shown, so that the file stays readable; its metadata says so. Source: Trace Event Format
// (Google, "JSON Object Format"); libkineto/src/output_json.cpp for key names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <functional>
#include <string_view>

namespace warptime::reports {

/// Simulates the program and gives the file's text to `write`, piece by piece. Equal requests give equal
/// bytes. `context`: of the simulation's report. Throws Error as the simulation does.
void write_timeline(const model::kernel::Program& program, const hw::Gpu& gpu, const ReportContext& context,
                    const std::function<void(std::string_view)>& write);

}  // namespace warptime::reports
