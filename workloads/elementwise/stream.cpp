// SPDX-License-Identifier: Apache-2.0
#include "workloads/elementwise/stream.hpp"

#include <algorithm>
#include <vector>

namespace warptime::workloads::elementwise {

namespace {

/// Bytes that one instruction of a lane moves at most.
constexpr std::int64_t widest_access = 16;

}  // namespace

StreamRule stream_rule(const libraries::KernelRule& rule, std::int64_t element_bytes) {
    StreamRule stream;
    stream.threads = rule.whole("threads");
    stream.elements = rule.whole("elements");
    const std::int64_t width = std::max<std::int64_t>(1, widest_access / element_bytes);
    stream.vector = std::min(rule.has("vector") ? rule.whole("vector") : width, stream.elements);
    stream.registers = rule.whole("registers");
    stream.serial = rule.has("serial");
    stream.start = rule.mix("start");
    if (rule.has("body")) stream.body = rule.mix("body");
    if (rule.has("each_load")) stream.each_load = rule.mix("each_load");
    if (rule.has("each_store")) stream.each_store = rule.mix("each_store");
    return stream;
}

StreamRule ideal_stream(const libraries::KernelRule& ideal, const libraries::Mix& body_of_elements,
                        double elements, std::int64_t element_bytes) {
    StreamRule stream;
    stream.threads = ideal.whole("threads");
    stream.vector = std::max<std::int64_t>(1, ideal.whole("bytes") / element_bytes);
    stream.elements = stream.vector * ideal.whole("accesses");
    stream.registers = ideal.whole("registers");
    stream.start = ideal.mix("start");
    stream.body = body_of_elements;
    for (libraries::ClassCount& part : stream.body) {
        part.count *= static_cast<double>(stream.elements) / elements;
    }
    return stream;
}

void lower_stream(std::string_view name, std::int64_t n, std::span<const Operand> operands,
                  const StreamRule& rule, mk::Kernel& kernel) {
    const std::int64_t per_cta = rule.threads * rule.elements;
    arrays::Launch launch;
    launch.name = name;
    launch.ctas = arrays::ceil_div(n, per_cta);
    launch.threads = rule.threads;
    launch.registers = rule.registers;
    arrays::Body body(kernel, launch);
    std::vector<mk::Id> buffers;
    for (const Operand& operand : operands) buffers.push_back(body.vector(operand.name, operand.dtype, n));
    body.begin();

    // A lane's vector of more than 16 bytes takes several accesses side by side.
    const auto make_accesses = [&](std::int64_t part, mk::Direction direction, auto&& use) {
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (operands[i].direction != direction) continue;
            const std::int64_t element = hw::bytes_of(operands[i].dtype);
            const std::int64_t bytes = rule.vector * element;
            const std::int64_t pieces = arrays::ceil_div(bytes, widest_access);
            for (std::int64_t piece = 0; piece < pieces; ++piece) {
                const std::int64_t first =
                    part * rule.threads * rule.vector + piece * (widest_access / element);
                mk::Access access =
                    arrays::Body::lanes(buffers[i], direction,
                                        body.sum(first, {mk::term(mk::Variable::tile, per_cta),
                                                         mk::term(mk::Variable::warp, 32 * rule.vector)}),
                                        bytes / pieces);
                if (pieces > 1) {
                    access.pattern = mk::PatternKind::stride;
                    access.inner = rule.vector;
                }
                // A later piece lies in the sectors of the piece before.
                if (piece > 0 && direction == mk::Direction::write) access.joined = 1.0;
                if (piece > 0 && direction == mk::Direction::read) {
                    access.reuse = body.touched_before(1.0, static_cast<double>(mk::Reuse::least_distance));
                }
                use(access);
            }
        }
    };
    const std::int64_t parts = rule.elements / rule.vector;
    const mk::Id started = body.add(rule.start, 1.0, mk::no_id);
    mk::Id first_load = mk::no_id;
    mk::Id last = started;
    for (std::int64_t part = 0; part < parts; ++part) {
        // Without serial loads the compiler hoists them all above the first use.
        mk::Id after = body.add(rule.each_load, 1.0, rule.serial ? last : started);
        make_accesses(part, mk::Direction::read, [&](const mk::Access& access) {
            last = body.load(access, after);
            if (first_load == mk::no_id) first_load = last;
        });
    }
    const mk::Id produced = body.add(rule.body, 1.0, last, static_cast<double>(rule.elements));
    mk::Id after = produced;
    for (std::int64_t part = 0; part < parts; ++part) {
        const mk::Id ready = body.add(rule.each_store, 1.0, rule.serial ? after : produced);
        make_accesses(part, mk::Direction::write,
                      [&](const mk::Access& access) { after = body.store(access, ready); });
    }
    body.finish();
}

}  // namespace warptime::workloads::elementwise
