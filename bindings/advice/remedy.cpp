// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/remedy.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/coalesce.hpp"
#include "bindings/advice/transforms/coarsen.hpp"
#include "bindings/advice/transforms/conflicts.hpp"
#include "bindings/advice/transforms/fusion.hpp"
#include "bindings/advice/transforms/launch.hpp"
#include "bindings/advice/transforms/precision.hpp"
#include "bindings/advice/transforms/recompute.hpp"
#include "hw/instruction_class.hpp"
#include "model/system/program.hpp"
#include "workloads/choice/tiles/candidate.hpp"
#include "workloads/choice/tiles/rank.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <utility>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using mk::Kernel;
using workloads::Operation;
using Result = std::optional<Remedied>;

bool is_tiled(const Patient& patient) {
    return workloads::find_operator(patient.question->operation.op).tiled;
}

/// Applies changes to each kernel of the program, each change by itself.
Result edited(const Patient& patient, std::initializer_list<std::function<bool(Kernel&)>> changes) {
    Remedied remedied;
    for (const auto& change : changes) {
        mk::Program program = *patient.program;
        bool changed = false;
        for (std::size_t k = 0; k < program.kernel_count; ++k) {
            Kernel kernel = program.kernels[k];
            if (change(kernel)) {
                program.kernels[k] = std::move(kernel);
                changed = true;
            }
        }
        if (changed) remedied.programs.push_back(std::move(program));
    }
    return remedied.programs.empty() ? std::nullopt : Result(std::move(remedied));
}

/// A change of descriptions, for kernels whose code is not made from a tile.
Result of_description(const Patient& patient, std::initializer_list<std::function<bool(Kernel&)>> changes) {
    return is_tiled(patient) ? std::nullopt : edited(patient, changes);
}

std::string value_of(const Operation& operation, std::string_view parameter) {
    return workloads::value_or_default(operation, parameter);
}

/// The operation with each of the values for one parameter, but for the present one.
Result with_values(const Patient& patient, std::string_view parameter,
                   std::initializer_list<std::string_view> values) {
    const Operation& operation = patient.question->operation;
    const workloads::OperatorInfo& info = workloads::find_operator(operation.op);
    if (workloads::find_parameter(info, parameter) == nullptr) return std::nullopt;
    const std::string now = value_of(operation, parameter);
    Remedied remedied;
    for (const std::string_view value : values) {
        if (value == now) continue;
        Operation other = operation;
        other.parameters[std::string(parameter)] = value;
        if (info.tiled) {
            for (const char* const resource : {"registers", "shared_bytes"}) other.parameters.erase(resource);
        }
        remedied.operations.push_back(std::move(other));
    }
    remedied.where = std::string(parameter);
    return remedied.operations.empty() ? std::nullopt : Result(std::move(remedied));
}

Result of_tile(const Patient& patient, std::string_view parameter,
               std::initializer_list<std::string_view> values) {
    return is_tiled(patient) && patient.question->operation.parameters.count("cta_tile") > 0
               ? with_values(patient, parameter, values)
               : std::nullopt;
}

/// The fastest tile of the space that the operation's kernel belongs to.
Result best_tile(const Patient& patient) {
    namespace tiles = workloads::choice::tiles;
    if (!is_tiled(patient)) return std::nullopt;
    const Question& question = *patient.question;
    Operation problem = question.operation;
    const std::string implementation = value_of(problem, "implementation");
    const workloads::OperatorInfo& info = workloads::find_operator(problem.op);
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        if (!parameter.part_of_key) problem.parameters.erase(std::string(parameter.name));
    }
    const bool triton = implementation == "triton" || implementation == "inductor";
    const auto space = triton ? tiles::space_named("triton", problem, *question.gpu)
                              : tiles::space_named("cutlass", problem, *question.gpu);
    const tiles::Ranking ranking =
        tiles::rank(problem, space, *question.engine, *question.gpu, question.conditions, 1);
    Remedied remedied;
    for (const auto& [name, value] : tiles::parameters_of(space[ranking.tiles.front().candidate])) {
        problem.parameters[name] = value;
        remedied.where += fmt::format("{}{}={}", remedied.where.empty() ? "" : " ", name, value);
    }
    if (problem.parameters == question.operation.parameters) return std::nullopt;
    remedied.operations.push_back(std::move(problem));
    return remedied;
}

bool moves_global_data(const Kernel& kernel) {
    return std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [&kernel](const mk::Access& access) {
        return kernel.buffers[static_cast<std::size_t>(access.buffer)].space == mk::Space::global;
    });
}

