// Loads of an item as streams of lines, and the items that a full L1 remembers. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_neighbours.hpp"

#include "model/kernel/access_origin.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/index_span.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/demand/expected_distinct.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/l1_room.hpp"
#include "model/machine/l1/l1_share.hpp"
#include "model/machine/l1/lane_touch.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace warptime::model::machine {

double distinct_slices(double window, double cells, double sms) {
    if (sms <= 1.0) return std::min(window, cells);
    const double readers = std::max(1.0, sms * window / cells);  // of a slice
    return std::min(window, cells * (1.0 - std::pow(1.0 - 1.0 / sms, readers)));
}

double new_slices(double items, double window, double cells, double sms) {
    if (items <= 1.0) return 1.0;
    const double before = std::min(items, window);
    const double readers = std::max(1.0, sms * before / cells);
    const double later = sms <= 1.0 ? (readers > 1.0 ? 0.0 : 1.0) : std::pow(1.0 - 1.0 / sms, readers - 1.0);
    return std::min(1.0, (distinct_slices(before, cells, sms) + (items - before) * later) / items);
}

double new_parts(double items, double window, double draws, double lines, double parts) {
    if (!(draws > 0.0)) return 1.0;
    const double before = std::min(items, window);
    const double first = expected_distinct(before * draws, lines * parts);
    const double there = 1.0 - std::exp(-before * draws / lines);  // of the lines
    const double valid = there / (parts - (parts - 1.0) * there);
    const double later = (items - before) * draws * (1.0 - valid);
    return std::min(1.0, (first + later) / (items * draws));
}

namespace {

/// One load of an item.
struct Stream {
    std::size_t access = 0;
    double lines = 0.0;  ///< of an item; visits to lines where scattered
    bool scattered = false;
    double among = 0.0;                ///< lines among which scattered ones fall
    std::int64_t first = 0, last = 0;  ///< places in the buffer from which these come
    std::size_t region = 0;            ///< those of one number are the same places
    double parts = 1.0;                ///< visits that fill a line
    double cells = 1.0;                ///< distinct slices of the kernel
    Dependence dependence{};
};

/// Distinct values that the tiles give an origin, and the bytes from one to the next where one term does.
struct Slices {
    double count = 1.0, step = 0.0;
};

Slices slices_of_origin(const kernel::Kernel& kernel, const kernel::Access& access, double size) {
    Slices result;
    std::array<double, 4> of{1.0, 1.0, 1.0, 1.0};
    int terms = 0;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    double pitch = size;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const kernel::Index& index = access.origin[d];
        for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
            const kernel::Term& term = kernel.terms[t];
            if (term.variable != kernel::Variable::tile || term.coefficient == 0) continue;
            const auto tiles = static_cast<double>(kernel.schedule.tiles[term.position]);
            double values = std::ceil(tiles / static_cast<double>(std::max<std::int64_t>(1, term.divisor)));
            if (term.modulus > 0) values = std::min(values, static_cast<double>(term.modulus));
            of[term.position] = std::min(tiles, of[term.position] * values);
            result.step = std::abs(static_cast<double>(term.coefficient)) * pitch;
            ++terms;
        }
        pitch *= static_cast<double>(buffer.extent[d]);
    }
    if (terms != 1) result.step = 0.0;
    result.count = of[0] * of[1] * of[2] * of[3];
    return result;
}

/// Walks the roles and collects the plain loads that may stay in the L1.
class Collector {
  public:
    /// `room`: as many places as the kernel has plain loads.
    Collector(const kernel::Kernel& kernel, const hw::Gpu& gpu, std::span<Stream> room)
        : kernel_(kernel), pieces_(pieces_of(gpu)), item_(kernel::typical_item(kernel)), room_(room) {}

    [[nodiscard]] std::span<Stream> run() {
        for (const kernel::Role& role : kernel_.roles) {
            warps_ = static_cast<double>(role.warps) * (role.alternate ? 1 : role.instances);
            free_ = {};
            free_.warps = role.warps - 1;
            free_.instances = role.instances - 1;
            free_.lanes = 32.0 * role.warps * role.instances - 1.0;
            walk(role.first_node, role.last_node, 1.0, 1.0, 0);
        }
        return room_.first(count_);
    }

  private:
    void walk(std::size_t first, std::size_t last, double times, double lanes, std::size_t depth) {
        for (std::size_t n = first; n < last; n = kernel::next_node(kernel_, n)) {
            const kernel::Node& node = kernel_.nodes[n];
            if (node.kind == kernel::NodeKind::op) {
                const kernel::Op& op = kernel_.ops[node.payload];
                if (shares_l1(op)) add(op, times * op.enabled, lanes);
            } else if (node.kind == kernel::NodeKind::loop) {
                const double trips = kernel::mean_trips_of(kernel_, kernel_.loops[node.payload], item_);
                if (depth < free_.loop.size()) free_.loop[depth] = std::max(0.0, trips - 1.0);
                walk(n + 1, node.end, times * trips, lanes, depth + 1);
                if (depth < free_.loop.size()) free_.loop[depth] = 0.0;
            } else if (node.kind == kernel::NodeKind::branch) {
                const kernel::Branch& branch = kernel_.branches[node.payload];
                walk(n + 1, node.end, times * branch.warps_taking, lanes * branch.mean_lanes / 32.0, depth);
            }
        }
    }

