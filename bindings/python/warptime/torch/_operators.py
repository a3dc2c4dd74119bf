"""From calls to rows of a step: every family's rules, what costs nothing, and what is kept as unknown."""
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from warptime.torch import _movement, _optimizers, _pointwise, _products, _reductions
from warptime.torch._calls import Call, Settings, Trace
from warptime.torch._rows import Row, Rule, reduced, row, unknown
from warptime.torch._touched import Touched, arrays_of

RULES: dict[str, Rule] = {
    **_pointwise.RULES,
    **_reductions.RULES,
    **_movement.RULES,
    **_products.RULES,
    **_optimizers.RULES,
}

# Calls that launch no kernel, beside those whose results are views.
FREE = frozenset(
    f"aten.{name}"
    for name in """
    empty empty_strided empty_like new_empty new_empty_strided empty_permuted detach alias lift lift_fresh view
    _unsafe_view reshape resize set _local_scalar_dense is_same_size size stride sym_size sym_stride sym_numel dim
    numel is_contiguous _reshape_alias _version _assert_async _assert_scalar _assert_tensor_metadata
    _has_compatible_shallow_copy_type is_pinned record_stream _nested_tensor_size item
    """.split()
)
VIEWS = frozenset(
    f"aten.{name}"
    for name in """
    as_strided diagonal expand narrow permute real imag select slice split split_with_sizes squeeze t transpose unbind
    unfold unsqueeze view_as_real view_as_complex chunk movedim swapaxes expand_as view_as
    """.split()
)
_FREE_SPACES = ("prim.", "profiler.", "_c10d_functional.wait", "inductor.", "prims.device_put")


def free(call: Call) -> bool:
    """Whether a call only describes memory."""
    return call.view or call.name.rstrip("_") in FREE | VIEWS or call.name.startswith(_FREE_SPACES)


def rule_of(name: str) -> Rule | None:
    """The rule of a call's name; the call in place has that of the call that is not."""
    plain = name.rstrip("_")
    if plain.startswith(_optimizers.FOREACH):
        return _optimizers._foreach
    return RULES.get(plain)


def operators(call: Call, settings: Settings) -> list[Row]:
    """The rows of one call, without path and phase."""
    if free(call):
        return []
    rule = rule_of(call.name)
    if rule is None:
        empty = all(tensor.numel == 0 for tensor in call.results)
        return [] if empty and call.results else [unknown(call)]
    return rule(call, settings)


def labelled(rows: list[Row], call: Call) -> list[Row]:
    """The rows with the path and phase of their call."""
    for part in rows:
        if call.module:
            part["module"] = call.module
        if call.phase:
            part["phase"] = call.phase
        if call.repeated > 1:
            part["repeat"] = int(part.get("repeat", 1)) * call.repeated
    return rows


def paired(calls: list[Call], place: int, settings: Settings) -> tuple[list[Row], int]:
    """A loss of two calls is one operator: log_softmax whose result nll_loss reads next. Else no rows."""
    call = calls[place]
    if call.name != "aten._log_softmax" or not call.outputs:
        return [], 0
    result = call.outputs[0]
    for later in range(place + 1, min(place + 4, len(calls))):
        other = calls[later]
        if other.name == "aten.nll_loss_forward" and other.get("self").storage == result.storage:
            if len(result.shape) != 2:
                return [], 0
            rows, cols = result.shape
            return reduced("cross_entropy", rows, cols, call.get("self").dtype), later
        if not free(other):
            break
    return [], 0


def rows_of(trace: Trace) -> list[Row]:
    """The rows of a whole trace, in order, without numbers."""
    rows: list[Row] = []
    done: set[int] = set()
    touched = Touched()
    for call in trace.calls:  # a step runs after itself
        if not free(call):
            touched.take(arrays_of([*call.tensors(), *call.results]))
    for place, call in enumerate(trace.calls):
        if place in done or free(call):
            continue
        found, other = paired(trace.calls, place, trace.settings)
        if found:
            done.add(other)
        else:
            found = operators(call, trace.settings)
        read = arrays_of(call.tensors())
        near = touched.near(read)
        if near and found:
            found[0]["near"] = near
        rows += labelled(found, call)
        touched.take(read, arrays_of(call.results))
    return rows


__all__ = ["FREE", "RULES", "free", "operators", "row", "rows_of", "rule_of"]
