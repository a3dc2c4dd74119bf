"""Small models and blocks in plain PyTorch whose whole steps are recorded and captured.

A model has a name, which decides its split, and one or more steps: what a step runs, at which batch
and length. Everything is bfloat16 with random weights; nothing is downloaded. `build` makes a step's
module and inputs on any device: "meta" for a capture without memory, "cuda" for a recording.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Step:
    """One step of a model: `kind` is forward, prefill, decode or train; a train step's module returns its loss."""

    model: str
    kind: str
    batch: int
    length: int  # tokens of a sequence; of decode: keys that the cache holds, this token's included; pixels of a side
    make: Callable[[Step], nn.Module] = field(compare=False, repr=False)
    inputs: Callable[[Step, torch.device], tuple[Tensor, ...]] = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The step's name, unique: model, kind, batch and length."""
        return f"{self.model}-{self.kind}-{self.batch}x{self.length}"

    @property
    def train(self) -> bool:
        """Whether the step has a backward pass and an optimizer (AdamW, fused, in the parameters' type)."""
        return self.kind == "train"

    @property
    def split(self) -> str:
        """The split of the step's model: by FNV-1a-64 of its name, as for every recorded case."""
        hash_value = 0xCBF29CE484222325
        for byte in self.model.encode():
            hash_value = ((hash_value ^ byte) * 0x100000001B3) % (1 << 64)
        share = hash_value % 100
        return "fit" if share < 50 else "development" if share < 70 else "held-out"


class SelfAttention(nn.Module):
    """Attention with grouped keys; rotary embedding and a cache of keys and values where asked for."""

    def __init__(
        self,
        width: int,
        heads: int,
        kv_heads: int | None = None,
        *,
        bias: bool = False,
        causal: bool = True,
        rotary: bool = False,
        fused: bool = False,
        cache: tuple[int, int] | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.head_dim = width // heads
        self.causal, self.rotary, self.fused, self.dropout = causal, rotary, fused, dropout
        kv_width = self.kv_heads * self.head_dim
        if fused:
            self.qkv_proj = nn.Linear(width, width + 2 * kv_width, bias=bias)
        else:
            self.q_proj = nn.Linear(width, width, bias=bias)
            self.k_proj = nn.Linear(width, kv_width, bias=bias)
            self.v_proj = nn.Linear(width, kv_width, bias=bias)
        self.o_proj = nn.Linear(width, width, bias=bias)
        self.cached = cache is not None
        if cache is not None:
            batch, keys = cache
            for name in ("cache_k", "cache_v"):
                self.register_buffer(name, torch.randn(batch, self.kv_heads, keys, self.head_dim))

    def forward(self, x: Tensor, cos: Tensor | None = None, sin: Tensor | None = None) -> Tensor:
        batch, length, width = x.shape
        kv_width = self.kv_heads * self.head_dim
        if self.fused:
            q, k, v = self.qkv_proj(x).split([width, kv_width, kv_width], dim=-1)
        else:
            q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q = q.view(batch, length, self.heads, self.head_dim).transpose(1, 2)
        k = k.view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        v = v.view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        if self.rotary:
            assert cos is not None and sin is not None
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.cached:
            keys = self.cache_k.shape[2]
            self.cache_k[:, :, keys - length :].copy_(k)
            self.cache_v[:, :, keys - length :].copy_(v)
            k, v = self.cache_k, self.cache_v
        out = functional.scaled_dot_product_attention(
            q,
            k,
            v,
            is_causal=self.causal and not self.cached,
            dropout_p=self.dropout if self.training else 0.0,
            enable_gqa=self.kv_heads != self.heads,
        )
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, width))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of a head, as most open models write it."""
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class GeluMlp(nn.Module):
    """Two linear layers with GELU between."""

    def __init__(self, width: int, ffn: int, tanh: bool = False) -> None:
        super().__init__()
        self.up_proj, self.down_proj = nn.Linear(width, ffn), nn.Linear(ffn, width)
        self.approximate = "tanh" if tanh else "none"

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.gelu(self.up_proj(x), approximate=self.approximate))


class SwigluMlp(nn.Module):
    """Gate, up and down projections without bias."""

    def __init__(self, width: int, ffn: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, ffn, bias=False)
        self.up_proj = nn.Linear(width, ffn, bias=False)
        self.down_proj = nn.Linear(ffn, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class ExpertMlp(nn.Module):
    """A mixture of SwiGLU experts: the best of them for each token, by grouped products without a host's help."""

    def __init__(self, width: int, ffn: int, experts: int, chosen: int) -> None:
        super().__init__()
        self.experts, self.chosen = experts, chosen
        self.router = nn.Linear(width, experts, bias=False)
        self.gate_up = nn.Parameter(torch.empty(experts, 2 * ffn, width))
        self.down = nn.Parameter(torch.empty(experts, width, ffn))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        scores = self.router(tokens).softmax(-1)
        weights, experts = scores.topk(self.chosen, dim=-1)
        order = experts.reshape(-1).argsort()
        source = order // self.chosen
        ends = torch.histc(experts.float(), self.experts, 0, self.experts - 1).cumsum(0).to(torch.int32)
        rows = tokens.index_select(0, source)
        gate, up = torch._grouped_mm(rows, self.gate_up.transpose(1, 2), offs=ends).chunk(2, dim=-1)
        rows = torch._grouped_mm(functional.silu(gate) * up, self.down.transpose(1, 2), offs=ends)
        rows = rows * weights.reshape(-1).index_select(0, order).unsqueeze(-1)
        return torch.zeros_like(tokens).index_add(0, source, rows).view(x.shape)


