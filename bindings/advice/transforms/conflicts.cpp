// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/conflicts.hpp"

#include "bindings/advice/transforms/index_edit.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
namespace mm = model::machine;

mm::BankGeometry banks_of(const hw::Gpu& gpu) {
    return {static_cast<std::int64_t>(gpu.shared.banks.value()),
            static_cast<std::int64_t>(gpu.shared.bank_width.value())};
}

/// Bytes of each lane's place beyond the first lane's; nothing where no lane has a place of its own.
std::optional<mm::LaneAddresses> lane_offsets(const Kernel& kernel, const Access& access,
                                              std::int64_t entry) {
    const std::int64_t element = element_bytes(kernel, access);
    mm::LaneAddresses offsets{};
    for (std::int64_t lane = 0; lane < lanes_per_warp; ++lane) {
        auto& offset = offsets[static_cast<std::size_t>(lane)];
        switch (access.pattern) {
            case mk::PatternKind::contiguous:
                offset = lane * access.bytes;
                break;
            case mk::PatternKind::stride:
                offset =
                    (lane % access.inner_extent * access.inner + lane / access.inner_extent * access.outer) *
                    element;
                break;
            case mk::PatternKind::listed: {
                const auto at = static_cast<std::size_t>(access.pool_first + entry * lanes_per_warp + lane);
                offset = std::max<std::int64_t>(0, kernel.address_list[at]) * element;
                break;
            }
            default:
                return std::nullopt;
        }
    }
    return offsets;
}

std::int64_t entries_of(const Access& access) {
    return access.pattern == mk::PatternKind::listed ? access.pool_length / lanes_per_warp : 1;
}

/// Passes of the access, and the fewest that its distinct words need, over all entries.
struct Passes {
    double taken = 0.0, least = 0.0;
};

Passes passes_of(const Kernel& kernel, const Access& access, bool matrix, mm::BankGeometry banks) {
    Passes passes;
    for (std::int64_t e = 0; e < entries_of(access); ++e) {
        auto offsets = lane_offsets(kernel, access, e);
        if (!offsets) return {};
        const std::int64_t least = *std::min_element(offsets->begin(), offsets->end());
        if (least < 0) {
            for (std::int64_t& offset : *offsets) offset -= least;
        }
        if (matrix) {
            passes.taken += static_cast<double>(mm::ldmatrix_passes(*offsets, banks));
            passes.least += static_cast<double>(lanes_per_warp) / 8.0;
            continue;
        }
        const auto use = access.direction == mk::Direction::read ? mm::SharedUse::load : mm::SharedUse::store;
        passes.taken +=
            static_cast<double>(mm::shared_passes(*offsets, access.bytes, mm::all_lanes, banks, use));
        std::vector<std::int64_t> words;
        for (const std::int64_t offset : *offsets) {
            for (std::int64_t b = 0; b < access.bytes; b += banks.bank_bytes) {
                words.push_back((offset + b) / banks.bank_bytes);
            }
        }
        std::sort(words.begin(), words.end());
        const auto distinct = std::unique(words.begin(), words.end()) - words.begin();
        passes.least += static_cast<double>((distinct + banks.banks - 1) / banks.banks);
    }
    return passes;
}

/// Greatest common divisor of the distances of lanes_per_warp that meet in one bank; 0 where none do.
std::int64_t conflicting_pitch(const Kernel& kernel, const Access& access, mm::BankGeometry banks) {
    std::int64_t pitch = 0;
    for (std::int64_t e = 0; e < entries_of(access); ++e) {
        const auto offsets = lane_offsets(kernel, access, e);
        if (!offsets) return 0;
        const auto phase = static_cast<std::size_t>(
            std::clamp<std::int64_t>(banks.pass_bytes() / std::max(access.bytes, 1), 1, lanes_per_warp));
        for (std::size_t a = 0; a < phase; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const std::int64_t apart = std::abs((*offsets)[a] - (*offsets)[b]);
                if (apart > 0 && apart % banks.pass_bytes() == 0) pitch = std::gcd(pitch, apart);
            }
        }
    }
    return pitch;
}

/// Calls `visit(op, access)` for loads and stores of shared memory that conflict.
template <class Visit>
int visit_conflicts(Kernel& kernel, const hw::Gpu& gpu, Visit visit) {
    const mm::BankGeometry banks = banks_of(gpu);
    int found = 0;
    for (const Op& op : kernel.ops) {
        const bool matrix =
            op.cls == hw::InstructionClass::ldmatrix || op.cls == hw::InstructionClass::stmatrix;
        for (std::size_t i = 0; i < op.access_count; ++i) {
            Access& access = kernel.accesses[op.first_access + i];
            if (space_of(kernel, access) != mk::Space::shared || access.rank != 1 ||
                access.direction == mk::Direction::atomic) {
                continue;
            }
            const Passes passes = passes_of(kernel, access, matrix, banks);
            constexpr double worth = 1.05;
            if (passes.taken > worth * passes.least) {
                visit(access);
                ++found;
            }
        }
    }
    return found;
}

