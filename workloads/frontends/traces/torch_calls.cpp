// Rules by the calls' names; each reads the arguments at the places that PyTorch's schema gives them.
// Source: aten/src/ATen/native/native_functions.yaml of PyTorch 2.11.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/torch_calls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace warptime::workloads::traces {

namespace {

using Shape = std::vector<std::int64_t>;
using Operations = std::vector<Operation>;

/// Arguments of a call; a missing one is an empty tensor or no text.
class Call {
  public:
    Call(const TracedCall& call, std::span<const TracedKernel* const> kernels)
        : call_(&call), kernels_(kernels) {}

    [[nodiscard]] const TracedTensor& tensor(std::size_t index) const {
        static const TracedTensor none;
        if (index >= call_->arguments.size() || call_->arguments[index].tensors.empty()) return none;
        return call_->arguments[index].tensors.front();
    }
    [[nodiscard]] const std::vector<TracedTensor>& list(std::size_t index) const {
        static const std::vector<TracedTensor> none;
        return index < call_->arguments.size() ? call_->arguments[index].tensors : none;
    }
    [[nodiscard]] std::string_view text(std::size_t index) const {
        return index < call_->arguments.size() ? std::string_view(call_->arguments[index].text) : "";
    }
    [[nodiscard]] bool flag(std::size_t index) const { return text(index) == "True" || text(index) == "1"; }
    /// The whole numbers of a text, as "[1, 2]".
    [[nodiscard]] Shape numbers(std::size_t index) const {
        Shape found;
        const std::string_view given = text(index);
        for (std::size_t i = 0; i < given.size();) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(given.data() + i, given.data() + given.size(), value);
            if (error == std::errc()) {
                found.push_back(value);
                i = static_cast<std::size_t>(end - given.data());
            } else {
                ++i;
            }
        }
        return found;
    }
    [[nodiscard]] std::optional<std::int64_t> number(std::size_t index) const {
        const Shape found = numbers(index);
        return found.empty() ? std::nullopt : std::optional(found.front());
    }
    [[nodiscard]] const TracedCall& traced() const { return *call_; }
    [[nodiscard]] std::span<const TracedKernel* const> kernels() const { return kernels_; }

  private:
    const TracedCall* call_;
    std::span<const TracedKernel* const> kernels_;
};

std::int64_t product_of(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                           [](std::int64_t a, std::int64_t b) { return a * b; });
}

std::int64_t elements(const TracedTensor& tensor) {
    return product_of(tensor.shape);
}

/// Elements that lie in memory: a broadcast dimension has one.
std::int64_t stored(const TracedTensor& tensor) {
    if (tensor.stride.size() != tensor.shape.size()) return elements(tensor);
    std::int64_t count = 1;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.stride[i] != 0) count *= tensor.shape[i];
    }
    return count;
}

double size_of(std::string_view dtype) {
    if (dtype == "fp64" || dtype == "int64") return 8.0;
    if (dtype == "fp32" || dtype == "int32" || dtype == "tf32") return 4.0;
    if (dtype == "bf16" || dtype == "fp16") return 2.0;
    return 1.0;
}

bool is_real(std::string_view dtype) {
    return dtype == "bf16" || dtype == "fp16" || dtype == "fp32";
}

std::int64_t extent(const TracedTensor& tensor, std::int64_t from_end) {
    const auto size = static_cast<std::int64_t>(tensor.shape.size());
    return from_end <= size ? tensor.shape[static_cast<std::size_t>(size - from_end)] : 1;
}

using Parameters = std::initializer_list<std::pair<const char*, std::string>>;

Operation make(const char* op, Parameters parameters) {
    Operation operation{op, {}};
    for (const auto& [name, value] : parameters) {
        if (!value.empty()) operation.parameters.emplace(name, value);
    }
    return operation;
}

std::string text_of(std::int64_t value) {
    return std::to_string(value);
}

/// A kernel over `n` elements of a type that reads and writes so many bytes.
Operations traffic(double read, double written, std::int64_t n, const std::string& dtype, int flops = 1) {
    if (n <= 0 || dtype.empty()) return {};
    const double size = size_of(dtype);
    if (read < written / 8.0) {  // a fill, as half read and half written
        const auto half = std::max<std::int64_t>(1, std::llround((read + written) / (2.0 * size)));
        return {make("elementwise", {{"n", text_of(half)}, {"dtype", dtype}})};
    }
    const auto inputs = std::max<std::int64_t>(1, std::llround(read / (static_cast<double>(n) * size)));
    const auto outputs = std::max<std::int64_t>(1, std::llround(written / (static_cast<double>(n) * size)));
    return {make("elementwise", {{"n", text_of(n)},
                                 {"inputs", text_of(inputs)},
                                 {"outputs", text_of(outputs)},
                                 {"flops", text_of(flops)},
                                 {"dtype", dtype}})};
}

// ---- products

