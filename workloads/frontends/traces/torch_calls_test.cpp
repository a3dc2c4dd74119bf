// Tests of torch_calls: calls with the arguments that PyTorch's schema names, and the operators they are.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/torch_calls.hpp"

#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace warptime::workloads;
using namespace warptime::workloads::traces;

namespace {

TracedArgument tensor(std::vector<std::int64_t> shape, std::string dtype = "bf16",
                      std::vector<std::int64_t> stride = {}) {
    if (stride.empty()) {
        stride.assign(shape.size(), 1);
        for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
    }
    TracedArgument argument;
    argument.tensors.push_back({std::move(shape), std::move(stride), std::move(dtype)});
    return argument;
}

TracedArgument text(std::string value) {
    TracedArgument argument;
    argument.text = std::move(value);
    return argument;
}

/// Keys of a call's operators; each must be one that the registry takes.
std::string keys(const std::string& name, std::vector<TracedArgument> arguments,
                 const std::string& kernel_name = "") {
    std::string found;
    TracedKernel kernel;
    kernel.name = kernel_name;
    const TracedKernel* const kernels[] = {&kernel};
    for (const Operation& operation : operations_of({"aten::" + name, std::move(arguments)}, kernels)) {
        if (!found.empty()) found += " + ";
        found += key_of(make_operation(operation.op, operation.parameters));
    }
    return found;
}

}  // namespace

TEST_CASE("products take majors and leading dimensions from strides") {
    CHECK(keys("mm", {tensor({64, 32}), tensor({32, 128}, "bf16", {1, 32})}) ==
          "gemm dtype=bf16 k=32 m=64 n=128");
    CHECK(keys("mm", {tensor({64, 32}), tensor({32, 128})}) == "gemm b_major=n dtype=bf16 k=32 m=64 n=128");
    CHECK(keys("mm", {tensor({64, 32}, "bf16", {1, 64}), tensor({32, 128})}) ==
          "gemm a_major=m b_major=n dtype=bf16 k=32 m=64 n=128");
    CHECK(keys("mm", {tensor({64, 32}, "bf16", {96, 1}), tensor({32, 128}, "bf16", {1, 32})}) ==
          "gemm dtype=bf16 k=32 lda=96 m=64 n=128");
    CHECK(keys("addmm", {tensor({128}), tensor({64, 32}), tensor({32, 128}, "bf16", {1, 32})}) ==
          "gemm dtype=bf16 epilogue=bias k=32 m=64 n=128");
    CHECK(keys("bmm", {tensor({7, 64, 32}), tensor({7, 32, 128})}) ==
          "gemm b_major=n batch=7 dtype=bf16 k=32 m=64 n=128");
    CHECK(keys("_grouped_mm", {tensor({512, 64}), tensor({8, 64, 32}, "bf16", {2048, 1, 64})}) ==
          "grouped_gemm dtype=bf16 experts=8 k=64 n=32 tokens=512");
}

TEST_CASE("attention by heads first or tokens first") {
    std::vector<TracedArgument> flash{tensor({2, 128, 8, 64}), tensor({2, 256, 4, 64}),
                                      tensor({2, 256, 4, 64})};
    for (const char* value : {"", "", "128", "256", "0.", "True"}) flash.push_back(text(value));
    CHECK(keys("_flash_attention_forward", flash) ==
          "attention batch=2 causal=1 dtype=bf16 head_dim=64 heads=8 kv_heads=4 sk=256 sq=128");
    const std::vector<TracedArgument> scaled{tensor({2, 8, 128, 64}), tensor({2, 8, 128, 64}),
                                             tensor({2, 8, 128, 64}), text("0."), text("False")};
    CHECK(keys("_scaled_dot_product_flash_attention", scaled) ==
          "attention batch=2 dtype=bf16 head_dim=64 heads=8 sq=128");
}

TEST_CASE("rows") {
    CHECK(keys("native_layer_norm", {tensor({4, 16, 768}), text("[768]")}) ==
          "layernorm cols=768 dtype=bf16 rows=64");
    CHECK(keys("_softmax", {tensor({4, 16, 32}, "fp32"), text("-1")}) ==
          "softmax cols=32 dtype=fp32 rows=64");
    CHECK(keys("topk", {tensor({64, 32}), text("4"), text("-1")}) == "topk cols=32 dtype=bf16 k=4 rows=64");
    CHECK(keys("sum", {tensor({64, 32}), text("[0]")}) == "colsum cols=32 dtype=bf16 rows=64");
    CHECK(keys("sum", {tensor({64, 32}), text("[1]")}) == "rowsum cols=32 dtype=bf16 rows=64");
    CHECK(keys("sum", {tensor({64, 32})}) == "sum dtype=bf16 n=2048");
    CHECK(keys("index_select", {tensor({1000, 64}), text("0"), tensor({128}, "int64")}) ==
          "embedding cols=64 dtype=bf16 indices=128 rows=1000");
}

