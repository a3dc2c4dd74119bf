// The records of the reductions. Ignores: what the host does between launches.
// Source of what PyTorch launches: aten/src/ATen/native/cuda; each lowering names its files.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/arrays/record.hpp"
#include "workloads/elementwise/stream.hpp"
#include "workloads/reductions/norms.hpp"
#include "workloads/reductions/operator.hpp"
#include "workloads/reductions/reduce.hpp"
#include "workloads/reductions/scan.hpp"
#include "workloads/reductions/selection.hpp"

#include <fmt/format.h>

#include <array>

namespace warptime::workloads::reductions {

namespace {

using arrays::ArrayOperator;
namespace mk = model::kernel;
using mk::Dtype;

constexpr ParameterInfo dtype = arrays::dtype_parameter(arrays::real_dtypes);
constexpr ParameterInfo implementation = arrays::implementation_parameter();
constexpr ParameterInfo given_rows = required_size("rows", "rows of the matrix");
constexpr ParameterInfo given_cols = required_size("cols", "columns of the matrix");

constexpr std::array<ParameterInfo, 4> matrix_parameters{{given_rows, given_cols, dtype, implementation}};

constexpr ParameterInfo vector_or_matrix() {
    ParameterInfo n = required_size("n", "elements; or rows and cols instead");
    n.instead = "rows";
    return n;
}
constexpr std::array<ParameterInfo, 5> total_parameters{{
    vector_or_matrix(),
    {"rows", ParameterKind::size, false, "", {}, "rows, where a matrix is given; default: one", true},
    {"cols", ParameterKind::size, false, "", {}, "columns, beside rows", true},
    dtype,
    implementation,
}};
constexpr std::array<ParameterInfo, 5> topk_parameters{
    {given_rows, given_cols, arrays::optional_size("k", "8", "largest elements of each row"), dtype,
     implementation}};
constexpr std::array<ParameterInfo, 4> histogram_parameters{
    {required_size("n", "elements"),
     arrays::optional_size("bins", "256", "bins of the histogram"),
     {"dtype", ParameterKind::dtype, false, "fp32", arrays::real_dtypes, "element type", true},
     implementation}};

double matrices(const Sizes& s, double count) {
    return count * static_cast<double>(s.elements()) * static_cast<double>(s.element_bytes());
}
double elements(const Sizes& s, double each) {
    return each * static_cast<double>(s.elements());
}
/// Bytes of `count` values for each row, or for each column.
double per_row(const Sizes& s, double count, double bytes) {
    return count * bytes * static_cast<double>(s.rows);
}
double per_col(const Sizes& s, double count) {
    return count * static_cast<double>(s.element_bytes()) * static_cast<double>(s.cols);
}
UsefulWork work(double operations, double bytes) {
    return {operations, bytes, bytes};
}

// ---- sums and maxima

void lower_total(const Sizes& s, const Context& context, std::string_view rule) {
    if (!s.torch) {
        Sizes flat = s;
        // As many rows as a GPU needs to be full, each a row of a second reduction.
        flat.rows = std::max<std::int64_t>(1, s.elements() / 16384);
        flat.cols = arrays::ceil_div(s.elements(), flat.rows);
        flat.matrix = true;
        lower_ideal_rows(flat, context, rule, 1, 0, 0, 1.0);
        return;
    }
    lower_reduce({rule, s.dtype, s.dtype, 1, s.elements(), true}, context);
}

constexpr ArrayOperator sum_operator{
    "sum",
    "a.sum(): the sum of all elements",
    "warptime predict sum 67108864 --dtype bf16 --gpu h200-sxm",
    total_parameters,
    [](const Sizes& s) { return work(elements(s, 1.0), matrices(s, 1.0)); },
    [](const Sizes& s, const Context& context) { lower_total(s, context, "sum"); }};

constexpr ArrayOperator amax_operator{
    "amax",
    "a.abs().amax(): the largest magnitude of all elements",
    "warptime predict amax 67108864 --dtype bf16 --gpu h200-sxm",
    total_parameters,
    [](const Sizes& s) { return work(elements(s, 2.0), matrices(s, 1.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            const std::array<elementwise::Operand, 2> operands{
                {{"a", s.dtype, mk::Direction::read}, {"abs", s.dtype, mk::Direction::write}}};
            elementwise::lower_stream(
                "abs", s.elements(), operands,
                elementwise::stream_rule(context.rule("unary", s.dtype), s.element_bytes()),
                context.program.add_kernel());
        }
        lower_total(s, context, "amax");
    }};

constexpr ArrayOperator rowsum_operator{
    "rowsum",
    "a.sum(1): the sum of each row",
    "warptime predict rowsum 8192 8192 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(elements(s, 1.0),
                    matrices(s, 1.0) + per_row(s, 1.0, static_cast<double>(s.element_bytes())));
    },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_reduce({"sum", s.dtype, s.dtype, s.rows, s.cols, true}, context);
        } else {
            lower_ideal_rows(s, context, "rowsum", 1, 0, 0, 1.0);
        }
    }};

