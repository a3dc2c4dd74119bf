// Checks of launch, schedule, buffers, tokens and roles; and of a program's steps.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/checks.hpp"

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/checks_detail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace warptime::model::kernel {

namespace {

using detail::is_id;
using detail::Record;

/// Bounds on sizes keep products of a few sizes inside 64 bits.
constexpr std::int64_t largest = std::int64_t{1} << 48;

/// a * b, or a number above `largest` when the product exceeds it; a and b non-negative.
std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
    return a != 0 && b > largest / a ? largest + 1 : a * b;
}

void check_dimensions(const Record& launch, std::string_view field, const Dim3& dims, std::int64_t most_x,
                      std::int64_t most_yz) {
    launch.expect(dims.x >= 1 && dims.x <= most_x, fmt::format("{}.x", field), dims.x,
                  fmt::format("1 to {}", most_x));
    launch.expect(dims.y >= 1 && dims.y <= most_yz, fmt::format("{}.y", field), dims.y,
                  fmt::format("1 to {}", most_yz));
    launch.expect(dims.z >= 1 && dims.z <= most_yz, fmt::format("{}.z", field), dims.z,
                  fmt::format("1 to {}", most_yz));
}

void check_launch(const Kernel& kernel) {
    const Record launch{kernel, "launch", 0, {}};
    check_dimensions(launch, "grid", kernel.grid, std::numeric_limits<std::int32_t>::max(), 65535);
    check_dimensions(launch, "cluster", kernel.cluster, 16, 16);
    check_dimensions(launch, "cta", kernel.cta, 1024, 1024);
    launch.expect(kernel.cta.volume() <= 1024, "cta threads", kernel.cta.volume(), "at most 1024");
    launch.expect(kernel.cluster.volume() <= 16, "cluster CTAs", kernel.cluster.volume(), "at most 16");
    launch.expect(kernel.grid.x % kernel.cluster.x == 0, "grid.x", kernel.grid.x, "a multiple of cluster.x");
    launch.expect(kernel.grid.y % kernel.cluster.y == 0, "grid.y", kernel.grid.y, "a multiple of cluster.y");
    launch.expect(kernel.grid.z % kernel.cluster.z == 0, "grid.z", kernel.grid.z, "a multiple of cluster.z");
    const std::int64_t registers = kernel.registers_per_thread;
    launch.expect(registers >= 1 && registers <= 255, "registers_per_thread", registers, "1 to 255");
    launch.expect(kernel.static_shared >= 0 && kernel.static_shared <= largest, "static_shared",
                  kernel.static_shared, "bytes, not negative");
    launch.expect(kernel.dynamic_shared >= 0 && kernel.dynamic_shared <= largest, "dynamic_shared",
                  kernel.dynamic_shared, "bytes, not negative");
    launch.expect(kernel.carveout >= -1, "carveout", kernel.carveout, "bytes, or -1 for the driver's choice");
    const std::int64_t barriers = kernel.named_barriers;
    launch.expect(barriers >= 0 && barriers <= 16, "named_barriers", barriers, "0 to 16");
    const Coverage& cover = kernel.coverage;
    for (const double part : {cover.exact, cover.extrapolated, cover.unknown}) {
        launch.expect(part >= 0.0 && part <= 1.0, "coverage", part, "fractions from 0 to 1");
    }
    const double sum = cover.exact + cover.extrapolated + cover.unknown;
    launch.expect(std::abs(sum - 1.0) <= 1e-6, "coverage", sum, "three fractions that sum to 1");
    const HandOvers& hand_overs = kernel.hand_overs;
    const auto ops = static_cast<std::int64_t>(kernel.ops.size());
    launch.expect(hand_overs.in_series >= 0.0, "hand_overs in_series", hand_overs.in_series, "not negative");
    for (const Id op : {hand_overs.wait, hand_overs.told}) {
        const bool none = op == no_id && !(hand_overs.in_series > 0.0);
        launch.expect(none || (op >= 0 && op < ops), "hand_overs op", std::int64_t{op},
                      "an op of the kernel");
    }
    for (const Reuse& reuse : kernel.reuse) {
        for (const auto* const shares : {&reuse.sectors, &reuse.whole}) {
            double least = 0.0;
            for (const double share : *shares) {
                launch.expect(share >= least && share <= 1.0, "reuse", share,
                              "shares from 0 to 1 that rise with the distance");
                least = share;
            }
        }
        launch.expect(reuse.beside >= 0.0 && reuse.beside <= 1.0, "reuse beside", reuse.beside,
                      "a share from 0 to 1");
        launch.expect(reuse.together >= 0.0 && reuse.together <= 1.0, "reuse together", reuse.together,
                      "a share from 0 to 1");
    }
}

void check_item(const Kernel& kernel, std::size_t id) {
    const WorkItem& item = kernel.schedule.items[id];
    const Record record{kernel, "item", id, {}};
    for (const std::int64_t tile : item.tile) {
        record.expect(tile >= 0 && tile <= largest, "tile", tile, "not negative");
    }
    record.expect(item.begin >= 0, "begin", item.begin, "not negative");
    record.expect(item.end >= item.begin && item.end <= largest, "end", item.end, "at least begin");
    record.expect(item.problem >= 0, "problem", std::int64_t{item.problem}, "not negative");
    const bool known = is_id(item.cta_class, kernel.cta_classes.size());
    record.expect(known || item.cta_class == 0, "cta_class", std::int64_t{item.cta_class},
                  "the number of a CTA class");
}

void check_schedule(const Kernel& kernel) {
    const Schedule& schedule = kernel.schedule;
    const Record record{kernel, "schedule", 0, {}};
    std::int64_t count = 1;
    for (const std::int64_t tiles : schedule.tiles) {
        record.expect(tiles >= 1 && tiles <= largest, "tiles", tiles, "1 to 2^48");
        count = bounded_product(count, tiles);
    }
    record.expect(schedule.split_k >= 1 && schedule.split_k <= largest, "split_k", schedule.split_k,
                  "1 to 2^48");
    count = bounded_product(count, schedule.split_k);
    record.expect(count <= largest, "tiles", count, "at most 2^48 work items");
    record.expect(schedule.group >= 1, "group", schedule.group, "at least 1");
    record.expect(schedule.k_iterations >= 0 && schedule.k_iterations <= largest, "k_iterations",
                  schedule.k_iterations, "not negative");
    const bool listed = schedule.kind == ScheduleKind::listed;
    record.expect(listed == !schedule.items.empty(), "items",
                  static_cast<std::int64_t>(schedule.items.size()),
                  "some items when the kind is listed, none otherwise");
    record.expect(listed || !schedule.on_demand, "on_demand", std::int64_t{schedule.on_demand},
                  "0 unless the items are listed");
    record.expect(!schedule.on_demand || !schedule.stream_k, "on_demand", std::int64_t{schedule.on_demand},
                  "0 where the list is in the order of the CTAs (stream_k)");
    if (schedule.kind == ScheduleKind::one_per_cta) {
        record.expect(count <= kernel.grid.volume(), "tiles", count, "at most one work item per CTA");
    }
    for (std::size_t i = 0; i < schedule.items.size(); ++i) {
        check_item(kernel, i);
    }
    for (std::size_t i = 0; i < kernel.cta_classes.size(); ++i) {
        const CtaClass& cls = kernel.cta_classes[i];
        const Record cls_record{kernel, "cta_class", i, {}};
        cls_record.expect(cls.first >= 0, "first", cls.first, "not negative");
        cls_record.expect(cls.last >= cls.first && cls.last <= largest, "last", cls.last, "at least first");
        cls_record.expect(std::isfinite(cls.multiplicity) && cls.multiplicity > 0.0, "multiplicity",
                          cls.multiplicity, "a positive number");
    }
}

bool is_power_of_two(std::int64_t value) {
    return value > 0 && (value & (value - 1)) == 0;
}

void check_buffer(const Kernel& kernel, std::size_t id) {
    const Buffer& buffer = kernel.buffers[id];
    const Record record{kernel, "buffer", id, buffer.name.view()};
    const std::int64_t rank = buffer.rank;
    record.expect(rank >= 1 && rank <= max_rank, "rank", rank, "1 to 5");
    const std::int64_t stages = buffer.stages;
    record.expect(stages >= 1, "stages", stages, "at least 1");
    std::int64_t bytes = bounded_product(hw::bytes_of(buffer.dtype), stages);
    for (std::size_t d = 0; d < static_cast<std::size_t>(max_rank); ++d) {
        const std::int64_t extent = buffer.extent[d];
        record.expect(extent >= 1 && extent <= largest, "extent", extent, "1 to 2^48");
        record.expect(buffer.stride[d] >= 0 && buffer.stride[d] <= largest, "stride", buffer.stride[d],
                      "elements, not negative");
        if (static_cast<std::int64_t>(d) < rank) {
            bytes = bounded_product(bytes, extent);
        }
    }
    record.expect(bytes <= largest, "extent", bytes, "at most 2^48 bytes");
    record.expect(buffer.base >= 0 && buffer.base <= largest, "base", buffer.base, "not negative");
    record.expect(is_power_of_two(buffer.base_alignment), "base_alignment", buffer.base_alignment,
                  "a power of two");
    record.expect(buffer.page_bytes >= 0, "page_bytes", buffer.page_bytes, "not negative");
    const std::int64_t swizzle = buffer.swizzle_bytes;
    record.expect(swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128, "swizzle_bytes", swizzle,
                  "0, 32, 64 or 128");
    const bool shared = buffer.space == Space::shared || buffer.space == Space::cluster_shared;
    if (shared) {
        record.expect(buffer.base + bytes <= kernel.static_shared + kernel.dynamic_shared, "base + bytes",
                      buffer.base + bytes,
                      fmt::format("at most the CTA's {} bytes of shared memory",
                                  kernel.static_shared + kernel.dynamic_shared));
    } else {
        record.expect(swizzle == 0, "swizzle_bytes", swizzle, "0 outside of shared memory");
        record.expect(stages == 1, "stages", stages, "1 outside of shared memory");
    }
    const bool written = buffer.contents == Contents::written_by;
    record.expect(written == (buffer.written_by_step >= 0), "written_by_step",
                  std::int64_t{buffer.written_by_step}, "a step exactly when contents is written_by");
    record.expect(buffer.since_bytes == 0 || (written && buffer.since_bytes > 0), "since_bytes",
                  buffer.since_bytes, "0, or a positive number when contents is written_by");
}

void check_token(const Kernel& kernel, std::size_t id) {
    const Token& token = kernel.tokens[id];
    const Record record{kernel, "token", id, token.name.view()};
    record.expect(token.arrivals > 0, "arrivals", std::int64_t{token.arrivals}, "at least 1");
    record.expect(token.depth >= 1, "depth", std::int64_t{token.depth}, "at least 1");
    record.expect(token.initial >= 0 && token.initial <= token.depth, "initial", std::int64_t{token.initial},
                  "0 to depth");
    if (token.kind == TokenKind::async_group) {
        record.expect(token.scope == Scope::warp, "scope", static_cast<std::int64_t>(token.scope),
                      "warp (0): groups belong to the warp that commits them");
        record.expect(token.initial == 0, "initial", std::int64_t{token.initial}, "0 for an async_group");
    }
}

void check_roles(const Kernel& kernel) {
    std::int64_t warps = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < kernel.roles.size(); ++i) {
        const Role& role = kernel.roles[i];
        const Record record{kernel, "role", i, role.name.view()};
        record.expect(role.warps >= 1 && role.warps <= 32, "warps", std::int64_t{role.warps}, "1 to 32");
        record.expect(role.instances >= 1 && role.instances <= 32, "instances", std::int64_t{role.instances},
                      "1 to 32");
        record.expect(!role.alternate || role.instances >= 2, "instances", std::int64_t{role.instances},
                      "at least 2 to take turns");
        const std::int64_t registers = role.registers_per_thread;
        record.expect(registers >= 0 && registers <= 255, "registers_per_thread", registers,
                      "0 (the kernel's) to 255");
        record.expect(role.first_node == next, "first_node", std::int64_t{role.first_node},
                      "the node after the body of the role before");
        record.expect(role.last_node >= role.first_node && role.last_node <= kernel.nodes.size(), "last_node",
                      std::int64_t{role.last_node}, "inside the nodes");
        next = role.last_node;
        warps += std::int64_t{role.warps} * role.instances;
    }
    const Record launch{kernel, "launch", 0, {}};
    launch.expect(next == kernel.nodes.size(), "nodes", static_cast<std::int64_t>(kernel.nodes.size()),
                  "every node in the body of a role");
    launch.expect(
        warps == (kernel.cta.volume() + 31) / 32, "warps of all roles", warps,
        fmt::format("{}, the warps of {} threads", (kernel.cta.volume() + 31) / 32, kernel.cta.volume()));
}

