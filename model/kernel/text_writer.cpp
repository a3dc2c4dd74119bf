// Writes descriptions as text.
// Index expressions stand inline when the pool of terms lies in the order of writing. Otherwise the pool is
// listed first and every index names its place in it.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/enum_names.hpp"
#include "model/kernel/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace warptime::model::kernel {

namespace {

std::string quote(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
        }
        quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return quoted + '"';
}

class KernelWriter {
  public:
    KernelWriter(const Kernel& kernel, std::string& out, bool listed)
        : kernel_(kernel), out_(out), listed_(listed) {}

    /// False when the pools do not lie in the order of writing; the text is then of no use.
    bool write(std::string_view after) {
        line("kernel {}{}", quote(kernel_.name), after);
        ++indent_;
        launch();
        schedule();
        for (const Buffer& buffer : kernel_.buffers) {
            write_buffer(buffer);
        }
        for (const Token& token : kernel_.tokens) {
            write_token(token);
        }
        if (listed_) {
            pools();
        }
        addresses();
        files();
        reuse();
        for (const Role& role : kernel_.roles) {
            write_role(role);
        }
        --indent_;
        line("end");
        return in_order_ && next_term_ == kernel_.terms.size() && next_nested_ == kernel_.nested.size();
    }

  private:
    template <class... Args>
    void add(fmt::format_string<Args...> form, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), form, std::forward<Args>(args)...);
    }
    void begin() { out_.append(static_cast<std::size_t>(indent_) * 2, ' '); }
    template <class... Args>
    void line(fmt::format_string<Args...> form, Args&&... args) {
        begin();
        add(form, std::forward<Args>(args)...);
        out_ += '\n';
    }
    /// " key=value" unless the value is the default.
    template <class Value>
    void field(std::string_view key, const Value& value, const Value& usual) {
        if (value != usual) {
            add(" {}={}", key, value);
        }
    }
    void field(std::string_view key, bool value, bool usual) {
        if (value != usual) {
            add(" {}={}", key, value ? 1 : 0);
        }
    }
    template <class Enum>
    void word(std::string_view key, Enum value, Enum usual) {
        if (value != usual) {
            add(" {}={}", key, name_of(value));
        }
    }
    /// Values up to the last that differs from the usual one, and at least `least`.
    template <class Array>
    std::size_t list(std::string_view key, const Array& values, const Array& usual, std::size_t least) {
        std::size_t size = values.size();
        while (size > least && values[size - 1] == usual[size - 1]) {
            --size;
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (i == 0) {
                add(" {}={}", key, values[i]);
            } else {
                add(",{}", values[i]);
            }
        }
        return size;
    }

    template <class Records>
    std::string reference(const Records& records, Id id) const {
        const Name& name = records[static_cast<std::size_t>(id)].name;
        std::size_t same = 0;
        for (const auto& record : records) {
            same += record.name == name ? 1U : 0U;
        }
        return same == 1 && !name.view().empty() ? std::string(name.view()) : fmt::format("#{}", id);
    }

    void launch() {
        const auto dims = [&](const char* key, const Dim3& value) {
            if (value != Dim3{}) {
                line("{} {} {} {}", key, value.x, value.y, value.z);
            }
        };
        dims("grid", kernel_.grid);
        dims("cluster", kernel_.cluster);
        dims("cta", kernel_.cta);
        begin();
        add("resources");
        field("registers", kernel_.registers_per_thread, 32);
        field("static_shared", kernel_.static_shared, std::int64_t{0});
        field("dynamic_shared", kernel_.dynamic_shared, std::int64_t{0});
        field("carveout", kernel_.carveout, std::int64_t{-1});
        field("named_barriers", kernel_.named_barriers, 1);
        out_ += '\n';
        const Coverage& cover = kernel_.coverage;
        if (cover != Coverage{}) {
            line("coverage exact={} extrapolated={} unknown={}", cover.exact, cover.extrapolated,
                 cover.unknown);
        }
        if (kernel_.hand_overs != HandOvers{}) {
            line("hand_overs in_series={} wait={} told={}", kernel_.hand_overs.in_series,
                 kernel_.hand_overs.wait, kernel_.hand_overs.told);
        }
        if (kernel_.evidence != Evidence::any) {
            line("evidence {}", name_of(kernel_.evidence));
        }
    }

    void schedule() {
        const Schedule& schedule = kernel_.schedule;
        const Schedule usual;
        begin();
        add("schedule {}", name_of(schedule.kind));
        list("tiles", schedule.tiles, usual.tiles, 0);
        word("raster", schedule.raster, usual.raster);
        field("group", schedule.group, usual.group);
        field("split_k", schedule.split_k, usual.split_k);
        field("stream_k", schedule.stream_k, usual.stream_k);
        field("k_iterations", schedule.k_iterations, usual.k_iterations);
        field("on_demand", schedule.on_demand, usual.on_demand);
        out_ += '\n';
        for (const WorkItem& item : schedule.items) {
            begin();
            add("item");
            list("tile", item.tile, WorkItem{}.tile, 0);
            field("begin", item.begin, std::int64_t{0});
            field("end", item.end, std::int64_t{0});
            field("class", item.cta_class, Id{0});
            field("problem", item.problem, 0);
            out_ += '\n';
        }
        for (const CtaClass& cls : kernel_.cta_classes) {
            begin();
            add("class first={} last={}", cls.first, cls.last);
            field("multiplicity", cls.multiplicity, 1.0);
            word("phase", cls.phase, CtaPhase::any);
            out_ += '\n';
        }
    }

    void write_buffer(const Buffer& buffer) {
        const Buffer usual;
        begin();
        add("buffer {}", quote(buffer.name.view()));
        word("space", buffer.space, usual.space);
        if (buffer.dtype != usual.dtype) {
            add(" dtype={}", hw::to_string(buffer.dtype));
        }
        const std::size_t size = list("extent", buffer.extent, usual.extent, buffer.rank);
        field("rank", std::size_t{buffer.rank}, size);
        list("stride", buffer.stride, usual.stride, 0);
        field("base", buffer.base, usual.base);
        field("base_alignment", buffer.base_alignment, usual.base_alignment);
        field("stages", buffer.stages, usual.stages);
        field("swizzle", buffer.swizzle_bytes, usual.swizzle_bytes);
        field("page_bytes", buffer.page_bytes, usual.page_bytes);
        word("before", buffer.before, usual.before);
        word("contents", buffer.contents, usual.contents);
        field("written_by_step", buffer.written_by_step, usual.written_by_step);
        field("since_bytes", buffer.since_bytes, usual.since_bytes);
        out_ += '\n';
    }

    void write_token(const Token& token) {
        const Token usual;
        begin();
        add("token {}", quote(token.name.view()));
        word("kind", token.kind, usual.kind);
        word("scope", token.scope, usual.scope);
        word("key", token.key, usual.key);
        field("arrivals", token.arrivals, usual.arrivals);
        field("initial", token.initial, usual.initial);
        field("depth", token.depth, usual.depth);
        out_ += '\n';
    }

    void pools() {
        for (const Term& term : kernel_.terms) {
            begin();
            add("term ");
            write_term(term);
            out_ += '\n';
        }
        next_term_ = kernel_.terms.size();
        for (const Index& nested : kernel_.nested) {
            begin();
            add("nested ");
            index(nested);
            out_ += '\n';
        }
        next_nested_ = kernel_.nested.size();
    }

    void files() {
        for (const std::string& file : kernel_.files) line("file {}", quote(file));
    }

    void reuse() {
        for (const Reuse& known : kernel_.reuse) {
            begin();
            add("reuse");
            for (const auto* const shares : {&known.sectors, &known.whole}) {
                for (const double share : *shares) add(" {}", share);
            }
            if (known.beside > 0.0) add(" beside={}", known.beside);
            if (known.together > 0.0) add(" together={}", known.together);
            out_ += '\n';
        }
    }

    void addresses() {
        for (const AddressRun& run : kernel_.address_pool) {
            begin();
            add("run start={}", run.start);
            field("step", run.step, std::int64_t{0});
            field("repeat", run.repeat, std::int64_t{1});
            field("lanes", run.lane_mask, 0xffffffffU);
            out_ += '\n';
        }
        for (std::size_t i = 0; i < kernel_.address_list.size(); ++i) {
            if (i % 32 == 0) {
                begin();
                add("addresses");
            }
            add(" {}", kernel_.address_list[i]);
            if (i % 32 == 31 || i + 1 == kernel_.address_list.size()) {
                out_ += '\n';
            }
        }
    }

    /// Writes a term: the coefficient, the variable and the operations on it.
    void write_term(const Term& term) {
        if (term.coefficient != 1) {
            add("{}*", term.coefficient);
        }
        const std::uint32_t inner = nested_count(term.variable);
        const bool fresh = inner > 0 && !listed_ && term.position >= next_nested_;
        if (fresh) {
            for (std::uint32_t n = 0; n < inner; ++n) {
                out_ += term.variable == Variable::power ? "2^(" : n > 0 ? "*(" : "(";
                bare_index(kernel_.nested[term.position + n]);
                out_ += ')';
            }
            in_order_ = in_order_ && term.position == next_nested_;
            next_nested_ += inner;
        } else {
            add("{}", name_of(term.variable));
            if (term.position != 0 || term.variable == Variable::tile || term.variable == Variable::loop ||
                inner > 0) {
                add(".{}", term.position);
            }
        }
        if (term.divisor != 1) {
            add("/{}", term.divisor);
        }
        if (term.modulus != 0) {
            add("%{}", term.modulus);
        }
        const Term usual;
        if (term.low != usual.low || term.high != usual.high) {
            out_ += '[';
            if (term.low != usual.low) {
                add("{}", term.low);
            }
            out_ += ',';
            if (term.high != usual.high) {
                add("{}", term.high);
            }
            out_ += ']';
        }
    }

    void bare_index(const Index& index) {
        const bool known = std::size_t{index.first} + index.count <= next_term_;
        const char* separator = "";
        if (index.constant != 0 || index.count == 0) {
            add("{}", index.constant);
            separator = " + ";
        }
        for (std::size_t i = index.first; i < std::size_t{index.first} + index.count; ++i) {
            out_ += separator;
            write_term(kernel_.terms[i]);
            separator = " + ";
        }
        if (index.count == 0) {
            if (index.first != 0) {
                add(" @{}", index.first);
            }
        } else if (known) {
            add(" @{}", index.first);
        } else {
            in_order_ = in_order_ && index.first == next_term_;
            next_term_ += index.count;
        }
    }
    void index(const Index& index) {
        out_ += '{';
        bare_index(index);
        out_ += '}';
    }

    void write_role(const Role& role) {
        begin();
        add("role {} warps={}", quote(role.name.view()), role.warps);
        field("instances", role.instances, 1);
        field("registers", role.registers_per_thread, 0);
        field("alternate", role.alternate, false);
        out_ += '\n';
        ++indent_;
        nodes(role.first_node, role.last_node);
        --indent_;
        line("end");
    }

    void nodes(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last && in_order_;) {
            const Node& node = kernel_.nodes[i];
            const std::size_t id = node.payload;
            begin();
            switch (node.kind) {
                case NodeKind::op:
                    write_op(id, kernel_.ops[id]);
                    break;
                case NodeKind::loop:
                    write_loop(kernel_.loops[id]);
                    break;
                case NodeKind::wait:
                    add("wait {}", reference(kernel_.tokens, kernel_.waits[id].token));
                    field("lag", kernel_.waits[id].lag, 0);
                    break;
                case NodeKind::signal:
                    add("signal {} on={}", reference(kernel_.tokens, kernel_.signals[id].token),
                        name_of(kernel_.signals[id].on));
                    break;
                case NodeKind::branch:
                    add("branch");
                    field("warps_taking", kernel_.branches[id].warps_taking, 1.0);
                    field("mean_lanes", kernel_.branches[id].mean_lanes, 32.0);
                    lanes(kernel_.branches[id].lanes);
                    slowest(kernel_.branches[id].slowest);
                    break;
                case NodeKind::mark:
                    add("mark {}", quote(kernel_.marks[id].name.view()));
                    break;
            }
            out_ += '\n';
            if (node.kind == NodeKind::loop || node.kind == NodeKind::branch) {
                ++indent_;
                nodes(i + 1, node.end);
                --indent_;
                line("end");
            } else if (node.kind == NodeKind::op) {
                const Op& op = kernel_.ops[id];
                ++indent_;
                for (const Access& access : kernel_.accesses_of(op)) {
                    write_access(access);
                }
                --indent_;
            }
            i = node.end;
        }
    }

    void slowest(const SlowestWarps& warps) {
        field("slowest_of_cta", warps.of_cta, -1.0);
        field("slowest_of_grid", warps.of_grid, -1.0);
    }

    void lanes(Id lanes) {
        if (lanes == no_id) return;
        add(" lanes=");
        index(kernel_.lane_counts[static_cast<std::size_t>(lanes)]);
    }

    void write_loop(const Loop& loop) {
        add("loop");
        if (loop.trips.expected) {
            add(" mean={} max_over_lanes={} max_over_warps={}", loop.trips.mean, loop.trips.max_over_lanes,
                loop.trips.max_over_warps);
        }
        if (!loop.trips.expected || loop.trips.index != Index{}) {
            add(" trips=");
            index(loop.trips.index);
        }
        slowest(loop.slowest);
        field("unroll", loop.unroll, 1);
        field("machine_unroll", loop.machine_unroll, 1);
        if (loop.overlap) {
            add(" overlap=1");
        }
    }

    void write_op(std::size_t id, const Op& op) {
        const Op usual;
        add("op {} {}", id, hw::to_string(op.cls));
        if (op.dtype != usual.dtype) {
            add(" dtype={}", hw::to_string(op.dtype));
        }
        list("shape", op.shape, usual.shape, 0);
        field("count", op.count, usual.count);
        field("chain", op.chain, usual.chain);
        if (op.when.active) {
            add(" when=");
            index(op.when.value);
            add("[{},{}]", op.when.low, op.when.high);
        }
        field("active", op.active, usual.active);
        field("enabled", op.enabled, usual.enabled);
        lanes(op.lanes);
        field("once_per_unroll", op.once_per_unroll, usual.once_per_unroll);
        field("shared_operand", op.shared_operand, usual.shared_operand);
        field("sparse", op.sparse, usual.sparse);
        const char* separator = " deps=";
        for (const Dep& dep : kernel_.deps_of(op)) {
            add("{}{}", separator, dep.op);
            separator = ",";
            if (dep.distance != 0) {
                add(":{}", dep.distance);
            }
        }
        if (op.completes != no_id) {
            add(" completes={}", reference(kernel_.tokens, op.completes));
        }
        field("returns", op.returns, usual.returns);
        field("asleep", op.asleep, usual.asleep);
        word("texture", op.texture, usual.texture);
        if (op.file != no_id) add(" line={}:{}", op.file, op.line);
    }

    void write_access(const Access& access) {
        const Access usual;
        begin();
        add("access {} {} {}", name_of(access.direction), reference(kernel_.buffers, access.buffer),
            name_of(access.pattern));
        std::size_t size = access.origin.size();
        while (size > access.rank && access.origin[size - 1] == Index{}) {
            --size;
        }
        for (std::size_t d = 0; d < size; ++d) {
            add("{}", d == 0 ? " origin=" : ",");
            index(access.origin[d]);
        }
        field("rank", std::size_t{access.rank}, size);
        list("box", access.box, usual.box, 0);
        field("bytes", access.bytes, usual.bytes);
        field("inner_extent", access.inner_extent, usual.inner_extent);
        field("inner", access.inner, usual.inner);
        field("outer", access.outer, usual.outer);
        field("distinct", access.distinct, usual.distinct);
        word("distribution", access.distribution, usual.distribution);
        field("seed", access.seed, usual.seed);
        field("step", access.step, usual.step);
        field("window", access.window, usual.window);
        field("pool_first", access.pool_first, usual.pool_first);
        field("pool_length", access.pool_length, usual.pool_length);
        word("bounds", access.bounds, usual.bounds);
        word("cache", access.cache, usual.cache);
        field("multicast_ctas", access.multicast_ctas, usual.multicast_ctas);
        field("skew", access.skew, usual.skew);
        field("joined", access.joined, usual.joined);
        field("far", access.far, usual.far);
        field("reuse", access.reuse, usual.reuse);
        out_ += '\n';
    }

    const Kernel& kernel_;
    std::string& out_;
    bool listed_;
    bool in_order_ = true;
    int indent_ = 0;
    std::size_t next_term_ = 0;
    std::size_t next_nested_ = 0;
};

