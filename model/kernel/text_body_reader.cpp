// Reads role bodies of the text form: loops, ops with their accesses, and token events.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/text_index_reader.hpp"
#include "model/kernel/text_reader.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace warptime::model::kernel::detail {

namespace {
constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view body_records = "op, access, loop, branch, wait, signal, mark or end";
}  // namespace

template <class Records>
Id KernelReader::reference(const Records& records, std::string_view what) {
    if (cursor_.take('#')) {
        return static_cast<Id>(cursor_.integer(0, std::numeric_limits<Id>::max()));
    }
    const std::size_t start = cursor_.start_of_token();
    const std::string_view found = cursor_.word(what);
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].name.view() == found) {
            return static_cast<Id>(i);
        }
    }
    cursor_.fail_at(start, what);
}

void KernelReader::role() {
    cap(kernel_.roles, 1024, "than 1024 roles");
    const Name role_name = name();
    Role fields_of_role;
    fields("warps=, instances=, registers= or alternate=", [&](std::string_view key) {
        if (key == "warps") {
            fields_of_role.warps = static_cast<std::int32_t>(cursor_.integer(0, most_int));
        } else if (key == "instances") {
            fields_of_role.instances = static_cast<std::int32_t>(cursor_.integer(0, most_int));
        } else if (key == "registers") {
            fields_of_role.registers_per_thread = static_cast<std::int32_t>(cursor_.integer(0, most_int));
        } else if (key == "alternate") {
            fields_of_role.alternate = cursor_.flag();
        } else {
            return false;
        }
        return true;
    });
    build_.role(role_name, fields_of_role.warps, fields_of_role.instances,
                fields_of_role.registers_per_thread);
    if (fields_of_role.alternate) {
        build_.alternate();
    }
    int depth = 0;
    for (;;) {
        cursor_.next_line();
        const std::size_t start = cursor_.start_of_token();
        const std::string_view record = cursor_.identifier(body_records);
        if (record == "end") {
            if (depth == 0) {
                build_.finish();
                return;
            }
            --depth;
            build_.end();
            continue;
        }
        depth += record == "loop" || record == "branch" ? 1 : 0;
        if (depth > max_nesting) {
            cursor_.fail_at(start, "at most 16 nested loops and branches");
        }
        body(record);
    }
}

void KernelReader::body(std::string_view record) {
    if (record == "op") {
        op();
    } else if (record == "access") {
        if (kernel_.nodes.empty() || kernel_.nodes.back().kind != NodeKind::op) {
            cursor_.fail("an op before its accesses");
        }
        access();
    } else if (record == "loop") {
        loop();
    } else if (record == "branch") {
        branch();
    } else if (record == "wait") {
        const Id token = reference(kernel_.tokens, "a token of this kernel");
        std::int64_t lag = 0;
        fields("lag=", [&](std::string_view key) {
            if (key != "lag") {
                return false;
            }
            lag = cursor_.integer(0, most_int);
            return true;
        });
        build_.wait(token, static_cast<int>(lag));
    } else if (record == "signal") {
        const Id token = reference(kernel_.tokens, "a token of this kernel");
        SignalOn on = SignalOn::issue;
        fields("on=", [&](std::string_view key) {
            if (key != "on") {
                return false;
            }
            on = cursor_.enumerator<SignalOn>();
            return true;
        });
        build_.signal(token, on);
    } else if (record == "mark") {
        build_.mark(name());
    } else {
        cursor_.fail(body_records);
    }
}

