# SPDX-License-Identifier: Apache-2.0
"""Graphs of blocks: what a hybridized block runs instead of its Python code.

The first call with data of certain shapes runs the block as ever, and its operators are taken down as a
symbol on the way. Later calls with such data run a cached operator of the symbol. A block whose code does
what a graph cannot say runs operator by operator, with a warning that says what that was.
"""
from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from .. import _deferred_compute as deferred
from .. import autograd, symbol
from .._array import BaseArray
from .._cached_op import CachedOp
from ..base import MXNetError
from ..profiler.config import warn
from ..symbol import Symbol
from ..util import is_np_array, is_np_shape

if TYPE_CHECKING:
    from .parameter import Parameter

_FLAGS = ("static_alloc", "static_shape", "inline_limit", "forward_bulk_size", "backward_bulk_size")
_NO_EFFECT = ("backend", "clear", "backend_opts", "partial_shape", "partition_if_dynamic")
_lock = threading.RLock()  # arrays of parameters say which variables they are while a block is taken down
_thread = threading.local()


# ---- nested lists of arrays ------------------------------------------------------------------------
def flatten(item: Any, arrays: List[Any]) -> Any:
    """Appends the arrays of nested lists; what is left of the lists without them."""
    if isinstance(item, BaseArray):
        arrays.append(item)
        return len(arrays) - 1, type(item)
    if isinstance(item, (list, tuple)):
        return (type(item), *(flatten(member, arrays) for member in item))
    return None, item


def regroup(form: Any, arrays: List[Any]) -> Any:
    """The lists with the arrays that are at their places now."""
    if isinstance(form[0], int):
        return arrays[form[0]]
    if form[0] is None:
        return form[1]
    return form[0](regroup(member, arrays) for member in form[1:])


# ---- options ---------------------------------------------------------------------------------------
def chosen(flags: Dict[str, Any], others: Dict[str, Any]) -> Dict[str, Any]:
    """The flags of `hybridize` that differ from what they are by default. `others`: what else it was given."""
    unknown = sorted(set(others) - set(_NO_EFFECT))
    if unknown:
        raise ValueError(f"hybridize: unknown option {', '.join(unknown)}; the options are "
                         f"{', '.join(_FLAGS + _NO_EFFECT)}")
    if flags["static_shape"] and not flags["static_alloc"]:
        raise MXNetError("hybridize: static_alloc must be True when static_shape is True")
    usual = {"inline_limit": 2}
    return {name: value for name, value in flags.items()
            if value is not None and value is not False and value != usual.get(name)}


# ---- taking down -----------------------------------------------------------------------------------
class Tracing:
    """A block that is being taken down: which variables stand for which parameters."""

    def __init__(self, arrays: List[Any]) -> None:
        names = ["data"] if len(arrays) == 1 else [f"data{number}" for number in range(len(arrays))]
        self.sources: Dict[str, Any] = {}  # of each variable: a place among the arrays, or a parameter
        self._taken: Dict[int, str] = {}  # arrays that are variables, by identity
        self._arrays: List[Any] = []
        for number, (name, array) in enumerate(zip(names, arrays)):
            if id(array) not in self._taken:
                self._add(name, number, symbol.var(name), array)

    def _add(self, name: str, source: Any, variable: Symbol, array: Any) -> None:
        deferred.set_variable(array, variable)
        self.sources[name] = source
        self._taken[id(array)] = name
        self._arrays.append(array)

    def use(self, parameter: "Parameter", array: Any) -> None:
        """The block takes a parameter."""
        if id(array) not in self._taken:
            name = parameter.name
            while name in self.sources:
                name += "_"
            self._add(name, parameter, parameter.variable(name), array)

    def end(self, outputs: List[Any]) -> None:
        deferred.clear([*self._arrays, *outputs])


def current() -> Optional[Tracing]:
    """What this thread is taking down."""
    return getattr(_thread, "tracing", None)