    [[nodiscard]] bool shares_l1(const kernel::Op& op) const {
        if (op.cls != hw::InstructionClass::ld_global || op.access_count != 1) return false;
        const kernel::Access& access = kernel_.accesses[op.first_access];
        return kernel::looks_in_l1(access.cache) && is_global(kernel_, access) &&
               access.pattern != kernel::PatternKind::collective && !comes_back_by_itself(access) &&
               !stands_still(access);
    }

    /// An origin that stands still for all warps and items may only be described loosely.
    [[nodiscard]] bool stands_still(const kernel::Access& access) const {
        return access.reuse == 0 && access.origin[0].is_constant() && warps_ > 1.0 &&
               (access.pattern == kernel::PatternKind::contiguous ||
                access.pattern == kernel::PatternKind::stride);
    }

    /// Such accesses have a law of their own (l1_share.hpp).
    [[nodiscard]] bool comes_back_by_itself(const kernel::Access& access) const {
        return access.reuse == 0 && comes_back(kernel_, access);
    }

    void add(const kernel::Op& op, double times, double lanes) {
        const kernel::Access& access = kernel_.accesses[op.first_access];
        const kernel::Buffer& buffer = kernel_.buffers[static_cast<std::size_t>(access.buffer)];
        const double size = hw::bytes_of(buffer.dtype);
        const LaneTouch touch = touch_of(kernel_, access, std::min(1.0, op.active * lanes), pieces_);
        const double new_to_item =
            access.reuse > 0 ? 1.0 - kernel_.reuse[access.reuse - 1U].sectors.back() : 1.0;
        const double executions = times * static_cast<double>(op.count) * warps_ * new_to_item;
        Stream stream;
        stream.access = op.first_access;
        stream.lines = executions * touch.lines;
        const double whole = static_cast<double>(buffer.elements()) * size;
        if (access.pattern == kernel::PatternKind::listed || access.pattern == kernel::PatternKind::random) {
            const double span =
                access.distinct > 0 ? std::min(whole, static_cast<double>(access.distinct) * size) : whole;
            stream.scattered = true;
            stream.among = std::max(1.0, span / pieces_.line);
            stream.last = buffer.elements();
            if (access.pattern == kernel::PatternKind::listed) take_range(access, stream);
            stream.parts = std::max(1.0, touch.lines * pieces_.line / (touch.sectors * pieces_.sector));
        } else {
            const kernel::AccessOrigin origin = kernel::origin_of(kernel_, access);
            if (origin.shifted || origin.along_split) return;
            // Lines from the first to the last byte.
            const double span =
                (kernel::span_of(kernel_, access.origin[0], free_) * size + bytes_of_lanes(access, size) +
                 static_cast<double>((op.count - 1) * std::abs(access.step)) * size) /
                pieces_.line;
            const double sectors = touch.sectors / touch.lines * pieces_.sector;
            stream.lines = std::max(1.0, std::min(stream.lines, span + 1.0));
            const bool dense = span <= 1.0 + stream.lines;
            stream.dependence = {origin.along_m, origin.along_n, origin.along_batch, false};
            const Slices slices = slices_of_origin(kernel_, access, size);
            stream.cells = slices.count;
            if (dense && slices.step > 0.0) {
                const double bytes = stream.lines * sectors;
                stream.cells = std::max(1.0, slices.count * std::min(1.0, slices.step / bytes));
            }
        }
        if (stream.lines > 0.0) room_[count_++] = stream;
    }

    /// First and last place of the listed executions.
    void take_range(const kernel::Access& access, Stream& stream) const {
        const auto first = kernel_.address_list.begin() + access.pool_first;
        stream.first = std::numeric_limits<std::int64_t>::max();
        stream.last = -1;
        for (auto place = first; place != first + access.pool_length; ++place) {
            if (*place < 0) continue;
            stream.first = std::min(stream.first, std::int64_t{*place});
            stream.last = std::max(stream.last, std::int64_t{*place});
        }
    }

    [[nodiscard]] static double bytes_of_lanes(const kernel::Access& access, double size) {
        if (access.pattern == kernel::PatternKind::broadcast) return access.bytes;
        if (access.pattern != kernel::PatternKind::stride) return 32.0 * access.bytes;
        const std::int64_t side_by_side = std::clamp<std::int64_t>(access.inner_extent, 1, 32);
        const std::int64_t rows = 32 / side_by_side;
        return static_cast<double>((side_by_side - 1) * std::abs(access.inner) +
                                   (rows - 1) * std::abs(access.outer)) *
                   size +
               access.bytes;
    }