/// Major and leading dimension of the operand whose last two dimensions are (rows, cols).
void set_operand(Operation& operation, const TracedTensor& tensor, const char* major, const char* outer,
                 const char* leading) {
    const std::size_t rank = tensor.shape.size();
    if (tensor.stride.size() != rank || rank < 2) return;
    const std::int64_t rows = tensor.shape[rank - 2];
    const std::int64_t cols = tensor.shape[rank - 1];
    const std::int64_t down = tensor.stride[rank - 2];
    const std::int64_t across = tensor.stride[rank - 1];
    const bool by_rows = across == 1 || cols == 1;
    const bool turned = !by_rows && (down == 1 || rows == 1);
    // A is (m, k) and B is (k, n): rows in order mean k for A and n for B.
    const bool is_a = major[0] == 'a';
    const std::string name = turned == is_a ? outer : "k";
    if (name != "k") operation.parameters.emplace(major, name);
    const std::int64_t step = by_rows ? down : across;
    const std::int64_t packed = by_rows ? cols : rows;
    if (rank == 2 && rows > 1 && cols > 1 && step > packed) {
        operation.parameters.emplace(leading, text_of(step));
    }
}

Operations product(const TracedTensor& a, const TracedTensor& b, const char* epilogue = nullptr) {
    const std::int64_t m = extent(a, 2);
    const std::int64_t k = extent(a, 1);
    const std::int64_t n = extent(b, 1);
    if (m * n * k <= 0 || a.dtype.empty() || a.shape.size() < 2 || b.shape.size() < 2) return {};
    Operation operation =
        make("gemm", {{"m", text_of(m)}, {"n", text_of(n)}, {"k", text_of(k)}, {"dtype", a.dtype}});
    const std::int64_t batch = elements(a) / (m * k);
    if (batch > 1) operation.parameters.emplace("batch", text_of(batch));
    set_operand(operation, a, "a_major", "m", "lda");
    set_operand(operation, b, "b_major", "n", "ldb");
    if (epilogue != nullptr) operation.parameters.emplace("epilogue", epilogue);
    return {operation};
}

Operations addmm(const Call& call) {
    const bool bias = call.tensor(0).shape.size() == 1;
    return product(call.tensor(1), call.tensor(2), bias ? "bias" : "residual");
}

Operations grouped(const Call& call) {
    const TracedTensor& a = call.tensor(0);
    const TracedTensor& b = call.tensor(1);
    if (a.shape.size() != 2 || b.shape.size() != 3) return {};
    return {make("grouped_gemm", {{"experts", text_of(b.shape[0])},
                                  {"tokens", text_of(a.shape[0])},
                                  {"n", text_of(b.shape[2])},
                                  {"k", text_of(a.shape[1])},
                                  {"dtype", a.dtype}})};
}

Operations gemv(const Call& call) {
    const TracedTensor& a = call.tensor(0);
    if (a.shape.size() != 2) return {};
    return {make("gemv", {{"rows", text_of(a.shape[0])}, {"cols", text_of(a.shape[1])}, {"dtype", a.dtype}})};
}

// ---- convolutions

Operations convolution(const TracedTensor& x, const TracedTensor& w, const Shape& stride,
                       const Shape& padding, std::int64_t groups, bool gradient) {
    if (x.shape.size() != 4 || w.shape.size() != 4 || !(is_real(x.dtype))) return {};
    const std::int64_t kernel = w.shape[3];
    const std::int64_t step = stride.empty() ? 1 : stride.front();
    const std::int64_t pad = padding.empty() ? 0 : padding.front();
    const std::int64_t size = x.shape[3];
    const std::string dtype = x.dtype == "fp32" ? "tf32" : x.dtype;
    std::int64_t in = x.shape[1];
    std::int64_t out = w.shape[0];
    if (w.shape[2] == kernel && x.shape[2] == size && pad == kernel / 2 && kernel % 2 == 1 &&
        (!gradient || step == 1)) {
        if (gradient && groups == 1) std::swap(in, out);
        Operation operation = make("conv2d", {{"batch", text_of(x.shape[0])},
                                              {"channels", text_of(in)},
                                              {"out_channels", text_of(out)},
                                              {"size", text_of(size)},
                                              {"kernel", text_of(kernel)},
                                              {"dtype", dtype}});
        if (step > 1) operation.parameters.emplace("stride", text_of(step));
        if (groups > 1) operation.parameters.emplace("groups", text_of(groups));
        return {operation};
    }
    if (groups > 1) return {};
    if (!gradient && w.shape[2] == kernel && x.shape[2] == size && pad == 0 && size >= kernel) {
        Operation operation = make("conv2d", {{"batch", text_of(x.shape[0])},
                                              {"channels", text_of(in)},
                                              {"out_channels", text_of(out)},
                                              {"size", text_of(size)},
                                              {"kernel", text_of(kernel)},
                                              {"padding", "none"},
                                              {"dtype", dtype}});
        if (step > 1) operation.parameters.emplace("stride", text_of(step));
        return {operation};
    }
    const std::int64_t high = (x.shape[2] + 2 * pad - w.shape[2]) / step + 1;
    const std::int64_t wide = (size + 2 * pad - kernel) / step + 1;
    const std::int64_t pixels = x.shape[0] * high * wide;
    const std::int64_t taps = in * w.shape[2] * kernel;
    const auto gemm = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
        return Operations{
            make("gemm", {{"m", text_of(m)}, {"n", text_of(n)}, {"k", text_of(k)}, {"dtype", dtype}})};
    };
    return gradient ? gemm(x.shape[0] * x.shape[2] * size, in,
                           std::max<std::int64_t>(1, out * w.shape[2] * kernel / (step * step)))
                    : gemm(pixels, out, taps);
}

