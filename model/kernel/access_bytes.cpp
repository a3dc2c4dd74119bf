// Bytes of an access: closed forms for boxes and contiguous lanes, lane by lane for other patterns. Ignores
// and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/access_bytes.hpp"

#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <bit>

namespace warptime::model::kernel {

namespace {

/// Length of [first, first + size) within [0, limit).
std::int64_t overlap(std::int64_t first, std::int64_t size, std::int64_t limit) {
    return std::max<std::int64_t>(0, std::min(first + size, limit) - std::max<std::int64_t>(first, 0));
}

AccessBytes box_bytes(const Kernel& kernel, const Op& op, const Access& access, const Buffer& buffer,
                      const Coordinates& at) {
    double requested = hw::bits_of(buffer.dtype) / 8.0;
    double inside = requested;
    for (std::size_t d = 0; d < access.rank; ++d) {
        requested *= static_cast<double>(access.box[d]);
        const bool clipped = d < buffer.rank && access.bounds != Bounds::wrap;
        inside *= static_cast<double>(
            clipped ? overlap(evaluate(kernel, access.origin[d], at), access.box[d], buffer.extent[d])
                    : access.box[d]);
    }
    return {static_cast<double>(op.count), requested, inside};
}

/// Bytes along the lanes' dimension, and true if the other dimensions are inside.
struct LaneLimits {
    std::int64_t bytes = 0;
    bool row_inside = true;
};

LaneLimits lane_limits(const Kernel& kernel, const Access& access, const Buffer& buffer,
                       const Coordinates& at) {
    const std::int64_t element = hw::bytes_of(buffer.dtype);
    if (access.rank == 1) {
        return {span_elements(buffer) * element, true};
    }
    LaneLimits limits{buffer.extent[0] * element, true};
    for (std::size_t d = 1; d < access.rank; ++d) {
        const std::int64_t row = evaluate(kernel, access.origin[d], at);
        limits.row_inside = limits.row_inside && row >= 0 && row < buffer.extent[d];
    }
    return limits;
}

/// Sum over the lanes of the bytes inside; `offset(lane)` gives the lane's element index.
template <class Offset>
std::int64_t inside_of_lanes(const Access& access, std::int64_t element, std::int64_t limit, Offset offset) {
    std::int64_t inside = 0;
    for (int lane = 0; lane < 32; ++lane) {
        const std::int64_t index = offset(lane);
        inside += overlap(index * element, access.bytes, limit);
    }
    return inside;
}

struct RecordedLanes {
    std::int64_t start = 0;
    std::uint32_t mask = 0;
};

/// Run of a stream at execution number `execution`; the stream begins again at its end.
RecordedLanes stream_lanes(const Kernel& kernel, const Access& access, std::int64_t execution) {
    std::int64_t total = 0;
    for (std::size_t r = 0; r < access.pool_length; ++r) {
        total += kernel.address_pool[access.pool_first + r].repeat;
    }
    if (total <= 0) {
        return {};
    }
    std::int64_t left = execution % total;
    for (std::size_t r = 0; r < access.pool_length; ++r) {
        const AddressRun& run = kernel.address_pool[access.pool_first + r];
        if (left < run.repeat) {
            return {detail::wrapping_multiply_add(run.step, left, run.start), run.lane_mask};
        }
        left -= run.repeat;
    }
    return {};
}

AccessBytes recorded_bytes(const Kernel& kernel, const Access& access, std::int64_t origin,
                           const LaneLimits& limits, std::int64_t element, std::int64_t execution) {
    std::int64_t lanes = 0;
    std::int64_t inside = 0;
    if (access.pattern == PatternKind::listed) {
        const std::int64_t rows = access.pool_length / 32;
        const std::size_t first = access.pool_first + static_cast<std::size_t>(execution % rows) * 32;
        for (std::size_t lane = 0; lane < 32; ++lane) {
            const std::int64_t index = kernel.address_list[first + lane];
            lanes += index >= 0 ? 1 : 0;
            inside += index >= 0 ? overlap((origin + index) * element, access.bytes, limits.bytes) : 0;
        }
    } else {
        const RecordedLanes run = stream_lanes(kernel, access, execution);
        lanes = std::popcount(run.mask);
        for (std::int64_t i = 0; i < lanes; ++i) {
            const std::int64_t index = origin + run.start + access.inner * i;
            inside += overlap(index * element, access.bytes, limits.bytes);
        }
    }
    const bool wrap = access.bounds == Bounds::wrap;
    const auto requested = static_cast<double>(lanes * access.bytes);
    return {1.0, requested, wrap ? requested : limits.row_inside ? static_cast<double>(inside) : 0.0};
}

}  // namespace

std::int64_t span_elements(const Buffer& buffer) {
    std::int64_t last = 0;
    std::int64_t packed = 1;
    for (std::size_t d = 0; d < buffer.rank; ++d) {
        const std::int64_t stride = buffer.stride[d] == 0 ? packed : buffer.stride[d];
        last += (buffer.extent[d] - 1) * stride;
        packed = stride * buffer.extent[d];
    }
    return (last + 1) * buffer.stages;
}

AccessBytes access_bytes(const Kernel& kernel, const Op& op, const Access& access, const Coordinates& at,
                         std::int64_t execution) {
    const Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (access.pattern == PatternKind::collective) {
        return box_bytes(kernel, op, access, buffer, at);
    }
    const std::int64_t element = hw::bytes_of(buffer.dtype);
    const LaneLimits limits = lane_limits(kernel, access, buffer, at);
    const std::int64_t first = evaluate(kernel, access.origin[0], at);
    const auto count = static_cast<double>(op.count);
    const bool single = access.pattern == PatternKind::broadcast || access.pattern == PatternKind::chase;
    const double each = static_cast<double>(access.bytes) * (single ? 1.0 : 32.0);
    if (access.pattern == PatternKind::listed || access.pattern == PatternKind::stream) {
        const AccessBytes one = recorded_bytes(kernel, access, first, limits, element, execution);
        return {count, one.requested * count, one.inside * count};
    }
    const bool anywhere = access.bounds == Bounds::wrap || access.pattern == PatternKind::random ||
                          access.pattern == PatternKind::chase;
    if (anywhere) {
        return {count, each * count, each * count};
    }
    if (!limits.row_inside) {
        return {count, each * count, 0.0};
    }
    double inside = 0.0;
    const std::int64_t instances = access.step == 0 ? 1 : op.count;
    for (std::int64_t j = 0; j < instances; ++j) {
        const std::int64_t origin = first + j * access.step;
        std::int64_t bytes = 0;
        if (access.pattern == PatternKind::contiguous) {
            bytes = overlap(origin * element, std::int64_t{32} * access.bytes, limits.bytes);
        } else if (access.pattern == PatternKind::broadcast) {
            bytes = overlap(origin * element, access.bytes, limits.bytes);
        } else {
            bytes = inside_of_lanes(access, element, limits.bytes, [&](int lane) {
                return origin + (lane % access.inner_extent) * access.inner +
                       (lane / access.inner_extent) * access.outer;
            });
        }
        inside += static_cast<double>(bytes);
    }
    return {count, each * count, access.step == 0 ? inside * count : inside};
}

}  // namespace warptime::model::kernel