TEST_CASE("element by element, by the bytes that lie in memory") {
    CHECK(keys("add", {tensor({64, 32}), tensor({64, 32}), text("1")}) == "add dtype=bf16 n=2048");
    // A row that is added to all rows is read once.
    CHECK(keys("add", {tensor({64, 32}), tensor({32})}) == "elementwise dtype=bf16 n=2048");
    CHECK(keys("mul", {tensor({64, 32}), tensor({64, 32})}) == "elementwise dtype=bf16 inputs=2 n=2048");
    CHECK(keys("silu_", {tensor({64, 32})}) == "silu dtype=bf16 n=2048");
    CHECK(keys("copy_", {tensor({64, 32}), tensor({64, 32}, "fp32")}) == "cast dtype=fp32 n=2048");
    CHECK(keys("copy_", {tensor({64, 32}), tensor({64, 32})}) == "copy dtype=bf16 n=2048");
    CHECK(keys("copy_", {tensor({64, 32}), tensor({64, 32}, "bf16", {1, 64})}) ==
          "transpose cols=64 dtype=bf16 rows=32");
    CHECK(keys("copy_", {tensor({4, 8, 16, 32}), tensor({4, 8, 16, 32}, "bf16", {4096, 32, 256, 1})}) ==
          "permute cols=256 dtype=bf16 rows=64");
}

TEST_CASE("convolutions") {
    CHECK(keys("cudnn_convolution", {tensor({8, 64, 56, 56}), tensor({128, 64, 3, 3}), text("[1, 1]"),
                                     text("[2, 2]"), text("[1, 1]"), text("1")}) ==
          "conv2d batch=8 channels=64 dtype=bf16 kernel=3 out_channels=128 size=56 stride=2");
    // Patches of a vision transformer have no padding.
    CHECK(keys("cudnn_convolution", {tensor({8, 3, 224, 224}), tensor({768, 3, 16, 16}), text("[0, 0]"),
                                     text("[16, 16]"), text("[1, 1]"), text("1")}) ==
          "conv2d batch=8 channels=3 dtype=bf16 kernel=16 out_channels=768 padding=none size=224 stride=16");
    // An image that is not square is a product.
    CHECK(keys("cudnn_convolution", {tensor({8, 64, 32, 64}), tensor({128, 64, 2, 2}), text("[0, 0]"),
                                     text("[2, 2]"), text("[1, 1]"), text("1")}) ==
          "gemm dtype=bf16 k=256 m=4096 n=128");
}

TEST_CASE("lists of tensors take their type and sizes from kernels") {
    TracedKernel kernel;
    kernel.name = "void at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4>";
    const TracedKernel* launched = &kernel;
    TracedArgument list;
    list.is_list = true;
    list.tensors = {{{4, 8, 16}, {}, ""}, {{4, 8, 16}, {}, ""}};
    const TracedCall call{"aten::cat", {list, text("-1")}};
    CHECK(operations_of(call).empty());
    const std::vector<Operation> found = operations_of(call, {&launched, 1});
    REQUIRE(found.size() == 1);
    CHECK(key_of(found.front()) == "cat cols=16 dims=3 dtype=bf16 layout=gaps rows=32");

    kernel.name = "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<c10::BFloat16, 4> >";
    kernel.grid = "320x1x1";
    list.tensors.clear();
    const std::vector<Operation> optimizer = operations_of({"aten::_fused_adamw_", {list}}, {&launched, 1});
    REQUIRE(optimizer.size() == 1);
    CHECK(key_of(optimizer.front()) == "adamw dtype=bf16 n=20971520");
    // Rows by one index each; single numbers by an index each.
    CHECK(keys("gather", {tensor({1000, 64}), text("0"), tensor({128, 64}, "int64", {1, 0})}) ==
          "embedding cols=64 dtype=bf16 indices=128 rows=1000");
    CHECK(keys("gather", {tensor({1000, 64}), text("1"), tensor({1000, 4}, "int64")}) ==
          "elementwise dtype=bf16 inputs=5 n=4000");
}

TEST_CASE("what is not known has no operators, but bytes") {
    const TracedCall call{"aten::fancy", {tensor({64, 32}), tensor({64}, "fp32")}};
    CHECK(operations_of(call).empty());
    CHECK(bytes_of(call) == 2 * 64 * 32 * 2.0 + 64 * 4.0);
    CHECK(operations_of({"MyKernel", {tensor({4})}}).empty());
    CHECK(operations_of({"aten::mm", {}}).empty());
}

TEST_CASE("a kernel's name says whether the arrays lie alike") {
    const char* by_offsets =
        "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<F>>(int)";
    const char* vectors = "void at::native::vectorized_elementwise_kernel<8, at::native::F>(int)";
    const auto heads = tensor({4, 32, 1024, 64}, "bf16", {2097152, 64, 2048, 1});
    const auto table = tensor({1024, 64});
    CHECK(keys("mul", {heads, table}, by_offsets) ==
          "elementwise dtype=bf16 inputs=2 n=8388608 repeated=1 row=64");
    CHECK(keys("add", {heads, heads}, by_offsets) == "elementwise dtype=bf16 inputs=2 n=8388608 row=64");
    CHECK(keys("add", {heads, heads}, vectors) == "add dtype=bf16 n=8388608");
    CHECK(keys("silu", {heads}, by_offsets) == "elementwise dtype=bf16 flops=10 n=8388608 row=64");
    TracedArgument halves;
    halves.is_list = true;
    halves.tensors = {{{512, 32}, {32, 1}, "bf16"}, {{512, 32}, {64, 1}, "bf16"}};
    CHECK(keys("cat", {halves, text("1")},
               "void at::native::CatArrayBatchedCopy<T, unsigned int, 4, 64, 64>(T*)") ==
          "cat cols=32 dtype=bf16 layout=gaps rows=512");
    CHECK(keys("cat", {halves, text("1")}, "void at::native::CatArrayBatchedCopy_contig<T, 4>(T*)") ==
          "cat cols=32 dtype=bf16 rows=512");
}
