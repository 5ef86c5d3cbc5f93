# SPDX-License-Identifier: Apache-2.0
"""Symbols: networks that are described before they run.

    x = mx.sym.Variable("x")
    net = mx.sym.FullyConnected(x, num_hidden=10, name="fc")
    net.list_arguments()                       # ['x', 'fc_weight', 'fc_bias']
    net.infer_shape(x=(32, 100))

There is a function for each operator, made when it is first asked for.
"""
import ctypes
from typing import Any, Dict, List, Optional

from .. import _methods, _registry, _types
from ..attribute import AttrScope
from ..base import _LIB, SymbolHandle, c_file_name, c_str, check_call
from . import _functions, _operators
from .symbol import Group, NotImplementedForSymbol, Symbol, from_json

__all__ = ["Group", "NotImplementedForSymbol", "Symbol", "Variable", "arange", "eye", "fromjson", "full", "hypot", "linspace",
           "load", "load_json", "maximum", "minimum", "ones", "pow", "power", "var", "zeros"]

_operators.add_operators()


# ---- variables ---------------------------------------------------------------------------------
def _attributes(attr: Optional[Dict[str, str]], settings: Dict[str, Any], own: Dict[str, Any]) -> Dict[str, str]:
    attributes = AttrScope.current().get(attr)
    for key, value in settings.items():
        if value is not None:
            attributes[f"__{key}__"] = str(value)
    for key, value in own.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"Attribute name={key} is not supported. Additional attributes must start and end with "
                             "double underscores, e.g, __yourattr__")
        attributes[key] = str(value)
    return attributes


def var(name: str, attr: Optional[Dict[str, str]] = None, shape: Any = None, lr_mult: Optional[float] = None,
        wd_mult: Optional[float] = None, dtype: Any = None, init: Any = None, stype: Any = None, **kwargs: Any) -> Symbol:
    """A variable called `name`.

    shape, dtype, init, lr_mult, wd_mult: what is known of it, kept as attributes such as __shape__.
    attr: more attributes. Other arguments must begin and end with two underscores (ValueError).
    """
    if not isinstance(name, str):
        raise TypeError("Expect a string for variable `name`")
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateVariable(c_str(name), ctypes.byref(handle)))
    symbol = Symbol(handle)
    if init is not None and not isinstance(init, str):
        init = init.dumps()
    settings = {"shape": None if shape is None else tuple(shape) if not isinstance(shape, int) else (shape,),
                "lr_mult": lr_mult, "wd_mult": wd_mult,
                "dtype": None if dtype is None else _types.type_code(dtype), "init": init, "storage_type": stype}
    symbol._set_attr(**_attributes(attr, settings, kwargs))
    return symbol


Variable = var


# ---- files -------------------------------------------------------------------------------------
def load(fname: Any) -> Symbol:
    """The network of a file that Symbol.save, or MXNet, has written."""
    if isinstance(fname, int):
        raise TypeError("fname need to be string")
    handle = SymbolHandle()
    check_call(_LIB.MXSymbolCreateFromFile(c_file_name(fname), ctypes.byref(handle)))
    return Symbol(handle)


def load_json(json_str: str) -> Symbol:
    """The network of a text of JSON."""
    if not isinstance(json_str, str):
        raise TypeError("fname required to be string")
    return Symbol(from_json(json_str))


fromjson = load_json


# ---- arrays that operators make ----------------------------------------------------------------
def _made(operator: str, parameters: Dict[str, Any], dtype: Any, keywords: Dict[str, Any]) -> Symbol:
    name, attr = keywords.pop("name", None), keywords.pop("attr", None)
    return _functions.create(operator, {}, {**parameters, "dtype": _types.type_name(dtype or "float32"), **keywords},
                             name, attr)


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros of a shape."""
    return _made("_zeros", {"shape": shape}, dtype, kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones of a shape."""
    return _made("_ones", {"shape": shape}, dtype, kwargs)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """One value in all elements of a shape."""
    return _made("_full", {"shape": shape, "value": float(val)}, dtype, kwargs)


