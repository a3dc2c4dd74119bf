// The records of the movements. Ignores: what the host does between launches.
// Source of what PyTorch launches: aten/src/ATen/native/cuda; each lowering names its files.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/arrays/flow_kernel.hpp"
#include "workloads/arrays/record.hpp"
#include "workloads/gemm/operator.hpp"
#include "workloads/gemm/parameters.hpp"
#include "workloads/movement/lower.hpp"
#include "workloads/movement/neighbours.hpp"
#include "workloads/movement/operator.hpp"
#include "workloads/movement/rows.hpp"

#include <fmt/format.h>

#include <array>

namespace warptime::workloads::movement {

namespace {

using arrays::ArrayOperator;
using arrays::Context;
using arrays::Sizes;
using mk::Direction;

constexpr ParameterInfo matrix_rows = required_size("rows", "rows of the matrix");
constexpr ParameterInfo matrix_cols = required_size("cols", "columns of the matrix");
constexpr ParameterInfo dtype = arrays::dtype_parameter(arrays::all_dtypes);
constexpr ParameterInfo real_dtype = arrays::dtype_parameter(arrays::real_dtypes);
constexpr ParameterInfo implementation = arrays::implementation_parameter();

constexpr std::array<ParameterInfo, 4> matrix_parameters{{matrix_rows, matrix_cols, dtype, implementation}};
constexpr std::array<ParameterInfo, 4> real_parameters{
    {matrix_rows, matrix_cols, real_dtype, implementation}};
constexpr std::array<ParameterInfo, 6> cat_parameters{
    {matrix_rows,
     matrix_cols,
     dtype,
     {"layout", ParameterKind::choice, false, "contiguous", arrays::layouts,
      "gaps: a matrix has gaps between its rows, so that elements are copied one by one", true},
     arrays::optional_size("dims", "", "with gaps: dimensions of the tensors, each a division; default: 2"),
     implementation}};
constexpr std::array<ParameterInfo, 5> permute_parameters{
    {matrix_rows, matrix_cols, arrays::optional_size("heads", "8", "parts of the columns"), dtype,
     implementation}};
constexpr std::array<ParameterInfo, 5> embedding_parameters{
    {required_size("rows", "rows of the table"), required_size("cols", "columns of the table"),
     arrays::optional_size("indices", "8192", "rows that are taken, at random"), real_dtype, implementation}};
constexpr std::array<ParameterInfo, 3> stencil_parameters{
    {required_size("size", "elements along each axis"),
     arrays::optional_size("radius", "1", "neighbours on each side along each axis"),
     {"dtype", ParameterKind::dtype, false, "fp32", arrays::wide_dtypes, "element type", true}}};

double matrices(const Sizes& s, double count) {
    return count * static_cast<double>(s.rows) * static_cast<double>(s.cols) *
           static_cast<double>(s.element_bytes());
}
UsefulWork work(double operations, double bytes) {
    return {operations, bytes, bytes};
}

/// A copy between layouts, by PyTorch's kernel for gaps or as a stream of vectors through shared memory.
void lower_map(const Sizes& s, const Context& context, const StridedMap& map) {
    if (s.torch) {
        lower_strided(map, s.dtype, context);
        return;
    }
    const libraries::KernelRule& rule = context.rule("ideal stream", s.dtype);
    const std::int64_t vector = std::max<std::int64_t>(1, rule.whole("bytes") / s.element_bytes());
    arrays::FlowKernel flow;
    flow.launch.name = map.name;
    flow.launch.threads = rule.whole("threads");
    flow.launch.registers = rule.whole("registers");
    const std::int64_t each = rule.whole("accesses") * vector;
    flow.launch.ctas = arrays::ceil_div(map.elements, flow.launch.threads * each);
    flow.start = rule.mix("start");
    // What crosses shared memory changes its order there.
    flow.trips = 1;
    flow.piece = flow.launch.threads * each;
    const std::int64_t apart = flow.launch.threads * vector;
    flow.flows = {
        {"in", s.dtype, Direction::read, map.elements, each, false, apart, 0, false, false, vector},
        {"out", s.dtype, Direction::write, map.elements, each, false, apart, 0, false, false, vector}};
    arrays::lower_flow(flow, context.program.add_kernel());
}

constexpr ArrayOperator transpose_operator{
    "transpose",
    "a.t().contiguous() of a matrix",
    "warptime predict transpose 8192 8192 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(0.0, matrices(s, 2.0)); },
    [](const Sizes& s, const Context& context) {
        lower_map(s, context,
                  {"transpose", s.rows * s.cols, s.rows * s.cols, {s.rows, s.cols}, {s.cols, 1, 0}, 2});
    }};

constexpr ArrayOperator permute_operator{
    "permute",
    "a.view(rows, heads, cols / heads).transpose(0, 1).contiguous()",
    "warptime predict permute 8192 4096 --heads 32 --dtype bf16 --gpu h200-sxm",
    permute_parameters,
    [](const Sizes& s) { return work(0.0, matrices(s, 2.0)); },
    [](const Sizes& s, const Context& context) {
        const std::int64_t width = s.cols / s.heads;
        lower_map(s, context,
                  {"permute", s.rows * s.cols, s.rows * s.cols, {width, s.rows}, {1, s.cols, width}, 3});
    },
    [](const Sizes& s) {
        if (s.heads > s.cols || s.cols % s.heads != 0) {
            throw Error("permute heads", fmt::format("{}", s.heads),
                        fmt::format("a divisor of cols = {}", s.cols));
        }
    }};

constexpr ArrayOperator strided_copy_operator{
    "strided_copy",
    "a[:, ::2].contiguous(): every second column",
    "warptime predict strided_copy 8192 8192 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return UsefulWork{0.0, matrices(s, 1.0), matrices(s, 1.5)};
    },
    [](const Sizes& s, const Context& context) {
        const std::int64_t half = arrays::ceil_div(s.cols, 2);
        if (!s.torch) {
            const libraries::KernelRule& rule = context.rule("ideal stream", s.dtype);
            const std::int64_t vector = std::max<std::int64_t>(1, rule.whole("bytes") / s.element_bytes());
            arrays::FlowKernel flow;
            flow.launch.name = "strided_copy";
            flow.launch.threads = rule.whole("threads");
            flow.launch.registers = rule.whole("registers");
            // Whole vectors are read, and half of each is written.
            const std::int64_t half_vector = std::max<std::int64_t>(1, vector / 2);
            const std::int64_t each = rule.whole("accesses") * half_vector;
            const std::int64_t threads = flow.launch.threads;
            flow.launch.ctas = arrays::ceil_div(s.rows * half, threads * each);
            flow.start = rule.mix("start");
            flow.flows = {{"in", s.dtype, Direction::read, s.rows * s.cols, 2 * each, false,
                           2 * threads * half_vector, 0, false, false, 2 * half_vector},
                          {"out", s.dtype, Direction::write, s.rows * half, each, false,
                           threads * half_vector, 0, false, false, half_vector}};
            arrays::lower_flow(flow, context.program.add_kernel());
            return;
        }
        // Rows of whole pairs leave one dimension.
        const int dims = s.cols % 2 == 0 ? 1 : 2;
        lower_strided({"strided_copy", s.rows * half, s.rows * s.cols, {half, s.rows}, {2, s.cols, 0}, dims},
                      s.dtype, context);
    }};

constexpr ArrayOperator pad_operator{
    "pad",
    "torch.nn.functional.pad(a, (0, 1)): one more column of zeros",
    "warptime predict pad 8192 8192 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(0.0,
                    matrices(s, 2.0) + static_cast<double>(s.rows) * static_cast<double>(s.element_bytes()));
    },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            const libraries::KernelRule& rule = context.rule("fill", s.dtype);
            arrays::FlowKernel fill;
            fill.launch.name = "fill";
            fill.launch.threads = rule.whole("threads");
            fill.launch.registers = rule.whole("registers");
            const std::int64_t each = rule.whole("elements");
            const std::int64_t vector = std::max<std::int64_t>(1, 16 / s.element_bytes());
            const std::int64_t all = s.rows * (s.cols + 1);
            fill.launch.ctas = arrays::ceil_div(all, fill.launch.threads * each);
            fill.start = rule.mix("start");
            fill.trips = std::max<std::int64_t>(1, each / vector);
            fill.flows = {{"out", s.dtype, Direction::write, all, std::min(vector, each)}};
            arrays::lower_flow(fill, context.program.add_kernel());
        }
        lower_map(s, context, {"pad", s.rows * s.cols, s.rows * s.cols, {s.cols, s.rows}, {1, s.cols, 0}, 2});
    }};