/// (input, weight, padding, stride, dilation, groups); biases are a kernel of another call.
Operations cudnn_convolution(const Call& call) {
    return convolution(call.tensor(0), call.tensor(1), call.numbers(3), call.numbers(2),
                       call.number(5).value_or(1), false);
}

/// (input, weight, bias, kernel or stride, ...): depthwise kernels of PyTorch's own.
Operations depthwise(const Call& call) {
    const TracedTensor& x = call.tensor(0);
    return convolution(x, call.tensor(1), call.numbers(4), call.numbers(5), extent(x, 3), false);
}

/// (gradient, input, weight, bias sizes, stride, padding, dilation, transposed, output padding, groups, mask)
Operations convolution_backward(const Call& call) {
    const TracedTensor& grad = call.tensor(0);
    const TracedTensor& x = call.tensor(1);
    const TracedTensor& w = call.tensor(2);
    if (grad.shape.size() != 4 || w.shape.size() != 4) return {};
    const std::int64_t groups = call.number(9).value_or(1);
    const bool all = call.text(10).find("False") == std::string_view::npos;
    Operations found;
    if (all || call.text(10).starts_with("[True")) {
        found = convolution(x, w, call.numbers(4), call.numbers(5), groups, true);
        if (found.empty()) return {};
    }
    Operation weights = make("gemm", {{"m", text_of(w.shape[0] / groups)},
                                      {"n", text_of(product_of(w.shape) / w.shape[0])},
                                      {"k", text_of(elements(grad) / grad.shape[1])},
                                      {"dtype", x.dtype == "fp32" ? "tf32" : x.dtype},
                                      {"a_major", "m"},
                                      {"b_major", "n"}});
    if (groups > 1) weights.parameters.emplace("batch", text_of(groups));
    found.push_back(std::move(weights));
    return found;
}

// ---- attention

/// Attention of [batch, heads, tokens, head_dim], or [batch, tokens, heads, head_dim].
Operations attention(const char* op, const TracedTensor& q, const TracedTensor& k, bool tokens_first,
                     bool causal) {
    if (q.shape.size() != 4 || k.shape.size() != 4) return {};
    const std::size_t head = tokens_first ? 2 : 1;
    const std::size_t token = tokens_first ? 1 : 2;
    Operation operation = make(op, {{"batch", text_of(q.shape[0])},
                                    {"heads", text_of(q.shape[head])},
                                    {"sq", text_of(q.shape[token])},
                                    {"head_dim", text_of((q.shape[3] + 7) / 8 * 8)},
                                    {"dtype", q.dtype}});
    if (k.shape[head] != q.shape[head]) operation.parameters.emplace("kv_heads", text_of(k.shape[head]));
    if (k.shape[token] != q.shape[token]) operation.parameters.emplace("sk", text_of(k.shape[token]));
    if (causal) operation.parameters.emplace("causal", "1");
    return {operation};
}

// ---- rows

Operations over_rows(const char* op, const TracedTensor& tensor, std::int64_t cols) {
    if (cols <= 0 || elements(tensor) <= 0 || !is_real(tensor.dtype)) return {};
    return {make(
        op, {{"rows", text_of(elements(tensor) / cols)}, {"cols", text_of(cols)}, {"dtype", tensor.dtype}})};
}

Operations norm(const char* op, const Call& call, std::size_t input, std::size_t shape) {
    const Shape normalized = call.numbers(shape);
    const TracedTensor& x = call.tensor(input);
    return over_rows(op, x, normalized.empty() ? extent(x, 1) : product_of(normalized));
}

Operations last_dimension(const char* op, const Call& call, std::size_t input) {
    return over_rows(op, call.tensor(input), extent(call.tensor(input), 1));
}

Operations top(const Call& call) {
    Operations found = last_dimension("topk", call, 0);
    for (Operation& operation : found) operation.parameters.emplace("k", text_of(call.number(1).value_or(1)));
    return found;
}

/// Sums of int64 count as those of as many bytes in fp32.
Operations reduction(const Call& call) {
    const TracedTensor& x = call.tensor(0);
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const std::int64_t all = elements(x);
    if (all <= 0 || !is_real(x.dtype)) return {};
    if (stored(x) < all) return {};
    Shape dims = call.numbers(1);
    std::int64_t inside = 1;
    std::vector<bool> gone(static_cast<std::size_t>(rank), dims.empty());
    for (const std::int64_t dim : dims) {
        if (dim >= -rank && dim < rank) gone[static_cast<std::size_t>((dim + rank) % rank)] = true;
    }
    for (std::size_t i = 0; i < gone.size(); ++i) inside *= gone[i] ? x.shape[i] : 1;
    const std::int64_t kept = all / std::max<std::int64_t>(1, inside);
    if (kept == 1) return {make("sum", {{"n", text_of(all)}, {"dtype", x.dtype}})};
    std::int64_t nearest_gone = INT64_MAX;
    std::int64_t nearest_kept = INT64_MAX;
    for (std::size_t i = 0; i < gone.size(); ++i) {
        const std::int64_t step =
            x.stride.size() == gone.size() ? x.stride[i] : static_cast<std::int64_t>(gone.size() - i);
        if (x.shape[i] <= 1) continue;
        (gone[i] ? nearest_gone : nearest_kept) = std::min(gone[i] ? nearest_gone : nearest_kept, step);
    }
    const bool columns = nearest_kept < nearest_gone;
    return {make(columns ? "colsum" : "rowsum", {{"rows", text_of(columns ? inside : kept)},
                                                 {"cols", text_of(columns ? kept : inside)},
                                                 {"dtype", x.dtype}})};
}