def arange(start: float, stop: Optional[float] = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False,
           name: Optional[str] = None, dtype: Any = None) -> Symbol:
    """start, start + step ... before stop, each `repeat` times; of one number from 0 to before it."""
    return _made("_arange", {"start": start, "stop": stop, "step": step, "repeat": repeat, "infer_range": infer_range},
                 dtype, {"name": name})


def linspace(start: float, stop: float, num: int, endpoint: bool = True, name: Optional[str] = None,
             dtype: Any = None) -> Symbol:
    """`num` numbers from start to stop."""
    ends = {"start_double": start, "stop_double": stop, "start_int": 0, "stop_int": 0, "start_uint": 0, "stop_uint": 0,
            "value_type": 2}
    return _made("_npi_linspace", {**ends, "num": num, "endpoint": endpoint}, dtype, {"name": name})


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:  # pylint: disable=invalid-name
    """Ones on a diagonal, zeros elsewhere."""
    return _made("_eye", {"N": N, "M": M, "k": k}, dtype, kwargs)


pow = power = _operators.of_two("pow")  # pylint: disable=redefined-builtin
maximum, minimum, hypot = (_operators.of_two(name) for name in ("maximum", "minimum", "hypot"))


# ---- operators ---------------------------------------------------------------------------------
# Parameters that are written also where nobody gives them, as MXNet's functions do.
_SPOKEN = {"_random_uniform": {"low": 0, "high": 1}, "_random_normal": {"loc": 0, "scale": 1}}


class _Namespace:
    """mx.sym.random and its kin: operators whose names begin alike."""

    def __init__(self, name: str, prefixes: List[str]) -> None:
        self.__name__ = f"{__name__}.{name}"
        self._prefixes = prefixes

    def __getattr__(self, name: str) -> Any:
        for prefix in self._prefixes:
            if not name.startswith("__") and _registry.exists(prefix + name):
                made = _functions.make(prefix + name, name, self.__name__, _SPOKEN.get(prefix + name, {}))
                setattr(self, name, made)
                return made
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")


contrib = _Namespace("contrib", ["_contrib_"])
image = _Namespace("image", ["_image_"])
linalg = _Namespace("linalg", ["_linalg_"])
np = _Namespace("np", ["_np_", "_npi_"])
npx = _Namespace("npx", ["_npx_"])
random = _Namespace("random", ["_random_"])
_internal = _Namespace("_internal", [""])
sparse = _Namespace("sparse", ["_sparse_"])


def __getattr__(name: str) -> Any:
    if name.startswith("__") or not _registry.exists(name):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    made = globals()[name] = _functions.make(name, name, __name__)
    return made


def __dir__() -> List[str]:
    return sorted({*__all__, "contrib", "image", "linalg", "np", "npx", "random", "sparse",
                   *(name for name in _registry.names() if not name.startswith("_"))})


_METHODS = [name for name in (
    "abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort broadcast_axes broadcast_like "
    "broadcast_to cbrt ceil clip cos cosh degrees depth_to_space diag exp expand_dims expm1 fix flatten flip floor log log10 "
    "log1p log2 log_sigmoid log_softmax max mean min mish nanprod nansum norm one_hot ones_like pad pick prod radians rcbrt reciprocal relu "
    "repeat reshape reshape_like rint round rsqrt shape_array sigmoid sign sin sinh size_array slice slice_axis slice_like "
    "softmax softmin sort space_to_depth split sqrt square squeeze sum swapaxes take tan tanh tile topk transpose trunc "
    "zeros_like").split() if _registry.exists(name)]
_methods.add(Symbol, __name__, _METHODS)


def _astype(self: Symbol, dtype: Any) -> Symbol:
    """In another type."""
    return _functions.create("Cast", {"data": self}, {"dtype": _types.type_name(dtype)})


setattr(Symbol, "astype", _astype)
setattr(Symbol, "T", property(lambda self: _functions.create("transpose", {"data": self}, {})))
