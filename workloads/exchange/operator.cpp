// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/operator.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "workloads/exchange/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace warptime::workloads::exchange {

namespace {

using Kind = ParameterKind;
using libraries::ExchangeAlgorithm;

constexpr std::array<std::string_view, 6> dtypes{"bf16", "fp16", "fp32", "fp64", "int8", "int32"};
constexpr std::array<std::string_view, 4> algorithms{"auto", "ring", "tree", "nvls"};
constexpr std::array<std::string_view, 4> protocols{"auto", "LL", "LL128", "Simple"};
constexpr std::array<std::string_view, 2> implementations{"nccl", "nccl_by_part"};
constexpr std::array<std::string_view, 2> memory_kinds{"pinned", "pageable"};

/// What each operation does, and how its bytes are counted.
struct Wording {
    Op op;
    std::string_view meaning, bytes, example;
};
constexpr std::array wordings{
    Wording{Op::all_reduce, "sums a buffer of every GPU, and each gets the sum", "of the buffer",
            "warptime predict all_reduce 8 268435456 --gpu h100-sxm"},
    Wording{Op::all_gather, "each GPU gets the parts of all", "of the whole result",
            "warptime predict all_gather 8 268435456 --gpu h100-sxm"},
    Wording{Op::reduce_scatter, "sums a buffer of every GPU, and each gets its part of the sum",
            "of a GPU's whole input", "warptime predict reduce_scatter 8 268435456 --gpu h100-sxm"},
    Wording{Op::all_to_all, "each GPU sends a part of its buffer to each",
            "of a GPU's buffer, with the part that it keeps",
            "warptime predict all_to_all 8 268435456 --gpu h100-sxm"},
    Wording{Op::broadcast, "all GPUs get the buffer of one", "of the buffer",
            "warptime predict broadcast 8 268435456 --gpu h100-sxm"},
    Wording{Op::send_recv, "each GPU sends a buffer to the next one, and gets one", "that one GPU sends",
            "warptime predict send_recv 2 67108864 --gpu h100-sxm"},
};

constexpr const Wording& wording_of(Op op) {
    return wordings[static_cast<std::size_t>(op)];
}

ParameterInfo system_parameter() {
    return {"system", Kind::choice,     false,
            "",       hw::system_ids(), "box that holds the GPUs; default: the one that ships with the GPU",
            false};
}

/// Parameters of an operation.
std::span<const ParameterInfo> parameters_of(Op op) {
    static const auto all = [] {
        std::array<std::vector<ParameterInfo>, wordings.size()> lists;
        for (const Wording& w : wordings) {
            std::vector<ParameterInfo>& list = lists[static_cast<std::size_t>(w.op)];
            list.push_back(required_size("gpus", "GPUs that take part"));
            list.push_back(required_size("bytes", w.bytes));
            // Only sums in the switches ask for the type, and only these operations have several algorithms.
            const bool sums = w.op == Op::all_reduce;
            if (sums) list.push_back({"dtype", Kind::dtype, false, "bf16", dtypes, "element type", true});
            if (sums || w.op == Op::broadcast) {
                list.push_back({"algorithm", Kind::choice, false, "auto", algorithms,
                                "how the GPUs exchange; auto: the fastest that the library has", false});
            }
            if (w.op == Op::all_to_all || w.op == Op::send_recv) {
                list.push_back(
                    {"implementation", Kind::choice, false, "nccl", implementations,
                     "how messages are parted among channels: nccl, as NCCL 2.28 does; nccl_by_part, as "
                     "versions before and after it do",
                     false});
            } else {
                list.push_back(
                    {"protocol", Kind::choice, false, "auto", protocols,
                     "how bytes are sent along a ring or tree; auto: the fastest that the library takes",
                     false});
            }
            list.push_back({"boxes",
                            Kind::size,
                            false,
                            "",
                            {},
                            "boxes that share the GPUs evenly; default: as few as can be",
                            true});
            list.push_back(system_parameter());
        }
        return lists;
    }();
    return all[static_cast<std::size_t>(op)];
}

std::string given_or(const Operation& operation, std::string_view name, std::string_view otherwise) {
    const auto found = operation.parameters.find(name);
    return std::string(found == operation.parameters.end() ? otherwise : std::string_view(found->second));
}

std::int64_t size_of(const Operation& operation, std::string_view name) {
    return parse_size(operation.parameters.find(name)->second, fmt::format("{} {}", operation.op, name));
}

class ExchangeRequest final : public Request {
  public:
    Problem problem;
    std::string system;  ///< empty: by the GPU

    [[nodiscard]] const hw::System& box(const hw::Gpu& gpu) const {
        const std::string owner = fmt::format("{} system", name_of(problem.op));
        if (system.empty()) return hw::system_of_gpu(gpu.id, owner);
        const hw::System& box = hw::find_system(system);
        if (std::find(box.gpus.begin(), box.gpus.end(), gpu.id) == box.gpus.end()) {
            throw Error(owner, system,
                        fmt::format("a box of {}; {} has {}", gpu.id, system, fmt::join(box.gpus, ", ")));
        }
        return box;
    }
    void check(const hw::Gpu& gpu) const override { (void)boxes_of(problem, box(gpu)); }
    void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
               model::kernel::Program& program) const override {
        program.add_exchange(exchange::lower(problem, libraries, box(gpu)));
    }
};

