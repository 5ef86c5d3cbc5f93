# SPDX-License-Identifier: Apache-2.0
"""Parameters of blocks: arrays with gradients, initialised when their shapes are known."""
from __future__ import annotations

import re
import weakref
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from .. import autograd, initializer, symbol
from .. import ndarray as nd
from .. import numpy as np
from .. import profiler
from .._registry import invoke
from .._types import type_name
from ..base import MXNetError
from ..context import Context, choose, cpu, current_context
from ..profiler.config import warn
from ..symbol import Symbol
from ..util import is_np_array
from . import graph

_GRAD_REQS = ("write", "add", "null")


class DeferredInitializationError(MXNetError):
    """A parameter is used before its shape is known."""


def as_contexts(ctx: Union[None, Context, Sequence[Context]]) -> List[Context]:
    """A device, several, or none (the current one) as a list."""
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)


def _known(shape: Optional[Tuple[int, ...]]) -> bool:
    return shape is not None and all(size > 0 for size in shape)


def _merge(old: Optional[Tuple[int, ...]], new: Tuple[int, ...], name: str) -> Tuple[int, ...]:
    """The shape that both agree to; a size of 0 or -1 is not known."""
    if old is not None and (len(old) != len(new) or any(
            a > 0 and b > 0 and a != b for a, b in zip(old, new))):
        raise MXNetError(f"parameter {name}: its shape is {old}, which does not fit {new}")
    return new if old is None else tuple(a if a > 0 else b for a, b in zip(old, new))


def _warn_of_values(parameters: List["Parameter"]) -> None:
    """That these are not initialised again."""
    names = ", ".join(parameter.name for parameter in parameters[:3])
    if parameters:
        warn(f"Parameter {names}{' …' if len(parameters) > 3 else ''} is already initialized, ignoring. "
             "Set force_reinit=True to re-initialize.")