void KernelReader::loop() {
    Trips trips;
    std::int32_t unroll = 1;
    std::int32_t machine_unroll = 1;
    SlowestWarps slowest;
    bool overlap = false;
    fields(
        "trips=, mean=, max_over_lanes=, max_over_warps=, slowest_of_cta=, slowest_of_grid=, unroll=, "
        "machine_unroll= or overlap=",
        [&](std::string_view key) {
            if (key == "trips") {
                trips.index = read_index(cursor_, kernel_);
            } else if (key == "mean") {
                trips.expected = true;
                trips.mean = cursor_.real();
            } else if (key == "max_over_lanes") {
                trips.max_over_lanes = cursor_.real();
            } else if (key == "max_over_warps") {
                trips.max_over_warps = cursor_.real();
            } else if (key == "slowest_of_cta") {
                slowest.of_cta = cursor_.real();
            } else if (key == "slowest_of_grid") {
                slowest.of_grid = cursor_.real();
            } else if (key == "unroll") {
                unroll = static_cast<std::int32_t>(cursor_.integer(1, most_int));
            } else if (key == "machine_unroll") {
                machine_unroll = static_cast<std::int32_t>(cursor_.integer(1, most_int));
            } else if (key == "overlap") {
                overlap = cursor_.flag();
            } else {
                return false;
            }
            return true;
        });
    build_.loop(trips, unroll, machine_unroll);
    kernel_.loops.back().slowest = slowest;
    kernel_.loops.back().overlap = overlap;
}

void KernelReader::branch() {
    Branch branch;
    std::optional<Index> lanes;
    fields("warps_taking=, mean_lanes=, lanes=, slowest_of_cta= or slowest_of_grid=",
           [&](std::string_view key) {
               if (key == "warps_taking") {
                   branch.warps_taking = cursor_.real();
               } else if (key == "mean_lanes") {
                   branch.mean_lanes = cursor_.real();
               } else if (key == "lanes") {
                   lanes = read_index(cursor_, kernel_);
               } else if (key == "slowest_of_cta") {
                   branch.slowest.of_cta = cursor_.real();
               } else if (key == "slowest_of_grid") {
                   branch.slowest.of_grid = cursor_.real();
               } else {
                   return false;
               }
               return true;
           });
    build_.branch(branch);
    if (lanes) build_.lanes(*lanes);
}

void KernelReader::op() {
    const std::int64_t number = static_cast<std::int64_t>(kernel_.ops.size());
    (void)cursor_.integer(number, number);
    Op op;
    const auto named = [&](auto parse) {
        const std::size_t start = cursor_.start_of_token();
        const std::string_view word = cursor_.word("a name");
        try {
            return parse(word);
        } catch (const Error& error) {
            cursor_.fail_at(start, error.expected());
        }
    };
    std::vector<Dep> deps;
    std::optional<Index> lanes;
    op.cls = named([](std::string_view word) { return hw::parse_instruction_class(word); });
    fields(
        "dtype=, shape=, count=, chain=, when=, active=, enabled=, lanes=, once_per_unroll=, "
        "shared_operand=, "
        "sparse=, deps=, completes=, line=, returns=, asleep= or texture=",
        [&](std::string_view key) {
            if (key == "dtype") {
                op.dtype = named([](std::string_view word) { return hw::parse_dtype(word); });
            } else if (key == "shape") {
                list(op.shape, [&] { return static_cast<std::int32_t>(cursor_.integer(0, most_int)); });
            } else if (key == "count") {
                op.count = cursor_.integer();
            } else if (key == "chain") {
                op.chain = cursor_.integer();
            } else if (key == "when") {
                op.when.active = true;
                op.when.value = read_index(cursor_, kernel_);
                cursor_.expect('[');
                op.when.low = cursor_.integer();
                cursor_.expect(',');
                op.when.high = cursor_.integer();
                cursor_.expect(']');
            } else if (key == "asleep") {
                op.asleep = cursor_.real();
            } else if (key == "texture") {
                op.texture = cursor_.enumerator<TextureUse>();
            } else if (key == "active") {
                op.active = cursor_.real();
            } else if (key == "enabled") {
                op.enabled = cursor_.real();
            } else if (key == "lanes") {
                lanes = read_index(cursor_, kernel_);
            } else if (key == "once_per_unroll") {
                op.once_per_unroll = cursor_.flag();
            } else if (key == "shared_operand") {
                op.shared_operand = cursor_.flag();
            } else if (key == "sparse") {
                op.sparse = cursor_.flag();
            } else if (key == "deps") {
                read_deps(deps);
            } else if (key == "completes") {
                op.completes = reference(kernel_.tokens, "a token of this kernel");
            } else if (key == "line") {
                const std::size_t start = cursor_.start_of_token();
                op.file = static_cast<Id>(cursor_.integer(0, std::numeric_limits<Id>::max()));
                if (static_cast<std::size_t>(op.file) >= kernel_.files.size()) {
                    cursor_.fail_at(start, "the number of a file of this kernel");
                }
                cursor_.expect(':');
                op.line = static_cast<std::int32_t>(cursor_.integer(0, most_int));
            } else if (key == "returns") {
                op.returns = cursor_.flag();
            } else {
                return false;
            }
            return true;
        });
    build_.op(op);
    for (const Dep& dep : deps) {
        build_.dep(dep);
    }
    if (lanes) build_.lanes(*lanes);
}