/// Batch norm: the sums of each channel where they are of this batch, then a sum and product of each element.
Operations batch_norm(const TracedTensor& x, double arrays, bool sums, int flops) {
    if (!is_real(x.dtype) || elements(x) <= 0) return {};
    const double bytes = static_cast<double>(elements(x)) * size_of(x.dtype);
    Operations found = traffic(arrays * bytes, bytes, elements(x), x.dtype, flops);
    if (sums) {
        const auto n = static_cast<std::int64_t>(arrays) * elements(x);
        found.insert(found.begin(), make("sum", {{"n", text_of(n)}, {"dtype", x.dtype}}));
    }
    return found;
}

Operations batch_norm_forward(const Call& call) {
    constexpr std::size_t training = 5;
    return batch_norm(call.tensor(0), 1.0, call.flag(training), 4);
}

Operations batch_norm_backward(const Call& call) {
    return batch_norm(call.tensor(0), 2.0, true, 6);
}

// ---- movement

/// Dimensions of more than one element, from the innermost in memory outwards.
std::vector<std::size_t> order_of(const TracedTensor& tensor) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.shape[i] > 1) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(tensor.stride[a], b) < std::pair(tensor.stride[b], a);
    });
    return order;
}

/// A copy of the same type: plain, by pieces of rows, or turned, by the order of both in memory.
Operations moved(const TracedTensor& source, const TracedTensor& target) {
    const std::int64_t n = elements(target);
    const std::string dtype = target.dtype;
    if (n <= 0 || dtype.empty()) return {};
    const double size = size_of(dtype);
    if (stored(source) < n)
        return traffic(static_cast<double>(stored(source)) * size, static_cast<double>(n) * size, n, dtype);
    Operations plain{make("copy", {{"n", text_of(n)}, {"dtype", dtype}})};
    if (source.shape != target.shape || source.stride.size() != source.shape.size() ||
        target.stride.size() != target.shape.size()) {
        return plain;
    }
    const std::vector<std::size_t> from = order_of(source);
    const std::vector<std::size_t> to = order_of(target);
    std::int64_t inner = 1;
    std::int64_t other = 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] != to[i] || source.stride[from[i]] != inner || target.stride[to[i]] != inner) {
            other = source.shape[from[i]];
            break;
        }
        inner *= source.shape[from[i]];
    }
    const bool wide = static_cast<double>(inner) * size >= 16.0;
    if (inner == n || (from == to && wide)) return plain;
    if (wide) {
        if (other <= 1 || n % (inner * other) != 0) return plain;
        return {make("permute", {{"rows", text_of(n / (inner * other))},
                                 {"cols", text_of(inner * other)},
                                 {"heads", text_of(other)},
                                 {"dtype", dtype}})};
    }
    const std::int64_t cols = from.empty() ? 1 : source.shape[from.front()];
    if (cols <= 1 || cols == n) return plain;
    return {make("transpose", {{"rows", text_of(n / cols)}, {"cols", text_of(cols)}, {"dtype", dtype}})};
}

/// copy_(target, source)
Operations copied(const Call& call) {
    const TracedTensor& target = call.tensor(0);
    const TracedTensor& source = call.tensor(1);
    if (source.shape.empty() && target.shape.empty()) return {};
    if (source.dtype == target.dtype) return moved(source, target);
    if (source.dtype.empty() || target.dtype.empty()) return {};
    return {make("cast",
                 {{"n", text_of(elements(target))}, {"dtype", source.dtype}, {"out_dtype", target.dtype}})};
}

Operations picked(const TracedTensor& table, std::int64_t indices) {
    if (table.shape.empty() || indices <= 0) return {};
    const std::int64_t cols = elements(table) / std::max<std::int64_t>(1, table.shape[0]);
    if (!is_real(table.dtype) || static_cast<double>(cols) * size_of(table.dtype) < 16.0) {
        const double size = static_cast<double>(indices * cols) * size_of(table.dtype);
        return traffic(size + 8.0 * static_cast<double>(indices), size, indices * cols, table.dtype);
    }
    return {make("embedding", {{"rows", text_of(table.shape[0])},
                               {"cols", text_of(cols)},
                               {"indices", text_of(indices)},
                               {"dtype", table.dtype}})};
}

Operations embedding_backward(const Call& call) {
    const TracedTensor& grad = call.tensor(0);
    const std::int64_t cols = extent(grad, 1);
    return {
        make("embedding_backward", {{"rows", text_of(call.number(2).value_or(1))},
                                    {"cols", text_of(cols)},
                                    {"indices", text_of(elements(grad) / std::max<std::int64_t>(1, cols))},
                                    {"dtype", grad.dtype}})};
}

