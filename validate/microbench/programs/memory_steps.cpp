// The driver's own memory operations: memset and copies within the device and to and from the host.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "validate/microbench/programs/families.hpp"
#include "workloads/libraries/library.hpp"

#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

Probe memset_device(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    probe.program.add_memset(integer(parameters, "bytes"));
    return probe;
}

Probe memcpy_device(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    mk::Memcpy copy;
    copy.bytes = integer(parameters, "bytes");
    // Ends that are not aligned cost the driver another pass. Lengths that are not aligned cost the same.
    const workloads::libraries::DeviceCopyRule rule = workloads::libraries::load_libraries().device_copy;
    constexpr std::int64_t alignment = 256;
    const bool ragged = copy.bytes % rule.granule != 0 || integer(parameters, "offset") % alignment != 0;
    if (copy.bytes > rule.ragged_above && ragged) copy.passes = 2;
    probe.program.add_memcpy(copy);
    return probe;
}

Probe over_link(const Parameters& parameters, mk::Link link) {
    Probe probe;
    mk::Memcpy copy;
    copy.bytes = integer(parameters, "bytes");
    copy.link = link;
    const std::string& kind = text(parameters, "kind");
    if (kind != "pinned" && kind != "pageable") throw Error("params kind", kind, "pinned or pageable");
    copy.pinned = kind == "pinned";
    probe.program.add_memcpy(copy);
    probe.units = static_cast<double>(copy.bytes);
    return probe;
}

Probe h2d(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return over_link(parameters, mk::Link::host_to_device);
}

Probe d2h(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return over_link(parameters, mk::Link::device_to_host);
}

constexpr std::array families{
    Family{"microbench_memset_memcpy", "memset_device", memset_device},
    Family{"microbench_memset_memcpy", "memcpy_device", memcpy_device},
    Family{"microbench_host_copies", "h2d", h2d},
    Family{"microbench_host_copies", "d2h", d2h},
};

}  // namespace

std::span<const Family> memory_step_families() {
    return families;
}

}  // namespace warptime::validate::microbench