/// Padding behind each row of `pitch` bytes of one buffer.
struct Padding {
    std::int64_t pitch = 0, bytes = 0;
    [[nodiscard]] std::int64_t moved(std::int64_t at) const { return at + floor_div(at, pitch) * bytes; }
};

void pad_access(Kernel& kernel, Access& access, const Padding& pad) {
    const std::int64_t element = element_bytes(kernel, access);
    const auto moved = [&](std::int64_t elements) { return pad.moved(elements * element) / element; };
    if (access.pattern == mk::PatternKind::contiguous && access.bytes * lanes_per_warp > pad.pitch &&
        pad.pitch % access.bytes == 0) {
        access.pattern = mk::PatternKind::stride;
        access.inner_extent = pad.pitch / access.bytes;
        access.inner = access.bytes / element;
        access.outer = (pad.pitch + pad.bytes) / element;
    } else if (access.pattern == mk::PatternKind::stride) {
        const std::int64_t inner = access.inner * element;
        if (inner > 0 && inner < pad.pitch && access.inner_extent >= lanes_per_warp &&
            pad.pitch % inner == 0) {
            access.inner_extent = pad.pitch / inner;
            access.outer = (pad.pitch + pad.bytes) / element;
        } else {
            access.inner = moved(access.inner);
            access.outer = moved(access.outer);
        }
    } else if (access.pattern == mk::PatternKind::listed) {
        const auto first = kernel.address_list.size();
        for (std::uint32_t i = 0; i < access.pool_length; ++i) {
            const std::int64_t at = kernel.address_list[access.pool_first + i];
            kernel.address_list.push_back(at < 0 ? at : moved(at));
        }
        access.pool_first = static_cast<std::uint32_t>(first);
    }
    std::vector<Term> terms = terms_of(kernel, access.origin[0]);
    for (Term& term : terms) term.coefficient = moved(term.coefficient);
    access.origin[0] = add_index(kernel, moved(access.origin[0].constant), terms);
    access.step = moved(access.step);
}

}  // namespace

int swizzle_shared(Kernel& kernel, const hw::Gpu& gpu) {
    int boxes = 0;
    for (mk::Buffer& buffer : kernel.buffers) {
        // Rows of a tile that matrix instructions read.
        const std::int64_t row = buffer.extent[0] * hw::bytes_of(buffer.dtype);
        if (buffer.space != mk::Space::shared || buffer.rank < 2 || buffer.swizzle_bytes != 0) continue;
        for (const std::int32_t span : {128, 64, 32}) {
            if (row % span == 0) {
                buffer.swizzle_bytes = span;
                ++boxes;
                break;
            }
        }
    }
    return boxes + visit_conflicts(kernel, gpu, [](Access& access) {
               access.pattern = mk::PatternKind::contiguous;
               access.inner_extent = lanes_per_warp;
               access.inner = 1;
               access.outer = 0;
               access.distinct = 0;
               access.pool_first = access.pool_length = 0;
           });
}

int pad_shared(Kernel& kernel, const hw::Gpu& gpu, std::int64_t padding) {
    const mm::BankGeometry banks = banks_of(gpu);
    std::map<mk::Id, Padding> paddings;
    const int found = visit_conflicts(kernel, gpu, [&](const Access& access) {
        const std::int64_t pitch = conflicting_pitch(kernel, access, banks);
        if (pitch == 0) return;
        Padding& pad = paddings[access.buffer];
        pad.pitch = pad.pitch == 0 ? pitch : std::gcd(pad.pitch, pitch);
        pad.bytes = std::max(pad.bytes, banks.bank_bytes);
    });
    if (paddings.empty()) return 0;
    for (auto& [id, pad] : paddings) {
        // Rows stay aligned for the widest access to the array.
        for (const Access& access : kernel.accesses) {
            if (access.buffer == id) pad.bytes = std::max(pad.bytes, std::int64_t{access.bytes});
        }
        if (padding > 0) pad.bytes = padding;
        for (Access& access : kernel.accesses) {
            if (access.buffer == id && access.rank == 1) pad_access(kernel, access, pad);
        }
        mk::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(id)];
        const std::int64_t element = hw::bytes_of(buffer.dtype);
        const std::int64_t more = pad.moved(buffer.elements() * element) / element - buffer.elements();
        if (buffer.rank == 1) buffer.extent[0] += more;
        kernel.static_shared += more * element * buffer.stages;
    }
    return found;
}

}  // namespace warptime::advice