constexpr ArrayOperator argmax_operator{
    "argmax",
    "a.argmax(1): the place of the largest element of each row, as int64",
    "warptime predict argmax 4096 32000 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 1.0), matrices(s, 1.0) + per_row(s, 1.0, 8.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_reduce({"argmax", s.dtype, Dtype::int64, s.rows, s.cols, true}, context);
        } else {
            lower_ideal_rows(s, context, "argmax", 1, 0, 0, 2.0);
        }
    }};

constexpr ArrayOperator colsum_operator{
    "colsum",
    "a.sum(0): the sum of each column",
    "warptime predict colsum 16384 1024 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 1.0), matrices(s, 1.0) + per_col(s, 1.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_reduce({"sum", s.dtype, s.dtype, s.cols, s.rows, false}, context);
        } else {
            // Reads as a sum of rows does; columns are kept apart in registers.
            lower_ideal_rows(s, context, "colsum", 1, 0, 0, 1.0);
        }
    }};

// ---- softmax and norms

constexpr ArrayOperator softmax_operator{
    "softmax",
    "a.softmax(1): rows of a matrix",
    "warptime predict softmax 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 5.0), matrices(s, 2.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_softmax(s, context, false);
        } else {
            lower_ideal_rows(s, context, "softmax", 1, 1, 0, 5.0);
        }
    }};

constexpr ArrayOperator softmax_backward_operator{
    "softmax_backward",
    "gradient of softmax over rows from its result and the gradient of that",
    "warptime predict softmax_backward 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 4.0), matrices(s, 3.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_softmax_backward(s, context);
        } else {
            lower_ideal_rows(s, context, "softmax_backward", 2, 1, 0, 4.0);
        }
    }};

template <bool rms>
void lower_norm_of(const Sizes& s, const Context& context) {
    if (s.torch) {
        lower_norm(s, context, rms);
    } else {
        lower_ideal_rows(s, context, rms ? "rmsnorm" : "layernorm", 1, 1, rms ? 1 : 2, rms ? 4.0 : 7.0);
    }
}
template <bool rms>
void lower_norm_backward_of(const Sizes& s, const Context& context) {
    if (s.torch) {
        lower_norm_backward(s, context, rms);
    } else {
        lower_ideal_rows(s, context, rms ? "rmsnorm_backward" : "layernorm_backward", 2, 1, 1,
                         rms ? 9.0 : 14.0);
    }
}

constexpr ArrayOperator layernorm_operator{
    "layernorm",
    "torch.nn.functional.layer_norm over rows, with weight and bias",
    "warptime predict layernorm 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(elements(s, 7.0), matrices(s, 2.0) + per_col(s, 2.0) + per_row(s, 2.0, 4.0));
    },
    lower_norm_of<false>};

constexpr ArrayOperator layernorm_backward_operator{
    "layernorm_backward",
    "gradients of layer_norm: of its input, weight and bias",
    "warptime predict layernorm_backward 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(elements(s, 14.0), matrices(s, 3.0) + per_col(s, 3.0) + per_row(s, 2.0, 4.0));
    },
    lower_norm_backward_of<false>};

constexpr ArrayOperator rmsnorm_operator{
    "rmsnorm",
    "torch.nn.functional.rms_norm over rows, with weight",
    "warptime predict rmsnorm 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(elements(s, 4.0), matrices(s, 2.0) + per_col(s, 1.0) + per_row(s, 1.0, 4.0));
    },
    lower_norm_of<true>};

