# SPDX-License-Identifier: Apache-2.0
"""Blocks made of symbols."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from .. import initializer, symbol
from .. import ndarray as nd
from .._absent import AbsentError
from .._array import BaseArray
from .._cached_op import CachedOp
from ..base import MXNetError
from ..symbol import Symbol
from .block import HybridBlock
from .graph import _FLAGS
from .parameter import DeferredInitializationError, Parameter, as_contexts


def _outputs(outputs: Any) -> Symbol:
    if isinstance(outputs, (list, tuple)):
        return outputs[0] if len(outputs) == 1 else symbol.Group(list(outputs))
    return outputs


def _names(inputs: Any) -> List[str]:
    listed = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    for item in listed:
        if not isinstance(item, str) and (not isinstance(item, Symbol) or item.list_arguments() != [item.name]):
            raise ValueError(f"Input symbols must be variable, but {item!r} is an output of operators")
    return [item if isinstance(item, str) else item.name for item in listed]


class SymbolBlock(HybridBlock):
    """A block that computes a symbol.

    outputs : Symbol, or list of them
    inputs : Symbol, or list of them: the variables that calls give; all others are parameters
    params : dict of name to Parameter or array, optional: those of another block; names may begin with "arg:", "aux:"
    """

    def __init__(self, outputs: Any, inputs: Any, params: Optional[Dict[str, Any]] = None,
                 prefix: Optional[str] = None) -> None:
        super().__init__(prefix or "", None)  # parameters are called as in the symbol
        self._symbol = _outputs(outputs)
        self._data_names = _names(inputs)
        variables, states = self._symbol.list_inputs(), set(self._symbol.list_auxiliary_states())
        unknown = [name for name in self._data_names if name not in variables]
        if unknown:
            raise ValueError(f"SymbolBlock: {', '.join(unknown)} is no variable of the outputs; they have "
                             f"{', '.join(variables)}")
        given = {name[4:] if name[:4] in ("arg:", "aux:") else name: value for name, value in (params or {}).items()}
        self._order = variables
        self._taken: Dict[str, Parameter] = {}
        said, data = self._symbol.attr_dict(), set(self._data_names)
        for name in variables:
            if name not in data:
                self._taken[name] = self._parameter(name, given.get(name), said.get(name, {}), name in states)
        self._op: Optional[CachedOp] = None

    def _parameter(self, name: str, given: Any, settings: Dict[str, str], is_state: bool) -> Parameter:
        parameter = given if isinstance(given, Parameter) else Parameter(
            name, grad_req="null" if is_state else "write", shape=_shape_of(settings), allow_deferred_init=True,
            lr_mult=float(settings.get("__lr_mult__", 1)), wd_mult=float(settings.get("__wd_mult__", 1)))
        parameter = self._make(name, parameter)
        if isinstance(given, BaseArray):
            parameter.shape = given.shape
            parameter.cast(given.dtype)
            parameter.initialize(initializer.Zero(), ctx=given.context)
            parameter.set_data(given)
        return parameter

    @staticmethod
    def imports(symbol_file: str, input_names: Union[str, Sequence[str]], param_file: Optional[str] = None, ctx: Any = None,
                device: Any = None, allow_missing: bool = False, ignore_extra: bool = False) -> "SymbolBlock":
        """A block of the files that `HybridBlock.export` writes."""
        block = SymbolBlock(symbol.load(symbol_file), input_names if isinstance(input_names, str) else list(input_names))
        if param_file is not None:
            block.load_exported(param_file, as_contexts(ctx if ctx is not None else device), allow_missing, ignore_extra)
        return block

    def load_exported(self, param_file: str, contexts: Sequence[Any], allow_missing: bool, ignore_extra: bool) -> None:
        """Values of the parameters from an exported file."""
        loaded = nd.load(param_file)
        if not isinstance(loaded, dict):
            raise MXNetError(f"{param_file}: its arrays have no names; it is no file of parameters")
        found = {name[4:] if name[:4] in ("arg:", "aux:") else name: array for name, array in loaded.items()}
        missing = [name for name in self._taken if name not in found]
        extra = [name for name in found if name not in self._taken]
        for names, allowed, what in ((missing, allow_missing, "has no"), (extra, ignore_extra, "has also")):
            if names and not allowed:
                raise MXNetError(f"{param_file} {what} {', '.join(names[:5])}")
        for name, parameter in self._taken.items():
            if name in found:
                parameter.shape = found[name].shape
                parameter.cast(found[name].dtype)
                parameter.initialize(initializer.Zero(), ctx=contexts)
                parameter.set_data(found[name])

    def hybridize(self, *args: Any, **options: Any) -> None:
        """Its symbol is run as a graph anyway, with these options from now on."""
        super().hybridize(*args, **options)
        self._op = None

    def infer_shape(self, *args: Any, **kwargs: Any) -> None:
        """Sets the shapes of parameters that follow from the data."""
        shapes, _, states = self._symbol.infer_shape(**{name: array.shape for name, array in zip(self._data_names, args)})
        names = self._symbol.list_arguments() + self._symbol.list_auxiliary_states()
        for name, shape in zip(names, [*(shapes or []), *(states or [])]):
            if name in self._taken and self._taken[name].is_deferred:
                self._taken[name].shape = shape

    def _call_op(self, args: tuple) -> Any:
        if self._op is None:
            flags = [(key, self._options[key]) for key in _FLAGS if self._active and self._options.get(key) is not None]
            self._op = CachedOp(self._symbol, flags)
        context, data = args[0].context, dict(zip(self._data_names, args))
        return self._op(*[data[name] if name in data else self._taken[name].data(context) for name in self._order])

    def _run(self, *args: Any) -> Any:
        if len(args) != len(self._data_names):
            raise ValueError(f"SymbolBlock was called with {len(args)} inputs, and has {len(self._data_names)}: "
                             f"{', '.join(self._data_names)}")
        try:
            return self._call_op(args)
        except DeferredInitializationError:
            self._finish_parameters(*args)
            return self._call_op(args)

    _run_operators = _run

    def _finish_parameters(self, *args: Any) -> None:
        self.infer_shape(*args)
        for parameter in self._taken.values():
            parameter.finish_initialization()

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Writes its symbol and parameters, as HybridBlock.export."""
        del remove_amp_cast
        files = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
        self._symbol.save(files[0])
        states = set(self._symbol.list_auxiliary_states())
        nd.save(files[1], {("aux:" if name in states else "arg:") + name: parameter.list_data()[0]
                           for name, parameter in self._taken.items()})
        return files

    def cast(self, dtype: Any) -> None:
        """The types of its operators are part of the symbol: AbsentError."""
        raise AbsentError("SymbolBlock: the types of its operators are part of the symbol")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(*args)


def _shape_of(settings: Dict[str, str]) -> Any:
    text = settings.get("__shape__")
    if not text or text == "None":
        return None
    return tuple(int(size) for size in text.strip("()[] ").split(",") if size.strip())