@contextmanager
def paused() -> Iterator[None]:
    """What runs here is no part of a graph: parameters are being made."""
    if current() is None:
        yield
    else:
        with deferred.context(False):
            yield


class Graph:
    """What a call was taken down as."""

    def __init__(self, made: Symbol, sources: Dict[str, Any], form: Any, options: Dict[str, Any]) -> None:
        self.symbol = made
        self._sources = [sources[name] for name in made.list_inputs()]
        self._form = form
        flags = [(key, options[key]) for key in _FLAGS if options.get(key) is not None]
        places = [at for at, source in enumerate(self._sources) if isinstance(source, int)]
        others = [at for at, source in enumerate(self._sources) if not isinstance(source, int)]
        self._op = CachedOp(made, [*flags, ("data_indices", places), ("param_indices", others)])
        self.parameters = {name: source for name, source in sources.items() if not isinstance(source, int)}
        self.data_names = [name for name, source in sources.items() if isinstance(source, int)]

    def __call__(self, arrays: List[Any]) -> Any:
        context = arrays[0].context
        outputs = self._op(*[arrays[source] if isinstance(source, int) else source.data(context)
                             for source in self._sources])
        return regroup(self._form, outputs if isinstance(outputs, list) else [outputs])


def _run(block: Any, args: tuple, tracing: Tracing) -> Any:
    _thread.tracing = tracing
    try:
        with deferred.context():
            return block._run_operators(*args)
    finally:
        _thread.tracing = None


def _take_down(block: Any, args: tuple, arrays: List[Any], options: Dict[str, Any]) -> Tuple[Any, Optional[Graph]]:
    """The outputs of a call, and its graph, or None with a warning."""
    outputs: List[Any] = []
    with _lock:
        tracing = Tracing(arrays)
        try:
            result = _run(block, args, tracing)
            form = flatten(result, outputs)
            graph = Graph(deferred.get_symbol(outputs), tracing.sources, form, options) if outputs else None
        except MXNetError as error:
            if "There is no graph: " not in str(error):
                raise
            graph = None
            warn(f"{block.name or type(block).__name__} runs operator by operator although it is hybridized: "
                 + str(error).split("There is no graph: ", 1)[1].splitlines()[0])
        finally:
            tracing.end(outputs)
    return result, graph


# ---- calls -----------------------------------------------------------------------------------------
class Graphs:
    """The graphs of one block, by the form of its arguments."""

    def __init__(self) -> None:
        self._known: Dict[Any, Optional[Graph]] = {}  # None: there is no graph
        self.latest: Optional[Graph] = None

    def clear(self) -> None:
        self._known.clear()
        self.latest = None

    def call(self, block: Any, args: tuple, options: Dict[str, Any]) -> Any:
        arrays: List[Any] = []
        form = flatten(args, arrays)
        if not arrays or current() is not None:
            return block._run_operators(*args)
        key = _key(form, arrays)
        try:
            known = key in self._known
        except TypeError:  # an argument that is no key
            return block._run_operators(*args)
        if known:
            graph = self._known[key]
            return block._run_operators(*args) if graph is None else graph(arrays)
        _require_one_device(arrays)
        result, graph = _take_down(block, args, arrays, options)
        self._known[key] = graph
        self.latest = graph or self.latest
        return result


def _key(form: Any, arrays: List[Any]) -> Any:
    """What the code of a block may depend on."""
    return (form, tuple((array.shape, array._type_code, array.context) for array in arrays),
            len({id(array) for array in arrays}), autograd.is_training(), autograd.is_recording(), is_np_array(),
            is_np_shape())


def _require_one_device(arrays: List[Any]) -> None:
    """Parameters are taken from one device. Without a graph a block may move its inputs first."""
    devices = sorted({str(array.context) for array in arrays})
    if len(devices) > 1:
        raise ValueError(f"Find multiple contexts in the input: {', '.join(devices)}. A hybridized block takes arrays of "
                         "one; hybridize(False), or array.as_in_context(…), is a way out")
