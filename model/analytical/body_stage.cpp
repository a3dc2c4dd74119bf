// Keeps the demand of items by numbered body, and finds it again by hash.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/body_stage.hpp"

#include "hw/hash.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/kernel/body_nodes.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/bulk/outside.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l2/store_drain.hpp"
#include "model/machine/l2/stored_boxes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace warptime::model::analytical {

namespace {

using hw::InstructionClass;

/// Powers of two, so that a mask on the upper half of a hash gives the place.
constexpr std::size_t item_places = 2048, body_places = 1024;

std::size_t hashed_place(std::uint64_t number, std::size_t places) {
    return static_cast<std::size_t>(hw::hashed(0, number) >> 32U) & (places - 1);
}

bool is_box_of_copies(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const bool whole = access.pattern == kernel::PatternKind::collective && access.outer == 0;
    const bool plain_store = access.direction == kernel::Direction::write && !machine::is_load(op.cls);
    const bool copy = access.direction == kernel::Direction::read && machine::is_asynchronous_copy(op.cls);
    return whole && buffer.space == kernel::Space::global && (plain_store || copy);
}

/// What the laws of boxes read of the buffer. Among accesses that read, only bulk copies notice where a
/// buffer ends.
ItemCase::Box box_of(const kernel::Kernel& kernel, const kernel::Access& access, bool bulk,
                     std::int64_t line) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    ItemCase::Box box;
    const std::int64_t size = hw::bytes_of(buffer.dtype);
    const std::int64_t pitch = std::max<std::int64_t>(1, buffer.stride[1] * size);
    const bool power_of_two = (line & (line - 1)) == 0;
    box.begins = power_of_two ? std::min(line, pitch & -pitch) : std::gcd(pitch, line);
    box.short_of_pitch = access.box[0] * size < buffer.stride[1] * size;
    if (bulk) box.outside_share = machine::outside_share(kernel, access);
    return box;
}

/// Access of the one op that stores, if the op stands behind the main loop; -1 if there is no such op.
std::int32_t one_store(const kernel::Kernel& kernel) {
    std::int32_t found = -1;
    for (const kernel::Role& role : kernel.roles) {
        const std::size_t main = kernel::main_loop(kernel, role, kernel::typical_item(kernel)).node;
        const std::size_t behind = main < role.last_node ? kernel.nodes[main].end : role.last_node;
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[kernel.nodes[n].payload];
            for (std::size_t i = op.first_access; i < op.first_access + std::size_t{op.access_count}; ++i) {
                const kernel::Access& access = kernel.accesses[i];
                if (access.direction == kernel::Direction::read || !machine::is_global(kernel, access))
                    continue;
                if (found >= 0 || n < behind) return -1;
                found = static_cast<std::int32_t>(i);
            }
        }
    }
    return found;
}

bool waits_for_stores(const kernel::Kernel& kernel) {
    return std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& op) {
        return op.cls == InstructionClass::fence || op.cls == InstructionClass::cp_async_bulk_store;
    });
}

}  // namespace

bool hangs_on_boxes(const kernel::Kernel& kernel) {
    if (kernel.schedule.kind == kernel::ScheduleKind::listed) return false;
    std::size_t boxes = 0;
    for (const kernel::Op& op : kernel.ops) {
        for (const kernel::Access& access : kernel.accesses_of(op)) {
            if (access.buffer == kernel::no_id) continue;
            const kernel::Space space = kernel.buffers[static_cast<std::size_t>(access.buffer)].space;
            if (space == kernel::Space::shared) continue;
            if (!is_box_of_copies(kernel, op, access) || ++boxes > ItemCase::most_boxes) return false;
        }
        // Loads without a buffer, and loads that the L1 may keep, do not hang on boxes.
        if (machine::is_load(op.cls) && !machine::is_asynchronous_copy(op.cls)) return false;
    }
    return true;
}