constexpr ArrayOperator cat_operator{
    "cat",
    "torch.cat((a, b), 1): two matrices side by side",
    "warptime predict cat 8192 8192 --dtype bf16 --gpu h200-sxm",
    cat_parameters,
    [](const Sizes& s) { return work(0.0, matrices(s, 4.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_cat({s.dtype, s.rows, s.cols, !s.gaps, s.dims}, context);
        } else {
            lower_map(s, context,
                      {"cat", 2 * s.rows * s.cols, 2 * s.rows * s.cols, {s.cols, s.rows}, {1, s.cols, 0}, 2});
        }
    },
    [](const Sizes& s) {
        if (s.gaps && !s.torch) {
            throw Error("cat layout", "gaps",
                        "implementation=torch: an ideal kernel takes parts as they are");
        }
        constexpr std::int64_t fewest = 2, most = 4;  // CAT_ARRAY_MAX_INPUT_DIMS of Shape.cu
        if (s.dims < fewest || s.dims > most || (s.dims != fewest && !s.gaps)) {
            throw Error("cat dims", fmt::format("{}", s.dims), "2 to 4, with layout=gaps");
        }
    }};

// ---- rows by index

RowsTaken rows_taken(const Sizes& s, std::string_view name, std::int64_t table, std::int64_t taken) {
    return {name, s.dtype, table, s.cols, taken};
}

constexpr ArrayOperator gather_rows_operator{
    "gather_rows",
    "a.index_select(0, index): as many random rows as the matrix has",
    "warptime predict gather_rows 100000 256 --dtype fp32 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(0.0, matrices(s, 2.0) + 8.0 * static_cast<double>(s.rows)); },
    [](const Sizes& s, const Context& context) {
        const RowsTaken r = rows_taken(s, "gather_rows", s.rows, s.rows);
        s.torch ? lower_gather(r, context) : lower_ideal_gather(r, false, context);
    }};

constexpr ArrayOperator scatter_add_rows_operator{
    "scatter_add_rows",
    "out.index_add_(0, index, a): each row added to a random row of as many",
    "warptime predict scatter_add_rows 100000 256 --dtype fp32 --gpu h200-sxm",
    real_parameters,
    [](const Sizes& s) {
        return work(static_cast<double>(s.rows) * static_cast<double>(s.cols),
                    matrices(s, 3.0) + 8.0 * static_cast<double>(s.rows));
    },
    [](const Sizes& s, const Context& context) {
        const RowsTaken r = rows_taken(s, "scatter_add_rows", s.rows, s.rows);
        s.torch ? lower_index_add(r, context) : lower_ideal_gather(r, true, context);
    }};

constexpr ArrayOperator index_add_operator{
    "index_add",
    "out.index_add_(0, index, a): each row added to a random row of a quarter as many",
    "warptime predict index_add 100000 256 --dtype fp32 --gpu h200-sxm",
    real_parameters,
    [](const Sizes& s) {
        return work(static_cast<double>(s.rows) * static_cast<double>(s.cols),
                    matrices(s, 1.5) + 8.0 * static_cast<double>(s.rows));
    },
    [](const Sizes& s, const Context& context) {
        const RowsTaken r = rows_taken(s, "index_add", std::max<std::int64_t>(1, s.rows / 4), s.rows);
        s.torch ? lower_index_add(r, context) : lower_ideal_gather(r, true, context);
    }};

double taken_bytes(const Sizes& s, double count) {
    return count * static_cast<double>(s.indices) * static_cast<double>(s.cols) *
           static_cast<double>(s.element_bytes());
}

constexpr ArrayOperator embedding_operator{
    "embedding",
    "torch.nn.functional.embedding: random rows of a table",
    "warptime predict embedding 131072 4096 --indices 8192 --dtype bf16 --gpu h200-sxm",
    embedding_parameters,
    [](const Sizes& s) {
        return UsefulWork{0.0, taken_bytes(s, 2.0) + 8.0 * static_cast<double>(s.indices),
                          matrices(s, 1.0) + taken_bytes(s, 1.0)};
    },
    [](const Sizes& s, const Context& context) {
        const RowsTaken r = rows_taken(s, "embedding", s.rows, s.indices);
        s.torch ? lower_gather(r, context) : lower_ideal_gather(r, false, context);
    }};

constexpr ArrayOperator embedding_backward_operator{
    "embedding_backward",
    "gradient of the table of torch.nn.functional.embedding",
    "warptime predict embedding_backward 131072 4096 --indices 8192 --dtype bf16 --gpu h200-sxm",
    embedding_parameters,
    [](const Sizes& s) {
        return UsefulWork{static_cast<double>(s.indices) * static_cast<double>(s.cols),
                          matrices(s, 1.0) + taken_bytes(s, 1.0) + 8.0 * static_cast<double>(s.indices),
                          matrices(s, 1.0) + taken_bytes(s, 1.0)};
    },
    [](const Sizes& s, const Context& context) {
        const RowsTaken r = rows_taken(s, "embedding_backward", s.rows, s.indices);
        if (s.torch) {
            lower_embedding_backward(r, context);
        } else {
            context.program.add_memset(s.rows * s.cols * s.element_bytes());
            lower_ideal_gather(r, true, context);
        }
    }};

// ---- neighbours

template <int axes>
UsefulWork stencil_work(const Sizes& s) {
    double points = 1.0;
    for (int axis = 0; axis < axes; ++axis) points *= static_cast<double>(s.size);
    return work(2.0 * static_cast<double>(2 * axes * s.radius + 1) * points,
                2.0 * points * static_cast<double>(s.element_bytes()));
}
void check_stencil(const Sizes& s) {
    if (s.size > (std::int64_t{1} << 20)) {
        throw Error("stencil size", fmt::format("{}", s.size), "at most 1048576 along each axis");
    }
    if (s.radius > 64 || s.radius >= s.size) {
        throw Error("stencil radius", fmt::format("{}", s.radius), "at most 64, and below size");
    }
}

constexpr ArrayOperator stencil2d_operator{
    "stencil2d",
    "a star of neighbours in a square grid, by the best kernel the model can write",
    "warptime predict stencil2d 8192 --radius 2 --dtype fp32 --gpu h200-sxm",
    stencil_parameters,
    stencil_work<2>,
    [](const Sizes& s, const Context& context) { lower_stencil(s, 2, context); },
    check_stencil};

constexpr ArrayOperator stencil3d_operator{
    "stencil3d",
    "a star of neighbours in a cubic grid, by the best kernel the model can write",
    "warptime predict stencil3d 512 --radius 2 --dtype fp32 --gpu h200-sxm",
    stencil_parameters,
    stencil_work<3>,
    [](const Sizes& s, const Context& context) { lower_stencil(s, 3, context); },
    check_stencil};

constexpr ArrayOperator gemv_operator{
    "gemv",
    "torch.mv(a, x): a matrix by a vector",
    "warptime predict gemv 16384 4096 --dtype bf16 --gpu h200-sxm",
    real_parameters,
    [](const Sizes& s) {
        return work(2.0 * static_cast<double>(s.rows) * static_cast<double>(s.cols),
                    matrices(s, 1.0) + static_cast<double>((s.rows + s.cols) * s.element_bytes()));
    },
    lower_gemv,
    nullptr,
    true};

/// The record of gemv; its data for PyTorch are those of cuBLAS's products.
OperatorInfo gemv_record() {
    OperatorInfo info = arrays::record<gemv_operator>();
    info.data = [](const Operation& operation, const libraries::Libraries& libraries, const hw::Gpu& gpu) {
        const Sizes s = arrays::read_sizes(operation, gemv_operator.parameters);
        if (!s.torch) return arrays::count_data(gemv_operator, operation, libraries, gpu);
        Operation product;
        product.op = gemm::operator_name;
        product.parameters = {{"m", "1"},
                              {"n", fmt::format("{}", s.rows)},
                              {"k", fmt::format("{}", s.cols)},
                              {"dtype", std::string(hw::to_string(s.dtype))}};
        return gemm::gemm_operator().data(product, libraries, gpu);
    };
    return info;
}

}  // namespace

std::vector<OperatorInfo> operators() {
    return {arrays::record<cat_operator>(),
            arrays::record<embedding_operator>(),
            arrays::record<embedding_backward_operator>(),
            arrays::record<gather_rows_operator>(),
            gemv_record(),
            arrays::record<index_add_operator>(),
            arrays::record<pad_operator>(),
            arrays::record<permute_operator>(),
            arrays::record<scatter_add_rows_operator>(),
            arrays::record<stencil2d_operator>(),
            arrays::record<stencil3d_operator>(),
            arrays::record<strided_copy_operator>(),
            arrays::record<transpose_operator>()};
}

}  // namespace warptime::workloads::movement