class Parameter:
    """An array that training changes.

    `shape` may have sizes 0 or -1 that a block finds out at its first call; until then an initialised
    parameter is deferred. `grad_req` is "write", "add" or "null" (no gradient). `lr_mult` and `wd_mult`
    scale the optimizer's rate and decay.
    """

    def __init__(self, name: Optional[str] = None, grad_req: str = "write",
                 shape: Union[None, int, Sequence[int]] = None, dtype: Any = "float32",
                 lr_mult: float = 1.0, wd_mult: float = 1.0, init: Any = None,
                 allow_deferred_init: bool = True, differentiable: bool = True,
                 stype: str = "default", grad_stype: str = "default") -> None:
        for option, value in (("stype", stype), ("grad_stype", grad_stype)):
            if value != "default":
                raise ValueError(f"parameter {name}: {option} {value!r}: only 'default' is supported")
        self._short_name = name or "weight"
        self._is_named = name is not None
        self._is_whole = False  # its name is without a block's prefix
        self._owner: Optional["weakref.ref[Any]"] = None  # the block, for the full name
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        self.dtype = dtype
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self.allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._data: Optional[Dict[Context, Any]] = None
        self._deferred: Optional[Tuple[Any, List[Context], Any]] = None
        self._grad_req = "null"
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    # ---- what it is ------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The prefix of its block and its own name: dense0_weight."""
        owner = self._owner() if self._owner is not None and not self._is_whole else None
        return (owner.prefix if owner is not None else "") + self._short_name

    @property
    def scope(self) -> str:
        """The profiler scope of its block, `<unk>:` without one."""
        owner = self._owner() if self._owner is not None else None
        return owner.scope if owner is not None else "<unk>:"

    def attach_to(self, block: Any, name: str) -> None:
        """Called by the block that takes it as attribute `name`."""
        if self._owner is None:
            self._owner = weakref.ref(block)
            if not self._is_named:
                self._short_name = name

    def is_called(self, name: str, block: Any) -> bool:
        """Whether it is the block's and has this name after its prefix."""
        return self._owner is not None and self._owner() is block and self._short_name == name

    @property
    def has_values(self) -> bool:
        """Whether it is initialised."""
        return self._data is not None

    @property
    def is_deferred(self) -> bool:
        """Whether it is to be initialised as soon as its shape is known."""
        return self._deferred is not None

    @property
    def shape(self) -> Optional[Tuple[int, ...]]:
        """None: nothing is known."""
        return self._shape

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        self._shape = _merge(self._shape, tuple(shape), self.name)

    @property
    def grad_req(self) -> str:
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in _GRAD_REQS:
            raise ValueError(f"parameter {self.name}: grad_req must be one of "
                             f"{', '.join(_GRAD_REQS)}, not {req!r}")
        req = req if self._differentiable else "null"
        if req != self._grad_req:
            self._grad_req = req
            self._mark()

    # ---- initialisation --------------------------------------------------------------------------
    def initialize(self, init: Any = None, ctx: Any = None, default_init: Any = None,
                   force_reinit: bool = False, device: Any = None) -> None:
        """Gives it values on the device or devices `ctx`, drawn by `init`, else by its own `init`,
        else by `default_init`, else uniformly. Deferred while its shape is not known. One that has
        values keeps them, with a warning, unless `force_reinit`."""
        if self._data is not None and not force_reinit:
            _warn_of_values([self])
            return
        chosen = init if init is not None else self.init
        contexts = as_contexts(ctx if ctx is not None else device)
        self._data = None
        self._deferred = (chosen, contexts, default_init)
        if _known(self._shape):
            self.finish_initialization()
        elif not self.allow_deferred_init:
            raise ValueError(f"parameter {self.name}: cannot be initialised, its shape is {self._shape}")

    def finish_initialization(self) -> None:
        """Carries out a deferred initialisation, now that the shape is known."""
        if self._deferred is None:
            return
        if not _known(self._shape):
            raise DeferredInitializationError(
                f"parameter {self.name}: its shape {self._shape} is not known yet; call the block with "
                "data first, or give the input size (in_units, in_channels)")
        init, contexts, default_init = self._deferred
        self._deferred = None
        with graph.paused(), autograd.pause(), profiler.scope(self.scope, append_mode=False):
            module = np if is_np_array() else nd
            value = module.zeros(self._shape, dtype=self.dtype, ctx=cpu())
            initializer.fill(init, default_init, self.name, value)
            self._place(value, contexts)

    def _place(self, value: Any, contexts: List[Context]) -> None:
        code = value._type_code
        self._data = {ctx: value.copyto(type(value)._empty(value.shape, choose(ctx), code,
                                                           f"in_arg:{self._short_name}"))
                      for ctx in contexts}
        self._mark()

    def _mark(self) -> None:
        """Gives each array the gradient that grad_req asks for."""
        if self._data is None:
            return
        with profiler.scope(self.scope, append_mode=False):
            for ctx, array in self._data.items():
                if self._grad_req == "null":
                    self._data[ctx] = array.detach()
                    continue
                kind = type(array)
                gradient = kind._empty(array.shape, ctx, array._type_code,
                                       f"arg_grad:{self._short_name}")
                invoke(kind, "_npi_zeros" if kind is np.ndarray else "_zeros", shape=array.shape,
                       ctx=ctx, dtype=type_name(array.dtype), out=gradient)
                autograd.mark_variables([array], [gradient], self._grad_req)

    # ---- values ----------------------------------------------------------------------------------
    def _arrays(self) -> Dict[Context, Any]:
        if self._data is not None:
            return self._data
        if self._deferred is not None:
            raise DeferredInitializationError(
                f"parameter {self.name} is initialised when its shape is known; call the block with "
                "data first")
        raise RuntimeError(f"Parameter '{self.name}' has not been initialized; call initialize() of its "
                           "block before the block")

    def data(self, ctx: Optional[Context] = None, device: Optional[Context] = None) -> Any:
        """Its array on a device; the only one if it has one."""
        arrays = self._arrays()
        wanted = ctx if ctx is not None else device
        if wanted is None:
            wanted = next(iter(arrays)) if len(arrays) == 1 else current_context()
        if wanted not in arrays:
            raise RuntimeError(f"parameter {self.name} is not on {wanted}; it was initialized on "
                               f"{', '.join(map(str, arrays))}")
        tracing = graph.current()
        if tracing is not None:
            tracing.use(self, arrays[wanted])
        return arrays[wanted]

    def list_data(self) -> List[Any]:
        return list(self._arrays().values())

    def grad(self, ctx: Optional[Context] = None, device: Optional[Context] = None) -> Any:
        """The gradient beside `data(ctx)`."""
        self._require_grad()
        return self.data(ctx, device).grad

    def list_grad(self) -> List[Any]:
        self._require_grad()
        return [array.grad for array in self.list_data()]

    def _require_grad(self) -> None:
        if self._grad_req == "null":
            raise RuntimeError(f"parameter {self.name} has no gradient: its grad_req is 'null'")

    def list_ctx(self) -> List[Context]:
        """Its devices, also of a deferred one."""
        if self._data is None and self._deferred is not None:
            return self._deferred[1]
        return list(self._arrays())

    list_device = list_ctx

    def set_data(self, data: Any) -> None:
        """Copies `data` to every device; also initialises a deferred parameter."""
        self.shape = data.shape
        if self._data is None:
            if self._deferred is None:
                raise RuntimeError(f"parameter {self.name} has not been initialized")
            contexts, self._deferred = self._deferred[1], None
            self._place(data.astype(self.dtype), contexts)
            return
        for array in self._data.values():
            array[:] = data

    def var(self) -> Symbol:
        """1.x: the variable that stands for it in a graph."""
        return self.variable(self.name)

    def variable(self, name: str) -> Symbol:
        """The same under another name."""
        return symbol.var(name, shape=self.shape, dtype=self.dtype, lr_mult=self.lr_mult, wd_mult=self.wd_mult)

    def zero_grad(self) -> None:
        """Sets its gradients to zero; one without does nothing."""
        if self._grad_req != "null" and self._data is not None:
            for gradient in self.list_grad():
                gradient[:] = 0

    def reset_ctx(self, ctx: Any) -> None:
        """Moves it to other devices."""
        contexts = as_contexts(ctx)
        if self._data is not None:
            self._place(next(iter(self._data.values())), contexts)
        elif self._deferred is not None:
            self._deferred = (self._deferred[0], contexts, self._deferred[2])
        else:
            raise ValueError(f"parameter {self.name} has not been initialized: it is on no device")

    reset_device = reset_ctx

    def cast(self, dtype: Any) -> None:
        """To another type, gradients too."""
        self.dtype = dtype
        if self._data is not None:
            with autograd.pause():
                self._data = {ctx: array.astype(dtype) for ctx, array in self._data.items()}
            self._mark()


