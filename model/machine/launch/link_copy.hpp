// Copies between host and device: a fixed time, then bytes at a rate.
// The rate is that of the link or, for pageable memory, of the driver's copies through pinned buffers, which
// read from the host's caches as long as these hold the source. Ignores: several copies at once, NUMA
// distance of the host's memory, and peers (NVLink). Source: latency and bandwidth fitted (keys
// link.*): one bandwidth both ways for pinned memory, all else for each direction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>

namespace warptime::model::machine {

[[nodiscard]] constexpr const char* copy_name(const kernel::Memcpy& copy) {
    switch (copy.link) {
        case kernel::Link::host_to_device:
            return "host to device";
        case kernel::Link::device_to_host:
            return "device to host";
        case kernel::Link::peer:
            return "peer to peer";
        case kernel::Link::device:
            break;
    }
    return "device to device";
}

/// Largest copy from pageable memory that travels with the commands. Source: CUDA Runtime API, "API
/// synchronization behavior": transfers of up to 64 KB return before the copy is done.
inline constexpr std::int64_t inline_bytes = 65536;

struct LinkCopy {
    hw::Seconds latency{};
    hw::Seconds transfer{};
};

/// Throws Error for a copy that stays on the device or goes to a peer.
[[nodiscard]] inline LinkCopy link_copy(const kernel::Memcpy& copy, const hw::Gpu& gpu) {
    const bool down = copy.link == kernel::Link::device_to_host;
    if (!down && copy.link != kernel::Link::host_to_device) {
        throw Error("memcpy link", copy.link == kernel::Link::peer ? "peer" : "device",
                    "host_to_device or device_to_host: copies to another GPU are not modelled");
    }
    const hw::Bytes bytes(static_cast<double>(copy.bytes));
    if (copy.pinned) {
        return {down ? gpu.link.d2h_latency : gpu.link.h2d_latency, bytes / gpu.link.pinned_bandwidth};
    }
    if (down) {
        // The host copies out of a pinned buffer while the next one fills; nothing is beside the first ones.
        const hw::Seconds first = std::min(bytes, gpu.link.staging_bytes) / gpu.link.staging_bandwidth;
        return {gpu.link.pageable_d2h_latency, bytes / gpu.link.pageable_d2h_bandwidth + first};
    }
    if (bytes > gpu.link.host_cache) {
        return {gpu.link.pageable_h2d_latency, bytes / gpu.link.pageable_h2d_far_bandwidth};
    }
    const bool is_inline = copy.bytes <= inline_bytes;
    return {gpu.link.pageable_h2d_latency,
            bytes / (is_inline ? gpu.link.inline_bandwidth : gpu.link.pageable_h2d_bandwidth)};
}

}  // namespace warptime::model::machine
