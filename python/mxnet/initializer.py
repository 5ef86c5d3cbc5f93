# SPDX-License-Identifier: Apache-2.0
"""Initialisers: the values that parameters begin with. `init(name, array)` fills the array; the end of the
name decides for biases and statistics, the initialiser for weights."""
from __future__ import annotations

import json
import math
from typing import Any, Dict, Optional, Type

import numpy as onp

from . import ndarray as nd
from . import numpy as np
from ._absent import refusing
from .base import choices

_registry: Dict[str, Type["Initializer"]] = {}


def register(kind: Type["Initializer"], *names: str) -> Type["Initializer"]:
    """Makes an initialiser's class known to `create` by its name in lower case."""
    for name in names or (kind.__name__.lower(),):
        _registry[name] = kind
    return kind


def create(init: Any, /, **settings: Any) -> "Initializer":
    """An initialiser by name; one that is an initialiser, or callable, is returned."""
    if callable(init):
        return init
    if str(init).lower() not in _registry:
        raise ValueError(f"no initializer {init!r}{choices(init, _registry)}")
    return _registry[init.lower()](**settings)


def _from_text(text: Optional[str]) -> Optional["Initializer"]:
    """What a variable's attribute `__init__` says: a name, or a JSON list of it and its settings."""
    if not text:
        return None
    name, settings = json.loads(text) if text.startswith("[") else (text, {})
    return create(name, **settings)


def fill(init: Any, default: Any, name: str, array: Any) -> None:
    """Fills `array`: a parameter's own initialiser always, the default one by the name's end."""
    if init is None:
        (create(default) if default is not None else Uniform())(name, array)
        return
    chosen = create(init)
    if isinstance(chosen, FusedRNN):
        chosen.fill_parts(default, array)
    elif isinstance(chosen, Initializer):
        chosen._init_weight(name, array)
    else:
        chosen(name, array)


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, nd.NDArray):
        one, other = one.asnumpy(), other.asnumpy()
    return bool(onp.array_equal(one, other))


class InitDesc(str):
    """The name of what is filled, with the attributes of its variable; an initialiser that these name goes before
    the one that is called."""

    attrs: Dict[str, str]

    def __new__(cls, name: str, attrs: Optional[Dict[str, str]] = None, global_init: Any = None) -> "InitDesc":
        made = super().__new__(cls, name)
        made.attrs, made.global_init = attrs or {}, global_init  # type: ignore[attr-defined]
        return made


class Initializer:
    """The base of initialisers. A subclass gives `_init_weight`, and may give `_init_bias`, `_init_beta`,
    `_init_gamma`, `_init_zero` (running means) and `_init_one` (running variances), which fill what is
    called so, and `_init_default` for names of other endings, which else are weights.

    settings : what it was made with, for `dumps`; a subclass that gives none is told by its attributes
    """

    def __init__(self, **settings: Any) -> None:
        if settings:
            self._settings = settings

    def dumps(self) -> str:
        """Name and settings as JSON: what a symbol's variable keeps of it."""
        return json.dumps([type(self).__name__.lower(), self._told()])

    def _told(self) -> Dict[str, Any]:
        settings = getattr(self, "_settings", None)
        return settings if settings is not None else {key.lstrip("_"): value for key, value in vars(self).items()}

    def __call__(self, name: str, array: Any) -> None:
        own = _from_text(name.attrs.get("__init__")) if isinstance(name, InitDesc) else None
        if own is not None:
            own._init_weight(name, array)
            return
        for ending, method in _BY_ENDING:
            if str(name).endswith(ending):
                getattr(self, method)(name, array)
                return
        self._init_default(name, array)

    def _init_default(self, name: str, array: Any) -> None:
        self._init_weight(name, array)

    def _init_weight(self, name: str, array: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must give _init_weight(name, array)")

    def _init_zero(self, name: str, array: Any) -> None:
        array[:] = 0

    def _init_one(self, name: str, array: Any) -> None:
        array[:] = 1

    _init_bias = _init_beta = _init_zero
    _init_gamma = _init_one

    def __eq__(self, other: Any) -> bool:
        """Whether they draw alike: of one class, with equal settings."""
        if type(other) is not type(self):
            return NotImplemented
        mine, others = vars(self), vars(other)
        return mine.keys() == others.keys() and all(_same(mine[key], others[key]) for key in mine)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self._told().items())
        return f"{type(self).__name__}({settings})"


_BY_ENDING = (("weight", "_init_weight"), ("bias", "_init_bias"), ("beta", "_init_beta"), ("gamma", "_init_gamma"),
              ("running_mean", "_init_zero"), ("moving_mean", "_init_zero"),
              ("running_var", "_init_one"), ("moving_var", "_init_one"))


def _draw(kind: str, first: float, second: float, array: Any) -> None:
    """uniform(low, high) or normal(mean, deviation) into the array."""
    if isinstance(array, np.ndarray):
        getattr(np.random, kind)(first, second, size=array.shape, dtype=array.dtype, out=array)
    else:
        getattr(nd.random, kind)(first, second, shape=array.shape, dtype=array.dtype, out=array)


class Zero(Initializer):
    def _init_weight(self, name: str, array: Any) -> None:
        array[:] = 0