class Constant(Parameter):
    """A parameter that no training changes. `value`: an array or anything NumPy makes one of. 1.x has
    the name first: Constant("table", [[1, 2]])."""

    def __init__(self, value: Any, name: Any = "const") -> None:
        if isinstance(value, str):
            value, name = name, value
        if not isinstance(value, nd.NDArray):
            value = (np if is_np_array() else nd).array(value)
        self.value = value
        super().__init__(name=name, grad_req="null", shape=value.shape, dtype=value.dtype,
                         init=initializer.Constant(value), differentiable=False)


_UNFUSED = re.compile(r"_unfused\.(\d+)\.(?:([lr])_cell\.)?(i2h|h2h|h2r)_(weight|bias)\Z")  # 1.x's name of an LSTM's weight


def _fused(found: "re.Match[str]") -> str:
    layer, direction, group, kind = found.groups()
    return f"{direction or 'l'}{layer}_{group}_{kind}"


class ParameterDict(Dict[str, Parameter]):
    """Parameters by place, as `collect_params` returns them; 1.x looks them up by name, which is an answer
    too: params["net_dense0_weight"]. 1.x also makes them by hand: ParameterDict("net_") keeps what
    `get` makes under names with that prefix, after `shared`'s."""

    def __init__(self, items: Any = (), shared: Optional[Dict[str, Parameter]] = None) -> None:
        is_prefix = isinstance(items, str)
        super().__init__(() if is_prefix else items)
        self._prefix: Optional[str] = items if is_prefix else None
        self._shared = shared if shared is not None else {}

    @property
    def prefix(self) -> str:
        return self._prefix or ""

    def __repr__(self) -> str:
        if self._prefix is None:
            return super().__repr__()
        lines = "".join(f"  {parameter!r}\n" for parameter in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines})"

    def __missing__(self, name: str) -> Parameter:
        for parameter in self.values():
            if parameter.name == name:
                return parameter
        raise KeyError(f"no parameter {name}; there are {', '.join(self) or 'none'}")

    def get(self, name: str, default: Any = None, **settings: Any) -> Any:
        """As of a dict. 1.x: of one with a prefix, the parameter of this name with it before, a new one if there
        is none."""
        if self._prefix is not None:
            return self._get_named(self._prefix + name, settings)
        if settings and name not in self:
            return Parameter(name, **settings)
        return super().get(name, default)

    def _get_named(self, name: str, settings: Dict[str, Any]) -> Parameter:
        if name not in self:
            self._keep(name, self._shared[name] if name in self._shared else Parameter(name, **settings))
        elif settings.get("shape") is not None:
            shape = settings["shape"]
            self[name].shape = (shape,) if isinstance(shape, int) else shape
        return self[name]

    def _keep(self, name: str, parameter: Parameter) -> None:
        self[name] = parameter
        parameter._is_whole = True  # also as an attribute of a block

    def get_constant(self, name: str, value: Any = None) -> Parameter:
        """1.x: the constant of this name, a new one if there is none. One with a prefix keeps it, as `get` does."""
        if self._prefix is None:
            return self[name] if name in self else Constant(value, name)
        name = self._prefix + name
        if name not in self:
            self._keep(name, self._shared[name] if name in self._shared else Constant(value, name))
        return self[name]

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False,
                   force_reinit: bool = False, device: Any = None) -> None:
        """Initialises all; `init` (default Uniform()) where a parameter has none of its own."""
        default = init if init is not None else initializer.Uniform()
        kept = [] if force_reinit else [parameter for parameter in self.values() if parameter.has_values]
        _warn_of_values(kept)
        for parameter in dict.fromkeys(self.values()):
            if parameter not in kept:
                parameter.initialize(None, ctx, default, force_reinit, device)

    def zero_grad(self) -> None:
        for parameter in self.values():
            parameter.zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all: `params.setattr("grad_req", "null")`."""
        for parameter in self.values():
            setattr(parameter, name, value)

    def reset_ctx(self, ctx: Any) -> None:
        for parameter in self.values():
            parameter.reset_ctx(ctx)

    reset_device = reset_ctx

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Writes all values to a file of arrays, under their names here without `strip_prefix`."""
        nd.save(filename, {name[len(strip_prefix):] if name.startswith(strip_prefix) else name: parameter.data() if len(parameter.list_ctx()) == 1
                           else parameter.list_data()[0] for name, parameter in self.items()})

    def _by_place(self, arrays: Dict[str, Any], prefix: str) -> Dict[str, Any]:
        """Files of 1.x name parameters with prefixes; those of exported models also say what they are, and in files
        of blocks the layers of `gluon.rnn` are cells."""
        places = {parameter.name: place for place, parameter in self.items()}
        places.update({kind + name: place for name, place in places.items() for kind in ("arg:", "aux:")})

        def place_of(name: str) -> str:
            if name in self:
                return name
            found = places.get(name, places.get(prefix + name, prefix + name if prefix + name in self else None))
            return found if found is not None else _UNFUSED.sub(_fused, name)

        return {place_of(name): array for name, array in arrays.items()}

    def load(self, filename: str, ctx: Any = None, allow_missing: bool = False,
             ignore_extra: bool = False, cast_dtype: bool = False, device: Any = None, restore_prefix: str = "") -> None:
        """Reads values from a file that `save` wrote, or with the names that 1.x gives parameters,
        initialising what is not. Names of the file may lack `restore_prefix`."""
        loaded = nd.load(filename)
        if not isinstance(loaded, dict):
            raise MXNetError(f"{filename}: its arrays have no names; it is no file of parameters")
        loaded = self._by_place(loaded, restore_prefix)
        there = {id(self[name]) for name in loaded if name in self}  # shared ones need but one place
        missing = [name for name, parameter in self.items() if id(parameter) not in there]
        extra = [name for name in loaded if name not in self]
        for names, allowed, what in ((missing, allow_missing, "has no"), (extra, ignore_extra, "has also")):
            if names and not allowed:
                raise MXNetError(f"{filename} {what} {', '.join(names[:5])}"
                                 f"{' …' if len(names) > 5 else ''}")
        for name, parameter in self.items():
            if name in loaded:
                parameter.shape = loaded[name].shape
                if cast_dtype:
                    parameter.cast(loaded[name].dtype)
                if not parameter.has_values:
                    parameter.initialize(initializer.Zero(), ctx=ctx, device=device)
                parameter.set_data(loaded[name])
