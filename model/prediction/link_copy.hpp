// Copies between the host and the device: a fixed time, then bytes at the rate of the link or, from pageable
// memory, of the driver's own copies to and from the pinned buffers between.
// Ignores: several copies at once, NUMA distance of the host's memory, and peers (NVLink).
// Source: latency and bandwidth fitted per direction (keys link.*). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"

namespace warptime::model::prediction {

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

/// Copies from pageable memory up to this go with the commands (CUDA Runtime API, "API synchronization
/// behavior": such transfers of 64 KB or less return before the copy is done).
inline constexpr std::int64_t inline_bytes = 65536;

template <class S>
struct LinkCopy {
    hw::Seconds<S> latency{};
    hw::Seconds<S> transfer{};
};

/// Throws Error for a copy that stays on the device or goes to a peer.
template <class S>
[[nodiscard]] LinkCopy<S> link_copy(const kernel::Memcpy& copy, const hw::Gpu<S>& gpu) {
    const bool down = copy.link == kernel::Link::device_to_host;
    if (!down && copy.link != kernel::Link::host_to_device) {
        throw Error("memcpy link", copy.link == kernel::Link::peer ? "peer" : "device",
                    "host_to_device or device_to_host: copies to another GPU are not modelled");
    }
    const hw::Bytes<S> bytes(S(static_cast<double>(copy.bytes)));
    if (copy.pinned && down) return {gpu.link.d2h_latency, bytes / gpu.link.d2h_bandwidth};
    if (copy.pinned) return {gpu.link.h2d_latency, bytes / gpu.link.h2d_bandwidth};
    if (down) return {gpu.link.pageable_d2h_latency, bytes / gpu.link.pageable_d2h_bandwidth};
    const bool is_inline = copy.bytes <= inline_bytes;
    return {gpu.link.pageable_h2d_latency,
            bytes / (is_inline ? gpu.link.inline_bandwidth : gpu.link.pageable_h2d_bandwidth)};
}

}  // namespace warptime::model::prediction