void check_nested(const Kernel& kernel) {
    // A nested expression refers to earlier ones only and at most 16 deep, so evaluation ends.
    std::vector<int> depth(kernel.nested.size(), 1);
    for (std::size_t i = 0; i < kernel.nested.size(); ++i) {
        const Record record{kernel, "nested", i, {}};
        const Index& index = kernel.nested[i];
        detail::check_index(record, "terms", index);
        for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
            const Term& term = kernel.terms[t];
            for (std::uint32_t n = 0; n < nested_count(term.variable); ++n) {
                const std::size_t inner = std::size_t{term.position} + n;
                record.expect(inner < i, "position", static_cast<std::int64_t>(inner),
                              "an earlier nested expression");
                depth[i] = std::max(depth[i], depth[inner] + 1);
            }
        }
        record.expect(depth[i] <= max_nesting, "depth", std::int64_t{depth[i]}, "at most 16");
    }
}

}  // namespace

void check(const Kernel& kernel) {
    check_launch(kernel);
    check_schedule(kernel);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        check_buffer(kernel, i);
    }
    for (std::size_t i = 0; i < kernel.tokens.size(); ++i) {
        check_token(kernel, i);
    }
    check_nested(kernel);
    check_roles(kernel);
    for (std::size_t i = 0; i < kernel.address_pool.size(); ++i) {
        const Record record{kernel, "address_run", i, {}};
        record.expect(kernel.address_pool[i].repeat >= 1, "repeat", kernel.address_pool[i].repeat,
                      "at least 1");
    }
    detail::check_bodies(kernel);
}

