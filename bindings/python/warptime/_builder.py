"""Descriptions of kernels, built by calls instead of written as text. SPDX-License-Identifier: Apache-2.0"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeAlias, TypedDict

from warptime._error import WarptimeError
from warptime._index import Index, Place, Term, Variable, index_of, whole
from warptime._kernel import Kernel, Shape, fault_of_text
from warptime._values import text_of, utf8

if TYPE_CHECKING:
    from typing_extensions import Unpack

Origin: TypeAlias = "Index | SupportsIndex | Sequence[Index | SupportsIndex]"
Sizes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex]"


class AccessFields(TypedDict, total=False):
    """The fields of an access beside its origin; `docs/kernel-text.md` and `model/kernel/README.md` describe them."""

    pattern: str
    bytes: int
    step: int
    box: Sizes
    rank: int
    inner_extent: int
    inner: int
    outer: int
    distinct: int
    distribution: str
    seed: int
    window: int
    bounds: str
    cache: str
    multicast_ctas: int
    skew: float


class OpFields(TypedDict, total=False):
    """The fields of an op beside its class and its accesses."""

    count: int
    chain: int
    deps: Op | Earlier | Sequence[Op | Earlier]
    dtype: Any
    shape: Sizes
    active: float
    enabled: float
    lanes: Index | SupportsIndex
    completes: Token
    returns: bool
    when: tuple[Index | SupportsIndex, int, int]
    once_per_unroll: bool
    shared_operand: bool
    sparse: bool


class LoadFields(AccessFields, OpFields, total=False):
    """The fields of a load, a store or an atomic: those of the op and those of its access."""


class Op:
    """An op of a body: what other ops wait for. `before()` is the same op one trip of their loop earlier."""

    def __init__(self, builder: KernelBuilder, number: int, cls: str) -> None:
        self._builder = builder
        self._number = number
        self._cls = cls
        self._fields: list[str] = []
        self._deps: list[Earlier] = []

    def before(self, trips: int = 1) -> Earlier:
        """The op of an earlier trip of the innermost loop around both ops."""
        return Earlier(self, whole("before trips", trips))

    def needs(self, *deps: Op | Earlier) -> Op:
        """Further ops whose results this one needs: `total.needs(total.before())`, or an op later in the body."""
        for dep in deps:
            found = dep.before(0) if isinstance(dep, Op) else dep
            if not isinstance(found, Earlier) or found.op._builder is not self._builder:
                raise WarptimeError(f"{self!r} deps", utf8(repr(dep)), "an op of this kernel, or op.before(trips)")
            self._deps.append(found)
        return self

    def __repr__(self) -> str:
        return f"op {self._number} {self._cls}"

    def _line(self) -> str:
        deps = ",".join(str(dep) for dep in self._deps)
        return " ".join([repr(self), *self._fields, *([f"deps={deps}"] if deps else [])])


@dataclass(frozen=True)
class Earlier:
    """An op, some trips of the innermost common loop back."""

    op: Op
    trips: int = 1

    def __str__(self) -> str:
        return str(self.op._number) if self.trips == 0 else f"{self.op._number}:{self.trips}"


@dataclass(frozen=True)
class Token:
    """What warps wait for; made by `KernelBuilder.token`."""

    _builder: KernelBuilder = field(repr=False)
    _number: int
    name: str


@dataclass(frozen=True)
class Access:
    """Which bytes an op touches; made by `read`, `write` and `atomic` of a buffer."""

    _builder: KernelBuilder = field(repr=False)
    line: str
    _places: tuple[Place, ...] = field(repr=False)


@dataclass(frozen=True)
class Memory:
    """A buffer of a description; made by `KernelBuilder.buffer`."""

    _builder: KernelBuilder = field(repr=False)
    _number: int
    name: str
    space: str

    def read(self, origin: Origin = 0, **fields: Unpack[AccessFields]) -> Access:
        """A read at `origin`, the element of lane 0: one index, or one a dimension."""
        return self._access("read", origin, fields)

    def write(self, origin: Origin = 0, **fields: Unpack[AccessFields]) -> Access:
        """A write, as in `read`."""
        return self._access("write", origin, fields)

    def atomic(self, origin: Origin = 0, **fields: Unpack[AccessFields]) -> Access:
        """An atomic update, as in `read`."""
        return self._access("atomic", origin, fields)

    def _access(self, direction: str, origin: Origin, fields: Mapping[str, Any]) -> Access:
        given = dict(fields)
        pattern = _word("pattern", given.pop("pattern", "contiguous"))
        every = origin if isinstance(origin, Sequence) else (origin,)
        indices = [index_of(one) for one in every]
        parts = [f"access {direction} #{self._number} {pattern}"]
        # An origin that is not given is 0 in the one dimension that the text form assumes.
        if len(indices) != 1 or indices[0] != Index():
            parts.append("origin=" + ",".join(f"{{{index}}}" for index in indices))
        parts += _texts(f"{direction} of {self.name!r}", given, _ACCESS)
        return Access(self._builder, " ".join(parts), tuple(place for index in indices for place in index.places()))


class KernelBuilder:
    """A kernel's description, written by calls: `kernel()` is the `Kernel`, `text` its text (docs/kernel-text.md).

    `grid`, `block` and `cluster` are numbers or up to three sizes. `tiles` are the numbers of tiles along m, n, batch
    and a spare dimension. By default each CTA has its own: `tile[0]` is the block's index in a grid of one dimension;
    in others `tile[1]` is its index along x, `tile[0]` along y and `tile[2]` along z. `static_shared` is by default
    what the shared buffers take beyond `dynamic_shared`. Sizes are in elements and bytes as the text form has them,
    and fields that are not given have its defaults. What is written for recorded traces alone (listed addresses, reuse,
    classes of CTAs) has no call.

    >>> import warptime as wt
    >>> k = wt.KernelBuilder("saxpy", grid=65536, block=256, registers=16)
    >>> x, y = k.buffer("x", 2**26), k.buffer("y", 2**26)
    >>> first = 1024 * k.tile[0] + 128 * k.warp
    >>> with k.role():
    ...     address = k.op("mad_s32", count=8, chain=4)
    ...     u = k.load(x, first, bytes=16, deps=address)
    ...     v = k.load(y, first, bytes=16, deps=address)
    ...     total = k.op("fma_f32", count=4, deps=[u, v])
    ...     _ = k.store(y, first, bytes=16, deps=total)
    >>> k.kernel().predict(gpu="h200-sxm").limiter
    'dram'
    """

    def __init__(
        self,
        name: str,
        *,
        grid: Shape,
        block: Shape,
        cluster: Shape = 1,
        registers: int = 32,
        static_shared: int | None = None,
        dynamic_shared: int = 0,
        carveout: int = -1,
        named_barriers: int = 1,
        schedule: str = "one_per_cta",
        tiles: Sizes | None = None,
        raster: str = "along_n",
        group: int = 1,
        split_k: int = 1,
        stream_k: bool = False,
        k_iterations: int = 1,
        on_demand: bool = False,
    ) -> None:
        self._name = name
        self._shapes = {"grid": _dims("grid", grid), "cluster": _dims("cluster", cluster), "cta": _dims("block", block)}
        self._static_shared = static_shared
        self._shared_bytes = 0
        self._resources: dict[str, Any] = {
            "registers": registers,
            "dynamic_shared": whole("dynamic_shared", dynamic_shared),
            "carveout": carveout,
            "named_barriers": named_barriers,
        }
        x, y, z = self._shapes["grid"]
        self._schedule = _word("schedule", schedule)
        self._schedule_fields: dict[str, Any] = {
            "tiles": (x if y == z == 1 else (y, x, z)) if tiles is None else tiles,
            **{
                "raster": raster,
                "group": group,
                "split_k": split_k,
                "stream_k": stream_k,
                "k_iterations": k_iterations,
                "on_demand": on_demand,
            },
        }
        self._items: list[str] = []
        self._buffers: list[str] = []
        self._tokens: list[str] = []
        self._ops: list[Op] = []
        self._body: list[tuple[int, str | Op]] = []  # depth of the indentation, and the record
        self._open: list[Place] = []
        self._loops = 0
        self._barrier: Token | None = None

    # Coordinates of the running warp.

    @property
    def tile(self) -> tuple[Index, Index, Index, Index]:
        """The place of the work item's tile along m, n, batch and the spare dimension."""
        first, second, third, fourth = (_variable(f"tile.{place}") for place in range(4))
        return first, second, third, fourth

    @property
    def warp(self) -> Index:
        """The warp within its role."""
        return _variable("warp")

    @property
    def thread(self) -> tuple[Index, Index, Index]:
        """The thread's x, y and z within its CTA."""
        return _variable("thread_x"), _variable("thread_y"), _variable("thread_z")

    @property
    def cta_rank(self) -> Index:
        """The CTA within its cluster."""
        return _variable("cta_rank")

    @property
    def instance(self) -> Index:
        """Which of its role's instances runs."""
        return _variable("instance")

    @property
    def item_begin(self) -> Index:
        """The first k-iteration of the work item."""
        return _variable("item_begin")

    @property
    def item_end(self) -> Index:
        """The end of the k-iterations of the work item."""
        return _variable("item_end")

    @property
    def problem(self) -> Index:
        """The problem of a grouped launch."""
        return _variable("problem")

    # Records before the roles.

    def buffer(
        self,
        name: str,
        extent: Sizes,
        *,
        dtype: Any = "fp32",
        space: str = "global",
        stride: Sizes | None = None,
        stages: int = 1,
        **fields: Any,
    ) -> Memory:
        """Memory that ops touch: `extent` elements, fastest dimension first, packed unless `stride` is given.

        `stride` is in elements. `space` is global, shared, cluster_shared, local, constant, host or peer. Further
        fields are base, base_alignment, swizzle, page_bytes, before and contents.
        """
        text = text_of("kernel", "dtype", dtype)
        given: dict[str, Any] = {**({} if space == "global" else {"space": space}), "dtype": text, "extent": extent}
        given.update({} if stride is None else {"stride": stride})
        given.update({} if stages == 1 else {"stages": stages}, **fields)
        self._buffers.append(" ".join([f"buffer {_quoted(name)}", *_texts(f"buffer {name!r}", given, _BUFFER)]))
        if space == "shared" and self._static_shared is None:
            if text not in _BYTES:
                expected = f"bytes: those of an element of {text} of buffer {name!r} are not known here"
                raise WarptimeError("KernelBuilder static_shared", "", expected)
            elements = 1
            for size in _sizes("extent", extent):
                elements *= size
            self._shared_bytes += elements * _BYTES[text] * stages
        return Memory(self, len(self._buffers) - 1, name, space)

    def token(
        self,
        name: str,
        kind: str = "mbarrier",
        *,
        scope: str = "cta",
        key: str = "none",
        arrivals: int = 1,
        initial: int = 0,
        depth: int = 1,
    ) -> Token:
        """What warps wait for: an mbarrier, a named_barrier, an async_group or a flag."""
        given = {"kind": kind, "scope": scope, "key": key, "arrivals": arrivals, "initial": initial, "depth": depth}
        usual = {"kind": "mbarrier", "scope": "cta", "key": "none", "arrivals": 1, "initial": 0, "depth": 1}
        told = {name: value for name, value in given.items() if value != usual[name]}
        self._tokens.append(" ".join([f"token {_quoted(name)}", *_texts(f"token {name!r}", told, _TOKEN)]))
        return Token(self, len(self._tokens) - 1, name)

    def item(self, tile: Sizes, begin: int = 0, end: int = 0, problem: int = 0) -> None:
        """A work item of the schedule `listed`: its tile, and the k-iterations from `begin` up to `end`."""
        given = {"tile": tile, "begin": begin, "end": end, "problem": problem}
        self._items.append(" ".join(["item", *_texts("item", given, _ITEM)]))

    # Roles and their bodies.

    @contextmanager
    def role(
        self,
        name: str = "warps",
        *,
        warps: int | None = None,
        instances: int = 1,
        registers: int = 0,
        alternate: bool = False,
    ) -> Iterator[None]:
        """Warps that run the body which is written within: by default all warps of the CTA."""
        if self._open:
            raise WarptimeError("KernelBuilder role", utf8(str(name)), "a place outside of other roles")
        given: dict[str, Any] = {"warps": self._warps() if warps is None else warps}
        given.update(
            {} if instances == 1 else {"instances": instances}, **({"registers": registers} if registers else {})
        )
        given.update({"alternate": True} if alternate else {})
        with self._within(" ".join([f"role {_quoted(name)}", *_texts(f"role {name!r}", given, _ROLE)])):
            yield

    @contextmanager
    def loop(
        self,
        trips: Index | SupportsIndex | None = None,
        *,
        unroll: int = 1,
        machine_unroll: int = 1,
        mean: float | None = None,
        max_over_lanes: float | None = None,
        max_over_warps: float | None = None,
        overlap: bool = False,
    ) -> Iterator[Index]:
        """A loop of `trips`, or of `mean` trips where data decide; its variable counts from 0.

        With `overlap`, deps with a distance name all that a trip needs of the trips before.

        >>> import warptime as wt
        >>> k = wt.KernelBuilder("loops", grid=1, block=32)
        >>> with k.role(), k.loop(8) as row, k.loop(mean=2.5, max_over_lanes=4, max_over_warps=3):
        ...     _ = k.op("add_f32")
        >>> row
        loop.0
        """
        given: dict[str, Any] = {"mean": mean, "max_over_lanes": max_over_lanes, "max_over_warps": max_over_warps}
        given = {name: value for name, value in given.items() if value is not None}
        if (trips is None) == (not given):
            raise WarptimeError(
                "loop trips", utf8(repr(trips)), "either trips, or mean and its maxima where data decide"
            )
        self._check_places("loop trips", () if trips is None else index_of(trips).places())
        given.update({} if trips is None else {"trips": trips})
        given.update(
            {} if unroll == 1 else {"unroll": unroll},
            **({"machine_unroll": machine_unroll} if machine_unroll != 1 else {}),
            **({"overlap": overlap} if overlap else {}),
        )
        with self._within(" ".join(["loop", *_texts("loop", given, _LOOP)]), inside=True) as place:
            self._loops += 1
            try:
                yield Index(0, (Term(Variable(f"loop.{self._loops - 1}", place)),))
            finally:
                self._loops -= 1

    @contextmanager
    def branch(
        self, *, warps_taking: float = 1.0, mean_lanes: float = 32.0, lanes: Index | SupportsIndex | None = None
    ) -> Iterator[None]:
        """A branch that a fraction `warps_taking` of the warps take, with `mean_lanes` active lanes.

        Where warps and trips decide, `lanes` gives instead the number of a warp's lanes that take it; a warp without
        one goes past: `k.branch(lanes=2 ** (7 - step) - 32 * k.warp)`.
        """
        given: dict[str, Any] = {"warps_taking": warps_taking, "mean_lanes": mean_lanes}
        if lanes is not None:
            self._check_places("branch lanes", index_of(lanes).places())
            given["lanes"] = lanes
        with self._within(" ".join(["branch", *_texts("branch", given, _BRANCH)]), inside=True):
            yield

    def op(self, cls: str, /, *accesses: Access, **fields: Unpack[OpFields]) -> Op:
        """Machine instructions of one warp, with its accesses.

        `cls` is an instruction class of `hw/isa/`. `deps` are ops whose results it needs. `when` is (index, low, high):
        it runs only where low <= index < high. With a predicate it always issues, but does its work only in a share
        `enabled` of its executions, or with so many `lanes` of the warp as an index says. An asynchronous copy is
        `k.op("cp_async", a.read(i), tile.write(j), completes=group)`.
        """
        given: dict[str, Any] = dict(fields)
        deps = given.pop("deps", ())
        made = Op(self, len(self._ops), _word("op class", cls))
        self._check_open(repr(made))
        if (completes := given.pop("completes", None)) is not None:
            made._fields.append(f"completes=#{self._own_token(completes)}")
        made._fields += _texts(repr(made), given, _OP)
        if "when" in given:
            self._check_places(f"{made!r} when", index_of(given["when"][0]).places())
        if "lanes" in given:
            self._check_places(f"{made!r} lanes", index_of(given["lanes"]).places())
        made.needs(*((deps,) if isinstance(deps, (Op, Earlier)) else deps))
        for access in accesses:
            if not isinstance(access, Access) or access._builder is not self:
                raise WarptimeError(
                    f"{made!r} accesses", utf8(repr(access)), "read, write or atomic of this kernel's buffers"
                )
            self._check_places(f"{made!r} origin", access._places)
        self._ops.append(made)
        self._add(made)
        self._body += [(self._depth() + 1, access.line) for access in accesses]
        return made

    def load(self, memory: Memory, origin: Origin = 0, **fields: Unpack[LoadFields]) -> Op:
        """A load: the op and its read in one call. The class follows from the buffer's space."""
        return self._move("load", memory, origin, fields)

    def store(self, memory: Memory, origin: Origin = 0, **fields: Unpack[LoadFields]) -> Op:
        """A store, as `load`."""
        return self._move("store", memory, origin, fields)

    def atomic(self, memory: Memory, origin: Origin = 0, **fields: Unpack[LoadFields]) -> Op:
        """An atomic, as `load`; `returns=False` where the old value is not used."""
        return self._move("atomic", memory, origin, fields)

    def barrier(self) -> None:
        """A barrier of all warps of the CTA (`__syncthreads`): the instruction, its arrival and the wait."""
        if self._barrier is None:
            self._barrier = self.token("cta_barrier", "named_barrier", arrivals=self._warps())
        self.op("bar_sync")
        self.signal(self._barrier)
        self.wait(self._barrier)

    def wait(self, token: Token, lag: int = 0) -> None:
        """Passes when all but the `lag` newest phases of the token are complete."""
        self._add(f"wait #{self._own_token(token)}" + (f" lag={whole('wait lag', lag)}" if lag else ""))

    def signal(self, token: Token, on: str = "issue") -> None:
        """An arrival: at its issue, or with on="completion" when what the warp has begun is complete."""
        self._add(f"signal #{self._own_token(token)} on={_word('signal on', on)}")

    def mark(self, name: str) -> None:
        """A named place, as between a prologue and a main loop."""
        self._add(f"mark {_quoted(name)}")

    # The whole.

    @property
    def text(self) -> str:
        """The text of the description. It is not checked."""
        static = self._static_shared
        if static is None:
            static = max(0, self._shared_bytes - self._resources["dynamic_shared"])
        shapes = (f"{name} {x} {y} {z}" for name, (x, y, z) in self._shapes.items())
        resources = _texts("resources", {**self._resources, "static_shared": static}, _RESOURCES)
        schedule = _texts("schedule", self._schedule_fields, _SCHEDULE)
        head = [*shapes, " ".join(["resources", *resources]), " ".join(["schedule", self._schedule, *schedule])]
        lines = [(1, line) for line in (*head, *self._items, *self._buffers, *self._tokens)]
        body = [(1 + depth, record._line() if isinstance(record, Op) else record) for depth, record in self._body]
        whole_text = [(0, f"kernel {_quoted(self._name)}"), *lines, *body, (0, "end")]
        return "".join(f"{'  ' * depth}{line}\n" for depth, line in whole_text)

    def kernel(self) -> Kernel:
        """The description, read and checked by the library. Raises WarptimeError, which names the wrong record."""
        if self._open:
            raise WarptimeError(
                "KernelBuilder kernel", "a role that is open", "a call after the `with` of the last role"
            )
        text = self.text
        fault = fault_of_text(text)
        if fault is not None:
            record = self._record_of(fault.parameter, text.splitlines())
            raise WarptimeError(f"{fault.parameter}{record}", fault.value, fault.expected)
        return Kernel(text)

    def _record_of(self, parameter: str, lines: Sequence[str]) -> str:
        """The record that the library's error is about, as it stands in the text."""
        if found := re.match(r"text line (\d+)", parameter):
            number = int(found[1]) - 1
            return f" ({lines[number].strip()})" if number < len(lines) else ""
        if found := re.search(r" op (\d+)\b", parameter):
            number = int(found[1])
            return f" ({self._ops[number]._line()})" if number < len(self._ops) else ""
        return ""

    def _move(self, what: str, memory: Memory, origin: Origin, fields: Mapping[str, Any]) -> Op:
        if not isinstance(memory, Memory):
            raise WarptimeError(f"KernelBuilder {what}", utf8(repr(memory)), "a buffer of this kernel")
        space = "global" if memory.space in ("host", "peer") else memory.space
        cls = _CLASSES[what].get(space)
        if cls is None:
            raise WarptimeError(f"KernelBuilder {what}", space, f"a buffer in {', '.join(_CLASSES[what])}")
        if cls == "atom_global" and not fields.get("returns", True):
            cls = "red_global"
        direction = {"load": "read", "store": "write", "atomic": "atomic"}[what]
        op_fields: Any = {name: value for name, value in fields.items() if name not in _ACCESS and name != "pattern"}
        access_fields = {name: value for name, value in fields.items() if name not in op_fields}
        return self.op(cls, memory._access(direction, origin, access_fields), **op_fields)

    def _warps(self) -> int:
        x, y, z = self._shapes["cta"]
        return -(-x * y * z // 32)

    def _own_token(self, token: object) -> int:
        if not isinstance(token, Token) or token._builder is not self:
            raise WarptimeError("KernelBuilder token", utf8(repr(token)), "a token of this kernel")
        return token._number

    def _check_open(self, what: str) -> None:
        if not self._open:
            raise WarptimeError(f"KernelBuilder {what}", "no role", "a place within `with k.role():`")

    def _check_places(self, what: str, places: Iterator[Place] | Sequence[Place]) -> None:
        if not all(place.open for place in places):
            raise WarptimeError(what, "the variable of a loop that has ended", "variables of the loops around it")

    def _depth(self) -> int:
        return len(self._open)

    def _add(self, record: str | Op) -> None:
        self._check_open(record.split(" ")[0] if isinstance(record, str) else repr(record))
        self._body.append((self._depth(), record))

    @contextmanager
    def _within(self, record: str, *, inside: bool = False) -> Iterator[Place]:
        if inside:
            self._check_open(record.split(" ")[0])
        self._body.append((self._depth(), record))
        place = Place()
        self._open.append(place)
        try:
            yield place
        finally:
            place.open = False
            self._open.pop()
            self._body.append((self._depth(), "end"))


_CLASSES = {
    "load": {
        **{"global": "ld_global", "shared": "ld_shared", "cluster_shared": "ld_shared_cluster"},
        **{"local": "ld_local", "constant": "ld_constant"},
    },
    "store": {
        **{"global": "st_global", "shared": "st_shared", "cluster_shared": "st_shared_cluster", "local": "st_local"},
    },
    "atomic": {"global": "atom_global", "shared": "atom_shared"},
}
_BYTES = {
    **{"bf16": 2, "fp16": 2, "float16": 2, "bfloat16": 2, "tf32": 4, "fp32": 4, "float32": 4, "fp8": 1, "int8": 1},
    **{"fp64": 8, "float64": 8, "int32": 4, "int64": 8},
}


def _variable(name: str) -> Index:
    return Index(0, (Term(Variable(name)),))


def _quoted(name: object) -> str:
    if not isinstance(name, str):
        raise WarptimeError("KernelBuilder name", utf8(repr(name)), "a text")
    return '"' + utf8(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _word(name: str, value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_.]+", value):
        return value
    raise WarptimeError(name, utf8(repr(value)), "a word")


def _number(name: str, value: object) -> str:
    return str(whole(name, value))


def _real(name: str, value: object) -> str:
    if isinstance(value, SupportsFloat):
        return repr(float(value))
    raise WarptimeError(name, utf8(repr(value)), "a number")


def _flag(name: str, value: object) -> str:
    if value in (True, False):
        return str(int(bool(value)))
    raise WarptimeError(name, utf8(repr(value)), "True or False")


def _sizes(name: str, value: object) -> list[int]:
    if isinstance(value, (list, tuple)):
        return [whole(name, size) for size in value]
    return [whole(name, value)]


def _list(name: str, value: object) -> str:
    return ",".join(map(str, _sizes(name, value)))


def _expression(name: str, value: object) -> str:
    return f"{{{index_of(value)}}}"


def _range(name: str, value: object) -> str:
    if not isinstance(value, tuple) or len(value) != 3:
        raise WarptimeError(name, utf8(repr(value)), "(index, low, high): it runs where low <= index < high")
    return f"{{{index_of(value[0])}}}[{whole(name, value[1])},{whole(name, value[2])}]"


def _dtype(name: str, value: object) -> str:
    return _word(name, text_of("kernel", "dtype", value))


def _dims(name: str, shape: Shape) -> tuple[int, int, int]:
    sizes = _sizes(f"KernelBuilder {name}", shape)
    if not 1 <= len(sizes) <= 3:
        raise WarptimeError(f"KernelBuilder {name}", utf8(repr(shape)), "one to three whole numbers")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


_Form: TypeAlias = "Callable[[str, object], str]"


def _forms(form: _Form, names: str) -> dict[str, _Form]:
    return dict.fromkeys(names.split(), form)


# How the values of each record's fields are written. The library checks the values themselves.
_ACCESS = {
    **_forms(_number, "bytes step rank inner_extent inner outer distinct seed window multicast_ctas"),
    **_forms(_real, "skew"),
    **_forms(_word, "distribution bounds cache"),
    **_forms(_list, "box"),
}
_OP = {
    **_forms(_number, "count chain"),
    **_forms(_real, "active enabled"),
    **_forms(_flag, "returns once_per_unroll shared_operand sparse"),
    **{"dtype": _dtype, "shape": _list, "when": _range, "lanes": _expression},
}
_BUFFER = {
    **_forms(_word, "space before contents"),
    **_forms(_number, "base base_alignment stages swizzle page_bytes"),
    **{"dtype": _dtype, "extent": _list, "stride": _list},
}
_TOKEN = {**_forms(_word, "kind scope key"), **_forms(_number, "arrivals initial depth")}
_ITEM = {"tile": _list, **_forms(_number, "begin end problem")}
_ROLE = {**_forms(_number, "warps instances registers"), "alternate": _flag}
_LOOP = {
    **_forms(_real, "mean max_over_lanes max_over_warps"),
    **_forms(_number, "unroll machine_unroll"),
    "overlap": _flag,
    "trips": _expression,
}
_BRANCH = {**_forms(_real, "warps_taking mean_lanes"), "lanes": _expression}
_RESOURCES = _forms(_number, "registers static_shared dynamic_shared carveout named_barriers")
_SCHEDULE = {
    "tiles": _list,
    "raster": _word,
    **_forms(_number, "group split_k k_iterations"),
    **_forms(_flag, "stream_k on_demand"),
}


def _texts(record: str, given: Mapping[str, Any], known: Mapping[str, _Form]) -> list[str]:
    """`name=value` of each field; an unknown field is refused with the known ones."""
    for name in given:
        if name not in known:
            raise WarptimeError(f"{record} field", utf8(name), f"one of {', '.join(known)}")
    return [f"{name}={known[name](f'{record} {name}', value)}" for name, value in given.items()]