Result coalesced(const Patient& patient) {
    return of_description(patient, {[](Kernel& k) { return coalesce(k) > 0; }, give_rows_to_warps,
                                    [](Kernel& k) { return sort_places(k) > 0; }});
}

Result vectorized(const Patient& patient) {
    return of_description(patient, {[](Kernel& k) { return vectorize(k); }});
}

Result aligned(const Patient& patient) {
    return of_description(patient, {[](Kernel& k) { return align_rows(k); }});
}

Result padded(const Patient& patient) {
    return of_description(patient, {[&](Kernel& k) { return pad_shared(k, *patient.question->gpu) > 0; }});
}

Result swizzled(const Patient& patient) {
    return of_description(patient,
                          {[&](Kernel& k) { return swizzle_shared(k, *patient.question->gpu) > 0; }});
}

Result rastered(const Patient& patient) {
    constexpr std::int64_t group = 8;
    if (is_tiled(patient)) return of_tile(patient, "group_m", {"1", "2", "4", "8", "16"});
    return of_description(patient, {[](Kernel& k) { return raster(k, group); }});
}

Result more_stages(const Patient& patient) {
    return of_tile(patient, "stages", {"2", "3", "4", "5", "6", "7", "8"});
}

Result copied_asynchronously(const Patient& patient) {
    if (is_tiled(patient)) return of_tile(patient, "pipeline", {"cp.async"});
    return of_description(patient, {async_copy});
}

Result copied_in_bulk(const Patient& patient) {
    return of_tile(patient, "pipeline", {"tma"});
}

Result specialized(const Patient& patient) {
    return of_tile(patient, "specialization", {"cooperative", "pingpong"});
}

Result wave_aligned(const Patient& patient) {
    if (patient.program->kernel_count != 1) return std::nullopt;
    double parts = 1.0;
    Result result = edited(patient, {[&](Kernel& k) {
                               parts = 1.0 / whole_waves(k, *patient.question->gpu);
                               return parts != 1.0;
                           }});
    if (result) {
        result->parts = parts;
        result->where = "grid";
    }
    return result;
}

Result split(const Patient& patient) {
    if (!is_tiled(patient)) {
        return edited(
            patient,
            {[](Kernel& k) { return split_sums(k, 2); }, [](Kernel& k) { return split_sums(k, 4); },
             [](Kernel& k) { return split_sums(k, 8); }, [](Kernel& k) { return split_sums(k, 16); }});
    }
    return of_tile(patient, "split_k", {"2", "4", "8", "16"});
}

Result streamed(const Patient& patient) {
    return of_tile(patient, "schedule", {"stream_k", "stream_k_hybrid"});
}

Result persistent(const Patient& patient) {
    return of_tile(patient, "schedule", {"persistent"});
}

Result occupied(const Patient& patient) {
    Result result =
        of_description(patient, {[&](Kernel& k) { return raise_occupancy(k, *patient.question->gpu); }});
    if (result) {
        const Kernel& after = result->programs.front().kernels.front();
        const Kernel& before = patient.program->kernels.front();
        result->where = after.registers_per_thread != before.registers_per_thread
                            ? fmt::format("{} registers a thread instead of {}", after.registers_per_thread,
                                          before.registers_per_thread)
                            : fmt::format("{} bytes of dynamic shared memory instead of {}",
                                          after.dynamic_shared, before.dynamic_shared);
    }
    return result;
}

Result without_spills(const Patient& patient) {
    return of_description(patient, {unspill});
}

Result unrolled(const Patient& patient) {
    constexpr std::int64_t times = 4;
    return of_description(patient, {[](Kernel& k) { return moves_global_data(k) && unroll(k, times); }});
}

Result converged(const Patient& patient) {
    return of_description(patient, {converge});
}

Result on_tensor_cores(const Patient& patient) {
    if (!is_tiled(patient)) return of_description(patient, {multiply_by_matrices});
    const std::string dtype = value_of(patient.question->operation, "dtype");
    if (dtype == "fp32") return with_values(patient, "dtype", {"tf32"});
    return value_of(patient.question->operation, "mma") == "simt" ? of_tile(patient, "mma", {"auto"})
                                                                  : std::nullopt;
}

Result at_lower_precision(const Patient& patient) {
    const Operation& operation = patient.question->operation;
    const workloads::OperatorInfo& info = workloads::find_operator(operation.op);
    if (workloads::find_parameter(info, "dtype") == nullptr) {
        return of_description(patient, {halve_elements});
    }
    const std::string dtype = value_of(operation, "dtype");
    Patient open = patient;
    Question question = *patient.question;
    open.question = &question;
    // Another type needs another tile, which the library chooses.
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        const bool choice = !parameter.part_of_key && parameter.name != "implementation";
        if (choice && info.tiled) question.operation.parameters.erase(std::string(parameter.name));
    }
    if (dtype == "fp64") return with_values(open, "dtype", {"fp32"});
    if (dtype == "fp32" || dtype == "tf32") return with_values(open, "dtype", {"bf16", "fp16"});
    if (dtype == "bf16" || dtype == "fp16") return with_values(open, "dtype", {"fp8"});
    return std::nullopt;
}

