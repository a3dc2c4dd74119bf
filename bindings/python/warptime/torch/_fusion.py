"""What torch.compile would launch: elementwise chains as one kernel, reductions with what feeds and follows them.

The rule, after Inductor's scheduler (torch/_inductor/scheduler.py, can_fuse): a call joins the kernel of its latest
producer where both walk the same elements: elementwise over as many elements, a sum of rows of those elements, or work
on a kernel's row sums; earlier elementwise producers of as many elements join as well, where nothing between reads
them. A sum of columns ends its kernel. Products, convolutions, attention, sorts, scans and scatters stay the library's.
Arrays that nothing else reads are never written. Not modelled: what the partitioner computes again in the backward
pass instead of keeping it, kernels side by side in one launch, tuned products with epilogues, and graph breaks. The
optimizer is not compiled.
"""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import dataclass, field

from warptime.torch import _pointwise, _reductions
from warptime.torch._calls import Call, Tensor, Trace
from warptime.torch._operators import free, labelled, operators, rule_of
from warptime.torch._rows import Row, extents, reduced, traffic
from warptime.torch._touched import Touched, arrays_of

_MOST_FLOPS = 256
_MOST_CALLS = 64  # Inductor's max_fusion_size
_GATHERS = frozenset(
    f"aten.{name}"
    for name in "cat stack embedding index_select index _unsafe_index gather constant_pad_nd slice_backward roll flip "
    "repeat select_backward slice_scatter select_scatter native_dropout".split()
)
_JOINED = frozenset(("aten.cat", "aten.stack", "aten.constant_pad_nd", "aten.slice_backward", "aten.select_backward"))
_INDEXED = frozenset(f"aten.{name}" for name in "embedding index_select index _unsafe_index gather".split())
_NORM_BACKWARD = ("aten.native_layer_norm_backward", "aten._fused_rms_norm_backward")
_ROWS = frozenset(
    f"aten.{name}"
    for name in "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm "
    "native_layer_norm_backward _fused_rms_norm _fused_rms_norm_backward".split()
)
_SUMS = frozenset(name for name, rule in _reductions.RULES.items() if rule in (_reductions._reduce, _reductions._largest))


@dataclass
class _Kind:
    """How a call walks its elements: `form` is each, rows, columns or library."""

    form: str
    elements: int
    rows: int = 0


@dataclass
class _Kernel:
    """Calls that run as one kernel."""

    form: str
    elements: int
    rows: int = 0
    phase: str = ""
    calls: list[Call] = field(default_factory=list)
    reads: dict[tuple[int, int, tuple[int, ...]], int] = field(default_factory=dict)
    writes: dict[int, Tensor] = field(default_factory=dict)

    def add(self, call: Call) -> None:
        self.calls.append(call)
        for tensor in call.tensors() if rule_of(call.name) is not _pointwise._fill else ():
            if tensor.storage not in self.writes:
                self.reads[tensor.storage, tensor.offset, tensor.shape] = _read(call, tensor)
        for tensor in [*call.outputs, *call.written]:
            known = self.writes.get(tensor.storage)
            if known is None or known.numel < tensor.numel:
                self.writes[tensor.storage] = tensor

    def read_storages(self) -> set[int]:
        return {storage for storage, _, _ in self.reads}

    def read_arrays(self) -> dict[int, int]:
        """Bytes that are read of each storage."""
        found: dict[int, int] = {}
        for (storage, _, _), size in self.reads.items():
            found[storage] = max(found.get(storage, 0), size)
        return found


def _read(call: Call, tensor: Tensor) -> int:
    """Bytes that a call reads of an argument: of a table that is indexed, the rows that are taken."""
    if call.name.rstrip("_") in _INDEXED and call.outputs:
        return min(tensor.bytes, call.outputs[0].bytes) if tensor.dtype not in ("int64", "int32") else tensor.bytes
    return tensor.bytes