    const kernel::Kernel& kernel_;
    MemoryPieces pieces_;
    kernel::Coordinates item_;
    std::span<Stream> room_;
    std::size_t count_ = 0;
    kernel::Freedom free_{};
    double warps_ = 0.0;
};

/// Numbers the regions of scattered streams. Streams of a buffer read the same places where half of the
/// shorter range lies in the other one: rows of a table are regions of their own. Gives how many there are.
std::size_t number_regions(const kernel::Kernel& kernel, std::span<Stream> streams) {
    hw::SmallVector<std::size_t, 64> order(streams.size());
    std::size_t scattered = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].scattered) order[scattered++] = i;
    }
    const auto buffer = [&](std::size_t i) { return kernel.accesses[streams[i].access].buffer; };
    std::sort(order.begin(), order.begin() + scattered, [&](std::size_t a, std::size_t b) {
        return std::pair(buffer(a), streams[a].first) < std::pair(buffer(b), streams[b].first);
    });
    std::size_t regions = 0;
    std::int64_t first = 0, last = -1;
    for (std::size_t k = 0; k < scattered; ++k) {
        Stream& own = streams[order[k]];
        const std::int64_t shorter = std::min(own.last - own.first, last - first);
        const bool same =
            k > 0 && buffer(order[k]) == buffer(order[k - 1]) && own.first <= last - shorter / 2;
        if (!same) {
            first = own.first;
            last = own.last;
            ++regions;
        }
        last = std::max(last, own.last);
        own.region = regions - 1;
    }
    return regions;
}

/// Plain loads that may share lines with other items.
std::size_t plain_loads(const kernel::Kernel& kernel) {
    if (kernel.schedule.kind == kernel::ScheduleKind::listed) return 0;
    const auto count = std::count_if(kernel.ops.begin(), kernel.ops.end(), [&](const kernel::Op& op) {
        return op.cls == hw::InstructionClass::ld_global && op.access_count == 1 &&
               kernel.accesses[op.first_access].pattern != kernel::PatternKind::collective;
    });
    return static_cast<std::size_t>(count);
}

}  // namespace

Neighbours::Neighbours(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const double sms = std::min(gpu.sm.count.value(), static_cast<double>(kernel.grid.volume()));
    const auto all = static_cast<double>(kernel.schedule.item_count());
    const double items = all / sms;
    const std::size_t loads = items > 1.0 ? plain_loads(kernel) : 0;
    if (loads == 0) return;
    // Few enough stay in place, so that the evaluation of a tile allocates nothing.
    hw::SmallVector<Stream, 64> room_of_streams(loads);
    const std::span<Stream> streams = Collector(kernel, gpu, std::span(room_of_streams.begin(), loads)).run();
    if (streams.empty()) return;
    const std::size_t regions = number_regions(kernel, streams);
    const Occupancy resident = residency(kernel, limits_of(gpu));
    const double ctas = std::clamp(std::ceil(static_cast<double>(kernel.grid.volume()) / sms), 1.0,
                                   std::max(1.0, static_cast<double>(resident.ctas_per_sm)));
    const double room = l1_of_sm(kernel, gpu) / gpu.l1.line.value();
    later_ = std::max(0.0, 1.0 - ctas / items);
    const TileRuns runs(order_of(kernel.schedule));
    const auto cells_in = [&](const Stream& stream, double window) {
        const double run = std::min(all, std::ceil(window * sms));
        const double begin = std::floor(0.5 * (all - run));
        return std::min(stream.cells, runs.touched(begin, run).distinct(stream.dependence));
    };
    // Distinct lines that so many items of an SM bring. Loads of one region at scattered places share them.
    const auto brought = [&](double window) {
        double lines = 0.0;
        hw::SmallVector<double, 16> visits(regions), among(regions);
        for (const Stream& stream : streams) {
            if (stream.scattered) {
                visits[stream.region] += stream.lines * window;
                among[stream.region] = std::max(among[stream.region], stream.among);
            } else {
                lines += stream.lines * distinct_slices(window, cells_in(stream, window), sms);
            }
        }
        for (std::size_t r = 0; r < regions; ++r) lines += expected_distinct(visits[r], among[r]);
        return lines;
    };
    double window = items;
    if (brought(items) > room) {
        double low = 0.0;
        constexpr int halvings = 24;
        for (int i = 0; i < halvings; ++i) {
            const double middle = 0.5 * (low + window);
            (brought(middle) > room ? window : low) = middle;
        }
        window = low;
    }
    found_.reset(kernel.accesses.size());
    for (const Stream& stream : streams) {
        double missed = 1.0;
        if (stream.scattered) {
            double visits = 0.0;
            for (const Stream& other : streams) {
                if (other.scattered && other.region == stream.region) visits += other.lines;
            }
            missed = new_parts(items, window, visits, stream.among, stream.parts);
        } else if (window >= 1.0) {
            missed = new_slices(items, window, cells_in(stream, std::min(items, window)), sms);
        }
        found_[stream.access] = 1.0 - missed;
    }
}

}  // namespace warptime::model::machine