void check(const Program& program) {
    const auto expect = [](bool ok, std::size_t step, const char* field, std::int64_t value,
                           const char* form) {
        if (!ok) {
            throw Error(fmt::format("program step {} {}", step, field), std::to_string(value), form);
        }
    };
    if (program.kernel_count > program.kernels.size()) {
        throw Error("program kernel_count", std::to_string(program.kernel_count),
                    "at most the number of kernels");
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        const std::size_t sizes[] = {program.kernel_count, program.memsets.size(), program.memcpys.size(),
                                     program.exchanges.size()};
        expect(step.payload < sizes[static_cast<std::size_t>(step.kind)], i, "payload", step.payload,
               "the number of a record of its kind");
        for (const Id before : step.after) {
            expect(before == no_id || is_id(before, i), i, "after", before, "an earlier step, or -1");
        }
        if (step.kind == StepKind::kernel) {
            const Kernel& kernel = program.kernels[step.payload];
            check(kernel);
            for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
                const Id writer = kernel.buffers[b].written_by_step;
                const Record record{kernel, "buffer", b, kernel.buffers[b].name.view()};
                record.expect(writer == no_id || is_id(writer, i), "written_by_step", std::int64_t{writer},
                              "an earlier step of the program");
            }
        } else if (step.kind == StepKind::memset) {
            expect(program.memsets[step.payload].bytes >= 0, i, "bytes", program.memsets[step.payload].bytes,
                   "not negative");
        } else if (step.kind == StepKind::exchange) {
            const Exchange& exchange = program.exchanges[step.payload];
            expect(exchange.bytes >= 0, i, "bytes", exchange.bytes, "not negative");
            bool sound = exchange.handled_per_second > 0.0;
            for (const double number :
                 {exchange.start_seconds, exchange.handled_bytes, exchange.fill_seconds, exchange.band}) {
                sound = sound && number >= 0.0 && std::isfinite(number);
            }
            for (const ExchangeLink& link : exchange.links) {
                sound = sound && link.hops >= 0.0 && link.hop_seconds >= 0.0 && link.bytes >= 0.0 &&
                        (link.bytes == 0.0 || link.bytes_per_second > 0.0);
            }
            expect(sound, i, "exchange", exchange.bytes, "times, bytes and rates that are not negative");
        } else {
            expect(program.memcpys[step.payload].bytes >= 0, i, "bytes", program.memcpys[step.payload].bytes,
                   "not negative");
        }
    }
}

}  // namespace warptime::model::kernel
