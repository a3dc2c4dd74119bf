// Reads of one item that the L1 serves again. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_share.hpp"

#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l1/access_bytes.hpp"
#include "model/machine/l1/l1_residence.hpp"
#include "model/machine/l1/local_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warptime::model::machine {

double kept_by(const std::array<double, kernel::Reuse::distances>& shares, double room) {
    const double place = std::log2(std::max(room, 1.0) / static_cast<double>(kernel::Reuse::least_distance));
    if (place < 0.0) return 0.0;
    const auto below = static_cast<std::size_t>(place);
    if (below + 1 >= shares.size()) return shares.back();
    return std::lerp(shares[below], shares[below + 1], place - static_cast<double>(below));
}

double kept_by_random(const std::array<double, kernel::Reuse::distances>& shares, double room) {
    if (!(room > 0.0)) return 0.0;
    double kept = 0.0;
    constexpr int rounds = 12;
    constexpr double middle = 0.75;  // of a range that ends at twice its beginning
    for (int i = 0; i < rounds; ++i) {
        double stays = 0.0, slope = 0.0, nearer = 0.0;
        double distance = middle * static_cast<double>(kernel::Reuse::least_distance);
        for (const double share : shares) {
            const double fill = distance / room;
            const double chance = fill <= 1.0 ? 1.0 : std::exp(-fill * (1.0 - kept));
            stays += (share - nearer) * chance;
            slope += fill <= 1.0 ? 0.0 : (share - nearer) * fill * chance;
            nearer = share;
            distance *= 2.0;
        }
        kept += slope < 1.0 ? (stays - kept) / (1.0 - slope) : stays - kept;
    }
    return kept;
}

bool comes_back(const kernel::Kernel& kernel, const kernel::Access& access) {
    if (access.pattern == kernel::PatternKind::chase ||
        (access.pattern == kernel::PatternKind::random && access.origin[0].is_constant())) {
        return true;
    }
    if (access.pattern == kernel::PatternKind::collective) {
        return false;
    }
    for (std::size_t t = access.origin[0].first;
         t < access.origin[0].first + std::size_t{access.origin[0].count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.modulus > 0 && term.variable != kernel::Variable::warp) {
            return true;
        }
    }
    return false;
}

double span_bytes(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access,
                  const kernel::Freedom& free, double line_bytes) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    if (access.pattern == kernel::PatternKind::chase) {
        const double step = std::max(1.0, static_cast<double>(access.step)) * size;
        const double lines = static_cast<double>(access.window) * size / step;
        return lines * std::min(step, line_bytes);
    }
    if (access.pattern == kernel::PatternKind::random) {
        return static_cast<double>(access.distinct) * size;
    }
    // The instructions of one op read side by side, within the buffer.
    return std::min(static_cast<double>(buffer.elements()) * size,
                    kernel::span_of(kernel, access.origin[0], free) * size +
                        static_cast<double>(op.count) * access_bytes(kernel, access).full);
}

bool may_hit_l1(const kernel::Kernel& kernel, const kernel::Op& op) {
    if (op.cls == hw::InstructionClass::ld_local) return op.access_count == 1;
    if (op.cls != hw::InstructionClass::ld_global || op.access_count != 1) {
        return false;
    }
    const kernel::Access& access = kernel.accesses[op.first_access];
    return kernel::looks_in_l1(access.cache) && is_global(kernel, access) &&
           (access.reuse > 0 || comes_back(kernel, access));
}

double l1_hit_share(const kernel::Kernel& kernel, const kernel::Op& op, const L1Reader& reader,
                    double lines) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (is_local(buffer) && access.reuse == 0)
        return local_hits(buffer, bytes_passing(kernel, reader.line_bytes), reader.room);
    if (access.reuse > 0) {
        const kernel::Reuse& reuse = kernel.reuse[access.reuse - 1U];
        if (is_local(buffer)) return kept_by_random(lines > 1.0 ? reuse.whole : reuse.sectors, reader.room);
        return kept_by(lines > 1.0 ? reuse.whole : reuse.sectors, reader.room);
    }
    double trips = 1.0;
    for (const double others : reader.free.loop) {
        trips *= others + 1.0;
    }
    const double read = trips * static_cast<double>(op.count) * reader.warps * op.active * reader.lanes *
                        access_bytes(kernel, access).full;
    const double span = span_bytes(kernel, op, access, reader.free, reader.line_bytes);
    if (span >= read) {
        return 0.0;
    }
    const double kept = access.pattern == kernel::PatternKind::random
                            ? std::min(1.0, reader.room / span)
                            : 1.0 - missed_in_turn(span, reader.room, reader.ways);
    // New data miss in all lines together.
    return std::pow(kept, lines) * (1.0 - span / read);
}

}  // namespace warptime::model::machine