template <Op of>
std::unique_ptr<Request> read(const Operation& operation) {
    auto request = std::make_unique<ExchangeRequest>();
    request->problem.op = of;
    request->problem.gpus = size_of(operation, "gpus");
    request->problem.bytes = size_of(operation, "bytes");
    if (operation.parameters.contains("boxes")) request->problem.boxes = size_of(operation, "boxes");
    request->problem.summed_in_switches = switches_add(
        hw::parse_dtype(given_or(operation, "dtype", "bf16"), fmt::format("{} dtype", operation.op)));
    const std::string algorithm = given_or(operation, "algorithm", "auto");
    if (const auto index = hw::find_name(algorithm, std::span(algorithms).subspan(1))) {
        request->problem.algorithm = static_cast<ExchangeAlgorithm>(*index);
    }
    const std::string protocol = given_or(operation, "protocol", "auto");
    if (protocol != "auto") request->problem.protocol = protocol;
    request->problem.implementation = given_or(operation, "implementation", implementations.front());
    request->system = given_or(operation, "system", "");
    return request;
}

template <Op of>
UsefulWork work(const Operation& operation) {
    const auto gpus = static_cast<double>(size_of(operation, "gpus"));
    const auto bytes = static_cast<double>(size_of(operation, "bytes"));
    const bool parts = of == Op::all_gather || of == Op::reduce_scatter;
    const double other = parts ? bytes / gpus : of == Op::broadcast || of == Op::all_reduce ? 0.0 : bytes;
    return {0.0, bytes + other, bytes + other};
}

DataCount data(const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu&) {
    DataCount count;
    for (const libraries::ProtocolRule& rule : libraries.protocol_rules) count.library += rule.numbers;
    for (const libraries::ExchangeRule& rule : libraries.exchange_rules) {
        if (rule.op == operation.op) count.library += rule.numbers;
    }
    if (operation.op == name_of(Op::all_to_all) || operation.op == name_of(Op::send_recv)) {
        for (const libraries::PeerRule& rule : libraries.peer_rules) {
            if (rule.implementation == given_or(operation, "implementation", implementations.front())) {
                count.library += rule.numbers;
            }
        }
    }
    return count;
}

template <std::int64_t Problem::*Field>
bool set_size(Request& request, std::int64_t value) {
    static_cast<ExchangeRequest&>(request).problem.*Field = value;
    return true;
}

SetNumber number(std::string_view parameter) {
    constexpr std::array<NamedSetNumber, 3> numbers{{{"gpus", set_size<&Problem::gpus>},
                                                     {"bytes", set_size<&Problem::bytes>},
                                                     {"boxes", set_size<&Problem::boxes>}}};
    return number_named(parameter, numbers);
}

template <Op of>
OperatorInfo record() {
    const Wording& w = wording_of(of);
    return {name_of(of), w.meaning, w.example, parameters_of(of), nullptr, nullptr, work<of>,
            data,        read<of>,  number,    nullptr,           false};
}

// ---- copies between host and device

class CopyRequest final : public Request {
  public:
    model::kernel::Memcpy copy;
    std::string owner;

    void check(const hw::Gpu& gpu) const override {
        if (static_cast<double>(copy.bytes) > gpu.dram.capacity.value()) {
            throw Error(owner + " bytes", std::to_string(copy.bytes),
                        fmt::format("at most the {:.0f} GB of {}", gpu.dram.capacity.value() / 1e9, gpu.id));
        }
    }
    void lower(const libraries::Libraries& /*libraries*/, const hw::Gpu& /*gpu*/,
               model::kernel::Program& program) const override {
        program.add_memcpy(copy);
    }
};

constexpr std::array<ParameterInfo, 2> copy_parameters{{
    required_size("bytes", "bytes of the copy"),
    {"kind", Kind::choice, true, "", memory_kinds, "memory of the host", true},
}};

template <model::kernel::Link link>
std::unique_ptr<Request> read_copy(const Operation& operation) {
    auto request = std::make_unique<CopyRequest>();
    request->owner = operation.op;
    request->copy.bytes = size_of(operation, "bytes");
    request->copy.link = link;
    request->copy.pinned = given_or(operation, "kind", "pinned") == "pinned";
    return request;
}

bool set_bytes(Request& request, std::int64_t bytes) {
    static_cast<CopyRequest&>(request).copy.bytes = bytes;
    return true;
}

template <model::kernel::Link link>
OperatorInfo copy_record(std::string_view name, std::string_view meaning, std::string_view example) {
    return {name,
            meaning,
            example,
            copy_parameters,
            nullptr,
            nullptr,
            [](const Operation& operation) {
                const auto bytes = static_cast<double>(size_of(operation, "bytes"));
                return UsefulWork{0.0, bytes, bytes};
            },
            [](const Operation&, const libraries::Libraries&, const hw::Gpu&) { return DataCount{}; },
            read_copy<link>,
            [](std::string_view parameter) { return parameter == "bytes" ? set_bytes : nullptr; },
            nullptr,
            false};
}

}  // namespace

std::vector<OperatorInfo> operators() {
    using model::kernel::Link;
    return {record<Op::all_reduce>(),
            record<Op::all_gather>(),
            record<Op::reduce_scatter>(),
            record<Op::all_to_all>(),
            record<Op::broadcast>(),
            record<Op::send_recv>(),
            copy_record<Link::host_to_device>("h2d", "copies from the host's memory to the GPU's",
                                              "warptime predict h2d 67108864 pinned --gpu h200-sxm"),
            copy_record<Link::device_to_host>("d2h", "copies from the GPU's memory to the host's",
                                              "warptime predict d2h 67108864 pageable --gpu h200-sxm")};
}

}  // namespace warptime::workloads::exchange