constexpr ArrayOperator rmsnorm_backward_operator{
    "rmsnorm_backward",
    "gradients of rms_norm: of its input and weight",
    "warptime predict rmsnorm_backward 8192 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        return work(elements(s, 9.0), matrices(s, 3.0) + per_col(s, 2.0) + per_row(s, 1.0, 4.0));
    },
    lower_norm_backward_of<true>};

constexpr ArrayOperator cross_entropy_operator{
    "cross_entropy",
    "torch.nn.functional.cross_entropy over rows: int64 targets, mean",
    "warptime predict cross_entropy 4096 32000 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 4.0), matrices(s, 1.0) + per_row(s, 1.0, 8.0)); },
    lower_cross_entropy};

// ---- scans, order, bins

constexpr ArrayOperator cumsum_operator{
    "cumsum",
    "a.cumsum(1): running sums of rows",
    "warptime predict cumsum 16384 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) { return work(elements(s, 1.0), matrices(s, 2.0)); },
    [](const Sizes& s, const Context& context) {
        if (s.torch) {
            lower_cumsum(s, context);
        } else {
            lower_ideal_rows(s, context, "cumsum", 1, 1, 0, 2.0);
        }
    }};

constexpr ArrayOperator sort_operator{
    "sort",
    "a.sort(1): each row in order, and the places its elements had, as int64",
    "warptime predict sort 4096 4096 --dtype bf16 --gpu h200-sxm",
    matrix_parameters,
    [](const Sizes& s) {
        const auto log = static_cast<double>(arrays::ceil_log2(s.cols));
        return work(elements(s, log), matrices(s, 2.0) + elements(s, 8.0));
    },
    lower_sort};

constexpr ArrayOperator topk_operator{
    "topk",
    "a.topk(k, 1): the k largest elements of each row and their places",
    "warptime predict topk 4096 32000 --k 8 --dtype bf16 --gpu h200-sxm",
    topk_parameters,
    [](const Sizes& s) {
        return work(elements(s, 1.0),
                    matrices(s, 1.0) +
                        per_row(s, static_cast<double>(s.k), 8.0 + static_cast<double>(s.element_bytes())));
    },
    lower_topk,
    [](const Sizes& s) {
        if (s.k > s.cols) {
            throw Error("topk k", fmt::format("{}", s.k), fmt::format("at most cols = {}", s.cols));
        }
        if (s.torch && s.k > 4096) {
            throw Error("topk k", fmt::format("{}", s.k),
                        "at most 4096: PyTorch sorts more with kernels that are not modelled");
        }
    }};

constexpr ArrayOperator histogram_operator{
    "histogram",
    "torch.histc(a, bins, min, max): how many elements fall into each bin",
    "warptime predict histogram 67108864 --bins 256 --dtype fp32 --gpu h200-sxm",
    histogram_parameters,
    [](const Sizes& s) {
        return work(elements(s, 2.0), matrices(s, 1.0) + static_cast<double>(s.bins * s.element_bytes()));
    },
    lower_histogram,
    [](const Sizes& s) {
        constexpr std::int64_t in_shared = 8192, most = std::int64_t{1} << 31;
        if (!s.torch && s.bins > in_shared) {
            throw Error(
                "histogram bins", fmt::format("{}", s.bins),
                fmt::format("at most {} for the ideal kernel, whose bins fit shared memory", in_shared));
        }
        if (s.bins >= most) {
            throw Error("histogram bins", fmt::format("{}", s.bins), "below 2^31");
        }
    }};

}  // namespace

std::vector<OperatorInfo> operators() {
    return {arrays::record<amax_operator>(),
            arrays::record<argmax_operator>(),
            arrays::record<colsum_operator>(),
            arrays::record<cross_entropy_operator>(),
            arrays::record<cumsum_operator>(),
            arrays::record<histogram_operator>(),
            arrays::record<layernorm_operator>(),
            arrays::record<layernorm_backward_operator>(),
            arrays::record<rmsnorm_operator>(),
            arrays::record<rmsnorm_backward_operator>(),
            arrays::record<rowsum_operator>(),
            arrays::record<softmax_operator>(),
            arrays::record<softmax_backward_operator>(),
            arrays::record<sort_operator>(),
            arrays::record<sum_operator>(),
            arrays::record<topk_operator>()};
}

}  // namespace warptime::workloads::reductions