Result fast(const Patient& patient) {
    return of_description(patient, {use_fast_functions});
}

Result fused(const Patient& patient) {
    return of_description(patient, {fuse_with_producer});
}

Result recomputed(const Patient& patient) {
    return of_description(patient, {[](Kernel& k) { return recompute(k) > 0; }});
}

Result privatized(const Patient& patient) {
    return of_description(patient, {[&](Kernel& k) { return privatize_atomics(k, *patient.question->gpu); }});
}

Result aggregated(const Patient& patient) {
    return of_description(patient, {aggregate_atomics});
}

Result through_l1(const Patient& patient) {
    return of_description(patient, {read_only});
}

Result batched(const Patient& patient) {
    constexpr std::int64_t times = 8;
    if (patient.program->kernel_count != 1) return std::nullopt;
    if (is_tiled(patient)) {
        if (value_of(patient.question->operation, "batch") != "1") return std::nullopt;
        Result result = with_values(patient, "batch", {"8"});
        if (result) result->parts = static_cast<double>(times);
        return result;
    }
    Result result = edited(patient, {[](Kernel& k) { return batch(k, times); }});
    if (result) {
        result->parts = static_cast<double>(times);
        result->where = "grid";
    }
    return result;
}

/// Time from one launch of the program to the next, when many are launched one after another.
double period(const Patient& patient, model::system::Between between) {
    const hw::Gpu& gpu = *patient.question->gpu;
    const auto steps = static_cast<double>(patient.program->steps.size());
    const double device = patient.prediction->time + steps * model::system::launch_gap(between, gpu);
    return std::max(device, model::system::host_time(*patient.program, between, gpu));
}

Result launched_as(const Patient& patient, model::system::Between between) {
    Remedied remedied;
    remedied.programs.push_back(*patient.program);
    remedied.saved = period(patient, model::system::Between::stream) - period(patient, between);
    remedied.where = "between launches";
    return remedied;
}

Result as_graph(const Patient& patient) {
    return launched_as(patient, model::system::Between::graph);
}

Result dependent(const Patient& patient) {
    return launched_as(patient, model::system::Between::dependent);
}

Result overlapped_products(const Patient& patient) {
    return of_description(patient, {unserialize_wgmma});
}

constexpr std::array<Remedy, 30> catalogue{{
    {"coalesce",
     "Let the lanes of a warp touch neighbouring addresses: exchange the lane's index with the one that "
     "walks along "
     "a row, by way of shared memory where rows and columns are both needed, or keep one array for each "
     "field.",
     coalesced},
    {"vectorize",
     "Load and store 16 bytes a lane (float4, int4), so that a thread handles several neighbouring elements.",
     vectorized},
    {"align", "Let rows begin at multiples of 128 bytes: pad the pitch (cudaMallocPitch) and shift offsets.",
     aligned},
    {"pad_shared",
     "Add a few bytes behind each row of the array in shared memory: tile[32][33] instead of [32][32].",
     padded},
    {"swizzle_shared",
     "Store element (row, column) of the shared array at column xor row, so that rows and columns spread "
     "over banks.",
     swizzled},
    {"raster",
     "Let CTAs that run together take a block of tiles, 8 rows high, so that they share rows and columns in "
     "L2.",
     rastered},
    {"tile", "Take the tile that is predicted fastest of its space (warptime tiles).", best_tile},
    {"stages", "Keep another number of stages of the pipeline in shared memory.", more_stages},
    {"async_copy", "Copy tiles to shared memory by cp.async one trip ahead, instead of through registers.",
     copied_asynchronously},
    {"bulk_copy", "Let the TMA copy tiles (cp.async.bulk.tensor): one thread asks for a whole box.",
     copied_in_bulk},
    {"warp_specialize", "Give the copies to a warp of their own, and the products to the others.",
     specialized},
    {"wave_align",
     "Make the number of CTAs a multiple of those that are resident together, by other tile sizes or a loop "
     "over tiles.",
     wave_aligned},
    {"split_k", "Cut the sum over K, or over a loop, into parts that different CTAs compute.", split},
    {"stream_k", "Deal the k-iterations of all tiles out evenly (stream-K).", streamed},
    {"persistent", "Launch as many CTAs as are resident, and let each take tiles in turn.", persistent},
    {"occupancy",
     "Let one more CTA be resident: fewer registers (__launch_bounds__; spills would cost it again), or less "
     "shared memory.",
     occupied},
    {"unspill",
     "Keep in registers what is spilled: smaller tiles, shorter lifetimes, more registers allowed.",
     without_spills},
    {"unroll",
     "Issue four loads before the first value is used: #pragma unroll 4, or four elements a thread.",
     unrolled},
    {"converge",
     "Let lanes of one warp take the same way: sort or compact by case, or give each case a warp of its own.",
     converged},
    {"tensor_cores", "Multiply by matrix instructions (wmma, mma.sync, TF32 in libraries).", on_tensor_cores},
    {"lower_precision", "Hold the elements in half the bytes, and keep sums in fp32.", at_lower_precision},
    {"fast_math", "Use __expf, __sinf, __fdividef or -use_fast_math where a few bits less do.", fast},
    {"fuse", "Do this work in the kernel that makes the first input, while it is still in registers.", fused,
     Scope::program},
    {"recompute", "Compute the value again where the kernel stores the value and reads it back.", recomputed},
    {"privatize_atomics", "Count into a copy in shared memory for each CTA, and add the copies at the end.",
     privatized},
    {"aggregate_atomics",
     "Add up within the warp first, and let one lane do one atomic for all (match, ballot, reduce_add_sync).",
     aggregated},
    {"read_only", "Mark inputs const __restrict__, so that loads go through the read-only path.", through_l1},
    {"batch", "Do eight such problems in one launch.", batched, Scope::program},
    {"graph", "Launch from a CUDA graph: the gaps between launches and the host's part shrink.", as_graph,
     Scope::program},
    {"dependent_launch",
     "Launch programmatically dependent: the next kernel starts up while this one ends (griddepcontrol).",
     dependent, Scope::program},
}};