void write_kernel(const Kernel& kernel, std::string_view after, std::string& out) {
    const std::size_t start = out.size();
    if (!KernelWriter(kernel, out, false).write(after)) {
        out.resize(start);
        KernelWriter(kernel, out, true).write(after);
    }
}

/// Empty when the step follows the previous one, which is the usual order.
std::string after_of(const Step& step, std::size_t position) {
    const Id before = position == 0 ? no_id : static_cast<Id>(position - 1);
    return step.after == std::array<Id, 2>{before, no_id}
               ? std::string()
               : fmt::format(" after={},{}", step.after[0], step.after[1]);
}

}  // namespace

std::string to_text(const Kernel& kernel) {
    check(kernel);
    std::string out;
    write_kernel(kernel, "", out);
    return out;
}

namespace {

void write_exchange(const Exchange& exchange, const std::string& after, std::string& out) {
    const auto& [within, across] = exchange.links;
    fmt::format_to(
        std::back_inserter(out),
        "exchange {} bytes={} start={} handled={},{} fill={} within={},{},{},{} across={},{},{},{} band={} "
        "evidence={}{}\n",
        quote(exchange.name), exchange.bytes, exchange.start_seconds, exchange.handled_bytes,
        exchange.handled_per_second, exchange.fill_seconds, within.hops, within.hop_seconds, within.bytes,
        within.bytes_per_second, across.hops, across.hop_seconds, across.bytes, across.bytes_per_second,
        exchange.band, name_of(exchange.evidence), after);
}

}  // namespace

std::string to_text(const Program& program) {
    check(program);
    std::string out = "program\n";
    std::array<std::size_t, 4> next{};
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (step.payload != next[static_cast<std::size_t>(step.kind)]++) {
            throw Error(fmt::format("program step {} payload", i), std::to_string(step.payload),
                        "records of one kind numbered in the order of their steps");
        }
        const std::string after = after_of(step, i);
        if (step.kind == StepKind::kernel) {
            write_kernel(program.kernels[step.payload], after, out);
        } else if (step.kind == StepKind::memset) {
            fmt::format_to(std::back_inserter(out), "memset bytes={}{}\n",
                           program.memsets[step.payload].bytes, after);
        } else if (step.kind == StepKind::exchange) {
            write_exchange(program.exchanges[step.payload], after, out);
        } else {
            const Memcpy& copy = program.memcpys[step.payload];
            fmt::format_to(std::back_inserter(out), "memcpy bytes={} link={} pinned={} passes={}{}\n",
                           copy.bytes, name_of(copy.link), copy.pinned ? 1 : 0, copy.passes, after);
        }
    }
    return out + "end\n";
}

}  // namespace warptime::model::kernel