void KernelReader::read_deps(std::vector<Dep>& deps) {
    deps.clear();
    do {
        Dep& dep = deps.emplace_back();
        dep.op = static_cast<Id>(cursor_.integer(0, std::numeric_limits<Id>::max()));
        if (cursor_.take(':')) {
            dep.distance = static_cast<std::int32_t>(cursor_.integer(0, most_int));
        }
    } while (cursor_.take(','));
}

void KernelReader::access() {
    Access access;
    access.direction = cursor_.enumerator<Direction>();
    access.buffer = reference(kernel_.buffers, "a buffer of this kernel");
    access.pattern = cursor_.enumerator<PatternKind>();
    const auto small = [&] { return static_cast<std::int32_t>(cursor_.integer(0, most_int)); };
    const auto word32 = [&] { return static_cast<std::uint32_t>(cursor_.integer(0, 0xffffffffLL)); };
    fields(
        "origin=, rank=, box=, bytes=, inner_extent=, inner=, outer=, distinct=, distribution=, seed=, "
        "step=, window=, pool_first=, pool_length=, bounds=, cache=, multicast_ctas=, skew=, joined=, "
        "far= or reuse=",
        [&](std::string_view key) {
            if (key == "origin") {
                access.rank = static_cast<std::uint8_t>(
                    list(access.origin, [&] { return read_index(cursor_, kernel_); }));
            } else if (key == "rank") {
                access.rank = static_cast<std::uint8_t>(cursor_.integer(1, max_rank));
            } else if (key == "box") {
                list(access.box, [&] { return cursor_.integer(); });
            } else if (key == "bytes") {
                access.bytes = small();
            } else if (key == "inner_extent") {
                access.inner_extent = cursor_.integer();
            } else if (key == "inner") {
                access.inner = cursor_.integer();
            } else if (key == "outer") {
                access.outer = cursor_.integer();
            } else if (key == "distinct") {
                access.distinct = cursor_.integer();
            } else if (key == "distribution") {
                access.distribution = cursor_.enumerator<Distribution>();
            } else if (key == "seed") {
                access.seed = cursor_.natural();
            } else if (key == "step") {
                access.step = cursor_.integer();
            } else if (key == "window") {
                access.window = cursor_.integer();
            } else if (key == "pool_first") {
                access.pool_first = word32();
            } else if (key == "pool_length") {
                access.pool_length = word32();
            } else if (key == "bounds") {
                access.bounds = cursor_.enumerator<Bounds>();
            } else if (key == "cache") {
                access.cache = cursor_.enumerator<CachePolicy>();
            } else if (key == "multicast_ctas") {
                access.multicast_ctas = small();
            } else if (key == "skew") {
                access.skew = cursor_.real();
            } else if (key == "joined") {
                access.joined = cursor_.real();
            } else if (key == "far") {
                access.far = cursor_.real();
            } else if (key == "reuse") {
                access.reuse = static_cast<std::uint32_t>(
                    cursor_.integer(0, static_cast<std::int64_t>(kernel_.reuse.size())));
            } else {
                return false;
            }
            return true;
        });
    build_.access(access);
}

}  // namespace warptime::model::kernel::detail
