# SPDX-License-Identifier: Apache-2.0
"""Blocks: parts of networks, which own parameters and other blocks. A call enters the profiler scope of
the block, so that operators and memory belong to layers."""
from __future__ import annotations

import re
import threading
import weakref
from collections import OrderedDict
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Tuple

from .. import ndarray as nd
from .. import profiler
from ..profiler.config import warn
from .._absent import AbsentError
from .._array import BaseArray
from ..base import MXNetError
from ..symbol import Symbol
from . import summary
from .exported import export, infer_parameters
from .graph import Graphs, chosen, paused
from .hooks import HookHandle
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict

_roots: Dict[str, int] = {}  # how many blocks without a parent were named after a class
_roots_lock = threading.Lock()


class _OwnParameters(ParameterDict):
    """A block's, which has those that are made with it at once, under its prefix."""

    def __init__(self, block: "Block") -> None:
        super().__init__(block._own())
        self._block = block

    @property
    def prefix(self) -> str:
        return self._block.prefix

    def get(self, name: str, default: Any = None, **settings: Any) -> Any:
        """As of a dict. 1.x: with settings, the block's parameter of this name, a new one if there is none:
        `self.weight = self.params.get("weight", shape=(3, 4))`."""
        found = super().get(name, self._block._named(name))
        return found if found is not None else self._kept(name, Parameter(name, **settings)) if settings else default

    def get_constant(self, name: str, value: Any = None) -> Parameter:
        """1.x: the block's constant of this name, a new one if there is none."""
        found = super().get(name, self._block._named(name))
        return found if found is not None else self._kept(name, Constant(value, name))

    def _kept(self, name: str, parameter: Parameter) -> Parameter:
        self[name] = self._block._make(name, parameter)
        return self[name]


