// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/flow_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::workloads::arrays {

namespace {

class FlowWriter {
  public:
    FlowWriter(const FlowKernel& flow, mk::Kernel& kernel) : flow_(flow), body_(kernel, flow.launch) {
        const auto buffers = [&](const std::vector<Flow>& flows, std::vector<mk::Id>& made) {
            for (const Flow& f : flows) {
                made.push_back(body_.vector(f.name, f.dtype, f.elements));
                if (f.kept) kernel.buffers[static_cast<std::size_t>(made.back())].before = mk::Before::warm;
            }
        };
        buffers(flow.sources, sources_);
        buffers(flow.flows, buffers_);
        for (const Flow& f : flow.results) results_.push_back(body_.vector(f.name, f.dtype, f.elements));
        const std::int64_t words = flow.shared.random > 0 ? flow.shared.random : 32 * body_.warps();
        const std::int64_t per_word = std::max<std::int64_t>(1, flow.shared.bytes / 4);
        const std::int64_t most = (flow.launch.static_shared + flow.launch.dynamic_shared) / 4;
        words_ = std::clamp<std::int64_t>(words, 1, std::max<std::int64_t>(1, most / per_word));
        if (flow.shared.loads + flow.shared.stores + flow.shared.atomics > 0) {
            scratch_ = body_.shared("scratch", mk::Dtype::int32, words_ * per_word);
        }
        if (flow.shared.exchanged > 0) {
            exchanged_ = {body_.shared("keys", mk::Dtype::int32, std::max<std::int64_t>(1, most)),
                          body_.shared("values", mk::Dtype::int64, std::max<std::int64_t>(1, most / 2))};
        }
    }

    void write() {
        body_.begin();
        last_ = body_.add(flow_.start, 1.0, mk::no_id, 2.0);
        for (std::size_t i = 0; i < flow_.sources.size(); ++i)
            last_ = move(flow_.sources[i], sources_[i], last_, false);
        if (flow_.rounds > 1) body_.builder().loop(flow_.rounds);
        body_.builder().loop(flow_.trips);
        mk::Id loaded = last_;
        for (std::size_t i = 0; i < flow_.flows.size(); ++i) {
            if (flow_.flows[i].direction != mk::Direction::read || flow_.flows[i].late) continue;
            loaded = move(flow_.flows[i], buffers_[i], flow_.flows[i].follows ? loaded : last_, true);
        }
        (void)body_.add(flow_.loop, 1.0, mk::no_id);
        mk::Id made = body_.add(flow_.each, 1.0, loaded, flow_.streams);
        made = use_shared(made);
        for (std::size_t i = 0; i < flow_.flows.size(); ++i) {
            if (flow_.flows[i].late) made = move(flow_.flows[i], buffers_[i], made, true);
        }
        for (std::size_t i = 0; i < flow_.flows.size(); ++i) {
            if (flow_.flows[i].direction != mk::Direction::read)
                (void)move(flow_.flows[i], buffers_[i], made, true);
        }
        body_.builder().end();
        if (flow_.rounds > 1) made = end_round(made);
        last_ = body_.add(flow_.finish, 1.0, made);
        for (std::size_t i = 0; i < flow_.results.size(); ++i)
            (void)move(flow_.results[i], results_[i], last_, false);
        body_.finish();
    }

  private:
    /// What the warps of the CTA have found in a round comes together, and all warps go on with it.
    mk::Id end_round(mk::Id made) {
        made = body_.add(flow_.round, 1.0, made);
        body_.meet(made);
        body_.builder().end();
        return made;
    }