constexpr std::array<Remedy, 1> of_products{{
    {"unserialize_wgmma",
     "Let wgmma results stay untouched until their wait, so that the assembler need not serialize them "
     "(ptxas C7510).",
     overlapped_products},
}};

const std::vector<Remedy>& joined() {
    static const std::vector<Remedy> known = [] {
        std::vector<Remedy> list(catalogue.begin(), catalogue.end());
        list.insert(list.end(), of_products.begin(), of_products.end());
        return list;
    }();
    return known;
}

std::string op_text(const Kernel& kernel, std::size_t number) {
    const mk::Op& op = kernel.ops[number];
    std::string text(hw::to_string(op.cls));
    for (const mk::Access& access : kernel.accesses_of(op)) {
        text += fmt::format(" of {}", kernel.buffers[static_cast<std::size_t>(access.buffer)].name.view());
        break;
    }
    if (op.file == mk::no_id) return fmt::format("{} (op {})", text, number);
    return fmt::format("{} (op {}, {}:{})", text, number, kernel.files[static_cast<std::size_t>(op.file)],
                       op.line);
}

bool same_op(const Kernel& a, const Kernel& b, std::size_t op) {
    const mk::Op& x = a.ops[op];
    const mk::Op& y = b.ops[op];
    if (x.cls != y.cls || x.count != y.count || x.active != y.active || x.access_count != y.access_count) {
        return false;
    }
    const auto left = a.accesses_of(x);
    const auto right = b.accesses_of(y);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const bool same = left[i].pattern == right[i].pattern && left[i].bytes == right[i].bytes &&
                          left[i].inner == right[i].inner && left[i].outer == right[i].outer &&
                          left[i].step == right[i].step && left[i].cache == right[i].cache &&
                          left[i].origin[0] == right[i].origin[0];
        if (!same) return false;
    }
    return true;
}

}  // namespace

std::span<const Remedy> remedies() {
    return joined();
}

std::string difference_text(const mk::Program& before, const mk::Program& after) {
    constexpr std::size_t shown = 2;
    std::string text;
    std::size_t found = 0;
    for (std::size_t k = 0; k < std::min(before.kernel_count, after.kernel_count); ++k) {
        const Kernel& a = before.kernels[k];
        const Kernel& b = after.kernels[k];
        for (std::size_t op = 0; op < std::min(a.ops.size(), b.ops.size()); ++op) {
            if (same_op(a, b, op)) continue;
            if (a.ops[op].access_count == 0 && a.ops.size() == b.ops.size()) continue;
            if (found < shown) text += (found > 0 ? ", " : "") + op_text(a, op);
            ++found;
            if (a.ops.size() != b.ops.size()) break;
        }
    }
    return found > shown ? fmt::format("{} and {} more", text, found - shown) : text;
}

}  // namespace warptime::advice