/// index_add(target, dimension, index, source)
Operations index_add(const Call& call) {
    const TracedTensor& source = call.tensor(3);
    const TracedTensor& target = call.tensor(0);
    if (source.shape.size() < 2 || !is_real(source.dtype)) return {};
    const std::int64_t cols = elements(source) / source.shape[0];
    Operations found;
    if (!call.traced().name.ends_with('_')) found = moved(target, target);
    found.push_back(
        make("scatter_add_rows",
             {{"rows", text_of(source.shape[0])}, {"cols", text_of(cols)}, {"dtype", source.dtype}}));
    return found;
}

/// The type that a kernel's template names, by itself or by its bytes.
std::string type_in(std::string_view kernel) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> types{
        {{"OpaqueType<1u>", "int8"},
         {"OpaqueType<2u>", "bf16"},
         {"OpaqueType<4u>", "fp32"},
         {"OpaqueType<8u>", "fp64"},
         {"c10::BFloat16", "bf16"},
         {"c10::Half", "fp16"},
         {"<float", "fp32"}}};
    for (const auto& [theirs, ours] : types) {
        if (kernel.find(theirs) != std::string_view::npos) return std::string(ours);
    }
    return {};
}

/// The type of the tensors of a list, which a profiler leaves out.
std::string list_type(const Call& call) {
    for (const TracedTensor& tensor : call.list(0)) {
        if (!tensor.dtype.empty()) return tensor.dtype;
    }
    return call.kernels().empty() ? std::string() : type_in(call.kernels().front()->name);
}

/// Whether a call launched a kernel whose name has this part.
bool launched(const Call& call, std::string_view part) {
    return std::any_of(call.kernels().begin(), call.kernels().end(), [part](const TracedKernel* kernel) {
        return kernel->name.find(part) != std::string::npos;
    });
}

/// cat(tensors, dimension)
Operations cat(const Call& call) {
    const std::vector<TracedTensor>& parts = call.list(0);
    const std::string dtype = list_type(call);
    if (parts.empty() || dtype.empty()) return {};
    std::int64_t n = 0;
    bool alike = parts.size() == 2;
    for (const TracedTensor& part : parts) {
        n += elements(part);
        alike = alike && part.shape == parts.front().shape;
    }
    const auto rank = static_cast<std::int64_t>(parts.front().shape.size());
    std::int64_t dim = call.number(1).value_or(0);
    if (dim < 0) dim += rank;
    if (alike && dim > 0 && dim < rank) {
        std::int64_t cols = 1;
        for (auto i = static_cast<std::size_t>(dim); i < parts.front().shape.size(); ++i) {
            cols *= parts.front().shape[i];
        }
        // The other kernels for parts without gaps have longer names.
        const bool gaps = launched(call, "CatArrayBatchedCopy<");
        return {make("cat", {{"rows", text_of(n / 2 / std::max<std::int64_t>(1, cols))},
                             {"cols", text_of(cols)},
                             {"dtype", dtype},
                             {"layout", gaps ? "gaps" : ""},
                             {"dims", gaps && rank > 2 ? text_of(std::min<std::int64_t>(rank, 4)) : ""}})};
    }
    return {make("copy", {{"n", text_of(n)}, {"dtype", dtype}})};
}

/// Elements of all tensors: by their shapes, or by the chunks that the kernels' CTAs take.
/// Source: aten/src/ATen/native/cuda/MultiTensorApply.cuh, one CTA a chunk.
std::int64_t elements_of_lists(const Call& call) {
    constexpr std::int64_t chunk = 65536;
    std::int64_t n = 0;
    for (const TracedTensor& tensor : call.list(0)) n += elements(tensor);
    if (n > 0) return n;
    for (const TracedKernel* kernel : call.kernels()) {
        std::int64_t ctas = 0;
        const auto [end, error] =
            std::from_chars(kernel->grid.data(), kernel->grid.data() + kernel->grid.size(), ctas);
        if (error == std::errc() && kernel->name.find("multi_tensor_apply") != std::string::npos) {
            n += ctas * chunk;
        }
    }
    return n;
}

Operations adamw(const Call& call) {
    const std::int64_t n = elements_of_lists(call);
    const std::string dtype = list_type(call);
    if (n == 0 || !is_real(dtype)) return {};
    const auto tensors = std::max<std::int64_t>(1, static_cast<std::int64_t>(call.list(0).size()));
    return {make("adamw", {{"n", text_of(n)}, {"tensors", text_of(tensors)}, {"dtype", dtype}})};
}

/// gather(tensor, dimension, index): whole rows where all columns share their index.
Operations gather(const Call& call) {
    const TracedTensor& table = call.tensor(0);
    const TracedTensor& index = call.tensor(2);
    if (table.shape.size() == 2 && index.shape.size() == 2 && index.stride.size() == 2 &&
        index.stride[1] == 0) {
        return picked(table, index.shape[0]);
    }
    const double n = static_cast<double>(elements(index));
    const double size = size_of(table.dtype);
    return traffic(n * (8.0 + size), n * size, elements(index), table.dtype);
}

/// Whole numbers sort as numbers of fp32, which have half as many bytes.
Operations sort(const Call& call) {
    const TracedTensor& x = call.tensor(0);
    const std::int64_t cols = extent(x, 1);
    if (elements(x) <= 0) return {};
    return {make("sort", {{"rows", text_of(elements(x) / cols)},
                          {"cols", text_of(cols)},
                          {"dtype", is_real(x.dtype) ? x.dtype : "fp32"}})};
}

