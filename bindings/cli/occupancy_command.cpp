// occupancy: the number of resident CTAs of given resources, their limit, and the need of one more CTA.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/occupancy_report.hpp"
#include "model/machine/occupancy/occupancy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace warptime::cli {

namespace {

namespace machine = model::machine;

std::int64_t whole(const Arguments& arguments, std::string_view name, std::int64_t fallback) {
    const auto text = arguments.get(name);
    if (!text) {
        return fallback;
    }
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    std::int64_t value = -1;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 0 || value > largest) {
        throw UsageError(fmt::format("occupancy {}", name), *text,
                         fmt::format("a whole number from 0 to {}", largest));
    }
    return value;
}

machine::CtaResources read_resources(const Arguments& arguments) {
    if (!arguments.has("threads")) {
        throw UsageError("occupancy threads", "", "--threads with the threads of one CTA");
    }
    machine::CtaResources cta;
    cta.threads = static_cast<int>(whole(arguments, "threads", 0));
    cta.registers_per_thread = static_cast<int>(whole(arguments, "registers", 32));
    cta.dynamic_shared = whole(arguments, "shared_bytes", 0);
    cta.static_shared = whole(arguments, "static_shared_bytes", 0);
    cta.carveout_bytes = whole(arguments, "carveout_bytes", -1);
    cta.named_barriers = static_cast<int>(whole(arguments, "barriers", 1));
    return cta;
}

int run_occupancy(const Arguments& arguments) {
    const machine::CtaResources cta = read_resources(arguments);
    const hw::Gpu gpu = load_requested_gpu(required_gpu(arguments), read_settings(arguments));
    const reports::OccupancyReport report = reports::occupancy_report(cta, gpu);
    print(arguments.has("json") ? reports::to_json(report) + "\n" : reports::text_of(report));
    return exit_fine;
}

}  // namespace

Command occupancy_command() {
    CommandSpec spec{"occupancy",
                     "Resident CTAs per SM, the limit that binds, and what would let in one more",
                     "warptime occupancy --gpu h200-sxm --threads 256 --registers 128 --shared-bytes 98304",
                     gpu_options(),
                     {},
                     ""};
    const std::vector<OptionSpec> resources{
        {"threads", "Threads of one CTA; required", OptionKind::value, "N"},
        {"registers", "Registers per thread; default: 32", OptionKind::value, "N"},
        {"shared_bytes", "Dynamic shared memory of one CTA; default: 0", OptionKind::value, "N"},
        {"static_shared_bytes", "Static shared memory of one CTA; default: 0", OptionKind::value, "N"},
        {"carveout_bytes", "Preferred shared memory per SM; default: the driver's choice", OptionKind::value,
         "N"},
        {"barriers", "Named barriers of one CTA; default: 1", OptionKind::value, "N"}};
    spec.options.insert(spec.options.end(), resources.begin(), resources.end());
    return {std::move(spec), run_occupancy};
}

}  // namespace warptime::cli
