"""From calls of PyTorch's dispatcher to operators, without PyTorch: a table of calls and the rows they become.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import pytest
from warptime._flops import flops_of
from warptime.torch._calls import Call, Settings, Tensor, Trace, packed
from warptime.torch._operators import free, operators, rows_of

T = Tensor


def call(name: str, results: list[Tensor] | Tensor, /, **arguments: Any) -> Call:
    return Call(f"aten.{name}", arguments, results if isinstance(results, list) else [results])


def text(rows: list[dict[str, Any]]) -> str:
    return "; ".join(" ".join([str(row["op"]), *(f"{k}={v}" for k, v in row.items() if k != "op")]) for row in rows)


def images(batch: int, channels: int, side: int, last: bool = True, dtype: str = "bf16") -> Tensor:
    plain = (batch, channels, side, side)
    strides = (side * side * channels, 1, side * channels, channels)
    return T(plain, dtype, strides if last else packed(plain), storage=side)


A, W = T((512, 1024)), T((4096, 1024))
Q, KV = T((2, 32, 128, 64)), T((2, 8, 640, 64))
OUT = T((512, 4096))
HALF = T((512, 4096), "bf16", (8192, 1))
N = 512 * 1024
X32 = T((64, 256), "fp32")
IDS = T((300,), "int64")

CASES: list[tuple[str, Call, str]] = [
    # Products: majors and leading dimensions from strides.
    ("linear without bias", call("mm", OUT, self=A, mat2=T((1024, 4096), "bf16", (1, 1024))),
     "gemm m=512 n=4096 k=1024 dtype=bf16"),
    ("b along n", call("mm", OUT, self=A, mat2=T((1024, 4096))), "gemm m=512 n=4096 k=1024 dtype=bf16 b_major=n"),
    ("gradient of weights", call("mm", T((4096, 1024)), self=T((4096, 512), "bf16", (1, 4096)), mat2=A),
     "gemm m=4096 n=1024 k=512 dtype=bf16 a_major=m b_major=n"),
    ("half of a fused product", call("mm", T((512, 64)), self=HALF, mat2=T((4096, 64), "bf16", (1, 4096))),
     "gemm m=512 n=64 k=4096 dtype=bf16 lda=8192"),
    ("an operand of stride zero is copied first",
     call("mm", T((512, 64)), self=T((512, 256), "bf16", (0, 0)), mat2=T((256, 64))),
     "elementwise n=65537 inputs=1 outputs=1 flops=1 dtype=bf16; gemm m=512 n=64 k=256 dtype=bf16 b_major=n"),
    ("linear with bias", call("addmm", OUT, self=T((4096,)), mat1=A, mat2=T((1024, 4096), "bf16", (1, 1024))),
     "gemm m=512 n=4096 k=1024 dtype=bf16 epilogue=bias"),
    ("sum of a matrix and a product", call("addmm", OUT, self=T((512, 4096), storage=3), mat1=A, mat2=T((1024, 4096))),
     "elementwise n=2097152 inputs=1 outputs=1 flops=1 dtype=bf16; "
     "gemm m=512 n=4096 k=1024 dtype=bf16 b_major=n epilogue=residual"),
    ("batch", call("bmm", T((8, 16, 32)), self=T((8, 16, 64)), mat2=T((8, 64, 32))),
     "gemm m=16 n=32 k=64 dtype=bf16 batch=8 b_major=n"),
    ("a batch that shares its weights", call("bmm", T((8, 16, 32)), self=T((8, 16, 64), "bf16", (64, 512, 1)), mat2=T((8, 64, 32), "bf16", (0, 1, 64))),
     "gemm m=128 n=32 k=64 dtype=bf16"),
    ("fp32", call("mm", T((8, 8), "fp32"), self=T((8, 8), "fp32"), mat2=T((8, 8), "fp32")),
     "gemm m=8 n=8 k=8 dtype=fp32 b_major=n"),
    ("fp8", call("_scaled_mm", OUT, self=T((512, 1024), "fp8"), mat2=T((1024, 4096), "fp8", (1, 1024))),
     "gemm m=512 n=4096 k=1024 dtype=fp8"),
    ("fp8 to fp32", call("_scaled_mm", T((512, 4096), "fp32"), self=T((512, 1024), "fp8"), mat2=T((1024, 4096), "fp8", (1, 1024))),
     "gemm m=512 n=4096 k=1024 dtype=fp8 out_dtype=fp32"),
    ("int8", call("_int_mm", T((64, 64), "int32"), self=T((64, 64), "int8"), mat2=T((64, 64), "int8")),
     "gemm m=64 n=64 k=64 dtype=int8 b_major=n"),
    ("no rows", call("mm", T((0, 8)), self=T((0, 8)), mat2=T((8, 8))), ""),
    ("vector", call("mv", T((512,)), self=A, vec=T((1024,))), "gemv rows=512 cols=1024 dtype=bf16"),
    ("experts", call("_grouped_mm", T((4096, 512)), self=T((4096, 1024)), mat2=T((8, 1024, 512)), offs=T((8,), "int32")),
     "grouped_gemm experts=8 tokens=4096 n=512 k=1024"),
    ("experts' weights", call("_grouped_mm", T((8, 1024, 512)), self=T((1024, 4096)), mat2=T((4096, 512)), offs=T((8,), "int32")),
     "grouped_gemm experts=8 tokens=8192 n=512 k=512"),
    # Convolutions.
    ("channels last", call("convolution", images(4, 64, 56), input=images(4, 64, 56), weight=images(64, 64, 3), padding=[1, 1], stride=[1, 1]),
     "conv2d batch=4 channels=64 out_channels=64 size=56 kernel=3 dtype=bf16"),
    ("stride", call("convolution", images(4, 64, 28), input=images(4, 64, 56), weight=images(64, 64, 3), padding=[1, 1], stride=[2, 2]),
     "conv2d batch=4 channels=64 out_channels=64 size=56 kernel=3 dtype=bf16 stride=2"),
    ("depthwise", call("convolution", images(4, 64, 56), input=images(4, 64, 56), weight=images(64, 1, 7), padding=[3, 3], stride=[1, 1], groups=64),
     "conv2d batch=4 channels=64 out_channels=64 size=56 kernel=7 dtype=bf16 groups=64"),
    ("channels first are put last and back", call("convolution", images(4, 64, 56, False), input=images(4, 64, 56, False), weight=images(64, 64, 1), padding=[0, 0], stride=[1, 1]),
     "copy n=802816 dtype=bf16; conv2d batch=4 channels=64 out_channels=64 size=56 kernel=1 dtype=bf16; "
     "copy n=802816 dtype=bf16"),
    ("patches are a convolution without padding", call("convolution", images(4, 768, 14), input=images(4, 3, 224), weight=images(768, 3, 16), padding=[0, 0], stride=[16, 16], bias=T((768,))),
     "conv2d batch=4 channels=3 out_channels=768 size=224 kernel=16 dtype=bf16 padding=none stride=16; elementwise n=602112 inputs=2 outputs=1 flops=1 row=768 repeated=1 dtype=bf16"),
    ("tf32 by default", call("convolution", images(4, 64, 56, True, "fp32"), input=images(4, 64, 56, True, "fp32"), weight=images(64, 64, 3, True, "fp32"), padding=[1, 1], stride=[1, 1]),
     "conv2d batch=4 channels=64 out_channels=64 size=56 kernel=3 dtype=tf32"),
    ("gradients", call("convolution_backward", [images(4, 64, 56), images(128, 64, 3)], grad_output=images(4, 128, 56), input=images(4, 64, 56), weight=images(128, 64, 3), padding=[1, 1], stride=[1, 1], output_mask=[True, True, True]),
     "conv2d batch=4 channels=128 out_channels=64 size=56 kernel=3 dtype=bf16; "
     "gemm m=128 n=576 k=12544 dtype=bf16 a_major=m b_major=n; colsum rows=12544 cols=128 dtype=bf16"),
    # Attention.
    ("causal", call("_scaled_dot_product_flash_attention", Q, query=Q, key=Q, value=Q, is_causal=True),
     "attention batch=2 heads=32 sq=128 head_dim=64 dtype=bf16 causal=1"),
    ("grouped keys", call("_scaled_dot_product_cudnn_attention", Q, query=Q, key=KV, value=KV),
     "attention batch=2 heads=32 sq=128 head_dim=64 dtype=bf16 kv_heads=8 sk=640"),
    ("its gradient", call("_scaled_dot_product_flash_attention_backward", [Q, Q, Q], grad_out=Q, query=Q, key=Q, value=Q, is_causal=True),
     "attention_backward batch=2 heads=32 sq=128 head_dim=64 dtype=bf16 causal=1"),
    ("fp32 is not described", call("_scaled_dot_product_efficient_attention", T((1, 2, 8, 64), "fp32"), query=T((1, 2, 8, 64), "fp32"), key=T((1, 2, 8, 64), "fp32")),
     "unknown name=aten._scaled_dot_product_efficient_attention bytes=12288 flops=32768"),
    # Elementwise.
    ("sum of two", call("add", A, self=A, other=A), f"add n={N} dtype=bf16"),
    ("sum with a row", call("add", A, self=A, other=T((1024,))), f"elementwise n={N} inputs=2 outputs=1 flops=1 row=1024 repeated=1 dtype=bf16"),
    ("arrays of other orders", call("mul", A, self=A, other=T((512, 1024), "bf16", (1, 512))), f"elementwise n={N} inputs=2 outputs=1 flops=1 row=1024 dtype=bf16"),
    ("permuted alike", call("mul", T((1024, 512), "bf16", (1, 1024)), self=T((1024, 512), "bf16", (1, 1024)), other=T((1024, 512), "bf16", (1, 1024))), f"elementwise n={N} inputs=2 outputs=1 flops=1 dtype=bf16"),
    ("by a number", call("div", A, self=A, other=T((), "fp32")), f"elementwise n={N} inputs=1 outputs=1 flops=6 dtype=bf16"),
    ("in place", Call("aten.mul_", {"self": A, "other": A}, [A], written=[A]), f"elementwise n={N} inputs=2 outputs=1 flops=1 dtype=bf16"),
    ("gelu", call("gelu", A, self=A, approximate="tanh"), f"gelu n={N} dtype=bf16"),
    ("silu", call("silu", A, self=A), f"silu n={N} dtype=bf16"),
    ("silu of a slice has gaps", call("silu", OUT, self=HALF), "elementwise n=2097152 inputs=1 outputs=1 flops=10 row=4096 dtype=bf16"),
    ("halves side by side", call("cat", T((512, 128)), tensors=[T((512, 64)), T((512, 64))], dim=1), "cat rows=512 cols=64 dtype=bf16"),
    ("a half with gaps", call("cat", T((512, 128)), tensors=[T((512, 64)), T((512, 64), "bf16", (128, 1))], dim=1), "cat rows=512 cols=64 dtype=bf16 layout=gaps"),
    ("relu", call("relu", A, self=A), f"elementwise n={N} inputs=1 outputs=1 flops=1 dtype=bf16"),
    ("gradient of gelu", call("gelu_backward", A, grad_output=A, self=A), f"elementwise n={N} inputs=2 outputs=1 flops=32 dtype=bf16"),
    ("dropout", call("native_dropout", [A, T((512, 1024), "bool")], input=A, p=0.1, train=True), f"dropout n={N} dtype=bf16"),
    ("mask", call("gt", T((512, 1024), "bool"), self=A, other=0), f"elementwise n={N} inputs=2 outputs=1 flops=1 dtype=int8"),
    ("cast", call("_to_copy", T((512, 1024), "fp32"), self=A), f"cast n={N} dtype=bf16 out_dtype=fp32"),
    ("zeros write alone", call("zeros_like", A, self=A), f"elementwise n={N // 2} inputs=1 outputs=1 flops=1 dtype=bf16"),
    # Copies by the order of both.
    ("clone", call("clone", A, self=A), f"copy n={N} dtype=bf16"),
    ("slice", call("clone", OUT, self=HALF), "permute rows=256 cols=8192 heads=2 dtype=bf16"),
    ("heads", call("clone", Q, self=T((2, 32, 128, 64), "bf16", (262144, 64, 2048, 1))), "permute rows=256 cols=2048 heads=32 dtype=bf16"),
    ("transpose", call("clone", T((1024, 512)), self=T((1024, 512), "bf16", (1, 1024))), "transpose rows=512 cols=1024 dtype=bf16"),
    ("a token into a cache", Call("aten.copy_", {"self": T((2, 8, 1, 64), "bf16", (65536, 8192, 64, 1)), "src": T((2, 8, 1, 64))}, [T((2, 8, 1, 64), "bf16", (65536, 8192, 64, 1))], written=[A]),
     "permute rows=8 cols=128 heads=2 dtype=bf16"),
    ("expanded", call("clone", T((4, 1024)), self=T((4, 1024), "bf16", (0, 1))), "elementwise n=4096 inputs=1 outputs=1 flops=1 dtype=bf16"),
    # Reductions and norms.
    ("all", call("sum", T(()), self=A), f"sum n={N} dtype=bf16"),
    ("rows", call("sum", T((512,)), self=A, dim=[1]), "rowsum rows=512 cols=1024 dtype=bf16"),
    ("columns", call("sum", T((1, 1024)), self=A, dim=[0], keepdim=True), "colsum rows=512 cols=1024 dtype=bf16"),
    ("rows of a transpose are columns", call("mean", T((1024,)), self=T((1024, 512), "bf16", (1, 1024)), dim=[-1]), "colsum rows=512 cols=1024 dtype=bf16"),
    ("whole numbers by their bytes", call("sum", T((512,), "int64"), self=T((512, 64), "int64"), dim=[1]), "rowsum rows=512 cols=128 dtype=fp32"),
    ("argmax", call("argmax", T((512,), "int64"), self=A, dim=-1), "argmax rows=512 cols=1024 dtype=bf16"),
    ("amax", call("amax", T(()), self=A), f"amax n={N} dtype=bf16"),
    ("layernorm", call("native_layer_norm", [A], input=A, normalized_shape=[1024]), "layernorm rows=512 cols=1024 dtype=bf16"),
    ("its gradient by rows", call("native_layer_norm_backward", [A], grad_out=A, input=A, normalized_shape=[1024]), "layernorm_backward rows=512 cols=1024 dtype=bf16"),
    ("rmsnorm", call("_fused_rms_norm", [A], input=A, normalized_shape=[1024]), "rmsnorm rows=512 cols=1024 dtype=bf16"),
    ("softmax", call("_softmax", A, self=A, dim=-1), "softmax rows=512 cols=1024 dtype=bf16"),
    ("gradient of softmax", call("_softmax_backward_data", A, grad_output=A, output=A, dim=-1), "softmax_backward rows=512 cols=1024 dtype=bf16"),
    ("batch norm at work", call("native_batch_norm", [images(4, 64, 8)], input=images(4, 64, 8), training=False), "elementwise n=16384 inputs=1 outputs=1 flops=4 dtype=bf16"),
    ("batch norm in training", call("native_batch_norm", [images(4, 64, 8)], input=images(4, 64, 8), training=True), "sum n=16384 dtype=bf16; elementwise n=16384 inputs=1 outputs=1 flops=4 dtype=bf16"),
    ("group norm", call("native_group_norm", [images(4, 64, 8)], input=images(4, 64, 8), group=8), "rowsum rows=32 cols=512 dtype=bf16; elementwise n=16384 inputs=1 outputs=1 flops=2 dtype=bf16"),
    ("topk", call("topk", [T((512, 4))], self=A, k=4, dim=-1), "topk rows=512 cols=1024 dtype=bf16 k=4"),
    ("sort", call("sort", [A], self=A, dim=-1), "sort rows=512 cols=1024 dtype=bf16"),
    ("cumsum", call("cumsum", A, self=A, dim=1), "cumsum rows=512 cols=1024 dtype=bf16"),
    ("histogram", call("histc", T((16,)), self=T((4096,), "fp32"), bins=16), "histogram n=4096 bins=16 dtype=fp32"),
    # Movement.
    ("embedding", call("embedding", T((300, 256), "fp32"), weight=X32, indices=IDS), "embedding rows=64 cols=256 indices=300 dtype=fp32"),
    ("its gradient in rows", call("embedding_dense_backward", X32, grad_output=T((300, 256), "fp32"), indices=IDS), "embedding_backward rows=64 cols=256 indices=300 dtype=fp32"),
    ("rows by index", call("index", T((300, 256), "fp32"), self=X32, indices=[IDS]), "embedding rows=64 cols=256 indices=300 dtype=fp32"),
    ("halves", call("cat", T((8, 128)), tensors=[T((8, 64)), T((8, 64))], dim=-1), "cat rows=8 cols=64 dtype=bf16"),
    ("many parts", call("cat", T((24, 64)), tensors=[T((8, 64))] * 3, dim=0), "copy n=1536 dtype=bf16"),
    ("rows added", Call("aten.index_add_", {"self": X32, "dim": 0, "index": IDS, "source": T((300, 256), "fp32")}, [X32], written=[X32]), "scatter_add_rows rows=300 cols=256 dtype=fp32"),
    ("padding", call("constant_pad_nd", T((8, 72)), self=T((8, 64)), pad=[0, 8]), "elementwise n=288 inputs=1 outputs=1 flops=1 dtype=bf16; copy n=512 dtype=bf16"),
    # Optimizers.
    ("fused", Call("aten._fused_adamw_", {"self": [A, T((1024,))], "grads": [A, T((1024,))], "exp_avgs": [A], "exp_avg_sqs": [A]}, [], written=[A]), f"adamw n={N + 1024} tensors=2 dtype=bf16"),
    ("foreach", Call("aten._foreach_mul_", {"self": [A, A], "scalar": 0.9}, [], written=[A, A]), f"elementwise n={2 * N} inputs=1 outputs=1 flops=2 dtype=bf16"),
    ("foreach over many tensors is many launches", Call("aten._foreach_add_", {"self": [T((100,))] * 200, "other": [T((100,))] * 200}, [], written=[T((100,))] * 200),
     "elementwise n=5000 inputs=2 outputs=1 flops=2 dtype=bf16 repeat=4"),
    # What no operator describes.
    ("unknown", Call("mine.thing", {"x": A}, [A]), f"unknown name=mine.thing bytes={4 * N}"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_call_becomes_rows(given: Call, expected: str) -> None:
    assert text(operators(given, Settings())) == expected


def test_tf32_by_the_switch() -> None:
    given = call("mm", T((8, 8), "fp32"), self=T((8, 8), "fp32"), mat2=T((8, 8), "fp32"))
    assert text(operators(given, Settings(matmul_tf32=True))) == "gemm m=8 n=8 k=8 dtype=tf32 b_major=n"
    image = images(4, 64, 56, True, "fp32")
    conv = call("convolution", image, input=image, weight=images(64, 64, 3, True, "fp32"), padding=[1, 1], stride=[1, 1])
    assert operators(conv, Settings(convolution_tf32=False))[0]["dtype"] == "fp32"


@pytest.mark.parametrize("name", ["view", "t", "empty", "detach", "_unsafe_view", "transpose"])
def test_views_cost_nothing(name: str) -> None:
    assert free(call(name, A, self=A))
    assert operators(call(name, A, self=A), Settings()) == []


def test_a_result_that_shares_memory_costs_nothing() -> None:
    assert operators(Call("mine.window", {"x": A}, [A], view=True), Settings()) == []


def test_a_loss_is_one_operator() -> None:
    scores = T((64, 1000), "bf16", storage=1)
    found = T((64, 1000), "bf16", storage=2)
    soft = Call("aten._log_softmax", {"self": scores, "dim": 1}, [found], module="loss")
    kept = Call("aten.detach", {"self": found}, [found], view=True)
    loss = Call("aten.nll_loss_forward", {"self": found, "target": T((64,), "int64")}, [T(())], module="loss")
    rows = rows_of(Trace([soft, kept, loss]))
    assert text(rows) == "cross_entropy rows=64 cols=1000 dtype=bf16 near=128000@128512 module=loss phase=forward"
    other = Call("aten.nll_loss_forward", {"self": scores, "target": T((64,), "int64")}, [T(())])
    assert [row["op"] for row in rows_of(Trace([soft, other]))] == ["softmax", "sum"]


def test_bytes_are_kept_where_types_differ() -> None:
    # A bf16 array times an fp32 array: 2 + 4 bytes read, 4 written.
    wide = T((512, 1024), "fp32")
    row = operators(call("mul", wide, self=A, other=wide), Settings())[0]
    assert (row["inputs"], row["outputs"], row["dtype"]) == (2, 1, "fp32")
    mask = operators(call("where", A, condition=T((512, 1024), "bool"), self=A, other=A), Settings())[0]
    assert row["n"] == N and mask["inputs"] == 2  # 2.5 arrays, to even


def test_operations_are_those_of_the_formulas() -> None:
    gemm = operators(call("bmm", T((8, 16, 32)), self=T((8, 16, 64)), mat2=T((8, 64, 32))), Settings())
    assert flops_of(gemm) == 2 * 8 * 16 * 32 * 64
    attention = call("_scaled_dot_product_flash_attention", Q, query=Q, key=KV, value=KV)
    assert flops_of(operators(attention, Settings())) == 4 * 2 * 32 * 128 * 640 * 64
    assert flops_of([{"op": "copy", "n": 5}]) == 0
    stem = call("convolution", images(1, 64, 112), input=images(1, 3, 224), weight=images(64, 3, 7), padding=[3, 3], stride=[2, 2])
    assert flops_of(operators(stem, Settings())) == 2 * 64 * 112 * 112 * 3 * 49
    patches = call("convolution", images(1, 768, 14), input=images(1, 3, 224), weight=images(768, 3, 16), padding=[0, 0], stride=[16, 16])
    assert flops_of(operators(patches, Settings())) == 2 * 768 * 14 * 14 * 3 * 256