/// nll_loss: one CTA that reads one number of each row.
Operations loss(const Call& call) {
    const std::int64_t rows = elements(call.tensor(1));
    return rows > 0 ? Operations{make("sum", {{"n", text_of(rows)}, {"dtype", "fp32"}})} : Operations{};
}

Operations loss_backward(const Call& call) {
    const std::int64_t rows = elements(call.tensor(2));
    return traffic(8.0 * static_cast<double>(rows), 8.0 * static_cast<double>(rows), rows, "int64");
}

Operations histogram(const Call& call) {
    const TracedTensor& x = call.tensor(0);
    if (!is_real(x.dtype)) return {};
    return {make(
        "histogram",
        {{"n", text_of(elements(x))}, {"bins", text_of(call.number(1).value_or(100))}, {"dtype", x.dtype}})};
}

/// Zeros or another number: the tensor is only written.
Operations filled(const Call& call) {
    const TracedTensor& x = call.tensor(0);
    return traffic(0.0, static_cast<double>(elements(x)) * size_of(x.dtype), elements(x), x.dtype);
}

// ---- element by element

/// Operations of an element where they are more than one.
int flops_of(std::string_view name) {
    static const std::map<std::string_view, int> flops{
        {"exp", 4},     {"log", 6},     {"sqrt", 4},      {"rsqrt", 3},          {"div", 6},
        {"pow", 12},    {"sin", 12},    {"cos", 12},      {"tanh", 12},          {"sigmoid", 8},
        {"erf", 16},    {"gelu", 20},   {"silu", 10},     {"gelu_backward", 32}, {"silu_backward", 16},
        {"addcmul", 2}, {"addcdiv", 7}, {"softplus", 16}, {"native_dropout", 8}};
    const auto found = flops.find(name);
    return found == flops.end() ? 1 : found->second;
}

constexpr std::array<std::string_view, 76> elementwise_names{"abs",
                                                             "add",
                                                             "addcdiv",
                                                             "addcmul",
                                                             "bitwise_and",
                                                             "bitwise_not",
                                                             "bitwise_or",
                                                             "ceil",
                                                             "clamp",
                                                             "clamp_max",
                                                             "clamp_min",
                                                             "cos",
                                                             "div",
                                                             "elu",
                                                             "elu_backward",
                                                             "eq",
                                                             "erf",
                                                             "exp",
                                                             "exp2",
                                                             "expm1",
                                                             "floor",
                                                             "floor_divide",
                                                             "fmod",
                                                             "ge",
                                                             "gelu",
                                                             "gelu_backward",
                                                             "gt",
                                                             "hardsigmoid",
                                                             "hardswish",
                                                             "hardswish_backward",
                                                             "hardtanh",
                                                             "hardtanh_backward",
                                                             "isfinite",
                                                             "isinf",
                                                             "isnan",
                                                             "le",
                                                             "leaky_relu",
                                                             "leaky_relu_backward",
                                                             "lerp",
                                                             "log",
                                                             "log1p",
                                                             "log2",
                                                             "logical_and",
                                                             "logical_not",
                                                             "logical_or",
                                                             "lt",
                                                             "masked_fill",
                                                             "maximum",
                                                             "minimum",
                                                             "mish",
                                                             "mul",
                                                             "native_dropout_backward",
                                                             "ne",
                                                             "neg",
                                                             "pow",
                                                             "reciprocal",
                                                             "relu",
                                                             "remainder",
                                                             "round",
                                                             "rsqrt",
                                                             "rsub",
                                                             "sigmoid",
                                                             "sigmoid_backward",
                                                             "sign",
                                                             "silu",
                                                             "silu_backward",
                                                             "sin",
                                                             "softplus",
                                                             "softplus_backward",
                                                             "sqrt",
                                                             "sub",
                                                             "tanh",
                                                             "tanh_backward",
                                                             "threshold_backward",
                                                             "tril",
                                                             "where"};

