// Random kernels that pass the checks, with the instruction counts they must have. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/examples/parts.hpp"

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace warptime::model::kernel::examples {

/// Expected warp-instructions by class, counted while the body is made.
struct RandomKernel {
    Kernel kernel;
    std::vector<double> instructions = std::vector<double>(hw::instruction_class_count, 0.0);
};

class RandomKernelMaker {
  public:
    RandomKernel make() {
        Kernel& kernel = made_.kernel;
        kernel.name = *rc::gen::element<std::string>("", "plain", "with \"quotes\" and \\", "two\nlines");
        kernel.registers_per_thread = pick(1, 255);
        kernel.static_shared = 1 << 16;
        kernel.carveout = pick(-1, 3);
        kernel.schedule.group = pick(1, 9);
        kernel.schedule.raster = static_cast<Raster>(pick(0, 1));
        kernel.grid.x = pick(1, 64);
        if (flip()) {
            kernel.schedule.kind = ScheduleKind::listed;
            for (int i = pick(1, 3); i > 0; --i) {
                kernel.schedule.items.push_back(
                    {{pick(0, 9), pick(0, 9), 0, 0}, pick(0, 4), pick(4, 9), 0, 0});
            }
        }
        if (flip()) {
            kernel.coverage = {0.1, 0.2, 0.7};
            kernel.cta_classes.push_back({pick(0, 3), pick(3, 9), 0.1 * pick(1, 40), CtaPhase::warm});
        }
        kernel.evidence = flip() ? Evidence::own : flip() ? Evidence::pooled : Evidence::any;
        for (int i = pick(0, 3); i > 0; --i) {
            kernel.address_pool.push_back({pick(-9, 9), pick(-9, 9), pick(1, 9), 0xf0f0U});
        }
        for (int i = 0; i < 32; ++i) {
            kernel.address_list.push_back(pick(-1, 50));
        }
        for (int i = pick(1, 3); i > 0; --i) {
            add_buffer();
        }
        barrier_ = build_.token(token(name(), TokenKind::named_barrier, Scope::warp, 1));
        group_ = build_.token(token(name(), TokenKind::async_group, Scope::warp, 2, 3));
        build_.token(
            token(name(), TokenKind::mbarrier, Scope::cta, pick(1, 9), 4, pick(0, 4), TokenKey::stage));
        const int roles = pick(1, 2);
        int warps = 0;
        for (int r = 0; r < roles; ++r) {
            warps_ = pick(1, 3);
            instances_ = pick(1, 2);
            warps += warps_ * instances_;
            build_.role(name(), warps_, instances_, pick(0, 200));
            first_op_ = kernel.ops.size();
            body(0, static_cast<double>(warps_ * instances_), false, 0);
        }
        build_.finish();
        kernel.cta.x = 32 * warps;
        return std::move(made_);
    }

  private:
    static int pick(int low, int high) { return *rc::gen::inRange(low, high + 1); }
    static bool flip() { return pick(0, 1) == 1; }
    /// Half of the time empty, or equal to another one's.
    static Name name() {
        return Name(std::string_view(*rc::gen::element<std::string>("", "same", "a", "B.1", "-x_", "9")));
    }

    void add_buffer() {
        Buffer buffer = matrix(name(), flip() ? Dtype::bf16 : Dtype::fp64, pick(1, 300), pick(1, 300));
        buffer.rank = static_cast<std::uint8_t>(pick(1, 3));
        buffer.extent[2] = pick(1, 4);
        buffer.stride[1] += pick(0, 8);
        buffer.before = static_cast<Before>(pick(0, 3));
        made_.kernel.buffers.push_back(buffer);
    }

    Index index(int depth = 0) {
        if (!made_.kernel.terms.empty() && pick(0, 3) == 0) {
            // The same terms again, or a part.
            const auto first =
                static_cast<std::uint32_t>(pick(0, static_cast<int>(made_.kernel.terms.size()) - 1));
            return {pick(-5, 5), first, 1};
        }
        Term first = term(static_cast<Variable>(pick(1, 9)), pick(-9, 9));
        first.divisor = pick(1, 3);
        first.modulus = pick(0, 3);
        if (flip()) {
            first.low = pick(-3, 0);
        }
        if (flip()) {
            first.high = pick(1, 30);
        }
        const Index a = build_.index(
            pick(-9, 9), {first, term(Variable::tile, pick(1, 9), static_cast<std::uint32_t>(pick(0, 3)))});
        switch (depth > 2 ? 0 : pick(0, 7)) {
            case 0:
                return a;
            case 1:
                return build_.floordiv(index(depth + 1), pick(1, 9));
            case 2:
                return build_.sum(build_.modulo(a, pick(1, 9)), index(depth + 1));
            case 3:
                return build_.clamp(a, pick(-9, 0), pick(0, 9));
            case 4:
                return build_.scaled(a, pick(-3, 3));
            case 5:
                return build_.product(build_.modulo(a, 9), build_.clamp(index(depth + 1), -9, 9));
            case 6:
                return build_.power(build_.modulo(a, 6));
            default:
                return Builder::constant(pick(-9, 9));
        }
    }

    void add_random_access(Draft& op) {
        Access access;
        access.buffer = static_cast<Id>(pick(0, static_cast<int>(made_.kernel.buffers.size()) - 1));
        const Buffer& buffer = made_.kernel.buffers[static_cast<std::size_t>(access.buffer)];
        access.direction = static_cast<Direction>(pick(0, 2));
        access.pattern = static_cast<PatternKind>(pick(0, made_.kernel.address_pool.empty() ? 6 : 7));
        access.rank = access.pattern == PatternKind::collective || flip() ? buffer.rank : std::uint8_t{1};
        for (std::size_t d = 0; d < access.rank; ++d) {
            access.origin[d] = index();
            access.box[d] = pick(1, 300);
        }
        access.bytes = 1 << pick(0, 5);
        access.inner_extent = pick(1, 32);
        access.inner = pick(access.pattern == PatternKind::collective ? 1 : -2, 9);
        access.outer = pick(0, 99);
        access.distinct = pick(1, 1000);
        access.step = pick(1, 64);
        access.window = pick(1, 4096);
        access.pool_length = access.pattern == PatternKind::listed ? 32
                             : access.pattern == PatternKind::stream
                                 ? static_cast<std::uint32_t>(made_.kernel.address_pool.size())
                                 : 0;
        access.bounds =
            access.pattern == PatternKind::collective ? Bounds::zero_fill : static_cast<Bounds>(pick(0, 2));
        access.cache = static_cast<CachePolicy>(pick(0, 5));
        add_access(op, access);
    }

    void add_op(double times) {
        const auto cls =
            static_cast<InstructionClass>(pick(0, static_cast<int>(InstructionClass::count) - 1));
        const bool matrix_class = cls == InstructionClass::mma_sync || cls == InstructionClass::wgmma ||
                                  cls == InstructionClass::tcgen05_mma;
        Draft op = make_op(cls, pick(1, 40));
        if (matrix_class) {
            op.shape = {16, 8, 16};
        }
        op.chain = pick(1, static_cast<int>(op.count));
        op.active = 1.0 / pick(1, 7);
        op.enabled = flip() ? 1.0 : 1.0 / pick(1, 5);
        op.returns = flip();
        for (int i = pick(0, 3); i > 0; --i) {
            add_random_access(op);
        }
        std::vector<Dep> deps;
        for (int i = pick(0, 7); i > 0; --i) {
            const auto last = static_cast<int>(made_.kernel.ops.size());
            const int from = pick(static_cast<int>(first_op_), last);
            deps.push_back({from, pick(from == last ? 1 : 0, 3)});
        }
        const bool by_lanes = pick(0, 3) == 0;
        if (pick(0, 4) == 0 && !in_branch_ && !by_lanes && op.enabled == 1.0) {
            op.completes = group_;
        }
        made_.instructions[static_cast<std::size_t>(cls)] += static_cast<double>(op.count) * times;
        examples::add_op(build_, op);
        for (const Dep& dep : deps) build_.dep(dep);
        if (by_lanes) build_.lanes(index());
    }

    void body(int depth, double times, bool in_branch, int loops) {
        in_branch_ = in_branch;
        if (depth == 0) {
            Draft op = make_op(InstructionClass::cp_async, 1, {}, group_);
            made_.instructions[static_cast<std::size_t>(op.cls)] += times;
            examples::add_op(build_, op);
            op.completes = barrier_;
            made_.instructions[static_cast<std::size_t>(op.cls)] += times;
            examples::add_op(build_, op);
        }
        for (int i = pick(1, 4); i > 0; --i) {
            switch (pick(0, depth < 3 ? 6 : 3)) {
                case 0:
                    build_.mark(name());
                    break;
                case 1:
                    if (!in_branch) {
                        build_.signal(barrier_, static_cast<SignalOn>(pick(0, 1)));
                        build_.wait(barrier_, 0);
                    }
                    break;
                case 4: {
                    const int trips = pick(0, 3);
                    Trips known;
                    known.index = Builder::constant(trips);
                    known.expected = flip();
                    known.mean = known.expected ? trips + 0.25 : 0.0;
                    build_.loop(known, pick(1, 4), pick(1, 2));
                    body(depth + 1, times * trips, in_branch, loops + 1);
                    build_.end();
                    break;
                }
                case 5: {
                    const double taking = 0.5 * pick(1, 2);
                    build_.branch({taking, 1.0 * pick(0, 32)});
                    body(depth + 1, times * taking, true, loops);
                    in_branch_ = in_branch;
                    build_.end();
                    break;
                }
                default:
                    add_op(times);
                    break;
            }
            in_branch_ = in_branch;
        }
    }

    RandomKernel made_;
    Builder build_{made_.kernel};
    Id barrier_ = no_id;
    Id group_ = no_id;
    std::size_t first_op_ = 0;
    int warps_ = 1;
    int instances_ = 1;
    bool in_branch_ = false;
};

}  // namespace warptime::model::kernel::examples