    mk::Id move(const Flow& f, mk::Id buffer, mk::Id after, bool in_loop) {
        const std::int64_t element = hw::bytes_of(f.dtype);
        const std::int64_t threads = flow_.launch.threads * flow_.launch.threads_y;
        const std::int64_t trip = threads * f.vector;
        const std::int64_t ctas_x = flow_.launch.ctas;
        const std::int64_t piece = f.common          ? 0
                                   : f.piece > 0     ? f.piece
                                   : !in_loop        ? trip
                                   : flow_.piece > 0 ? flow_.piece
                                                     : trip * flow_.trips;
        const bool side_by_side = f.apart == 0;
        const std::int64_t lane_step = side_by_side ? f.vector : f.width;
        mk::Index origin = body_.sum(
            0, {mk::term(mk::Variable::tile, piece), mk::term(mk::Variable::tile, piece * ctas_x, 1),
                mk::term(mk::Variable::warp, 32 * lane_step)});
        const std::uint8_t depth = flow_.rounds > 1 ? 1 : 0;
        if (in_loop)
            origin = body_.sum(
                0, {mk::term(mk::Variable::tile, piece), mk::term(mk::Variable::tile, piece * ctas_x, 1),
                    mk::term(mk::Variable::warp, 32 * lane_step), mk::term(mk::Variable::loop, trip, depth)});
        const std::int64_t lane_bytes = !side_by_side  ? f.width * element
                                        : f.by_element ? element
                                                       : std::min<std::int64_t>(16, f.vector * element);
        const std::int64_t pieces = f.vector * element / lane_bytes;
        mk::Access access = Body::lanes(buffer, f.direction, origin, lane_bytes);
        if (in_loop && flow_.rounds > 1 && f.direction == mk::Direction::read) {
            access.reuse = body_.touched_before(1.0 - 1.0 / static_cast<double>(flow_.rounds),
                                                static_cast<double>(piece * element));
        }
        if (f.random > 0) {
            access.pattern = mk::PatternKind::random;
            access.distinct = f.random;
            access.seed = 1;
        } else if (!side_by_side) {
            access.step = f.apart;
        } else if (pieces > 1) {
            access.pattern = mk::PatternKind::stride;
            access.inner = f.vector;
            access.step = f.vector / pieces;
            // The stores of a lane's neighbours fill the same sectors.
            if (f.direction == mk::Direction::write) access.joined = 1.0 - 1.0 / static_cast<double>(pieces);
        }
        const mk::Id moved = f.direction == mk::Direction::read ? body_.load(access, after, pieces)
                             : f.direction == mk::Direction::write
                                 ? body_.store(access, after, pieces)
                                 : body_.access_op(mk::InstructionClass::red_global, access, after, pieces);
        // Lanes beyond the CTA's elements move none.
        if (f.piece > 0) {
            body_.builder().lanes(
                body_.sum(ceil_div(f.piece, f.vector), {mk::term(mk::Variable::warp, -32)}));
        }
        return moved;
    }

    mk::Id shared_op(mk::InstructionClass cls, mk::Direction direction, std::int64_t count,
                     std::int64_t chain, mk::Id after, std::int64_t random) {
        if (count == 0) return after;
        mk::Access access = Body::lanes(scratch_, direction, body_.builder().variable(mk::Variable::warp, 32),
                                        flow_.shared.bytes);
        if (random > 0) {
            access.origin[0] = mk::Builder::constant(0);
            access.pattern = mk::PatternKind::random;
            access.distinct = random;
            access.seed = 2;
        }
        const mk::Id id = body_.op(cls, count, after, chain);
        body_.builder().access(access);
        return id;
    }