bool ItemCase::equals(const ItemCase& other) const {
    return body == other.body && trips_end == other.trips_end && slowdown == other.slowdown &&
           resident == other.resident && load_latency == other.load_latency && count == other.count &&
           std::equal(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(count), other.boxes.begin());
}

namespace {

std::uint64_t hash_of(const ItemCase& of) {
    std::uint64_t hash = of.body;
    const double inside = of.count > 0 ? of.boxes[of.count - 1].inside : 0.0;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(of.trips_end), static_cast<std::uint64_t>(of.resident),
          std::bit_cast<std::uint64_t>(of.slowdown), std::bit_cast<std::uint64_t>(inside)}) {
        hash = hw::hashed(hash, part);
        hash ^= hash >> 32U;
    }
    return hash;
}

}  // namespace

const BodyStage::Body& BodyStage::body_of(const kernel::Kernel& kernel, prediction::BodyNumber number) {
    if (bodies_.empty()) {
        bodies_.resize(body_places);
        items_.reserve(item_places);
        used_.resize(item_places);
    }
    Body& known = bodies_[hashed_place(number, body_places)];
    if (known.number != number) {
        known = {};
        known.number = number;
        known.by_boxes = hangs_on_boxes(kernel);
        if (!known.by_boxes) return known;
        known.waits_for_stores = waits_for_stores(kernel);
        if (!known.waits_for_stores) known.stores_once = one_store(kernel);
        for (const kernel::Op& op : kernel.ops) {
            for (std::uint32_t i = 0; i < op.access_count; ++i) {
                const std::uint32_t access = op.first_access + i;
                if (!machine::is_global(kernel, kernel.accesses[access])) continue;
                known.bulk[known.count] =
                    machine::is_asynchronous_copy(op.cls) && op.cls != InstructionClass::cp_async;
                known.accesses[known.count++] = access;
            }
        }
    }
    return known;
}

BodyStage::Place& BodyStage::place_of(const ItemCase& of) {
    std::uint32_t& used = used_[hashed_place(hash_of(of), item_places)];
    if (used == 0) {
        items_.emplace_back();
        used = static_cast<std::uint32_t>(items_.size());
    }
    return items_[used - 1];
}

void BodyStage::add(const kernel::Kernel& kernel, prediction::BodyNumber body, const hw::Gpu& gpu,
                    const hw::Cycles& load_latency, std::int64_t resident, ItemDemand& empty) {
    const Body& known = body_of(kernel, body);
    if (!known.by_boxes) {
        add_item_demand(kernel, gpu, load_latency, resident, empty);
        return;
    }
    ItemCase of;
    of.body = body;
    of.trips_end = kernel::typical_item(kernel).item_end;
    if (known.waits_for_stores) of.slowdown = machine::store_slowdown(machine::storing_sms(kernel, gpu), gpu);
    of.resident = resident;
    of.load_latency = load_latency.value();
    const auto line = static_cast<std::int64_t>(gpu.l1.line.value());
    const kernel::Access* store = nullptr;
    for (; of.count < known.count; ++of.count) {
        const kernel::Access& access = kernel.accesses[known.accesses[of.count]];
        ItemCase::Box& box = of.boxes[of.count];
        box = box_of(kernel, access, known.bulk[of.count], line);
        if (access.direction == kernel::Direction::read) continue;
        if (std::int64_t{known.accesses[of.count]} == known.stores_once) {
            store = &access;
        } else {
            box.inside = machine::access_bytes(kernel, access).inside;
        }
    }
    Place& place = place_of(of);
    if (!place.of.equals(of)) {
        add_item_demand(kernel, gpu, load_latency, resident, empty);
        place.of = of;
        place.item = empty;
        return;
    }
    empty = place.item;
    if (store != nullptr) {
        machine::store_inside(machine::access_bytes(kernel, *store).inside, empty.boxes_stored,
                              empty.sent_per_stored, gpu, empty.after,
                              empty.buffers[static_cast<std::size_t>(store->buffer)]);
    }
}

}  // namespace warptime::model::analytical