class Block:
    """The base of all blocks. A subclass makes its parameters and members attributes in `__init__`
    and gives `forward`.

    `prefix` (1.x) begins the names of its parameters; by default it is made of the class and a number.
    """

    def __init__(self, prefix: Optional[str] = None, params: Any = None) -> None:
        self._children: "OrderedDict[str, Block]" = OrderedDict()
        self._reg_params: Dict[str, Parameter] = {}  # its attributes
        self._made_params: Dict[str, Parameter] = {}  # by `params.get`, and no attributes yet
        self._parent: Optional["weakref.ref[Block]"] = None
        self._label = prefix.rstrip("_") if prefix else ""
        self._given_prefix = prefix
        self._counts: Dict[str, int] = {}  # members per class
        self._scope: Optional[str] = None  # computed when first asked for
        self._before: List[Callable] = []
        self._after: List[Callable] = []
        self._shared: Dict[str, Parameter] = dict(params or {})  # for members that are still to come

    # ---- names -----------------------------------------------------------------------------------
    def _alias(self) -> str:
        """What names of blocks of this class are made of."""
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with: the parents' prefixes and its own."""
        parent = self._parent() if self._parent is not None else None
        if parent is not None:
            own = self._given_prefix if self._given_prefix is not None else self._label + "_"
            return parent.prefix + own
        if self._given_prefix is None:
            with _roots_lock:
                number = _roots.get(self._alias(), 0)
                _roots[self._alias()] = number + 1
            self._given_prefix = f"{self._alias()}{number}_"
        return self._given_prefix

    @property
    def name(self) -> str:
        return self.prefix[:-1] if self.prefix.endswith("_") else self.prefix

    @property
    def scope(self) -> str:
        """Its profiler scope: hybridsequential:dense0:."""
        if self._scope is None:
            parent = self._parent() if self._parent is not None else None
            self._scope = (parent.scope if parent is not None else "") + f"{self._label or self._alias()}:"
        return self._scope

    @contextmanager
    def name_scope(self) -> Iterator["Block"]:
        """1.x: members made inside are named after this block; here they are named when added."""
        yield self

    def _adopt(self, child: "Block") -> None:
        if child._parent is not None and child._parent() is not None:
            return  # shared: it keeps its first name
        child._parent = weakref.ref(self)
        if not child._label:
            number = self._counts.get(child._alias(), 0)
            self._counts[child._alias()] = number + 1
            child._label = f"{child._alias()}{number}"
        child._forget_scope()

    def _forget_scope(self) -> None:
        self._scope = None
        for member in self._children.values():
            member._forget_scope()

    # ---- members ---------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        before = self.__dict__.get(name)
        if isinstance(before, (Block, Parameter)) and not isinstance(value, type(before)):
            raise TypeError(f"Changing attribute type for {name} from {type(before)} to {type(value)} is "
                            "not allowed.")
        if isinstance(value, (Block, Parameter)):
            self._changed()
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            for made in [made for made, parameter in self._made_params.items() if parameter is value]:
                del self._made_params[made]
            value = self._shared.pop(name, value)
            self._reg_params[name] = value
            value.attach_to(self, name)
        super().__setattr__(name, value)

    def register_child(self, block: "Block", name: Optional[str] = None) -> None:
        """Makes `block` a member; its name defaults to its number."""
        if not isinstance(block, Block):
            raise TypeError(f"a member of a block must be a block, not {type(block).__name__}")
        name = name if name is not None else str(len(self._children))
        self._changed()
        self._children[name] = block
        self._adopt(block)
        for path in [path for path in self._shared if path.startswith(name + ".")]:
            block._share(path[len(name) + 1:], self._shared.pop(path))

    def _changed(self) -> None:
        """What was taken down of it, or of a block that it is a member of, does not hold any more."""
        parent = self._parent() if self._parent is not None else None
        if parent is not None:
            parent._changed()

    def _share(self, path: str, parameter: Parameter) -> None:
        """Uses a parameter of another block, now or when what the path names is made."""
        member, _, rest = path.partition(".")
        if rest and member in self._children:
            self._children[member]._share(rest, parameter)
        elif not rest and member in self._reg_params:
            setattr(self, member, parameter)
        else:
            self._shared[path] = parameter

    def apply(self, fn: Callable[["Block"], Any]) -> "Block":
        """Calls `fn` with every member and then with this block."""
        for member in self._children.values():
            member.apply(fn)
        fn(self)
        return self

    # ---- parameters ------------------------------------------------------------------------------
    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without its members'. 1.x makes them with it, by `get`."""
        return _OwnParameters(self)

    def _own(self) -> Dict[str, Parameter]:
        return {**self._made_params, **self._reg_params}

    def _named(self, name: str) -> Optional[Parameter]:
        """Its parameter of this name, whatever the attribute is called."""
        return next((parameter for parameter in self._own().values() if parameter.is_called(name, self)), None)

    def _make(self, name: str, parameter: Parameter) -> Parameter:
        """1.x: has a new parameter, or the shared one of this name, also if it is no attribute."""
        parameter = self._shared.pop(name, parameter)
        parameter.attach_to(self, name)
        self._made_params[name] = parameter
        return parameter

    def _structure(self, path: str = "") -> Dict[str, Parameter]:
        found = {path + name: parameter for name, parameter in self._own().items()}
        for name, member in self._children.items():
            found.update(member._structure(f"{path}{name}."))
        return found

    def collect_params(self, select: Optional[str] = None) -> ParameterDict:
        """All parameters by place, `0.weight`; `select`: a regular expression that place or name match."""
        self._warn_of_containers()
        return ParameterDict((path, parameter) for path, parameter in self._structure().items()
                             if select is None or re.match(select, path)
                             or re.match(select, parameter.name))

    def _warn_of_containers(self) -> None:
        for name, value in vars(self).items():
            items = value.values() if isinstance(value, dict) else value
            if (not name.startswith("_") and isinstance(value, (list, tuple, dict))
                    and any(isinstance(item, Block) and item not in self._children.values()
                            for item in items)):
                warn(f'"{type(self).__name__}.{name}" is an unregistered container with Blocks: their '
                     "parameters are not this block's. Use nn.Sequential or nn.HybridSequential, or "
                     "register_child() for each")
        for member in self._children.values():
            member._warn_of_containers()

    def share_parameters(self, shared: Dict[str, Parameter]) -> "Block":
        """Uses the parameters of another block of the same structure, by place."""
        for path, parameter in shared.items():
            *members, name = path.split(".")
            block: Block = self
            for member in members:
                block = block._children[member]
            setattr(block, name, parameter)
        return self

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False,
                   force_reinit: bool = False, device: Any = None) -> None:
        """Initialises all parameters on the device or devices `ctx` (or `device`)."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit, device)

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Writes all values to a file. With `deduplicate` a parameter that several members share is
        written once, at its first place; `load_parameters` takes either."""
        params = self.collect_params()
        if deduplicate:
            first: Dict[int, str] = {}
            for path, parameter in params.items():
                first.setdefault(id(parameter), path)
            params = ParameterDict((path, params[path]) for path in first.values())
        params.save(filename)

    def load_parameters(self, filename: str, ctx: Any = None, allow_missing: bool = False,
                        ignore_extra: bool = False, cast_dtype: bool = False,
                        dtype_source: str = "current", device: Any = None) -> None:
        self.collect_params().load(filename, ctx, allow_missing, ignore_extra, cast_dtype, device)

    def save_params(self, filename: str) -> None:
        """1.x's older name of `save_parameters`."""
        self.save_parameters(filename)

    def load_params(self, filename: str, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False) -> None:
        """1.x's older name of `load_parameters`."""
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def zero_grad(self) -> None:
        self.collect_params().zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    def reset_ctx(self, ctx: Any) -> None:
        self.collect_params().reset_ctx(ctx)

    reset_device = reset_ctx

    def cast(self, dtype: Any) -> None:
        """Parameters and members to another type."""
        self._changed()
        for member in self._children.values():
            member.cast(dtype)
        for parameter in self._own().values():
            parameter.cast(dtype)

    def hybridize(self, active: bool = True, **options: Any) -> None:
        """Passes on to its members."""
        for member in self._children.values():
            member.hybridize(active, **options)

    # ---- calls -----------------------------------------------------------------------------------
    def register_forward_pre_hook(self, hook: Callable) -> HookHandle:
        """Before each call: hook(block, inputs). `detach()` of what it returns removes it."""
        return HookHandle(self._before, hook)

    def register_forward_hook(self, hook: Callable) -> HookHandle:
        """After each call: hook(block, inputs, outputs). `detach()` of what it returns removes it."""
        return HookHandle(self._after, hook)

    def __call__(self, *args: Any) -> Any:
        _refuse_symbols(type(self).__name__, args)
        with profiler.scope(self._label or self._alias()):
            for hook in list(self._before):
                hook(self, args)
            outputs = self._run(*args)
            for hook in list(self._after):
                hook(self, args, outputs)
        return outputs

    def _run(self, *args: Any) -> Any:
        return self.forward(*args)

    # Subclasses take what they like.
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def summary(self, *inputs: Any) -> None:
        """Prints the outputs and the parameters of each member, of one call with `inputs`."""
        summary.show(self, *inputs)

    def extra_repr(self) -> str:
        """What its representation says in place of its members."""
        return ""

    def __repr__(self) -> str:
        own = self.extra_repr()
        lines = [f"({name}): {member!r}" for name, member in self._children.items()]
        if own or not lines:
            return f"{type(self).__name__}({own})"
        members = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {members}\n)"