std::string_view plain_name(std::string_view name) {
    if (name.starts_with("aten::")) name.remove_prefix(6);
    while (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

bool is_comparison(std::string_view name) {
    static constexpr std::array<std::string_view, 11> names{
        "eq", "ge", "gt", "le", "lt", "ne", "isfinite", "isinf", "isnan", "logical_not", "logical_and"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

Operations elementwise(const Call& call, std::string_view name) {
    std::vector<const TracedTensor*> tensors;
    for (const TracedArgument& argument : call.traced().arguments) {
        if (!argument.is_list && !argument.tensors.empty()) tensors.push_back(&argument.tensors.front());
    }
    if (tensors.empty()) return {};
    std::size_t rank = 0;
    for (const TracedTensor* tensor : tensors) rank = std::max(rank, tensor->shape.size());
    Shape shape(rank, 1);
    double read = 0.0;
    std::string dtype;
    double widest = 0.0;
    for (const TracedTensor* tensor : tensors) {
        if (tensor->dtype.empty()) return {};
        for (std::size_t i = 0; i < tensor->shape.size(); ++i) {
            std::int64_t& side = shape[rank - tensor->shape.size() + i];
            side = std::max(side, tensor->shape[i]);
        }
        read += static_cast<double>(stored(*tensor)) * size_of(tensor->dtype);
        // A number in a tensor of its own does not make the result wider.
        if (!tensor->shape.empty() && size_of(tensor->dtype) > widest) {
            widest = size_of(tensor->dtype);
            dtype = tensor->dtype;
        }
    }
    if (dtype.empty()) dtype = tensors.front()->dtype;
    const std::int64_t n = product_of(shape);
    // Arrays that lie alike have a vectorized kernel, whose name is longer.
    if (launched(call, "at::native::elementwise_kernel<") && !shape.empty() && size_of(dtype) <= 4.0) {
        const auto arrays = std::count_if(tensors.begin(), tensors.end(),
                                          [](const TracedTensor* tensor) { return elements(*tensor) > 1; });
        const auto repeated = std::count_if(tensors.begin(), tensors.end(), [n](const TracedTensor* tensor) {
            return elements(*tensor) > 1 && 2 * stored(*tensor) <= n;
        });
        return {make("elementwise", {{"n", text_of(n)},
                                     {"inputs", text_of(std::max<std::int64_t>(1, arrays))},
                                     {"flops", text_of(flops_of(name))},
                                     {"row", text_of(shape.back())},
                                     {"repeated", repeated > 0 && repeated < arrays ? text_of(repeated) : ""},
                                     {"dtype", dtype}})};
    }
    const bool alike = std::all_of(tensors.begin(), tensors.end(), [&](const TracedTensor* tensor) {
        return stored(*tensor) == n && tensor->dtype == dtype && tensor->shape == tensors.front()->shape;
    });
    if (name == "add" && tensors.size() == 2 && alike)
        return {make("add", {{"n", text_of(n)}, {"dtype", dtype}})};
    if ((name == "gelu" || name == "silu") && tensors.size() == 1 && is_real(dtype)) {
        return {make(name == "gelu" ? "gelu" : "silu", {{"n", text_of(n)}, {"dtype", dtype}})};
    }
    const double written = static_cast<double>(n) * (is_comparison(name) ? 1.0 : size_of(dtype));
    return traffic(read, written, n, dtype, flops_of(name));
}

using Rule = Operations (*)(const Call&);

const std::map<std::string_view, Rule>& rules() {
    static const std::map<std::string_view, Rule> table{
        {"mm", [](const Call& c) { return product(c.tensor(0), c.tensor(1)); }},
        {"bmm", [](const Call& c) { return product(c.tensor(0), c.tensor(1)); }},
        {"addmm", addmm},
        {"_addmm_activation", addmm},
        {"baddbmm", [](const Call& c) { return product(c.tensor(1), c.tensor(2), "residual"); }},
        {"_scaled_mm", [](const Call& c) { return product(c.tensor(0), c.tensor(1)); }},
        {"_int_mm", [](const Call& c) { return product(c.tensor(0), c.tensor(1)); }},
        {"_grouped_mm", grouped},
        {"mv", gemv},
        {"cudnn_convolution", cudnn_convolution},
        {"_conv_depthwise2d", depthwise},
        {"conv_depthwise2d", depthwise},
        {"convolution_backward", convolution_backward},
        {"_flash_attention_forward",
         [](const Call& c) { return attention("attention", c.tensor(0), c.tensor(1), true, c.flag(8)); }},
        {"_scaled_dot_product_flash_attention",
         [](const Call& c) { return attention("attention", c.tensor(0), c.tensor(1), false, c.flag(4)); }},
        {"_cudnn_attention_forward",
         [](const Call& c) { return attention("attention", c.tensor(0), c.tensor(1), false, c.flag(10)); }},
        {"_scaled_dot_product_cudnn_attention",
         [](const Call& c) { return attention("attention", c.tensor(0), c.tensor(1), false, c.flag(6)); }},
        {"_flash_attention_backward",
         [](const Call& c) {
             return attention("attention_backward", c.tensor(1), c.tensor(2), true, c.flag(11));
         }},
        {"_scaled_dot_product_flash_attention_backward",
         [](const Call& c) {
             return attention("attention_backward", c.tensor(1), c.tensor(2), false, c.flag(11));
         }},
        {"_cudnn_attention_backward",
         [](const Call& c) {
             return attention("attention_backward", c.tensor(1), c.tensor(2), false, c.flag(14));
         }},
        {"_scaled_dot_product_cudnn_attention_backward",
         [](const Call& c) {
             return attention("attention_backward", c.tensor(1), c.tensor(2), false, c.flag(14));
         }},
        {"native_layer_norm", [](const Call& c) { return norm("layernorm", c, 0, 1); }},
        {"native_layer_norm_backward", [](const Call& c) { return norm("layernorm_backward", c, 1, 2); }},
        {"_fused_rms_norm", [](const Call& c) { return norm("rmsnorm", c, 0, 1); }},
        {"_fused_rms_norm_backward", [](const Call& c) { return norm("rmsnorm_backward", c, 1, 2); }},
        {"_softmax", [](const Call& c) { return last_dimension("softmax", c, 0); }},
        {"_log_softmax", [](const Call& c) { return last_dimension("softmax", c, 0); }},
        {"_softmax_backward_data", [](const Call& c) { return last_dimension("softmax_backward", c, 1); }},
        {"_log_softmax_backward_data",
         [](const Call& c) { return last_dimension("softmax_backward", c, 1); }},
        {"cumsum", [](const Call& c) { return last_dimension("cumsum", c, 0); }},
        {"sort", sort},
        {"gather", gather},
        {"nll_loss_forward", loss},
        {"nll_loss_backward", loss_backward},
        {"argmax", [](const Call& c) { return last_dimension("argmax", c, 0); }},
        {"topk", top},
        {"sum", reduction},
        {"mean", reduction},
        {"copy", copied},
        {"index_select", [](const Call& c) { return picked(c.tensor(0), elements(c.tensor(2))); }},
        {"embedding", [](const Call& c) { return picked(c.tensor(0), elements(c.tensor(1))); }},
        {"embedding_dense_backward", embedding_backward},
        {"index_add", index_add},
        {"cat", cat},
        {"_fused_adamw", adamw},
        {"_fused_adam", adamw},
        {"histc", histogram},
        {"cudnn_batch_norm", batch_norm_forward},
        {"native_batch_norm", batch_norm_forward},
        {"cudnn_batch_norm_backward", batch_norm_backward},
        {"native_batch_norm_backward", batch_norm_backward},
        {"fill", filled},
        {"zero", filled},
        {"native_dropout",
         [](const Call& c) {
             const TracedTensor& x = c.tensor(0);
             return is_real(x.dtype)
                        ? Operations{make("dropout", {{"n", text_of(elements(x))}, {"dtype", x.dtype}})}
                        : Operations{};
         }},
    };
    return table;
}

}  // namespace

std::vector<Operation> operations_of(const TracedCall& call, std::span<const TracedKernel* const> kernels) {
    if (!call.name.starts_with("aten::") || call.arguments.empty()) return {};
    const std::string_view name = plain_name(call.name);
    const Call arguments(call, kernels);
    const auto rule = rules().find(name);
    if (rule != rules().end()) return rule->second(arguments);
    if (std::find(elementwise_names.begin(), elementwise_names.end(), name) != elementwise_names.end()) {
        return elementwise(arguments, name);
    }
    return {};
}

double written_bytes(const Operation& operation) {
    const auto number = [&](std::string_view name, double otherwise) {
        const auto found = operation.parameters.find(name);
        return found == operation.parameters.end() ? otherwise : std::stod(found->second);
    };
    const auto word = [&](std::string_view name) {
        const auto found = operation.parameters.find(name);
        return found == operation.parameters.end() ? std::string() : found->second;
    };
    const std::string& op = operation.op;
    const double size = size_of(word("out_dtype").empty() ? word("dtype") : word("out_dtype"));
    if (op == "gemm") return number("batch", 1) * number("m", 0) * number("n", 0) * size;
    if (op == "grouped_gemm") return number("tokens", 0) * number("n", 0) * size;
    if (op == "attention" || op == "attention_backward") {
        const double queries =
            number("batch", 0) * number("heads", 0) * number("sq", 0) * number("head_dim", 0) * size;
        return op == "attention" ? queries : 3.0 * queries;
    }
    if (op == "conv2d") {
        const double fits = word("padding") == "none" ? number("kernel", 1) - 1.0 : 0.0;
        const double side = std::ceil((number("size", 0) - fits) / number("stride", 1));
        return number("batch", 0) * number("out_channels", 0) * side * side * size;
    }
    if (op == "embedding") return number("indices", 0) * number("cols", 0) * size;
    if (op == "adamw") return 3.0 * number("n", 0) * size;
    if (op == "rowsum" || op == "gemv" || op == "argmax") return number("rows", 0) * size;
    if (op == "colsum") return number("cols", 0) * size;
    if (op == "sum" || op == "amax" || op == "histogram") return size;
    if (op == "topk") return number("rows", 0) * number("k", 1) * (size + 8.0);
    if (op == "cat") return 2.0 * number("rows", 0) * number("cols", 0) * size;
    if (operation.parameters.contains("n")) return number("n", 0) * number("outputs", 1) * size;
    return number("rows", 0) * number("cols", 0) * size;
}

namespace {

/// Bytes of all tensors of a call, and of the largest one.
std::pair<double, double> sum_and_largest(const TracedCall& call) {
    double sum = 0.0;
    double largest = 0.0;
    std::string dtype;
    for (const TracedArgument& argument : call.arguments) {
        for (const TracedTensor& tensor : argument.tensors) {
            if (!tensor.dtype.empty() && dtype.empty()) dtype = tensor.dtype;
        }
    }
    for (const TracedArgument& argument : call.arguments) {
        for (const TracedTensor& tensor : argument.tensors) {
            const std::string& own = tensor.dtype.empty() ? dtype : tensor.dtype;
            const double here = static_cast<double>(stored(tensor)) * size_of(own.empty() ? "bf16" : own);
            sum += here;
            largest = std::max(largest, here);
        }
    }
    return {sum, largest};
}

}  // namespace

double input_bytes(const TracedCall& call) {
    return sum_and_largest(call).first;
}

double bytes_of(const TracedCall& call) {
    const auto [sum, largest] = sum_and_largest(call);
    return sum + largest;
}

}  // namespace warptime::workloads::traces