def kind_of(call: Call) -> _Kind:
    """How a call walks its elements."""
    name = call.name.rstrip("_")
    results = call.results
    if not results:
        return _Kind("library", 0)
    largest = max(results, key=lambda tensor: tensor.numel).numel
    if name in _GATHERS or rule_of(name) in (
        _pointwise.elementwise, _pointwise._copy, _pointwise._add, _pointwise._fill
    ) or name in (
        "aten.gelu", "aten.silu"
    ):  # fmt: skip
        return _Kind("each", largest)
    if rule_of(name) is _reductions._batch_norm and not _reductions.of_this_batch(call):
        return _Kind("each", largest)
    if name in _ROWS:
        tensor = call.get("input", call.get("output", call.get("self", call.get("grad_output"))))
        cols = _row_length(call, tensor)
        return _Kind("rows", tensor.numel, tensor.numel // max(1, cols))
    if name in _SUMS:
        tensor = call.get("self")
        dims = _reductions._dims(call)
        kept, _ = extents(tensor.shape, dims)
        found = _reductions.over(Tensor(tensor.shape, "fp32", tensor.stride), dims)
        row_wise = bool(found) and found[0]["op"] == "rowsum"
        return _Kind("rows" if row_wise else "columns", tensor.numel, kept)
    return _Kind("library", 0)


def _row_length(call: Call, tensor: Tensor) -> int:
    shape = call.get("normalized_shape")
    if shape:
        length = 1
        for extent in shape:
            length *= extent
        return length
    return tensor.shape[call.get("dim", -1)] if tensor.shape else 1


def _fits(kernel: _Kernel, kind: _Kind, call: Call) -> bool:
    if kernel.phase != call.phase or len(kernel.calls) >= _MOST_CALLS or kernel.form not in ("each", "rows"):
        return False
    if kind.form == "each":
        if call.name.rstrip("_") in _JOINED and kernel.form == "each" and kernel.elements <= kind.elements:
            return True
        return kind.elements == kernel.elements or (kernel.form == "rows" and kind.elements == kernel.rows)
    if kind.form == "rows":
        return kind.elements == kernel.elements and (kernel.form == "each" or kernel.rows == kind.rows)
    return kind.form == "columns" and kernel.form == "each" and kind.elements == kernel.elements


def kernels(trace: Trace) -> list[_Kernel]:
    """The kernels of a compiled step, in order."""
    order: list[_Kernel | None] = []
    made: dict[int, int] = {}  # the kernel that wrote a storage last
    for call in trace.calls:
        if free(call):
            continue
        kind = kind_of(call) if call.phase != "optimizer" else _Kind("library", 0)
        place = None
        if kind.form != "library":
            place = _latest(call, made)
            if place is not None and not (_fits_at(order, place, kind, call)):
                place = None
        if place is None:
            order.append(_Kernel(kind.form, kind.elements, kind.rows, call.phase))
            place = len(order) - 1
        kernel = order[place]
        assert kernel is not None
        if kind.form in ("rows", "columns"):
            kernel.form, kernel.rows = kind.form, kind.rows
        kernel.elements = max(kernel.elements, kind.elements)
        if kind.form != "library":
            _merge(order, made, place, call)
        kernel.add(call)
        for tensor in [*call.outputs, *call.written]:
            made[tensor.storage] = place
    return [kernel for kernel in order if kernel is not None]


def _latest(call: Call, made: dict[int, int]) -> int | None:
    places = [made[tensor.storage] for tensor in call.tensors() if tensor.storage in made]
    return max(places, default=None)


def _fits_at(order: list[_Kernel | None], place: int, kind: _Kind, call: Call) -> bool:
    kernel = order[place]
    if kernel is None or not _fits(kernel, kind, call):
        return False
    changed = {tensor.storage for tensor in call.written}
    later = [other for other in order[place + 1 :] if other is not None]
    return not any(changed & (other.read_storages() | set(other.writes)) for other in later)


def _merge(order: list[_Kernel | None], made: dict[int, int], place: int, call: Call) -> None:
    """Takes earlier elementwise producers of the call into its kernel."""
    kernel = order[place]
    assert kernel is not None
    earlier = {made[t.storage] for t in call.tensors() if t.storage in made} - {place}
    for other_place in sorted(earlier, reverse=True):
        other = order[other_place]
        if other is None or other.form != "each" or other.phase != kernel.phase:
            continue
        smaller = call.name.rstrip("_") in _JOINED and other.elements <= kernel.elements
        if other.elements != kernel.elements and not smaller:
            continue
        if len(other.calls) + len(kernel.calls) >= _MOST_CALLS:
            continue
        between = [k for k in order[other_place + 1 : place] if k is not None]
        if any(set(other.writes) & (k.read_storages() | set(k.writes)) for k in between):
            continue
        if any(other.read_storages() & set(k.writes) for k in between):
            continue
        whole = _Kernel(kernel.form, kernel.elements, kernel.rows, kernel.phase)
        for part in [*other.calls, *kernel.calls]:
            whole.add(part)
        order[place], order[other_place] = whole, None
        kernel.calls, kernel.reads, kernel.writes = whole.calls, whole.reads, whole.writes
        order[place] = kernel
        for storage in other.writes:
            if made.get(storage) == other_place:
                made[storage] = place


def fused(trace: Trace) -> list[Row]:
    """The rows of a compiled step, without numbers."""
    listed = kernels(trace)
    readers: dict[int, int] = {}
    for kernel in listed:
        for storage in kernel.read_storages():
            readers[storage] = readers.get(storage, 0) + 1
    fresh = {t.storage for c in trace.calls for t in c.outputs} - {t.storage for c in trace.calls for t in c.written}
    touched = Touched()
    for kernel in listed:  # a step runs after itself
        touched.take(kernel.read_arrays(), arrays_of(kernel.writes.values()))
    rows: list[Row] = []
    for kernel in listed:
        new = _rows_of(kernel, trace, fresh, readers)
        near = touched.near(kernel.read_arrays())
        if near and new:
            new[0]["near"] = near
        touched.take(kernel.read_arrays(), arrays_of(kernel.writes.values()))
        rows += new
    return rows


def _rows_of(kernel: _Kernel, trace: Trace, fresh: set[int], readers: dict[int, int]) -> list[Row]:
    """The rows of one kernel, with path and phase."""
    label = kernel.calls[-1]
    rows_of_one = operators(label, trace.settings) if len(kernel.calls) == 1 else []
    # Compiled code knows its strides: it works out no places.
    plain = kernel.form != "each" or not any(part["op"] == "permute" or "row" in part for part in rows_of_one)
    if kernel.form == "library" or (rows_of_one and plain):
        return [part for call in kernel.calls for part in labelled(operators(call, trace.settings), call)]
    kept = [
        tensor
        for storage, tensor in kernel.writes.items()
        if storage in trace.kept or storage not in fresh or readers.get(storage, 0) > 0
    ]
    rows = labelled(_rows(kernel, kept), label)
    for call in kernel.calls:
        if call.name in _NORM_BACKWARD:  # the gradients of weight and bias, a kernel of their own
            tensor = call.get("input")
            cols = _row_length(call, tensor)
            rows += labelled(reduced("colsum", 2 * tensor.numel // cols, cols, tensor.dtype), call)
    return rows


def _rows(kernel: _Kernel, kept: list[Tensor]) -> list[Row]:
    read = sum(kernel.reads.values())
    written = sum(tensor.bytes for tensor in kept)
    if read + written == 0:
        return []
    names = [call.name.removeprefix("aten.").rstrip("_") for call in kernel.calls]
    flops = min(_MOST_FLOPS, sum(_pointwise.FLOPS.get(name, 1) for name in names))
    written_whole = [tensor for tensor in kept if tensor.numel >= kernel.elements]
    everything = [*kept, *(t for call in kernel.calls for t in call.results)]
    largest = max(written_whole or everything, key=lambda tensor: (tensor.numel, tensor.itemsize))
    if written_whole or kernel.form == "each":
        return traffic(read, written, largest, n=kernel.elements, flops=flops)
    source = max((t for call in kernel.calls for t in call.tensors()), key=lambda tensor: tensor.numel)
    rows = max(1, kernel.rows)
    arrays = read / max(1, kernel.elements * source.itemsize)
    cols = max(1, round(kernel.elements // rows * arrays))
    if kernel.form == "rows":
        return reduced("rowsum", rows, cols, source.dtype)
    if rows == 1:
        return reduced("rowsum", 1, cols, source.dtype)
    return reduced("colsum", cols, rows, source.dtype)