def _refuse_symbols(name: str, args: tuple) -> None:
    if any(isinstance(argument, Symbol) for argument in args):
        raise MXNetError(f"{name} was called with a symbol: blocks take arrays; one that is "
                         "hybridized makes its graph at its first call, and export() writes it")


def _has_array(item: Any) -> bool:
    return any(map(_has_array, item)) if isinstance(item, (list, tuple)) else isinstance(item, BaseArray)


def _require_array(name: str, args: tuple) -> None:
    if not _has_array(args):
        kinds = ", ".join(f"{type(argument).__module__}.{type(argument).__name__}".replace("builtins.", "")
                          for argument in args)
        raise ValueError(f"{name} was called with {kinds}; blocks take arrays: mx.nd.array(…) or "
                         "mx.np.array(…) makes one")


class HybridBlock(Block):
    """A block whose forward uses operators only, so that it can be turned into a graph.

    2.0: give `forward(x, …)`. 1.x: give `hybrid_forward(F, x, …, **parameters)`, which gets its
    parameters' arrays by name. For parameters of unknown shape give `infer_shape(x, …)`.
    """

    def __init__(self, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._options: Dict[str, Any] = {}
        self._graphs = Graphs()

    def hybridize(self, active: bool = True, backend: Optional[str] = None, clear: bool = True,
                  static_alloc: bool = False, static_shape: bool = False, inline_limit: int = 2,
                  forward_bulk_size: Optional[int] = None, backward_bulk_size: Optional[int] = None,
                  **options: Any) -> None:
        """From now on calls run a graph of the block: the first one with data of certain shapes takes it down.

        static_alloc : keep memory between calls
        static_shape : keep operations too; needs static_alloc
        inline_limit, forward_bulk_size, backward_bulk_size : as MXNet's
        backend, clear, backend_opts, partial_shape, partition_if_dynamic : taken, without an effect

        Code of the block does not run again for such data, nor do hooks of its members. A block that reads values,
        or writes into arrays, runs operator by operator, with a warning.
        """
        del backend, clear
        flags = chosen(dict(static_alloc=static_alloc, static_shape=static_shape, inline_limit=inline_limit,
                            forward_bulk_size=forward_bulk_size, backward_bulk_size=backward_bulk_size), options)
        self._active, self._options = active, flags
        self._graphs.clear()
        super().hybridize(active, **flags)

    def _changed(self) -> None:
        if "_graphs" in self.__dict__:
            self._graphs.clear()
        super()._changed()

    def infer_shape(self, *args: Any, **kwargs: Any) -> None:
        """Sets the shapes of parameters that depend on the inputs. Of a block with `hybrid_forward` they are those
        that its operators infer."""
        unknown = [parameter.name for parameter in self._reg_params.values() if parameter.is_deferred]
        if type(self).hybrid_forward is HybridBlock.hybrid_forward or kwargs:
            raise MXNetError(f"{type(self).__name__} must give infer_shape(x, …), or the shapes of "
                             f"{', '.join(unknown)}")
        infer_parameters(self, args)

    def _finish_parameters(self, *args: Any) -> None:
        with paused():
            self.infer_shape(*args)
            for parameter in self._reg_params.values():
                parameter.finish_initialization()

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> Tuple[str, str]:
        """Writes the graph of the latest call to PATH-symbol.json and the parameters to PATH-EPOCH.params, which
        `SymbolBlock.imports` reads, and MXNet; returns the two names. RuntimeError before such a call."""
        del remove_amp_cast
        return export(self, self._graphs.latest, path, epoch)

    def optimize_for(self, *_: Any, **__: Any) -> NoReturn:
        """There are no backends that graphs could be given to: AbsentError."""
        raise AbsentError(f"{type(self).__name__}: there are no backends to optimize graphs for")

    def _run(self, *args: Any) -> Any:
        return self._graphs.call(self, args, self._options) if self._active else self._run_operators(*args)

    def _run_operators(self, *args: Any) -> Any:
        try:
            return self.forward(*args)
        except AttributeError:
            _require_array(type(self).__name__, args)
            raise
        except DeferredInitializationError:
            if not any(parameter.is_deferred for parameter in self._reg_params.values()):
                raise
            self._finish_parameters(*args)
            return self.forward(*args)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        arrays = {name: parameter.data(args[0].context) for name, parameter in self._reg_params.items()}
        return self.hybrid_forward(nd, *args, **kwargs, **arrays)

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has neither forward nor hybrid_forward")