    /// Atomics, then stores and loads in equal parts, with a barrier between what is stored and what is
    /// loaded.
    mk::Id use_shared(mk::Id after) {
        const SharedUse& use = flow_.shared;
        after = use.tries > 0.0 ? swap(after)
                                : shared_op(mk::InstructionClass::atom_shared, mk::Direction::atomic,
                                            use.atomics, 1, after, use.random);
        const std::int64_t parts = std::max<std::int64_t>(1, use.barriers);
        const auto part_of = [&](std::int64_t count, std::int64_t part) {
            return count * (part + 1) / parts - count * part / parts;
        };
        for (std::int64_t part = 0; part < parts; ++part) {
            after = shared_op(mk::InstructionClass::st_shared, mk::Direction::write,
                              part_of(use.stores, part), 1, after, use.random);
            after = shared_op(mk::InstructionClass::st_shared, mk::Direction::write,
                              part_of(use.scattered, part), 1, after, words_);
            if (use.barriers > 0) body_.meet(after);
            after = shared_op(mk::InstructionClass::ld_shared, mk::Direction::read, part_of(use.loads, part),
                              std::max<std::int64_t>(1, part_of(use.chain, part)), after, use.random);
        }
        return use.exchanged > 0 ? exchange(after) : after;
    }

    /// Keys, then values, go to their places, and each lane takes those that come to stand at its own.
    mk::Id exchange(mk::Id after) {
        const std::int64_t elements = flow_.shared.exchanged;
        const std::int64_t all = 32 * body_.warps() * elements;
        for (const mk::Id buffer : exchanged_) {
            const std::int64_t bytes = buffer == exchanged_[0] ? 4 : 8;
            mk::Access put = Body::lanes(buffer, mk::Direction::write, mk::Builder::constant(0), bytes);
            put.pattern = mk::PatternKind::random;
            put.distinct = all;
            put.seed = 3;
            after = body_.op(mk::InstructionClass::st_shared, elements, after);
            body_.builder().access(put);
            body_.meet(after);
            mk::Access get = Body::lanes(buffer, mk::Direction::read, mk::Builder::constant(0), bytes);
            get.pattern = mk::PatternKind::stride;
            get.inner = flow_.shared.apart;
            after = body_.op(mk::InstructionClass::ld_shared, elements, after);
            body_.builder().access(get);
        }
        return after;
    }

    /// Load, add, swap if nobody was faster, and again.
    mk::Id swap(mk::Id after) {
        const SharedUse& use = flow_.shared;
        mk::Trips tries;
        tries.expected = true;
        tries.mean = tries.max_over_lanes = tries.max_over_warps =
            use.tries * static_cast<double>(use.atomics);
        body_.builder().loop(tries);
        after = shared_op(mk::InstructionClass::ld_shared, mk::Direction::read, 1, 1, after, use.random);
        after = body_.op(mk::InstructionClass::add_f32, 1, after);
        after = shared_op(mk::InstructionClass::atom_shared, mk::Direction::atomic, 1, 1, after, use.random);
        after = body_.op(mk::InstructionClass::set_predicate, 1, after);
        after = body_.op(mk::InstructionClass::branch, 1, after);
        body_.builder().end();
        return after;
    }

    const FlowKernel& flow_;
    Body body_;
    std::vector<mk::Id> sources_;
    std::vector<mk::Id> buffers_;
    std::vector<mk::Id> results_;
    std::int64_t words_ = 32;
    mk::Id scratch_ = mk::no_id;
    std::array<mk::Id, 2> exchanged_{mk::no_id, mk::no_id};  ///< room of keys and of values
    mk::Id last_ = mk::no_id;
};

}  // namespace

double most_at_one_place(double places) {
    constexpr int lanes = 32;
    const double share = 1.0 / std::max(1.0, places);
    // Of the counts at one place, then that of all places together, the chance of more than k.
    double chance = std::pow(1.0 - share, lanes);
    double up_to = 0.0;
    double mean = 0.0;
    for (int k = 0; k < lanes; ++k) {
        up_to = std::min(1.0, up_to + chance);
        mean += 1.0 - std::pow(up_to, places);
        chance *= static_cast<double>(lanes - k) / static_cast<double>(k + 1) * share /
                  std::max(1e-12, 1.0 - share);
    }
    return std::clamp(mean, 1.0, static_cast<double>(lanes));
}

void lower_flow(const FlowKernel& flow, mk::Kernel& kernel) {
    FlowWriter(flow, kernel).write();
}

}  // namespace warptime::workloads::arrays
