# SPDX-License-Identifier: Apache-2.0
"""Symbols: networks that are described before they run."""
import ctypes
from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple, Union

from .. import _cached_op
from ..base import _LIB, MXNetError, SymbolHandle, c_file_name, c_str, c_str_array, check_call, py_str, string_list
from ..executor import Executor
from . import _binding, _inference


class NotImplementedForSymbol(TypeError, NotImplementedError):
    """What arrays can do and symbols cannot."""

    def __init__(self, name: str, alias: str = "") -> None:
        operator = f" (namely operator \"{alias}\")" if alias else ""
        super().__init__(f"Function {name}{operator} is not implemented for Symbol and only available in NDArray.")


def _refuse_groups(group2ctx: Any) -> None:
    if group2ctx:
        raise MXNetError("group2ctx: a network runs on one device")


def _handles(symbols: Sequence["Symbol"]) -> Any:
    return (ctypes.c_void_p * max(len(symbols), 1))(*[item.handle for item in symbols])


class Symbol:
    """One or several outputs of a network: variables, and operators with inputs.

    Operators are functions of mx.sym: mx.sym.FullyConnected(x, num_hidden=10, name="fc"). A symbol is called
    to replace its variables: net(data=other). It has no values: infer_shape and infer_type say what they would
    be, eval computes them.
    """

    __slots__ = ("handle", "__weakref__")
    __array_priority__ = 1000.0  # NumPy's numbers leave operators to it

    def __init__(self, handle: SymbolHandle) -> None:
        self.handle = handle

    def __del__(self) -> None:
        handle = getattr(self, "handle", None)
        if handle is not None:
            _LIB.MXSymbolFree(handle)

    # ---- parts -------------------------------------------------------------------------------------
    def __len__(self) -> int:
        count = ctypes.c_uint()
        check_call(_LIB.MXSymbolGetNumOutputs(self.handle, ctypes.byref(count)))
        return count.value

    def __iter__(self) -> Iterator["Symbol"]:
        return (self[i] for i in range(len(self)))

    def _index_of(self, name: str) -> int:
        found = [i for i, item in enumerate(self.list_outputs()) if item == name]
        if len(found) != 1:
            raise ValueError(f'There are multiple outputs with name "{name}"' if found
                             else f'Cannot find output that matches name "{name}"')
        return found[0]

    def __getitem__(self, index: Union[int, str, slice]) -> "Symbol":
        """An output by number, negative from the end, or by name; several as a group."""
        count = len(self)
        if isinstance(index, slice):
            return Group([self[i] for i in range(*index.indices(count))])
        if isinstance(index, str):
            index = self._index_of(index)
        if not isinstance(index, int):
            raise TypeError("Symbol only support integer index to fetch i-th output")
        if not -count <= index < count:
            raise IndexError(f"output {index} of {count} outputs")
        return self._made(_LIB.MXSymbolGetOutput, index % count)

    def _made(self, function: Any, *arguments: Any) -> "Symbol":
        handle = SymbolHandle()
        check_call(function(self.handle, *arguments, ctypes.byref(handle)))
        return type(self)(handle)

    def get_internals(self) -> "Symbol":
        """The outputs of all nodes, as a group: net.get_internals()["fc1_output"]."""
        return self._made(_LIB.MXSymbolGetInternals)

    def get_children(self) -> Optional["Symbol"]:
        """What the inputs come from, as a group; None of variables."""
        children = self._made(_LIB.MXSymbolGetChildren)
        return children if children.handle.value is not None else None

    def __copy__(self) -> "Symbol":
        return self._made(_LIB.MXSymbolCopy)

    def __deepcopy__(self, _: Any) -> "Symbol":
        return self._made(_LIB.MXSymbolCopy)

    # ---- names -------------------------------------------------------------------------------------
    @property
    def name(self) -> Optional[str]:
        """The node's name; None where outputs are of several nodes."""
        text, found = ctypes.c_char_p(), ctypes.c_int()
        check_call(_LIB.MXSymbolGetName(self.handle, ctypes.byref(text), ctypes.byref(found)))
        return py_str(text.value or b"") if found.value else None

    def __repr__(self) -> str:
        name = self.name
        if name is not None:
            return f"<Symbol {name}>"
        return f"<Symbol group [{', '.join(str(item.name) for item in self)}]>"

    def _list(self, function: Any, *arguments: Any) -> List[str]:
        count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        check_call(function(self.handle, *arguments, ctypes.byref(count), ctypes.byref(texts)))
        return string_list(count.value, texts)

    def list_arguments(self) -> List[str]:
        """Names of the variables that no operator writes, each after those before it in the network."""
        return self._list(_LIB.MXSymbolListArguments)

    def list_outputs(self) -> List[str]:
        """Names of the outputs: "fc_output"."""
        return self._list(_LIB.MXSymbolListOutputs)

    def list_auxiliary_states(self) -> List[str]:
        """Names of the variables that operators write, as BatchNorm its means."""
        return self._list(_LIB.MXSymbolListAuxiliaryStates)

    def list_inputs(self) -> List[str]:
        """Names of all variables."""
        return self._list(_LIB.NNSymbolListInputNames, 0)

    # ---- attributes --------------------------------------------------------------------------------
    def attr(self, key: str) -> Optional[str]:
        """One attribute; None if there is no such."""
        text, found = ctypes.c_char_p(), ctypes.c_int()
        check_call(_LIB.MXSymbolGetAttr(self.handle, c_str(key), ctypes.byref(text), ctypes.byref(found)))
        return py_str(text.value or b"") if found.value else None

    def _pairs(self, function: Any) -> Dict[str, str]:
        count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        check_call(function(self.handle, ctypes.byref(count), ctypes.byref(texts)))
        listed = string_list(2 * count.value, texts)
        return dict(zip(listed[::2], listed[1::2]))

    def list_attr(self, recursive: bool = False) -> Dict[str, str]:
        """The attributes of the node, its parameters among them. attr_dict has those of all nodes."""
        if recursive:
            raise DeprecationWarning("Symbol.list_attr with recursive=True has been deprecated. "
                                     "Please use attr_dict instead.")
        return self._pairs(_LIB.MXSymbolListAttrShallow)

    def attr_dict(self) -> Dict[str, Dict[str, str]]:
        """Attributes of all nodes, by node."""
        found: Dict[str, Dict[str, str]] = {}
        for key, value in self._pairs(_LIB.MXSymbolListAttr).items():
            node, _, attribute = key.partition("$")
            found.setdefault(node, {})[attribute] = value
        return found

    def _set_attr(self, **attributes: str) -> None:
        for key, value in attributes.items():
            if not isinstance(value, str):
                raise ValueError("Set Attr only accepts string values")
            check_call(_LIB.MXSymbolSetAttr(self.handle, c_str(key), c_str(value)))

    # ---- composing ---------------------------------------------------------------------------------
    def __call__(self, *symbols: "Symbol", name: Optional[str] = None, **named: "Symbol") -> "Symbol":
        """A copy whose variables, by position or name, are these symbols."""
        made = self.__copy__()
        made._compose(*symbols, name=name, **named)
        return made

    def _compose(self, *symbols: "Symbol", name: Optional[str] = None, **named: "Symbol") -> None:
        if symbols and named:
            raise TypeError("compose only accept input Symbols either as positional or keyword arguments, not both")
        given = symbols or tuple(named.values())
        if not all(isinstance(item, Symbol) for item in given):
            raise TypeError("Compose expect `Symbol` as arguments")
        keys = c_str_array(named) if named else None
        check_call(_LIB.MXSymbolCompose(self.handle, c_str(name) if name else None, len(given), keys, _handles(given)))

    # ---- inference ---------------------------------------------------------------------------------
    def infer_shape(self, *shapes: Any, **named: Any) -> Tuple[Any, Any, Any]:
        """Shapes of arguments, outputs and auxiliary states, from those of some arguments by position (None:
        unknown) or name. Three times None, and a warning, if some cannot be known. MXNetError: they do not fit.
        """
        return _inference.shapes(self, shapes, named)

    def infer_shape_partial(self, *shapes: Any, **named: Any) -> Tuple[Any, Any, Any]:
        """What can be known of them; unknown sizes are 0, of an unknown rank the shape is ()."""
        return _inference.shapes_partial(self, shapes, named)

    def infer_type(self, *types: Any, **named: Any) -> Tuple[Any, Any, Any]:
        """Types of arguments, outputs and auxiliary states; three times None if some cannot be known."""
        return _inference.types(self, types, named)

    def infer_type_partial(self, *types: Any, **named: Any) -> Tuple[Any, Any, Any]:
        """What can be known of them, None for the others."""
        return _inference.types_partial(self, types, named)

    # ---- text --------------------------------------------------------------------------------------
    def tojson(self, remove_amp_cast: bool = True) -> str:  # pylint: disable=unused-argument
        """The network as MXNet's JSON. There are no casts of mixed precision to remove."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXSymbolSaveToJSON(self.handle, ctypes.byref(text)))
        return py_str(text.value or b"")

    def save(self, fname: Any, remove_amp_cast: bool = True) -> None:  # pylint: disable=unused-argument
        """Writes the JSON to a file."""
        if isinstance(fname, int):
            raise TypeError("fname need to be string")
        check_call(_LIB.MXSymbolSaveToFile(self.handle, c_file_name(fname)))

    def debug_str(self) -> str:
        """A text for people."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXSymbolPrint(self.handle, ctypes.byref(text)))
        return py_str(text.value or b"")

    def __getstate__(self) -> Dict[str, str]:
        return {"handle": self.tojson()}

    def __setstate__(self, state: Dict[str, str]) -> None:
        self.handle = from_json(state["handle"])

    # ---- running -----------------------------------------------------------------------------------
    def eval(self, ctx: Any = None, **arrays: Any) -> List[Any]:
        """Computes the outputs from an array for each variable, by name."""
        missing = [item for item in self.list_inputs() if item not in arrays]
        if missing:
            raise ValueError(f"key `{missing[0]}` is missing in `args`")
        found = _cached_op.CachedOp(self)(*[arrays[item] for item in self.list_inputs()], default_ctx=ctx)
        return found if isinstance(found, list) else [found]

    def bind(self, ctx: Any, args: Any, args_grad: Any = None, grad_req: Any = "write", aux_states: Any = None,
             group2ctx: Any = None, shared_exec: Any = None) -> Executor:  # pylint: disable=unused-argument
        """An executor on these arrays, which it uses and does not copy.

        args, args_grad, aux_states: lists in the order of the symbol's, or dicts; gradients may be left out.
        grad_req: "write", "add" or "null", one for all, a list, or a dict. shared_exec: nothing is shared.
        """
        _refuse_groups(group2ctx)
        return _binding.bind(self, ctx, args, args_grad, grad_req, aux_states)

    def simple_bind(self, ctx: Any, grad_req: Any = "write", type_dict: Optional[Dict[str, Any]] = None, stype_dict: Any = None,
                    group2ctx: Any = None, shared_arg_names: Any = None, shared_exec: Any = None,  # pylint: disable=unused-argument
                    shared_buffer: Any = None, **shapes: Any) -> Executor:
        """An executor on new arrays of zeros, whose shapes follow from those given by name."""
        _refuse_groups(group2ctx)
        return _binding.simple_bind(self, ctx, grad_req, type_dict, shapes)

    _bind, _simple_bind = bind, simple_bind

    def gradient(self, wrt: Any) -> NoReturn:  # pylint: disable=unused-argument
        """As in MXNet: an error. An executor, or autograd, computes gradients."""
        raise MXNetError("not implemented: an executor's backward computes gradients")

    # ---- what arrays alone can do ------------------------------------------------------------------
    def __bool__(self) -> bool:
        raise NotImplementedForSymbol("__bool__", "bool")

    __hash__ = None  # type: ignore[assignment]  # == makes a symbol


def from_json(text: str) -> SymbolHandle:
    """The handle of a new symbol."""
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateFromJSON(c_str(text), ctypes.byref(handle)))
    return handle


def Group(symbols: Sequence[Symbol], create_fn: type = Symbol) -> Symbol:  # pylint: disable=invalid-name
    """All outputs of several symbols as one."""
    symbols = list(symbols)
    if not symbols or not all(isinstance(item, Symbol) for item in symbols):
        raise TypeError("Expected a list of symbols as input")
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateGroup(len(symbols), _handles(symbols), ctypes.byref(handle)))
    return create_fn(handle)