class One(Initializer):
    def _init_weight(self, name: str, array: Any) -> None:
        array[:] = 1


class Constant(Initializer):
    """A number, or an array of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def _init_weight(self, name: str, array: Any) -> None:
        array[:] = self.value


class LSTMBias(Initializer):
    """Zeros, but for the forget gates of an LSTM's bias."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, array: Any) -> None:
        size = array.shape[0] // 4
        array[:] = 0
        array[size:2 * size] = self.forget_bias

    _init_bias = _init_weight


@register
class FusedRNN(Initializer):
    """The weights and biases in the parameter of an `mx.rnn.FusedRNNCell` with the same settings, each by `init`, or
    without one by the initialiser of all; forget gates' biases of an LSTM are `forget_bias`."""

    def __init__(self, init: Any, num_hidden: int, num_layers: int, mode: str, bidirectional: bool = False,
                 forget_bias: float = 1.0) -> None:
        self.init = _from_text(init) if isinstance(init, str) else init
        self.num_hidden = num_hidden
        self.num_layers = num_layers
        self.mode = mode
        self.bidirectional = bidirectional
        self.forget_bias = forget_bias

    def dumps(self) -> str:
        settings = {**vars(self), "init": None if self.init is None else self.init.dumps()}
        return json.dumps([type(self).__name__.lower(), settings])

    def _init_weight(self, name: str, array: Any) -> None:
        self.fill_parts(None, array)

    def fill_parts(self, default: Any, array: Any) -> None:
        """The same, `default` being the initialiser of all."""
        from .rnn import FusedRNNCell  # it is made of symbols, which need this module

        cell = FusedRNNCell(self.num_hidden, self.num_layers, self.mode, self.bidirectional,
                            forget_bias=self.forget_bias, prefix="")
        parts = cell.unpack_weights({"parameters": array})
        for name, part in parts.items():
            if self.mode == "lstm" and name.endswith("_f_bias"):
                part[:] = self.forget_bias
            else:
                fill(None, default if self.init is None else self.init, name, part)
        array[:] = cell.pack_weights(parts)["parameters"]


class Uniform(Initializer):
    """Uniform in [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def _init_weight(self, name: str, array: Any) -> None:
        _draw("uniform", -self.scale, self.scale, array)


class Normal(Initializer):
    """Normal with mean 0 and deviation sigma."""

    def __init__(self, sigma: float = 0.01) -> None:
        self.sigma = sigma

    def _init_weight(self, name: str, array: Any) -> None:
        _draw("normal", 0, self.sigma, array)


class Xavier(Initializer):
    """Random with variance magnitude / factor (uniform: a third of its bound's square), the factor being the
    number of inputs of a unit ("in"), of outputs ("out") or their mean ("avg")."""

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"Xavier: rnd_type must be uniform or gaussian, not {rnd_type!r}")
        if factor_type not in ("in", "out", "avg"):
            raise ValueError(f"Xavier: factor_type must be in, out or avg, not {factor_type!r}")
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = magnitude

    def _init_weight(self, name: str, array: Any) -> None:
        shape = array.shape
        if len(shape) < 2:
            raise ValueError(f"Xavier: {name} has shape {tuple(shape)}; it needs at least two dimensions")
        window = math.prod(shape[2:])
        inputs, outputs = shape[1] * window, shape[0] * window
        factor = {"in": inputs, "out": outputs, "avg": (inputs + outputs) / 2}[self.factor_type]
        scale = math.sqrt(self.magnitude / factor)
        if self.rnd_type == "uniform":
            _draw("uniform", -scale, scale, array)
        else:
            _draw("normal", 0, scale, array)


class MSRAPrelu(Xavier):
    """He et al., 2015: Xavier for rectifiers of slope `slope`."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope ** 2))


class Orthogonal(Initializer):
    """Rows or columns that are orthogonal, times `scale`."""

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, array: Any) -> None:
        import numpy as onp
        rows, columns = array.shape[0], math.prod(array.shape[1:])
        if self.rand_type == "uniform":
            drawn = onp.random.uniform(-1.0, 1.0, (rows, columns))
        else:
            drawn = onp.random.normal(0.0, 1.0, (rows, columns))
        left, _, right = onp.linalg.svd(drawn, full_matrices=False)
        basis = left if left.shape == drawn.shape else right
        array[:] = (self.scale * basis.reshape(array.shape)).astype(array.dtype)


class Mixed:
    """Initialisers by regular expressions of names: the first pattern that matches decides."""

    def __init__(self, patterns: Any, initializers: Any) -> None:
        import re
        if len(patterns) != len(initializers):
            raise ValueError(f"Mixed: {len(patterns)} patterns and {len(initializers)} initializers")
        self.map = [(re.compile(p), create(i)) for p, i in zip(patterns, initializers)]

    def __call__(self, name: str, array: Any) -> None:
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, array)
                return
        raise ValueError(f"Mixed: no pattern matches {name}; '.*' as the last one catches all")


register(Zero, "zero", "zeros")
register(One, "one", "ones")
__getattr__ = refusing(__name__)

for _kind in (Constant, LSTMBias, Uniform, Normal, Xavier, MSRAPrelu, Orthogonal):
    register(_kind)
del _kind