class Block(nn.Module):
    """One transformer layer; its norms come first, or after each sum where `post` is set."""

    def __init__(
        self, attention: nn.Module, mlp: nn.Module, norms: list[nn.Module], post: bool = False, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.attention, self.mlp = attention, mlp
        self.norm1, self.norm2 = norms
        self.post, self.dropout = post, dropout

    def forward(self, x: Tensor, *rotary: Tensor) -> Tensor:
        if self.post:
            x = self.norm1(x + self.attention(x, *rotary))
            return self.norm2(x + self.mlp(x))
        x = x + self.drop(self.attention(self.norm1(x), *rotary))
        return x + self.drop(self.mlp(self.norm2(x)))

    def drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training) if self.dropout else x


class Transformer(nn.Module):
    """Embeddings, layers, a last norm and a head; with targets it returns the loss. Decode looks at one token."""

    def __init__(
        self,
        layers: list[Block],
        width: int,
        norm: nn.Module,
        vocabulary: int = 0,
        positions: int = 0,
        rotary: tuple[int, int] | None = None,
        last_token: bool = False,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.embed = nn.Embedding(vocabulary, width) if vocabulary else None
        self.positions = nn.Embedding(positions, width) if positions else None
        self.head = nn.Linear(width, vocabulary, bias=False) if vocabulary else None
        self.last_token = last_token
        if rotary:
            length, head_dim = rotary
            for name in ("cos", "sin"):
                self.register_buffer(name, torch.randn(length, head_dim))

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Tensor:
        x = tokens if self.embed is None else self.embed(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[-x.shape[1] :]
        rotary = (self.cos, self.sin) if hasattr(self, "cos") else ()
        for layer in self.layers:
            x = layer(x, *rotary)
        x = self.norm(x)
        if self.head is None:
            return x
        logits = self.head(x[:, -1:] if self.last_token else x)
        if targets is None:
            return logits
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gpt(
    width: int,
    heads: int,
    layers: int,
    vocabulary: int,
    dropout: float = 0.0,
    tanh: bool = False,
) -> Callable[[Step], nn.Module]:
    """Layers as GPT-2 has them: LayerNorm, biases, one product for queries, keys and values, GELU."""

    def make(step: Step) -> nn.Module:
        cache = (step.batch, step.length) if step.kind == "decode" else None
        blocks = [
            Block(
                SelfAttention(width, heads, bias=True, fused=True, cache=cache, dropout=dropout),
                GeluMlp(width, 4 * width, tanh),
                [nn.LayerNorm(width), nn.LayerNorm(width)],
                dropout=dropout,
            )
            for _ in range(layers)
        ]
        return Transformer(blocks, width, nn.LayerNorm(width), vocabulary, positions=step.length)

    return make


def llama(
    width: int,
    heads: int,
    kv_heads: int,
    ffn: int,
    layers: int,
    vocabulary: int,
    experts: tuple[int, int] | None = None,
) -> Callable[[Step], nn.Module]:
    """Layers as Llama has them: RMSNorm, rotary embedding, grouped keys, SwiGLU; `experts`: how many, and how many of
    them a token takes."""

    def make(step: Step) -> nn.Module:
        cache = (step.batch, step.length) if step.kind == "decode" else None
        blocks = [
            Block(
                SelfAttention(width, heads, kv_heads, rotary=True, cache=cache),
                ExpertMlp(width, ffn, *experts) if experts else SwigluMlp(width, ffn),
                [nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)],
            )
            for _ in range(layers)
        ]
        length = 1 if step.kind == "decode" else step.length
        return Transformer(
            blocks,
            width,
            nn.RMSNorm(width, eps=1e-5),
            vocabulary,
            rotary=(length, width // heads),
            last_token=step.kind == "prefill",
        )

    return make


def encoder(width: int, heads: int, layers: int, vocabulary: int) -> Callable[[Step], nn.Module]:
    """Layers as BERT has them: no causal mask, norms after the sums."""

    def make(step: Step) -> nn.Module:
        blocks = [
            Block(
                SelfAttention(width, heads, bias=True, causal=False),
                GeluMlp(width, 4 * width),
                [nn.LayerNorm(width), nn.LayerNorm(width)],
                post=True,
            )
            for _ in range(layers)
        ]
        return Transformer(blocks, width, nn.LayerNorm(width), vocabulary, positions=step.length, last_token=True)

    return make


class Vision(nn.Module):
    """A vision transformer: patches by a convolution, an encoder, a mean over patches and a head."""

    def __init__(self, width: int, heads: int, layers: int, patch: int, size: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.position = nn.Parameter(torch.empty((size // patch) ** 2, width))
        self.layers = nn.ModuleList(
            Block(
                SelfAttention(width, heads, bias=True, fused=True, causal=False),
                GeluMlp(width, 4 * width),
                [nn.LayerNorm(width), nn.LayerNorm(width)],
            )
            for _ in range(layers)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.patches(pixels).flatten(2).transpose(1, 2) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(1))


class Bottleneck(nn.Module):
    """A residual block of three convolutions; `norm` keeps batch norms, else they are folded into biases."""

    def __init__(self, channels: int, inner: int, norm: bool) -> None:
        super().__init__()
        sizes = [(channels, inner, 1), (inner, inner, 3), (inner, channels, 1)]
        self.convs = nn.ModuleList(nn.Conv2d(i, o, k, padding=k // 2, bias=not norm) for i, o, k in sizes)
        self.norms = nn.ModuleList(nn.BatchNorm2d(o) for _, o, _ in sizes) if norm else None

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for index, conv in enumerate(self.convs):
            y = conv(y)
            if self.norms is not None:
                y = self.norms[index](y)
            y = functional.relu(y + x if index == 2 else y)
        return y


class ConvNextBlock(nn.Module):
    """A depthwise 7x7 convolution, LayerNorm, two linear layers with GELU, and the sum."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.mlp = GeluMlp(channels, 4 * channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.depthwise(x).permute(0, 2, 3, 1)
        return x + self.mlp(self.norm(y)).permute(0, 3, 1, 2)


class Images(nn.Module):
    """Blocks of images with channels last; with targets a pooled head and the loss."""

    def __init__(self, blocks: list[nn.Module], channels: int, head: bool) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, 1000) if head else None

    def forward(self, x: Tensor, targets: Tensor | None = None) -> Tensor:
        x = self.blocks(x)
        if self.head is None:
            return x
        logits = self.head(x.mean((2, 3)))
        return logits if targets is None else functional.cross_entropy(logits, targets)


class Ranking(nn.Module):
    """A recommendation model: rows of tables and dense features through a tower of linear layers with ReLU."""

    def __init__(self, tables: int, rows: int, width: int, layers: list[int]) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        sizes = [tables * width + 512, *layers]
        self.tower = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:], strict=False))

    def forward(self, dense: Tensor, ids: Tensor) -> Tensor:
        found = [table(ids[:, index]) for index, table in enumerate(self.tables)]
        x = torch.cat([dense, *found], dim=-1)
        for layer in self.tower[:-1]:
            x = functional.relu(layer(x))
        return self.tower[-1](x)


def residual(channels: int, inner: int) -> Callable[[Step], nn.Module]:
    """Three bottlenecks; batch norms are folded but in training, which has a head."""

    def make(step: Step) -> nn.Module:
        return Images([Bottleneck(channels, inner, step.train) for _ in range(3)], channels, step.train)

    return make


def of_tokens(vocabulary: int) -> Callable[[Step, torch.device], tuple[Tensor, ...]]:
    """Random tokens, and targets where a loss is asked for; decode takes one token of each sequence."""

    def inputs(step: Step, device: torch.device) -> tuple[Tensor, ...]:
        shape = (step.batch, 1 if step.kind == "decode" else step.length)
        count = 2 if step.train else 1
        return tuple(torch.randint(0, vocabulary, shape, device=device) for _ in range(count))

    return inputs


def of_states(width: int) -> Callable[[Step, torch.device], tuple[Tensor, ...]]:
    """Random hidden states, for layers without embeddings."""

    def inputs(step: Step, device: torch.device) -> tuple[Tensor, ...]:
        length = 1 if step.kind == "decode" else step.length
        return (torch.randn(step.batch, length, width, device=device, dtype=torch.bfloat16),)

    return inputs


def of_images(channels: int) -> Callable[[Step, torch.device], tuple[Tensor, ...]]:
    """Random images with channels last, and targets where a loss is asked for."""

    def inputs(step: Step, device: torch.device) -> tuple[Tensor, ...]:
        shape = (step.batch, channels, step.length, step.length)
        images = torch.randn(shape, device=device, dtype=torch.bfloat16)
        images = images.contiguous(memory_format=torch.channels_last)
        targets = (torch.randint(0, 1000, (step.batch,), device=device),) if step.train else ()
        return (images, *targets)

    return inputs


def of_ranking(tables: int, rows: int) -> Callable[[Step, torch.device], tuple[Tensor, ...]]:
    """Dense features and one row of each table."""

    def inputs(step: Step, device: torch.device) -> tuple[Tensor, ...]:
        dense = torch.randn(step.batch, 512, device=device, dtype=torch.bfloat16)
        return dense, torch.randint(0, rows, (step.batch, tables), device=device)

    return inputs


def all_steps() -> list[Step]:
    """Every recorded step, in the order of recording."""
    steps: list[Step] = []

    def add(
        model: str,
        make: Callable[[Step], nn.Module],
        inputs: Callable[[Step, torch.device], tuple[Tensor, ...]],
        *shapes: tuple[str, int, int],
    ) -> None:
        steps.extend(Step(model, kind, batch, length, make, inputs) for kind, batch, length in shapes)

    add("gpt-768", gpt(768, 12, 4, 50304), of_tokens(50304), ("forward", 8, 1024), ("train", 4, 1024))
    add("gpt-1024", gpt(1024, 16, 4, 32000, tanh=True), of_tokens(32000), ("train", 8, 512), ("decode", 32, 1024))
    add("gpt-1600", gpt(1600, 25, 4, 50304), of_tokens(50304), ("decode", 16, 1024), ("forward", 2, 1024))
    add("gpt-512-dropout", gpt(512, 8, 6, 32000, dropout=0.1), of_tokens(32000), ("train", 8, 512))
    add("llama-1024", llama(1024, 16, 4, 2816, 6, 32000), of_tokens(32000), ("train", 4, 1024), ("prefill", 1, 256))
    add("llama-2048", llama(2048, 32, 8, 5632, 4, 32000), of_tokens(32000), ("prefill", 4, 1024), ("train", 2, 2048))
    add("llama-3072", llama(3072, 24, 8, 8192, 3, 128256), of_tokens(128256), ("prefill", 1, 2048), ("decode", 8, 4096))
    add(
        "llama-4096",
        llama(4096, 32, 8, 14336, 2, 128256),
        of_tokens(128256),
        ("prefill", 1, 4096),
        ("decode", 64, 1024),
    )
    add("llama-5120", llama(5120, 40, 40, 13824, 2, 32000), of_tokens(32000), ("prefill", 2, 512), ("decode", 1, 2048))
    add(
        "llama-8192-layer", llama(8192, 64, 8, 28672, 1, 0), of_states(8192), ("prefill", 1, 2048), ("decode", 16, 4096)
    )
    add("qwen-896", llama(896, 14, 2, 4864, 8, 151936), of_tokens(151936), ("prefill", 8, 512), ("decode", 4, 1024))
    add("llama-2560", llama(2560, 20, 4, 6912, 3, 64000), of_tokens(64000), ("prefill", 2, 1024), ("decode", 32, 512))
    add("gpt-2048", gpt(2048, 16, 3, 50304, tanh=True), of_tokens(50304), ("forward", 4, 512), ("decode", 8, 2048))
    moe = llama(2048, 16, 4, 1024, 2, 32000, experts=(32, 4))
    add("moe-2048", moe, of_tokens(32000), ("prefill", 2, 2048), ("decode", 64, 1024))
    wide = llama(4096, 32, 8, 14336, 1, 0, experts=(8, 2))
    add("moe-4096-layer", wide, of_states(4096), ("prefill", 1, 4096))
    add("bert-1024", encoder(1024, 16, 4, 30528), of_tokens(30528), ("forward", 16, 512))
    add("vit-768", lambda step: Vision(768, 12, 4, 16, step.length), of_images(3), ("forward", 64, 224))
    folded = [(256, 64), (512, 128), (1024, 256)]
    for (channels, inner), size, batch in zip(folded, (56, 28, 14), (64, 64, 128), strict=True):
        add(
            f"resnet-{channels}",
            residual(channels, inner),
            of_images(channels),
            *(
                [("forward", batch, size), ("train", batch // 2, size)]
                if channels == 512
                else [("forward", batch, size)]
            ),
        )
    add(
        "convnext-384",
        lambda step: Images([ConvNextBlock(384) for _ in range(3)], 384, False),
        of_images(384),
        ("forward", 64, 14),
    )
    add(
        "ranking-128",
        lambda step: Ranking(16, 100000, 128, [4096, 2048, 1024, 1]),
        of_ranking(16, 100000),
        ("forward", 8192, 1),
    )
    return steps


def step_named(name: str) -> Step:
    """The step of that name; throws KeyError naming all."""
    found = {step.name: step for step in all_steps()}
    if name not in found:
        raise KeyError(f"no step is called {name}; known: {' '.join(found)}")
    return found[name]


def build(step: Step, device: str = "meta", seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The module of a step in bfloat16 and its inputs; weights are random, of a spread that keeps activations finite."""
    target = torch.device(device)
    with torch.device("meta"):
        module = step.make(step)
    module = module.to(torch.bfloat16).to_empty(device=target)
    if target.type != "meta":
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
                if name.endswith("num_batches_tracked"):
                    tensor.zero_()
                elif name.endswith("running_var") or (tensor.dim() == 1 and "norm" in name and name.endswith("weight")):
                    tensor.fill_(1)
                elif "cache_" in name or name.endswith(("cos", "sin")):
                    tensor.normal_()
                else:
                    fan = tensor.shape[-1] if tensor.dim() < 4 else math.prod(tensor.shape[1:])
                    tensor.normal_(0.0, 1.0 / math.sqrt(max(1, fan)))
    images = any(isinstance(part, nn.Conv2d) for part in module.modules())
    if images:
        module = module.to(memory_format=torch.channels_last)
    module.train(step.train)
    return module, step.inputs(step, target)


def make_optimizer(module: nn.Module, fused: bool = True) -> Any:
    """AdamW as a train step runs it; capturable, so that a graph can hold it."""
    return torch.optim.AdamW(module.parameters(), lr=1e-4, fused=fused, capturable=fused)


if __name__ == "__main__":
    for listed in all_steps():
        module, _ = build(listed)
        count = sum(parameter.numel() for parameter in module.parameters())
        print(f"{listed.name:36} {listed.split:12} {count / 1e6:8.1f} M parameters")
